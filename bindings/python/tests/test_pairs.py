"""find_pairs and BroadPhase against all boxes one by one."""
import copy

import numpy as np
import pytest

import quadrat
from oracle import as_set, overlapping, pairs_of, random_boxes


@pytest.mark.parametrize("threads", [1, 3, None])
@pytest.mark.parametrize("count", [0, 1, 2, 300, 1500])
def test_pairs_of_one_set(kind, rng, count, threads):
    boxes = random_boxes(rng, count, *kind)
    pairs = quadrat.find_pairs(boxes, threads=threads)
    assert pairs.dtype == np.uint32 and pairs.shape[1] == 2
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert as_set(pairs) == pairs_of(boxes)


def test_pairs_of_two_sets(kind, rng):
    a, b = random_boxes(rng, 400, *kind), random_boxes(rng, 300, *kind)
    i, j = np.nonzero(overlapping(a, b))
    assert as_set(quadrat.find_pairs(a, b)) == set(zip(i.tolist(), j.tolist()))
    assert as_set(quadrat.find_pairs(b, a)) == set(zip(j.tolist(), i.tolist()))
    assert len(quadrat.find_pairs(a, b[:0])) == 0 and len(quadrat.find_pairs(a[:0], b)) == 0


def test_shape_of_corners_order_and_strides_do_not_matter(kind, rng):
    dimension, dtype = kind
    boxes = random_boxes(rng, 700, *kind)
    expected = quadrat.find_pairs(boxes)
    for same in (boxes.reshape(-1, 2, dimension), np.asfortranarray(boxes), np.repeat(boxes, 2, axis=0)[::2], boxes.tolist() if dtype is np.float64 else boxes,
                 boxes.astype(boxes.dtype.newbyteorder())):
        assert np.array_equal(quadrat.find_pairs(same), expected)


def test_sort_and_dtype(rng):
    boxes = random_boxes(rng, 900, 3, np.float64)
    pairs = quadrat.find_pairs(boxes, sort=True)
    assert np.array_equal(pairs, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
    wide = quadrat.find_pairs(boxes, sort=True, dtype=np.int64)
    assert wide.dtype == np.int64 and np.array_equal(wide, pairs)


def test_boxes_that_touch_are_flat_or_infinite():
    inf = np.inf
    boxes = np.array([[0, 0, 1, 1], [1, 1, 2, 2], [1, 1, 1, 1], [-inf, 0.5, inf, 0.5], [3, 3, 4, 4]])
    assert as_set(quadrat.find_pairs(boxes)) == pairs_of(boxes) == {(0, 1), (0, 2), (1, 2), (0, 3)}


@pytest.mark.parametrize("row,column,value", [(0, 0, np.nan), (7, 3, np.nan), (9, -1, -5.0), (3, 0, np.inf), (4, 3, -np.inf)])
def test_a_bad_box_is_named(kind, rng, row, column, value):
    boxes = random_boxes(rng, 10, *kind)
    boxes[row, column] = value
    kept = quadrat.BroadPhase(random_boxes(rng, 10, *kind))
    before = kept.find_pairs()
    for call in (lambda: quadrat.find_pairs(boxes), lambda: kept.update(boxes), lambda: kept.insert(boxes),
                 lambda: kept.move(np.arange(10), boxes)):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.row == row and caught.value.kind == "bad_value" and isinstance(caught.value, ValueError)
        if np.isnan(value):
            assert caught.value.column == column
    assert np.array_equal(kept.find_pairs(), before) and len(kept) == 10


def test_too_large_is_a_memory_error_with_the_size(rng):
    boxes = np.tile([0.0, 0, 0, 1, 1, 1], (600, 1))
    with pytest.raises(MemoryError) as caught:
        quadrat.find_pairs(boxes, max_bytes=1000)
    assert str(600 * 599 // 2 * 8) in str(caught.value) and caught.value.kind == "too_large"
    assert len(quadrat.find_pairs(boxes, max_bytes=600 * 599 // 2 * 8)) == 600 * 599 // 2


def test_a_set_that_moves_and_changes(kind, rng):
    boxes = random_boxes(rng, 800, *kind)
    kept = quadrat.BroadPhase()
    assert len(kept) == 0 and kept.find_pairs().shape == (0, 2) and "no boxes" in repr(kept)
    assert kept.insert(boxes[:500]) == 0 and kept.insert(boxes[500:]) == 500
    assert len(kept) == kept.slots == 800
    there = np.ones(800, bool)

    def check():
        slots = np.nonzero(there)[0]
        expected = {(slots[i], slots[j]) for i, j in pairs_of(boxes[there])}
        assert as_set(kept.find_pairs()) == expected

    check()
    for step in range(3):
        boxes += rng.uniform(-0.1, 0.1, boxes.shape[1] // 2).repeat(1).tolist() * 2
        kept.update(boxes)
        check()
    moved = rng.choice(800, 20, replace=False)
    boxes[moved] = random_boxes(rng, 20, *kind)
    kept.move(moved, boxes[moved])
    check()
    gone = rng.choice(800, 30, replace=False)
    kept.erase(gone)
    there[gone] = False
    assert len(kept) == 770 and kept.slots == 800
    check()
    with pytest.raises(IndexError) as caught:
        kept.erase([int(np.nonzero(there)[0][0]), int(gone[0])])
    assert caught.value.row == 1 and len(kept) == 770
    with pytest.raises(quadrat.QuadratError):
        kept.erase([int(np.nonzero(there)[0][0])] * 2)
    check()


def test_questions(kind, rng):
    dimension, dtype = kind
    boxes, queries = random_boxes(rng, 600, *kind), random_boxes(rng, 200, *kind)
    kept = quadrat.BroadPhase(boxes)
    offsets, slots = kept.find(queries)
    expected = overlapping(queries, boxes)
    for q in range(len(queries)):
        assert slots[offsets[q]:offsets[q + 1]].tolist() == np.nonzero(expected[q])[0].tolist()

    points = rng.uniform(-2, 2, (100, dimension)).astype(dtype)
    slots, distances = kept.nearest(points)
    gap = np.maximum(np.maximum(boxes[None, :, :dimension] - points[:, None], points[:, None] - boxes[None, :, dimension:]), 0).astype(float)
    lengths = np.sqrt((gap ** 2).sum(axis=2))
    assert np.allclose(distances, lengths.min(axis=1), rtol=1e-5, atol=1e-6)
    assert np.allclose(lengths[np.arange(100), slots], lengths.min(axis=1), rtol=1e-5, atol=1e-6)

    directions = rng.normal(size=(100, dimension)).astype(dtype)
    slots, distances = kept.closest_hits(points, directions)
    with np.errstate(divide="ignore", invalid="ignore"):
        t0 = (boxes[None, :, :dimension].astype(float) - points[:, None]) / directions[:, None]
        t1 = (boxes[None, :, dimension:].astype(float) - points[:, None]) / directions[:, None]
    enter = np.maximum(np.minimum(t0, t1).max(axis=2), 0)
    leave = np.maximum(t0, t1).min(axis=2)
    first = np.where(enter <= leave, enter, np.inf).min(axis=1)
    assert np.allclose(distances, first, rtol=1e-4, atol=1e-5)
    assert ((slots == -1) == np.isinf(distances)).all()
    short = kept.closest_hits(points, directions, 1e-6)
    assert ((short[0] >= 0) == (first <= 1e-6)).all()


def test_two_sets_of_different_kinds_are_refused():
    a, b = quadrat.BroadPhase([[0, 0, 1, 1.0]]), quadrat.BroadPhase(np.zeros((1, 6)))
    with pytest.raises(quadrat.QuadratError):
        a.find_pairs(b)
    assert as_set(a.find_pairs(a)) == {(0, 0)}


def test_what_cannot_be_copied_says_so():
    with pytest.raises(TypeError):
        copy.deepcopy(quadrat.BroadPhase([[0, 0, 1, 1.0]]))
