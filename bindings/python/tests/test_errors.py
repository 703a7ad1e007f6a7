"""Where a mistake is: row, column and the name of the argument; sizes of what does not fit; progress wherever a call is long."""
import time

import numpy as np
import pytest

import quadrat
from oracle import random_boxes


def spoilt(rows, row, column):
    out = np.array(rows, float)
    out[row, column] = np.nan
    return out


def test_the_argument_is_named(rng):
    x, boxes = rng.random((20, 3)), random_boxes(rng, 20, 3, np.float64)
    spheres, ones = np.column_stack([x, np.full(20, 0.1)]), np.ones((20, 3))
    index, kept, round_ = quadrat.CellIndex(0.1, points=x), quadrat.BroadPhase(boxes), quadrat.BroadPhase(spheres=spheres)
    bad, bad_boxes, bad_spheres = spoilt(x, 7, 2), spoilt(boxes, 7, 2), spoilt(spheres, 7, 2)
    calls = {
        "points": [lambda: quadrat.find_neighbors(bad, 1), lambda: quadrat.find_nearest(bad, 1), lambda: quadrat.count_neighbors(bad, 1),
                   lambda: quadrat.CellIndex(1, points=bad), lambda: index.update(bad), lambda: index.insert(bad), lambda: quadrat.z_order(bad, 1),
                   lambda: kept.nearest(bad), lambda: kept.nearest(bad, 2), lambda: kept.find(points=bad)],
        "queries": [lambda: quadrat.find_neighbors(x, 1, queries=bad), lambda: quadrat.find_nearest(x, 1, queries=bad), lambda: index.find_neighbors(bad),
                    lambda: index.find_nearest(2, bad)],
        "boxes": [lambda: quadrat.find_pairs(bad_boxes), lambda: quadrat.BroadPhase(bad_boxes), lambda: kept.update(bad_boxes), lambda: kept.insert(bad_boxes),
                  lambda: kept.move(range(20), bad_boxes), lambda: kept.find(bad_boxes), lambda: kept.find_any(bad_boxes),
                  lambda: kept.cast_boxes(bad_boxes, ones)],
        "spheres": [lambda: quadrat.BroadPhase(spheres=bad_spheres), lambda: round_.update(spheres=bad_spheres), lambda: kept.find(spheres=bad_spheres),
                    lambda: round_.move(range(20), spheres=bad_spheres), lambda: kept.cast_spheres(bad_spheres, ones)],
        "segments": [lambda: kept.find(segments=bad_boxes)],
        "origins": [lambda: kept.closest_hits(bad, ones), lambda: kept.find_on_rays(bad, ones)],
        "directions": [lambda: kept.closest_hits(ones, bad), lambda: kept.find_on_rays(ones, bad)],
        "lengths": [lambda: kept.closest_hits(ones, ones, bad[:, 2]), lambda: kept.find_on_rays(ones, ones, bad[:, 2])],
        "motions": [lambda: kept.cast_boxes(boxes, bad), lambda: kept.cast_spheres(spheres, bad)],
        "other": [lambda: quadrat.find_pairs(boxes, bad_boxes)],
        "radii": [lambda: quadrat.find_neighbors(x, radii=bad[:, 2])],
    }
    for field, every in calls.items():
        for k, call in enumerate(every):
            with pytest.raises(quadrat.QuadratError) as caught:
                call()
            assert (caught.value.row, caught.value.field) == (7, field), (field, k, str(caught.value))
            assert field in str(caught.value)


def test_memory_errors_name_their_sizes(rng):
    boxes = random_boxes(rng, 2000, 3, np.float64, 0.5)
    kept = quadrat.BroadPhase(boxes, max_bytes=10_000)
    for call in (lambda: quadrat.BroadPhase(boxes).nearest(boxes[:8, :3], 2**31), lambda: kept.find(boxes), lambda: kept.nearest(boxes[:, :3], 5),
                 kept.find_pairs, lambda: quadrat.find_pairs(boxes, boxes, max_bytes=100), lambda: quadrat.count_neighbors(boxes[:, :3], 0.1, max_bytes=100)):
        with pytest.raises(quadrat.TooLargeError, match=r"\d+ .*bytes|bytes.*\d+") as caught:
            call()
        assert isinstance(caught.value, MemoryError) and caught.value.kind == "too_large"
    assert len(kept.nearest(boxes[:10, :3], 5)[0]) == 10 and len(kept.find(boxes[:2])[0]) == 3


def test_mistakes_of_other_kinds():
    voxels = quadrat.pack([[0, 0], [1, 5]], [1, 2])
    assert [position for position in voxels] == [(0, 0), (1, 5)]
    run = pytest.importorskip("quadrat._simulation").Simulation({"domain": {"lo": [0, 0], "hi": [1, 1]}, "dimension": 2, "spacing": 0.1,
                                                               "blocks": [{"lo": [0, 0], "hi": [0.5, 0.5]}]})
    for time in (np.nan, np.inf):
        with pytest.raises(quadrat.QuadratError) as caught:
            run.advance_to(time)
        assert caught.value.field == "time" and run.time == 0


def test_progress_wherever_it_is_long(rng):
    x, boxes = rng.random((200_000, 3)), random_boxes(rng, 60_000, 3, np.float64, 0.25)
    index = quadrat.CellIndex(0.25, points=x, threads=1)
    kept, other = quadrat.BroadPhase(boxes, threads=1), quadrat.BroadPhase(boxes + 0.01, threads=1)
    periodic = quadrat.BroadPhase(boxes, box=[3, 3, 3], threads=1)
    for call in (index.count_neighbors, index.count_pairs, lambda **more: quadrat.count_neighbors(x, 0.25, threads=1, **more),
                 lambda **more: kept.find_pairs(other, **more), lambda **more: quadrat.find_pairs(boxes, boxes + 0.01, threads=1, **more), periodic.find_pairs):
        told, begin = [], time.monotonic()
        call(progress=told.append)
        if time.monotonic() - begin > 0.3:  # what is over at once has nothing to tell
            assert told
        assert told == sorted(told) and all(0 <= fraction <= 1 for fraction in told)

        def enough(fraction):
            raise LookupError("enough")

        if told:
            with pytest.raises(LookupError, match="enough"):
                call(progress=enough)
        call(progress=None)


def test_progress_of_a_run_changes_nothing():
    Simulation = pytest.importorskip("quadrat._simulation").Simulation
    scene = {"domain": {"lo": [0, 0, 0], "hi": [0.8, 0.4, 0.6]}, "spacing": 0.03, "blocks": [{"lo": [0, 0, 0], "hi": [0.4, 0.4, 0.4]}]}
    one, two = Simulation(scene), Simulation(scene)
    told = []
    one.advance_to(0.12, progress=told.append)
    two.advance_to(0.12)
    assert one.time == two.time == 0.12 and np.array_equal(one.positions, two.positions) and np.array_equal(one.velocities, two.velocities)
    assert told and told == sorted(told) and 0 <= told[0] and told[-1] <= 1

    def enough(fraction):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        one.advance_to(100, progress=enough)
    assert 0.12 <= one.time < 100
    one.step()
