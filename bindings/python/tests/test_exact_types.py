"""Numbers that a type does not hold are never rounded in silence: they are computed in a wider type, or refused with their place."""
import numpy as np
import pytest

import quadrat
from oracle import as_set, entries, matrix_entries, near, overlapping

BEYOND = 2**53 + 1


def test_two_sets_are_computed_in_the_wider_type(rng):
    """1 + 1e-9 is more than 1 in float64, and 1 in float32."""
    a, b = np.array([[0, 0, 1, 1]], np.float32), np.array([[1 + 1e-9, 0, 2, 1]])
    for first, second in ((a, b), (b, a), (a, b.tolist()), (a[:, :], b.reshape(1, 2, 2))):
        assert len(quadrat.find_pairs(first, second)) == 0
    assert len(quadrat.find_pairs(a, b.astype(np.float32))) == 1
    lo = rng.random((200, 3))
    first, second = np.hstack([lo, lo + 0.1]).astype(np.float32), np.hstack([lo, lo + 0.1])[::-1] + 1e-9
    i, j = np.nonzero(overlapping(first.astype(float), second))
    assert as_set(quadrat.find_pairs(first, second)) == set(zip(i.tolist(), j.tolist()))


def test_points_and_queries_are_computed_in_the_wider_type(rng):
    x = np.array([[0, 0]], np.float32)
    assert quadrat.find_neighbors(x, 1.0, queries=np.array([[1 + 1e-9, 0]])).entries == 0
    assert quadrat.find_neighbors(x.astype(float), 1.0, queries=np.array([[1, 0]], np.float32)).distances is None
    found = quadrat.find_nearest(x, 1, queries=np.array([[1 + 1e-9, 0]]))
    assert found.distances.dtype == np.float64 and found.distances[0] == 1 + 1e-9
    points, queries = rng.random((300, 3)).astype(np.float32), rng.random((100, 3))
    found = quadrat.find_neighbors(points, 0.15, queries=queries)
    assert entries(found) == matrix_entries(near(queries, points.astype(float), 0.15))
    assert quadrat.find_neighbors(points, 0.15, queries=queries.astype(np.float32), distances=True).distances.dtype == np.float32


def test_a_structure_of_floats_rounds_no_question(rng):
    """It refuses an array of doubles that float32 does not hold; numbers of Python and doubles that it holds are its own."""
    index = quadrat.CellIndex(1.0, points=np.zeros((1, 2), np.float32))
    boxes = quadrat.BroadPhase(np.array([[0, 0, 1, 1]], np.float32))
    off = np.array([[0.5, 0.5], [1 + 1e-9, 0.0]])
    box = np.hstack([off, off + 1])
    calls = {
        "queries": [lambda v: index.find_neighbors(v), lambda v: index.find_nearest(1, v), lambda v: list(index.chunks(v))],
        "points": [lambda v: boxes.nearest(v), lambda v: boxes.find(points=v)],
        "boxes": [lambda v: boxes.find(box + v[0, 0] * 0), lambda v: boxes.find_any(box), lambda v: boxes.cast_boxes(box, np.ones((2, 2)))],
        "origins": [lambda v: boxes.closest_hits(v, np.ones((2, 2))), lambda v: boxes.find_on_rays(v, np.ones((2, 2)))],
        "directions": [lambda v: boxes.closest_hits(np.zeros((2, 2)), v)],
        "motions": [lambda v: boxes.cast_boxes(np.zeros((2, 4)), v)],
        "lengths": [lambda v: boxes.closest_hits(np.zeros((2, 2)), np.ones((2, 2)), v[:, 0])],
    }
    for field, every in calls.items():
        for call in every:
            with pytest.raises(ValueError, match="no float32") as caught:
                call(off)
            assert (caught.value.field, caught.value.row) == (field, 1)
    assert index.find_neighbors(off.tolist()).entries == 2 and boxes.find(points=off.tolist())[0].tolist() == [0, 1, 2]
    assert index.find_neighbors(off.astype(np.float32).astype(float)).entries == 2
    assert index.find_neighbors(rng.random((4, 2)).astype(np.float32)).distances is None


@pytest.mark.parametrize("dtype,value", [(np.int64, BEYOND), (np.int64, -BEYOND), (np.uint64, 2**63 + 1)])
def test_whole_numbers_beyond_doubles_are_refused(dtype, value):
    points, boxes = np.zeros((3, 2), dtype), np.zeros((3, 4), dtype)
    points[2, 1] = boxes[2, 3] = value
    tall = np.zeros((3, 2, 3), dtype)
    tall[1, 1, 2] = value
    for call, place in ((lambda: quadrat.find_neighbors(points, 1), (2, 1)), (lambda: quadrat.find_nearest(points, 1), (2, 1)),
                        (lambda: quadrat.find_neighbors(np.zeros((1, 2)), 1, queries=points), (2, 1)), (lambda: quadrat.find_pairs(boxes), (2, 3)),
                        (lambda: quadrat.find_pairs(np.zeros((1, 4)), boxes), (2, 3)), (lambda: quadrat.BroadPhase(tall), (1, 5))):
        with pytest.raises(ValueError, match="2\\^53") as caught:
            call()
        assert (caught.value.row, caught.value.column) == place
    points[2, 1] = (1 << 53) * (1 if value > 0 else 0)
    assert quadrat.find_neighbors(points, 1).entries == 2 if value > 0 else 6


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_the_largest_of_whole_numbers(dtype):
    result = quadrat.find_neighbors([[0.0, 0], [1, 0], [9, 9]], 1)
    values = np.array([BEYOND, BEYOND + 2, 5], dtype)
    for call in (result.max, result.min):
        with pytest.raises(ValueError, match="whole number"):
            call(values)
    assert result.max(values, empty=0).tolist() == [BEYOND + 2, BEYOND, 0]
    assert result.max(np.array([1, 2, 3], dtype)).tolist() == [2, 1, -np.inf]
    if dtype is np.uint64:
        huge = np.array([2**63 + 5, 3, 3], dtype)
        assert result.max(huge, empty=0).tolist() == [3, 2**63 + 5, 0]
        with pytest.raises(ValueError, match="negative"):
            result.max(huge, empty=-1)
