"""What a result can do, against loops over its rows."""
import copy
import pickle

import numpy as np
import pytest

import quadrat


@pytest.fixture
def near(rng):
    """Rows of all lengths, empty ones at the front, in the middle and at the end."""
    x = rng.random((300, 3))
    x[[0, 100, 101, 299]] += [[5, 0, 0], [7, 0, 0], [9, 0, 0], [11, 0, 0]]
    return quadrat.find_neighbors(x, 0.12, distances=True, vectors=True)


def test_rows(near):
    rows = list(near.rows())
    assert len(rows) == len(near) == 300 and sum(map(len, rows)) == near.entries
    for k in (0, 5, 100, 299, -1):
        assert np.array_equal(near[k], rows[k]) and np.shares_memory(near[k], near.indices) or len(rows[k]) == 0
        assert np.array_equal(near.row(k).indices, rows[k]) and len(near.row(k).distances) == len(rows[k])
    assert near.counts.tolist() == [len(row) for row in rows]
    for wrong in (300, -301, 10**30):
        with pytest.raises(IndexError):
            near[wrong]
    for wrong in (1.0, "0", slice(3), None, [0]):
        with pytest.raises(TypeError):
            near[wrong]


def test_unpacks_like_a_tuple(near):
    offsets, indices, distances, vectors = near
    assert offsets is near.offsets and indices is near.indices and distances is near.distances and vectors is near.vectors
    offsets, indices = quadrat.find_neighbors(np.zeros((3, 2)), 1)
    assert offsets.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, bool])
def test_sums_and_their_kin(near, rng, shape, dtype):
    values = (rng.random((300, *shape)) * 100).astype(dtype)
    weights = rng.random(near.entries)
    begin, end = near.offsets[:-1], near.offsets[1:]
    each = [values[near.indices[a:b]] for a, b in zip(begin, end)]
    assert np.allclose(near.sum(values), [row.sum(axis=0) for row in each])
    assert np.allclose(near.sum(values, weights=weights),
                       [(row * weights[a:b].reshape(-1, *[1] * len(shape))).sum(axis=0) for row, a, b in zip(each, begin, end)])
    assert np.allclose(near.sum(weights=weights), [weights[a:b].sum() for a, b in zip(begin, end)])
    assert np.array_equal(near.sum(), near.counts)
    with np.errstate(all="ignore"):
        mean = [row.mean(axis=0) if len(row) else np.full(shape, np.nan) for row in each]
    assert np.allclose(near.mean(values), mean, equal_nan=True)
    assert np.array_equal(near.max(values), [row.max(axis=0) if len(row) else np.full(shape, -np.inf) for row in each])
    assert np.array_equal(near.min(values), [row.min(axis=0) if len(row) else np.full(shape, np.inf) for row in each])
    assert np.array_equal(near.min(values, empty=7), [row.min(axis=0) if len(row) else np.full(shape, 7) for row in each])


def test_sums_of_nothing():
    near = quadrat.find_neighbors(np.empty((0, 3)), 1.0, distances=True)
    assert near.sum(np.empty(0)).shape == (0,) and near.sum().shape == (0,) and near.entries == 0
    near = quadrat.find_neighbors([[0.0, 0], [9, 9]], 1.0, distances=True)
    assert near.sum([1.0, 2.0]).tolist() == [0, 0] and np.isnan(near.mean([1.0, 2.0])).all()


def test_wrong_lengths_are_named(near):
    for call in (lambda: near.sum(np.ones(299)), lambda: near.sum(weights=np.ones(3)), lambda: near.reduce(np.add, np.ones(3)),
                 lambda: near.to_scipy(np.ones(3)), lambda: near.sum(np.ones(300), weights=np.ones(3))):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.kind == "bad_shape"


def test_arrays_that_were_spoilt_are_refused(near):
    values = np.ones(300)
    whole = near.sum(values)
    for spoil in (lambda: near.indices.__setitem__(3, 300), lambda: near.indices.__setitem__(3, -1), lambda: near.offsets.__setitem__(5, 10**9),
                  lambda: near.offsets.__setitem__(0, -5), lambda: near.offsets.__setitem__(-1, 10**9)):
        kept = near.indices.copy(), near.offsets.copy()
        spoil()
        with pytest.raises((ValueError, IndexError)):
            near.sum(values), near.to_coo()
        near.indices[:], near.offsets[:] = kept
    assert np.array_equal(near.sum(values), whole)


def test_coo_and_dense(near):
    i, j = near.to_coo()
    assert i.dtype == j.dtype == np.int32 and j is near.indices
    assert np.array_equal(i, np.repeat(np.arange(300), near.counts))
    wide = near.to_coo(np.int64)
    assert wide[0].dtype == wide[1].dtype == np.int64 and np.array_equal(wide[1], j)
    indices, distances = near.to_dense(fill=-5)
    for k in range(300):
        count = near.counts[k]
        assert indices[k, :count].tolist() == near[k].tolist() and (indices[k, count:] == -5).all()
        assert np.array_equal(distances[k, :count], near.row(k).distances) and np.isinf(distances[k, count:]).all()


def test_scipy_shares_the_memory(near, rng):
    matrix = near.to_scipy()
    assert np.shares_memory(matrix.indices, near.indices) and np.shares_memory(matrix.data, near.distances)
    values = rng.random(300)
    assert np.allclose(matrix @ values, near.sum(values, weights=near.distances))
    assert (near.to_scipy(np.ones(near.entries)).sum(axis=1).A1 == near.counts).all()


def test_arrays_live_on_their_own(rng):
    x = rng.random((1000, 3))
    near = quadrat.find_neighbors(x, 0.1, distances=True)
    indices, copied = near.indices, near.indices.copy()
    del near
    for _ in range(5):
        quadrat.find_neighbors(rng.random((1000, 3)), 0.1)
    assert np.array_equal(indices, copied)
    indices[:] = 0  # it is the caller's own


@pytest.mark.parametrize("again", [lambda near: pickle.loads(pickle.dumps(near)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_pickle_and_copy(near, again):
    other = again(near)
    assert other == near and other is not near and other.sum().tolist() == near.counts.tolist()
    assert near != quadrat.find_neighbors(np.zeros((2, 2)), 1) and near != 3
    index = quadrat.CellIndex(0.5, points=np.zeros((5, 3)))
    assert index.find_neighbors(out=other).entries == 20 and near.entries != 20


def test_dlpack(near, rng):
    for array in (near.offsets, near.indices, near.distances, near.vectors):
        assert np.array_equal(np.from_dlpack(array), array)

    class Tensor:
        """What torch and jax look like from here."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = rng.random((100, 3)).astype(np.float32)
    assert quadrat.find_neighbors(Tensor(x), 0.2) == quadrat.find_neighbors(x, 0.2)
    boxes = np.hstack([x, x + 0.1])
    assert np.array_equal(quadrat.find_pairs(Tensor(boxes)), quadrat.find_pairs(boxes))


def test_repr(near):
    assert repr(near) == f"Neighbors: 300 rows, {near.entries} entries, distances, vectors"
