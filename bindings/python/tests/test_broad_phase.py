"""What a BroadPhase has beyond boxes and pairs: spheres, filters, half-spaces, rest, events, and every question, against all
objects one by one."""
import numpy as np
import pytest

import quadrat
from oracle import as_set, overlapping, pairs_of, random_boxes


def random_spheres(rng, count, dimension, dtype, size=0.2):
    return np.hstack([rng.uniform(-1, 1, (count, dimension)), size * rng.random((count, 1))]).astype(dtype)


def touching(spheres):
    """Pairs of spheres, by the library's comparison in the type of the spheres."""
    centers, radii = spheres[:, :-1], spheres[:, -1]
    square = ((centers[:, None] - centers[None]) ** 2).sum(axis=2)
    slack = 1e-5 * (radii[:, None] + radii[None]) ** 2
    reach = (radii[:, None] + radii[None]) ** 2
    sure, perhaps = np.triu(square <= reach - slack, 1), np.triu(square <= reach + slack, 1)
    return tuple(set(zip(*(x.tolist() for x in np.nonzero(which)))) for which in (sure, perhaps))


def gaps(points, boxes):
    """(points, boxes): how far each box is from each point, in double."""
    d = points.shape[1]
    p, b = points.astype(float), boxes.astype(float)
    gap = np.maximum(np.maximum(b[None, :, :d] - p[:, None], p[:, None] - b[None, :, d:]), 0)
    return np.sqrt((gap ** 2).sum(axis=2))


def enters(origins, directions, boxes):
    """(rays, boxes): where each ray enters each box, infinity where it does not."""
    d = origins.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        t0 = (boxes[None, :, :d].astype(float) - origins[:, None]) / directions[:, None].astype(float)
        t1 = (boxes[None, :, d:].astype(float) - origins[:, None]) / directions[:, None].astype(float)
    enter, leave = np.maximum(np.minimum(t0, t1).max(axis=2), 0), np.maximum(t0, t1).min(axis=2)
    return np.where(enter <= leave, enter, np.inf)


def rows(found):
    offsets, slots = found
    assert offsets.dtype == np.int64 and slots.dtype == np.int32 and offsets[-1] == len(slots)
    return [slots[a:b].tolist() for a, b in zip(offsets, offsets[1:])]


def test_spheres(kind, rng):
    dimension, _ = kind
    spheres = random_spheres(rng, 500, *kind)
    kept = quadrat.BroadPhase(spheres=spheres)
    for step in range(3):
        sure, perhaps = touching(spheres)
        found = as_set(kept.find_pairs())
        assert sure <= found <= perhaps and len(sure) > 50
        spheres[:, :dimension] += rng.uniform(-0.1, 0.1, (500, dimension)).astype(spheres.dtype)
        kept.update(spheres=spheres)
    spheres[:20] = random_spheres(rng, 20, *kind)
    kept.move(np.arange(20), spheres=spheres[:20])
    sure, perhaps = touching(spheres)
    assert sure <= as_set(kept.find_pairs()) <= perhaps
    assert "spheres" in repr(kept) and len(kept) == 500
    for call in (lambda: kept.update(random_boxes(rng, 500, *kind)), lambda: kept.insert(random_boxes(rng, 1, *kind)),
                 lambda: kept.move([0], random_boxes(rng, 1, *kind)), lambda: kept.insert(spheres=spheres[:, :-1])):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.kind == "bad_shape"
    spheres[7, -1] = -1
    for call in (lambda: kept.update(spheres=spheres), lambda: kept.move(np.arange(500), spheres=spheres),
                 lambda: quadrat.BroadPhase(spheres=spheres)):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.row == 7
    assert sure <= as_set(kept.find_pairs()) <= perhaps


def may_meet(group, mask):
    return ((group[:, None] & mask[None]) != 0) & ((group[None] & mask[:, None]) != 0)


def test_filters(kind, rng):
    boxes = random_boxes(rng, 600, *kind)
    group, mask = (rng.integers(0, 8, 600).astype(np.uint32) for _ in range(2))
    group[::7] = 0xFFFFFFFF
    kept = quadrat.BroadPhase(boxes, group=group, mask=mask)
    allowed = may_meet(group, mask)
    expected = {(i, j) for i, j in pairs_of(boxes) if allowed[i, j]}
    assert as_set(kept.find_pairs()) == expected and 0 < len(expected) < len(pairs_of(boxes))
    kept.update(boxes)
    assert as_set(kept.find_pairs()) == expected

    group[100:200], mask[100:200] = 2, 0xFFFFFFFF
    kept.set_filter(np.arange(100, 200), 2)
    allowed = may_meet(group, mask)
    assert as_set(kept.find_pairs()) == {(i, j) for i, j in pairs_of(boxes) if allowed[i, j]}
    first = kept.insert(boxes[:5], mask=0)
    assert first == 600 and not (kept.find_pairs() >= 600).any()

    queries = boxes[:50] + np.asarray(0.01, boxes.dtype)
    seen = ((group & 3) != 0) & ((mask & 4) != 0)
    expected = [[j for j in np.nonzero(row)[0].tolist() if seen[j]] for row in overlapping(queries, boxes)]
    assert [[j for j in row if j < 600] for row in rows(kept.find(queries, group=4, mask=3))] == expected
    assert (kept.find_any(queries, group=4, mask=3) >= 0).tolist() == [bool(row) for row in expected]
    lengths = np.where(seen, gaps(queries[:, :kind[0]], boxes), np.inf)
    assert np.allclose(kept.nearest(queries[:, :kind[0]], group=4, mask=3)[1], lengths.min(axis=1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [{"group": [1, 2, 3]}, {"mask": -1}, {"group": 2 ** 32}, {"group": 1.5}, {"mask": [[1]]}], ids=str)
def test_filters_that_are_none(options):
    boxes = [[0, 0, 1, 1], [0, 0, 2, 2]]
    with pytest.raises((quadrat.QuadratError, TypeError)):
        quadrat.BroadPhase(boxes, **options)
    kept = quadrat.BroadPhase(boxes)
    with pytest.raises((quadrat.QuadratError, TypeError)):
        kept.insert(boxes, **options)
    assert len(kept) == 2


def test_half_spaces(kind, rng):
    dimension, dtype = kind
    boxes = random_boxes(rng, 200, *kind)
    kept = quadrat.BroadPhase(boxes)
    normals = rng.normal(size=(3, dimension)).astype(dtype)
    slots = kept.insert_half_spaces(normals, [-0.5, 0, 0.25])
    assert slots.tolist() == [200, 201, 202] and len(kept) == 203
    nearest = np.where(normals[:, None] > 0, boxes[None, :, :dimension], boxes[None, :, dimension:]).astype(float)
    below = (nearest * normals[:, None]).sum(axis=2) - np.array([-0.5, 0, 0.25])[:, None]
    sure = {(j, 200 + h) for h, j in zip(*(x.tolist() for x in np.nonzero(below < -1e-5)))}
    perhaps = {(j, 200 + h) for h, j in zip(*(x.tolist() for x in np.nonzero(below < 1e-5)))}
    found = {pair for pair in as_set(kept.find_pairs()) if pair[1] >= 200 and pair[0] < 200}
    assert sure <= found <= perhaps
    with pytest.raises(quadrat.QuadratError) as caught:
        kept.insert_half_spaces([[1] * dimension, [0] * dimension], 0)
    assert caught.value.row == 1 and len(kept) == 203


def test_rest(kind, rng):
    boxes = random_boxes(rng, 500, *kind)
    kept = quadrat.BroadPhase(boxes)
    asleep = np.zeros(500, bool)

    def check():
        assert (kept.resting == asleep).all() and kept.stats()["resting"] == asleep.sum()
        assert as_set(kept.find_pairs()) == {(i, j) for i, j in pairs_of(boxes) if not (asleep[i] and asleep[j])}

    kept.rest(np.arange(300))
    asleep[:300] = True
    check()
    boxes[300:] += np.asarray(0.05, boxes.dtype)
    moved = boxes.copy()
    moved[:300] = np.nan  # is not looked at
    kept.update(moved)
    check()
    assert rows(kept.find(boxes[:40])) == [np.nonzero(row)[0].tolist() for row in overlapping(boxes[:40], boxes)]
    kept.wake([5, 6])
    asleep[[5, 6]] = False
    check()
    boxes[10] += np.asarray(0.3, boxes.dtype)
    kept.move([10], boxes[10:11])
    asleep[10] = False
    check()
    with pytest.raises(IndexError):
        kept.rest([0, 500])


def test_events(kind, rng):
    boxes = random_boxes(rng, 400, *kind)
    kept = quadrat.BroadPhase(boxes)
    before = set()
    for step in range(5):
        now = as_set(kept.find_pairs())
        begun, persisting, ended = kept.find_events()
        assert (as_set(begun), as_set(persisting), as_set(ended)) == (now - before, now & before, before - now)
        assert begun.dtype == np.uint32 and begun.shape[1] == 2
        before = now
        boxes += rng.uniform(-0.05, 0.05, (400, 1)).astype(boxes.dtype)
        kept.update(boxes)
    kept.find_events()
    before = as_set(kept.find_pairs())
    slot = int(next(iter(before))[0])
    kept.erase([slot])
    assert not kept.occupied[slot] and kept.occupied.sum() == 399
    gone = {pair for pair in before if slot in pair}
    assert as_set(kept.find_events().ended) == gone
    empty = quadrat.BroadPhase().find_events()
    assert [len(part) for part in empty] == [0, 0, 0]


def test_events_of_a_slot_that_is_used_again():
    kept = quadrat.BroadPhase([[0, 0, 1, 1], [1, 1, 2, 2]])
    assert as_set(kept.find_events().begun) == {(0, 1)}
    kept.erase([1])
    kept.insert([[1, 1, 2, 2]])
    events = kept.find_events()
    assert as_set(kept.find_pairs()) == {(0, 1)}
    assert as_set(events.begun) == as_set(events.ended) == {(0, 1)} and len(events.persisting) == 0


def test_clear(kind, rng):
    boxes = random_boxes(rng, 50, *kind)
    kept = quadrat.BroadPhase(boxes)
    kept.clear()
    assert len(kept) == kept.slots == len(kept.find_pairs()) == 0
    assert kept.insert(boxes) == 0 and as_set(kept.find_pairs()) == pairs_of(boxes)
    quadrat.BroadPhase().clear()


@pytest.mark.parametrize("threads", [1, 3])
def test_questions_of_every_shape(kind, rng, threads):
    dimension, dtype = kind
    boxes = random_boxes(rng, 500, *kind)
    kept = quadrat.BroadPhase(boxes, threads=threads)
    points = rng.uniform(-1.2, 1.2, (1500, dimension)).astype(dtype)
    inside = ((boxes[None, :, :dimension] <= points[:, None]) & (points[:, None] <= boxes[None, :, dimension:])).all(axis=2)
    assert rows(kept.find(points=points)) == [np.nonzero(row)[0].tolist() for row in inside]

    spheres = np.hstack([points, np.full((1500, 1), 0.1)]).astype(dtype)
    lengths = gaps(points, boxes)
    for row, length in zip(rows(kept.find(spheres=spheres)), lengths):
        assert set(np.nonzero(length < 0.1 - 1e-6)[0].tolist()) <= set(row) <= set(np.nonzero(length < 0.1 + 1e-6)[0].tolist())

    motions = rng.normal(size=(1500, dimension), scale=0.5).astype(dtype)
    enter = enters(points, motions, boxes)
    segments = np.hstack([points, points + motions])
    for found, most in ((kept.find(segments=segments), 1.0), (kept.find_on_rays(points, motions, 0.5), 0.5),
                        (kept.find_on_rays(points, motions), 1e9)):
        for row, at in zip(rows(found), enter):
            assert set(np.nonzero(at < most - 1e-4)[0].tolist()) <= set(row) <= set(np.nonzero(at < most + 1e-3)[0].tolist())

    slots, distances = kept.nearest(points, 5)
    assert slots.shape == distances.shape == (1500, 5)
    assert np.allclose(distances, np.sort(lengths, axis=1)[:, :5], rtol=1e-5, atol=1e-6)
    assert np.allclose(np.take_along_axis(lengths, slots, axis=1), distances, rtol=1e-5, atol=1e-6)
    slots, distances = quadrat.BroadPhase(boxes[:3]).nearest(points, 5)
    assert (slots[:, 3:] == -1).all() and np.isinf(distances[:, 3:]).all()


def test_what_moves_meets_first(kind, rng):
    dimension, dtype = kind
    boxes = random_boxes(rng, 300, *kind)
    kept = quadrat.BroadPhase(boxes)
    moving = random_boxes(rng, 200, *kind, size=0.1)
    motions = rng.normal(size=(200, dimension)).astype(dtype)
    # A box that moves against others is a point that moves against others that are larger.
    first = []
    for box, motion in zip(moving, motions):
        grown = boxes.astype(float) - np.concatenate([box[dimension:], box[:dimension]])
        first.append(enters(np.zeros((1, dimension)), motion[None], grown)[0].min())
    first = np.array(first)
    first[first > 1] = np.inf
    slots, shares = kept.cast_boxes(moving, motions)
    clear = (first < 0.999) | np.isinf(first)
    assert np.allclose(shares[clear], first[clear], rtol=1e-4, atol=1e-4) and ((slots == -1) == np.isinf(shares)).all()
    balls = np.hstack([(moving[:, :dimension] + moving[:, dimension:]) / 2, np.full((200, 1), 1e-6)]).astype(dtype)
    through = enters(balls[:, :dimension], motions, boxes).min(axis=1)
    through[through > 1] = np.inf
    slots, shares = kept.cast_spheres(balls, motions)
    clear = (through < 0.999) & (through > 1e-3)
    assert np.allclose(shares[clear], through[clear], rtol=1e-3, atol=1e-3)


def test_a_bad_question_is_named(rng):
    kept = quadrat.BroadPhase(random_boxes(rng, 100, 3, np.float64))
    points = rng.random((40000, 3))
    points[35000, 1] = np.nan
    boxes = np.hstack([points, points])
    spheres = np.hstack([np.nan_to_num(points), np.ones((40000, 1))])
    spheres[35000, 3] = -1
    other = np.nan_to_num(points)
    for call in (lambda: kept.find(points=points), lambda: kept.find(boxes), lambda: kept.find(spheres=spheres),
                 lambda: kept.find(segments=boxes), lambda: kept.find_on_rays(points, other), lambda: kept.find_any(boxes),
                 lambda: kept.nearest(points), lambda: kept.nearest(points, 3), lambda: kept.closest_hits(points, other),
                 lambda: kept.closest_hits(other, points), lambda: kept.cast_boxes(boxes, other),
                 lambda: kept.cast_spheres(spheres, other), lambda: kept.cast_boxes(np.hstack([other, other]), points)):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert (caught.value.kind, caught.value.row) == ("bad_value", 35000)
    for call in (lambda: kept.find(), lambda: kept.find(boxes, points=points), lambda: kept.insert(),
                 lambda: kept.update(boxes, spheres=spheres)):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: kept.nearest(other, 0), lambda: kept.cast_boxes(np.hstack([other, other]), other[:-1]),
                 lambda: kept.closest_hits(other, other[:3]), lambda: quadrat.BroadPhase().nearest(other),
                 lambda: kept.find(points=other[:, :2])):
        with pytest.raises(quadrat.QuadratError):
            call()


def test_no_questions_at_all(kind):
    dimension, dtype = kind
    kept = quadrat.BroadPhase(np.zeros((3, 2 * dimension), dtype))
    none, boxes = np.empty((0, dimension), dtype), np.empty((0, 2 * dimension), dtype)
    for found in (kept.find(boxes), kept.find(points=none), kept.find_on_rays(none, none)):
        assert found[0].tolist() == [0] and len(found[1]) == 0
    assert len(kept.find_any(boxes)) == len(kept.nearest(none)[0]) == len(kept.cast_boxes(boxes, none)[0]) == 0
    assert kept.nearest(none, 4)[0].shape == (0, 4)
