"""quadrat.scipy.KDTree against scipy.spatial.KDTree."""
import numpy as np
import pytest

scipy_spatial = pytest.importorskip("scipy.spatial")

import quadrat.scipy  # noqa: E402


def clouds():
    rng = np.random.default_rng(5)
    yield "random 2D", rng.random((300, 2)), None
    yield "random 3D", rng.random((300, 3)), None
    yield "periodic 2D", rng.random((200, 2)), [1.0, 1.0]
    yield "periodic 3D", rng.random((200, 3)), 1.0
    yield "periodic in x", rng.random((200, 3)), [1.0, 0.0, 0.0]
    yield "lattice", np.stack(np.meshgrid(*[np.arange(6.0)] * 3), -1).reshape(-1, 3), None
    yield "coincident", np.repeat(rng.random((40, 3)), 5, axis=0), None
    yield "one", rng.random((1, 3)), None
    yield "two in a small box", np.array([[0.1, 0.1, 0.1], [0.5, 0.5, 0.5]]), 1.0
    yield "single precision", rng.random((200, 3)).astype(np.float32), None
    yield "far away", rng.random((100, 3)) + 1e6, None


CLOUDS = list(clouds())


@pytest.fixture(params=CLOUDS, ids=[name for name, _, _ in CLOUDS])
def both(request):
    """(ours, theirs, queries)"""
    _, data, boxsize = request.param
    rng = np.random.default_rng(6)
    queries = data.min() + np.ptp(data) * 1.2 * (rng.random((60, data.shape[1])) - 0.1) if boxsize is None else rng.random((60, data.shape[1]))
    if boxsize is not None:
        boxsize = np.broadcast_to(boxsize, data.shape[1])
    return quadrat.scipy.KDTree(data, boxsize=boxsize), scipy_spatial.KDTree(data, boxsize=boxsize), queries


RADII = [0.0, 0.05, 0.3, 0.8, 1.0]


@pytest.mark.parametrize("k", [1, 2, 7, [1], [2, 5]])
@pytest.mark.parametrize("bound", [np.inf, 0.21, 0.0])
def test_query(both, k, bound):
    ours, theirs, queries = both
    for x in (queries, queries[0], queries.reshape(3, 20, -1), queries[:0]):
        d, i = ours.query(x, k, distance_upper_bound=bound)
        expected_d, expected_i = theirs.query(x, k, distance_upper_bound=bound)
        assert np.shape(d) == np.shape(expected_d) and np.shape(i) == np.shape(expected_i)
        assert np.allclose(d, expected_d, rtol=1e-12, atol=1e-12)
        # Where distances are equal any of the points will do: it is the distance of the one that was named.
        named = np.asarray(i) < ours.n
        assert np.array_equal(named, np.asarray(expected_i) < ours.n)
        x3 = np.broadcast_to(np.expand_dims(x, -2) if np.ndim(d) > np.ndim(x) - 1 else x, (*np.shape(d), ours.m))[named]
        delta = np.abs(x3 - ours.data[np.asarray(i)[named]])
        if ours.boxsize is not None:
            delta = np.where(ours.boxsize > 0, np.minimum(delta, np.abs(ours.boxsize - delta)), delta)
        assert np.allclose(np.sqrt((delta ** 2).sum(axis=-1)), np.asarray(d)[named], atol=1e-9)


@pytest.mark.parametrize("r", RADII)
def test_query_pairs(both, r):
    ours, theirs, _ = both
    assert ours.query_pairs(r) == theirs.query_pairs(r)
    array = ours.query_pairs(r, output_type="ndarray")
    assert array.dtype == np.intp and set(map(tuple, array.tolist())) == theirs.query_pairs(r)


@pytest.mark.parametrize("r", RADII)
def test_query_ball_point(both, r):
    ours, theirs, queries = both
    for x in (queries, queries.reshape(3, 20, -1)):
        found, expected = ours.query_ball_point(x, r), theirs.query_ball_point(x, r, return_sorted=True)
        assert found.shape == expected.shape and found.tolist() == expected.tolist()
        assert np.array_equal(ours.query_ball_point(x, r, return_length=True), theirs.query_ball_point(x, r, return_length=True))
    assert sorted(ours.query_ball_point(queries[0], r)) == sorted(theirs.query_ball_point(queries[0], r))
    radii = np.linspace(0, 0.5, 4)[np.arange(60) % 4]
    assert ours.query_ball_point(queries, radii).tolist() == theirs.query_ball_point(queries, radii, return_sorted=True).tolist()


@pytest.mark.parametrize("r", RADII)
def test_query_ball_tree(both, r):
    ours, theirs, queries = both
    inside = queries if ours.boxsize is None else queries % 1.0
    other, their_other = quadrat.scipy.KDTree(inside, boxsize=ours.boxsize), scipy_spatial.KDTree(inside, boxsize=theirs.boxsize)
    assert ours.query_ball_tree(other, r) == [sorted(row) for row in theirs.query_ball_tree(their_other, r)]
    counts = [0.0, 0.1, 0.1, r + 0.2]
    assert ours.count_neighbors(other, r) == theirs.count_neighbors(their_other, r)
    assert np.array_equal(ours.count_neighbors(other, counts), theirs.count_neighbors(their_other, counts))
    assert np.array_equal(ours.count_neighbors(other, counts, cumulative=False), theirs.count_neighbors(their_other, counts, cumulative=False))


@pytest.mark.parametrize("r", RADII)
def test_sparse_distance_matrix(both, r):
    ours, theirs, queries = both
    other, their_other = quadrat.scipy.KDTree(queries, boxsize=ours.boxsize), scipy_spatial.KDTree(queries, boxsize=theirs.boxsize)
    found, expected = ours.sparse_distance_matrix(other, r, output_type="dict"), theirs.sparse_distance_matrix(their_other, r, output_type="dict")
    assert found.keys() == expected.keys() and all(np.isclose(found[key], expected[key], atol=1e-12) for key in found)
    rows = ours.sparse_distance_matrix(other, r, output_type="ndarray")
    assert {(i, j): v for i, j, v in rows.tolist()} == found
    for kind in ("coo_matrix", "dok_matrix"):
        assert np.allclose(ours.sparse_distance_matrix(other, r, output_type=kind).toarray(),
                           theirs.sparse_distance_matrix(their_other, r, output_type=kind).toarray(), atol=1e-12)


def test_what_is_refused():
    tree = quadrat.scipy.KDTree(np.zeros((3, 2)))
    for call in (lambda: tree.query([[0, 0]], p=1), lambda: tree.query_pairs(1, p=np.inf), lambda: tree.count_neighbors(tree, 1, weights=[1, 1, 1])):
        with pytest.raises(NotImplementedError):
            call()
    for call in (lambda: tree.query([[0, 0, 0]]), lambda: tree.query([0, 0], k=0), lambda: quadrat.scipy.KDTree([[0.0, 2.0]], boxsize=1),
                 lambda: tree.query_pairs(1, output_type="list"), lambda: tree.query([[np.nan, 0]])):
        with pytest.raises(ValueError):
            call()
    assert quadrat.scipy.KDTree(np.empty((0, 3))).query([0, 0, 0]) == (np.inf, 0)
    assert quadrat.scipy.KDTree(np.empty((0, 3))).query_pairs(1) == set()


def test_radii_that_are_no_numbers(both):
    """As scipy: everything is within infinity, and nothing within NaN."""
    ours, theirs, queries = both
    for r in (np.inf, np.nan):
        assert ours.query_ball_point(queries, r).tolist() == theirs.query_ball_point(queries, r, return_sorted=True).tolist()
        assert ours.query_pairs(r) == theirs.query_pairs(r)
        assert ours.query_ball_tree(ours, r) == [sorted(row) for row in theirs.query_ball_tree(theirs, r)]
        assert ours.count_neighbors(ours, r) == theirs.count_neighbors(theirs, r)
        found, expected = ours.sparse_distance_matrix(ours, r, output_type="dict"), theirs.sparse_distance_matrix(theirs, r, output_type="dict")
        assert found.keys() == expected.keys() and all(np.isclose(found[key], expected[key], atol=1e-9) for key in found)
    radii = np.array([0.1, np.nan, np.inf, 0.0, -1.0])[np.arange(60) % 5]
    expected = theirs.query_ball_point(queries, np.where(radii < 0, np.nan, radii), return_sorted=True)
    assert ours.query_ball_point(queries, radii).tolist() == expected.tolist()
    assert np.array_equal(ours.query(queries, 2, distance_upper_bound=np.nan)[1], theirs.query(queries, 2, distance_upper_bound=np.nan)[1])


@pytest.mark.parametrize("boxsize", [0.0, [1.0, 0.0, 1.0], np.inf, [np.inf, 1.0, 0.0]])
def test_box_sizes_that_are_open(rng, boxsize):
    data, asked = rng.random((100, 3)), rng.random((30, 3))
    ours = quadrat.scipy.KDTree(data, boxsize=boxsize)
    theirs = scipy_spatial.KDTree(data, boxsize=np.where(np.isinf(boxsize), 0, boxsize))
    assert np.allclose(ours.query(asked, 3)[0], theirs.query(asked, 3)[0])
    assert ours.query_ball_point(asked, 0.3).tolist() == theirs.query_ball_point(asked, 0.3, return_sorted=True).tolist()
    for wrong in (-1.0, [1.0, -1.0, 1.0], np.nan, [1.0, 1.0]):  # scipy gives distances that are none for the first three
        with pytest.raises(ValueError):
            quadrat.scipy.KDTree(data, boxsize=wrong)


def test_many_radii_by_few_searches(both, monkeypatch):
    """Every row has its own radius: the same predicate to the last bit, and a search for each doubling of them."""
    ours, theirs, queries = both
    x = np.vstack([queries, ours.data[:100]])
    if ours.boxsize is not None:
        x = x % np.where(ours.boxsize > 0, ours.boxsize, np.inf)
    exact = np.sqrt(((x[:, None] - ours.data[None]) ** 2).sum(axis=2)).max(axis=1)[:len(x)] / 3  # of points that are there
    radii = np.geomspace(0.02, 0.9, len(x))
    radii[::3] = exact[::3]
    expected = [ours.query_ball_point(row, r) for row, r in zip(x, radii)]
    assert ours.query_ball_point(x, radii, return_sorted=False).size == len(x)
    assert [sorted(row) for row in expected] == ours.query_ball_point(x, radii).tolist()
    if ours.boxsize is None:
        squares = (x[:, None, 0] - ours.data[None, :, 0]) ** 2
        for k in range(1, ours.m):
            squares = squares + (x[:, None, k] - ours.data[None, :, k]) ** 2
        assert [np.nonzero(row)[0].tolist() for row in squares <= (radii * radii)[:, None]] == ours.query_ball_point(x, radii).tolist()
    made = []
    monkeypatch.setattr(quadrat.scipy, "CellIndex", lambda *a, **k: made.append(a) or quadrat.CellIndex(*a, **k))
    fresh = quadrat.scipy.KDTree(ours.data, boxsize=ours.boxsize)
    fresh.query_ball_point(x, np.linspace(0.2, 0.39, len(x)))
    assert len(made) <= 2


def test_questions_in_turns_build_nothing(rng, monkeypatch):
    made = []
    monkeypatch.setattr(quadrat.scipy, "CellIndex", lambda *a, **k: made.append(a) or quadrat.CellIndex(*a, **k))
    data = rng.random((5000, 3))
    tree, theirs = quadrat.scipy.KDTree(data), scipy_spatial.KDTree(data)
    for k in range(40):
        x, r = rng.random(3), 0.05 * (1 + k % 7 / 10)
        assert sorted(tree.query_ball_point(x, r)) == sorted(theirs.query_ball_point(x, r))
        d, i = tree.query(x, k=5 + k % 3, distance_upper_bound=0.06 + 0.01 * (k % 2))
        expected = theirs.query(x, k=5 + k % 3, distance_upper_bound=0.06 + 0.01 * (k % 2))
        assert np.array_equal(i, expected[1]) and np.allclose(d, expected[0])
    assert len(made) <= 3
    for _ in range(5):
        tree.query(data, k=4), tree.query_ball_point(data, 0.07), tree.query_pairs(0.03)
    assert len(made) <= 6


def test_lists_are_lists_of_ints(rng):
    data = rng.random((500, 3))
    tree = quadrat.scipy.KDTree(data)
    for x, r in ((data, 0.2), (data[:3], 0.1), (data, 0.0), (data[:5], np.full(5, 0.2))):
        rows = tree.query_ball_point(x, r)
        assert rows.dtype == object and all(type(row) is list for row in rows)
        assert all(type(k) is int for row in rows for k in row) and all(row == sorted(row) for row in rows)
    first = tree.query_ball_point(data, 0.2)
    first[0].append("mine")
    assert tree.query_ball_point(data, 0.2)[0][-1] != "mine"
