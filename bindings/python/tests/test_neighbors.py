"""Neighbours against all points one by one: every option, and options in pairs."""
import itertools

import numpy as np
import pytest

import quadrat
from oracle import entries, matrix_entries, near, periodic, rule_radii, shifted_entries, squares, without_self


def cloud(rng, count, kind):
    dimension, dtype = kind
    return rng.uniform(-1, 1, (count, dimension)).astype(dtype)


def off_diagonal(matrix):
    return matrix & ~np.eye(len(matrix), dtype=bool)


@pytest.mark.parametrize("threads", [1, 2, 7, None])
@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_full_lists(kind, rng, count, threads):
    x = cloud(rng, count, kind)
    found = quadrat.find_neighbors(x, 0.2, threads=threads)
    assert entries(found) == matrix_entries(off_diagonal(near(x, x, 0.2)))
    assert len(found) == count and found.offsets.shape == (count + 1,) and found.offsets.dtype == np.int64
    assert found.indices.dtype == np.int32 and found.offsets[-1] == len(found.indices)


def test_the_same_bytes_for_any_number_of_threads(kind, rng):
    x = cloud(rng, 5000, kind)
    one = quadrat.find_neighbors(x, 0.1, distances=True, vectors=True, threads=1)
    for threads in (2, 7):
        assert quadrat.find_neighbors(x, 0.1, distances=True, vectors=True, threads=threads) == one


OPTIONS = {
    "half": [False, True],
    "include_self": [False, True],
    "distances": [False, True, "squared"],
    "vectors": [False, True],
    "shifts": [False, True],
    "groups": [False, True],
    "box": [False, True],
    "radii": [None, "own", "max", "min", "sum"],
    "queries": [False, True],
}


def pairs_of_options():
    """Every value of every option with every value of every other, the rest at their defaults."""
    seen = set()
    for (a, values_a), (b, values_b) in itertools.combinations(OPTIONS.items(), 2):
        for one, other in itertools.product(values_a, values_b):
            chosen = {name: values[0] for name, values in OPTIONS.items()} | {a: one, b: other}
            key = tuple(chosen.values())
            if key not in seen:
                seen.add(key)
                yield chosen


@pytest.mark.parametrize("chosen", list(pairs_of_options()), ids=lambda c: ",".join(f"{k}={v}" for k, v in c.items() if v) or "none")
def test_options_in_pairs(kind, rng, chosen):
    dimension, dtype = kind
    x = cloud(rng, 60, kind)
    q = cloud(rng, 25, kind) if chosen["queries"] else None
    radius = dtype(0.4)
    vectors = np.diag([2.0, 2.25, 2.5][:dimension])
    groups = rng.integers(0, 2, len(x)).astype(np.uint8)
    radii = rng.uniform(0.1, 0.4, len(x)).astype(dtype)
    arguments = {name: chosen[name] for name in ("half", "include_self", "distances", "vectors", "shifts")}
    if chosen["groups"]:
        arguments |= {"groups": groups, "searches": [0b10, 0b01]}
    if chosen["box"]:
        arguments["box"] = np.diag(vectors)
    if chosen["radii"]:
        arguments |= {"radii": radii, "rule": chosen["radii"]}
    if q is not None:
        arguments["queries"] = q

    def call():
        return quadrat.find_neighbors(x, None if chosen["radii"] and q is None else radius, **arguments)

    directed = chosen["radii"] == "own"
    if chosen["half"] and (q is not None or directed):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.kind == "unsupported"
        return
    found = call()
    a = x if q is None else q
    reach = rule_radii(radii, chosen["radii"]) if chosen["radii"] and q is None else np.full((len(a), len(x)), radius)
    sure, perhaps = periodic(a, x, reach.astype(float), vectors if chosen["box"] else np.zeros((dimension, dimension)), reach=1)
    if chosen["groups"]:
        seen = (lambda i: 1) if q is not None else (lambda i: 1 - groups[i])
        sure, perhaps = ({row for row in rows if groups[row[1]] == seen(row[0])} for rows in (sure, perhaps))
    if q is None and not chosen["include_self"]:
        sure, perhaps = without_self(sure), without_self(perhaps)
    if chosen["include_self"] and q is None and chosen["groups"]:
        own = {(i, i, 0, 0, 0) for i in range(len(x))}
        perhaps |= own
    i, j = found.to_coo()
    if chosen["shifts"]:
        rows = [(int(r), int(c), *map(int, s)) for r, c, s in zip(i, j, found.shifts)]
    else:
        assert found.shifts is None
        rows = [(int(r), int(c)) for r, c in zip(i, j)]
        sure, perhaps = [row[:2] for row in sure], [row[:2] for row in perhaps]
    if chosen["half"]:
        mirrored = [(c, r, *(-s for s in rest)) for r, c, *rest in rows if r != c or any(rest) or not chosen["shifts"]]
        if chosen["include_self"]:
            mirrored = [row for row in mirrored if row[0] != row[1]]
        assert not chosen["shifts"] or not set(mirrored) & {row for row in rows if row[0] != row[1]}
        rows = rows + mirrored
    count = {}
    for row in rows:
        count[row] = count.get(row, 0) + 1
    for row in set(sure):
        assert count.get(row, 0) >= 1, f"{row} is missing"
    for row in count:
        assert row in set(perhaps), f"{row} is too much"
    if not chosen["half"]:
        assert len(sure) <= len(rows) <= len(perhaps)

    delta = x[j].astype(float) - a[i].astype(float)
    if chosen["shifts"]:
        delta = delta + found.shifts[:, :dimension] @ (vectors if chosen["box"] else np.zeros_like(vectors))
    elif chosen["box"]:
        delta -= np.round(delta / np.diag(vectors)) * np.diag(vectors)
    tolerance = {"rtol": 1e-5, "atol": 1e-6 if dtype is np.float32 else 1e-12}
    if chosen["vectors"]:
        assert found.vectors.dtype == dtype and np.allclose(found.vectors, delta, **tolerance)
    else:
        assert found.vectors is None
    if chosen["distances"]:
        length = np.sqrt((delta ** 2).sum(axis=1))
        assert found.distances.dtype == dtype
        assert np.allclose(found.distances, length if chosen["distances"] is True else length ** 2, **tolerance)
    else:
        assert found.distances is None


def test_distances_to_the_last_bit(kind, rng):
    x = cloud(rng, 300, kind)
    i, j = (found := quadrat.find_neighbors(x, 0.3, distances="squared")).to_coo()
    assert np.array_equal(found.distances, squares(x, x)[i, j])
    found = quadrat.find_neighbors(x, 0.3, distances=True, vectors=True)
    assert np.array_equal(found.distances, np.sqrt(squares(x, x)[i, j])) and np.array_equal(found.vectors, x[j] - x[i])


@pytest.mark.parametrize("vectors", [[[1.0, 0, 0], [0.3, 0.9, 0], [0.2, -0.4, 1.1]], [[1.0, 0, 0], [0, 0, 0], [0.4, 0, 1.2]]], ids=["triclinic", "mixed"])
def test_triclinic_boxes(rng, vectors):
    vectors = np.array(vectors)
    x = rng.uniform(-1.5, 1.5, (40, 3))
    found = quadrat.find_neighbors(x, 0.7, box=vectors, origin=[0.1, 0.2, 0.3], shifts=True, vectors=True)
    sure, perhaps = periodic(x, x, 0.7, vectors, reach=6)
    assert without_self(sure) <= shifted_entries(found) <= without_self(perhaps)
    i, j = found.to_coo()
    assert np.allclose(found.vectors, x[j] + found.shifts @ vectors - x[i])


def test_counts(kind, rng):
    x = cloud(rng, 400, kind)
    assert np.array_equal(quadrat.count_neighbors(x, 0.3), off_diagonal(near(x, x, 0.3)).sum(axis=1))
    radii = rng.uniform(0.1, 0.3, 400).astype(kind[1])
    for rule in ("own", "max", "min", "sum"):
        expected = off_diagonal(near(x, x, rule_radii(radii, rule)))
        assert np.array_equal(quadrat.count_neighbors(x, radii=radii, rule=rule), expected.sum(axis=1))
        index = quadrat.CellIndex(points=x, radii=radii, rule=rule)
        assert index.count_pairs() == (expected.sum() if rule == "own" else expected.sum() // 2)
    box = np.full(kind[0], 2.0)
    assert quadrat.count_neighbors(x, 0.3, box=box).sum() == quadrat.find_neighbors(x, 0.3, box=box).entries


@pytest.mark.parametrize("k", [1, 5, 300])
def test_the_nearest(kind, rng, k):
    x, q = cloud(rng, 200, kind), cloud(rng, 60, kind)
    for queries, limit in itertools.product((None, q), (None, 0.25)):
        found = quadrat.find_nearest(x, k, queries=queries, max_distance=limit)
        a = x if queries is None else queries
        table = squares(a, x)
        if queries is None:
            np.fill_diagonal(table, np.inf)
        if limit is not None:
            table[table > x.dtype.type(limit) ** 2] = np.inf
        order = np.lexsort((np.broadcast_to(np.arange(len(x)), table.shape), table), axis=1)[:, :k]
        for row in range(len(a)):
            expected = [c for c in order[row] if np.isfinite(table[row, c])]
            assert found[row].tolist() == expected
            assert np.array_equal(found.row(row).distances, np.sqrt(table[row, expected]))


def test_the_nearest_in_a_box(rng):
    x = rng.random((50, 3))
    found = quadrat.find_nearest(x, 8, box=[1, 1, 0])
    sure, _ = periodic(x, x, 10.0, np.diag([1, 1, 0.0]), reach=2)
    table = {}
    for i, j, *s in without_self(sure):
        table.setdefault(i, []).append(np.linalg.norm(x[j] + np.array(s) * [1, 1, 0] - x[i]))
    for i in range(50):
        assert np.allclose(found.row(i).distances, sorted(table[i])[:8])


def test_an_index_without_a_radius(kind, rng):
    x = cloud(rng, 100, kind)
    index = quadrat.CellIndex(points=x)
    for call in (index.find_neighbors, index.count_neighbors, index.count_pairs, lambda: index.find_neighbors(x)):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.field == "radius"
    nearest = index.find_nearest(3)
    index.build(x, np.full(100, 0.3))
    assert entries(index.find_neighbors()) == matrix_entries(off_diagonal(near(x, x, 0.3))) and index.find_nearest(3) == nearest
    with pytest.raises(quadrat.QuadratError):
        index.find_neighbors(x)
    index.build(x)
    assert index.find_nearest(3) == nearest


def test_an_index_that_changes(kind, rng):
    x = cloud(rng, 300, kind)
    index = quadrat.CellIndex(0.3)
    with pytest.raises(quadrat.QuadratError):
        index.find_neighbors()
    index.build(x)
    for _ in range(3):
        x += rng.uniform(-0.05, 0.05, x.shape).astype(x.dtype)
        assert index.update(x) is True
        assert entries(index.find_neighbors()) == matrix_entries(off_diagonal(near(x, x, 0.3)))
    more = cloud(rng, 50, kind)
    assert index.insert(more) == 300 and len(index) == 350
    x = np.vstack([x, more])
    gone = rng.choice(350, 40, replace=False)
    index.erase(gone)
    expected = off_diagonal(near(x, x, 0.3))
    expected[gone] = expected[:, gone] = False
    assert entries(index.find_neighbors()) == matrix_entries(expected)
    with pytest.raises(IndexError):
        index.erase([int(gone[0])])
    assert sorted(index.order.tolist()) == sorted(set(range(350)) - set(gone.tolist()))
    other = cloud(rng, 20, (5 - kind[0], np.float64))
    index.build(other)
    assert entries(index.find_neighbors()) == matrix_entries(off_diagonal(near(other, other, 0.3)))


def test_skin(rng):
    x = rng.random((500, 3))
    index = quadrat.CellIndex(0.1, skin=0.04, points=x)
    kept = entries(index.find_neighbors())
    assert kept == matrix_entries(off_diagonal(near(x, x, np.float64(0.1) + np.float64(0.04))))
    x += rng.uniform(-0.005, 0.005, x.shape)
    assert index.update(x) is False and matrix_entries(off_diagonal(near(x, x, 0.1))) <= kept
    x += 0.1 * rng.random(x.shape)
    assert index.update(x) is True


def test_filling_a_result_again_leaves_arrays_that_are_held(rng):
    x = rng.random((2000, 3))
    index = quadrat.CellIndex(0.1, points=x)
    kept = index.find_neighbors(distances=True)
    held, values = kept.indices, kept.indices.copy()
    index.build(rng.random((3000, 3)))
    again = index.find_neighbors(out=kept)
    assert again is kept and len(kept) == 3000 and kept.distances is None
    assert np.array_equal(held, values)
    places = {index.find_neighbors(out=kept).indices.__array_interface__["data"][0] for _ in range(8)}
    assert len(places) < 8, "the memory was not used again"
    alive = [index.find_neighbors(out=kept).indices for _ in range(8)]
    assert len({array.__array_interface__["data"][0] for array in alive}) == 8 and all(np.array_equal(array, alive[0]) for array in alive)


def test_chunks_are_the_rows(rng):
    x = rng.random((1000, 3))
    index = quadrat.CellIndex(0.1, points=x)
    whole = index.find_neighbors(x, distances=True)
    parts = list(index.chunks(x, rows=300, distances=True))
    assert [first for first, _ in parts] == [0, 300, 600, 900]
    assert np.array_equal(np.concatenate([part.indices for _, part in parts]), whole.indices)
    assert np.array_equal(np.concatenate([part.distances for _, part in parts]), whole.distances)


def test_z_order(kind, rng):
    x = cloud(rng, 300, kind)
    order = quadrat.z_order(x, 0.1)
    assert sorted(order.tolist()) == list(range(300))


@pytest.mark.parametrize("name", ["huge", "tiny", "coincident", "outlier", "line", "negative zero"])
def test_hostile_clouds(kind, rng, name):
    dimension, dtype = kind
    x = rng.uniform(-1, 1, (80, dimension))
    radius = 0.3
    if name == "huge":
        x, radius = x * 1e15, 0.3e15
    elif name == "tiny":
        x, radius = x * 1e-15, 0.3e-15
    elif name == "coincident":
        x[:] = x[0]
    elif name == "outlier":
        x[3] = 1e9
    elif name == "line":
        x[:, 1:] = 0
    else:
        x[:40] = -0.0
        x[40:] = 0.0
    x = x.astype(dtype)
    assert entries(quadrat.find_neighbors(x, radius)) == matrix_entries(off_diagonal(near(x, x, radius)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_bad_point_is_named(kind, rng, value):
    x = cloud(rng, 50, kind)
    index = quadrat.CellIndex(0.3, points=x)
    before = index.find_neighbors()
    bad = x.copy()
    bad[17, 1] = value
    for call in (lambda: quadrat.find_neighbors(bad, 0.3), lambda: index.build(bad), lambda: index.update(bad),
                 lambda: index.insert(bad), lambda: index.find_neighbors(bad), lambda: index.find_nearest(3, bad),
                 lambda: quadrat.find_nearest(bad, 3), lambda: quadrat.count_neighbors(bad, 0.3), lambda: quadrat.z_order(bad, 0.1)):
        with pytest.raises(ValueError) as caught:
            call()
        assert (caught.value.row, caught.value.column) == (17, 1)
    assert index.find_neighbors() == before


def test_max_bytes(rng):
    x = np.zeros((2000, 3))
    for call in (lambda: quadrat.find_neighbors(x, 1, max_bytes=10**6), lambda: quadrat.find_nearest(x, 1000, max_bytes=10**6)):
        with pytest.raises(MemoryError) as caught:
            call()
        assert caught.value.kind == "too_large" and any(word.isdigit() and int(word) > 10**6 for word in str(caught.value).split())


@pytest.mark.parametrize("box", [None, [2.0, 2.25, 0.7]], ids=["open", "periodic"])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("shifts", [False, True])
def test_chunks_of_the_points_themselves(rng, box, half, shifts):
    x = rng.uniform(-1, 1, (200, 3))
    index = quadrat.CellIndex(0.4, points=x, box=box)
    whole = index.find_neighbors(distances=True, shifts=True)
    rows = []
    for first, near in index.chunks(x, rows=33, own=True, half=half, distances=True, shifts=shifts):
        assert first % 33 == 0 and (near.shifts is not None) == shifts
        i, j = near.to_coo()
        rows += [(a + first, b, d) for a, b, d in zip(i.tolist(), j.tolist(), near.distances.tolist())]
    i, j = whole.to_coo()
    expected = list(zip(i.tolist(), j.tolist(), whole.distances.tolist()))
    if half:
        rows += [(b, a, d) for a, b, d in rows]
    assert sorted((a, b, round(d, 12)) for a, b, d in rows) == sorted((a, b, round(d, 12)) for a, b, d in expected)
    for call in (lambda: list(index.chunks(x[:5], own=True)), lambda: list(index.chunks(x, half=True))):
        with pytest.raises(quadrat.QuadratError):
            call()
