"""BroadPhase(box=...) and find_pairs(box=...) against all images one by one."""
import itertools

import numpy as np
import pytest

import quadrat
from oracle import random_boxes


def images(boxes, period):
    """{(i, j, shift...)} with i < j: box i overlaps box j moved by shift * period, in double as the library writes it."""
    d = len(period)
    lo, hi = boxes[:, :d].astype(float), boxes[:, d:].astype(float)
    out = set()
    for shift in itertools.product(*[range(-3, 4) if length else (0,) for length in period]):
        move = np.array(shift) * period
        meet = ((lo[:, None] <= (hi + move)[None]) & ((lo + move)[None] <= hi[:, None])).all(axis=2)
        out |= {(i, j, *shift) for i, j in zip(*(x.tolist() for x in np.nonzero(np.triu(meet, 1))))}
    return out


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("open_axis", [None, 0])
def test_all_images(kind, rng, threads, open_axis):
    dimension, dtype = kind
    period = np.array([2.0, 2.25, 2.5])[:dimension]
    if open_axis is not None:
        period[open_axis] = 0
    boxes = random_boxes(rng, 150, dimension, dtype, 0.5) + rng.integers(-1, 2, (150, 1)).astype(dtype)
    world = quadrat.BroadPhase(boxes, box=period, threads=threads)
    pairs, shifts = world.find_pairs(shifts=True, sort=True)
    found = [tuple(row) for row in np.hstack([pairs.astype(int), shifts]).tolist()]
    assert len(set(found)) == len(found) and set(found) == images(boxes, period) and found == sorted(found)
    assert pairs.dtype == np.uint32 and shifts.dtype == np.int32 and shifts.shape == (len(pairs), dimension)
    assert np.array_equal(quadrat.find_pairs(boxes, box=period, sort=True), pairs)
    assert np.array_equal(quadrat.find_pairs(boxes, box=period, sort=True, shifts=True, dtype=np.int64)[0], pairs)
    assert len(world) == world.slots == 150 and world.stats()["images"] > 0 and "periodic" in repr(world)
    world.update(boxes[:10])
    assert len(world) == 10
    world.clear()
    assert len(world.find_pairs()) == 0


def test_what_a_periodic_world_is_not(rng):
    boxes = random_boxes(rng, 10, 2, np.float64)
    world, plain = quadrat.BroadPhase(boxes, box=[2, 2]), quadrat.BroadPhase(boxes)
    for call in (lambda: world.insert(boxes), lambda: world.find(boxes), lambda: world.erase([0]), lambda: world.find_events(),
                 lambda: world.nearest([[0, 0]]), lambda: world.find_pairs(plain), lambda: plain.find_pairs(world), lambda: plain.find_pairs(shifts=True),
                 lambda: quadrat.BroadPhase(spheres=[[0, 0, 1]], box=[2, 2]), lambda: quadrat.BroadPhase(boxes, group=1, box=[2, 2]),
                 lambda: quadrat.find_pairs(boxes, shifts=True), lambda: quadrat.find_pairs(boxes, boxes, box=[2, 2])):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.kind == "unsupported"
    for box in ([2], [2, 2, 2, 2], [[2, 0], [0, 2]], [-1, 2], [np.nan, 2], [0.1, 0.1]):
        with pytest.raises(ValueError):
            quadrat.BroadPhase(boxes, box=box)
    bad = boxes.copy()
    bad[3, 1] = np.nan
    with pytest.raises(quadrat.QuadratError) as caught:
        world.update(bad)
    assert (caught.value.row, caught.value.field) == (3, "boxes") and len(world) == 10
    with pytest.raises(MemoryError):
        quadrat.BroadPhase(np.zeros((2000, 4)) + [0, 0, 0.1, 0.1], box=[2, 2], max_bytes=1000).find_pairs()
    assert len(quadrat.BroadPhase(box=[2, 2]).find_pairs()) == 0
