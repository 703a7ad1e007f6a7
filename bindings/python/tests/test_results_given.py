"""find_neighbors(out=...) and find_nearest(out=...): what is refused leaves a result as it was."""
import numpy as np
import pytest

import quadrat
from test_calls import interrupted_after


@pytest.fixture
def index(rng):
    return quadrat.CellIndex(0.2, points=rng.random((300, 3)))


def test_a_call_that_is_refused_leaves_the_result(index, rng):
    near = index.find_neighbors(distances=True, vectors=True)
    whole = quadrat.CellIndex(0.2, points=rng.random((10, 3))).find_neighbors(distances=True, out=None)
    assert whole is not near
    expected = index.find_neighbors(distances=True, vectors=True)
    bad = rng.random((50, 3))
    bad[7, 1] = np.nan
    own = quadrat.CellIndex(points=rng.random((50, 3)), radii=np.full(50, 0.1))
    for call in (lambda: index.find_neighbors(bad, out=near), lambda: index.find_neighbors(bad[:5], half=True, out=near),
                 lambda: index.find_neighbors(groups=np.zeros(3, np.uint8), out=near), lambda: own.find_neighbors(half=True, out=near),
                 lambda: index.find_neighbors(groups=np.arange(300) % 2, searches=[3, 0], half=True, out=near),
                 lambda: index.find_nearest(3, bad, out=near), lambda: index.find_nearest(0, out=near),
                 lambda: index.find_neighbors(rng.random((4, 2)), out=near)):
        with pytest.raises(ValueError):
            call()
        assert near == expected
    assert index.find_neighbors(out=near) is near and near == index.find_neighbors()


def test_a_search_that_is_stopped_leaves_a_result_without_rows(rng):
    index = quadrat.CellIndex(0.06, points=rng.random((300_000, 3)), threads=2)
    near = quadrat.CellIndex(0.01, points=rng.random((1000, 3))).find_neighbors()
    held, copied = near.indices, near.indices.copy()
    interrupted_after(0.1, lambda: index.find_neighbors(distances=True, out=near))
    assert near.entries == 0 and len(near) == 0 and np.array_equal(held, copied)
    small = quadrat.CellIndex(0.1, points=rng.random((100, 3)))
    assert small.find_neighbors(out=near) == small.find_neighbors()
