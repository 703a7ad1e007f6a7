"""Every value of every option with every value of every other, against NumPy: the nearest, contacts, sets of boxes."""
import itertools

import numpy as np
import pytest

import quadrat
from oracle import as_set, overlapping, random_boxes


def pairs_of(options):
    seen = set()
    for (a, values_a), (b, values_b) in itertools.combinations(options.items(), 2):
        for one, other in itertools.product(values_a, values_b):
            chosen = {name: values[0] for name, values in options.items()} | {a: one, b: other}
            if tuple(chosen.values()) not in seen:
                seen.add(tuple(chosen.values()))
                yield chosen


def names(chosen):
    return ",".join(f"{name}={value}" for name, value in chosen.items() if value) or "none"


NEAREST = {"k": [1, 4, 100], "queries": [False, True], "max_distance": [None, 0.35], "box": [None, "xy", "all"], "out": [False, True], "threads": [1, 2]}


@pytest.mark.parametrize("chosen", list(pairs_of(NEAREST)), ids=names)
def test_nearest(kind, rng, chosen):
    dimension, dtype = kind
    x = rng.uniform(-1, 1, (50, dimension)).astype(dtype)
    q = rng.uniform(-1, 1, (20, dimension)).astype(dtype) if chosen["queries"] else None
    lengths = np.array([2.0, 2.25, 2.5])[:dimension]
    if chosen["box"] != "all":
        lengths[2 if chosen["box"] == "xy" else 0:] = 0
    index = quadrat.CellIndex(points=x, box=None if chosen["box"] is None else lengths, threads=chosen["threads"])
    out = quadrat.find_neighbors(x, 0.1) if chosen["out"] else None
    found = index.find_nearest(chosen["k"], q, max_distance=chosen["max_distance"], out=out)
    assert out is None or found is out
    a = x if q is None else q
    reach = [range(-3, 4) if length else (0,) for length in lengths]
    for row in range(len(a)):
        every = []
        for shift in itertools.product(*reach):
            gaps = x.astype(float) + np.array(shift) * lengths - a[row].astype(float)
            every += [(d, j, *shift) for j, d in enumerate(np.sqrt((gaps * gaps).sum(axis=1))) if q is not None or j != row or any(shift)]
        limit = chosen["max_distance"] or np.inf
        expected = [entry for entry in sorted(every) if entry[0] <= limit * (1 + 1e-6)][:chosen["k"]]
        got = found.row(row)
        if not expected:
            assert got.entries == 0
            continue
        # The last may stand exactly at the limit.
        assert len(expected) - 1 <= got.entries <= len(expected) or (np.array([e[0] for e in expected[got.entries:]]) > limit * (1 - 1e-6)).all()
        assert np.allclose(got.distances, [entry[0] for entry in expected[:got.entries]], rtol=1e-5, atol=1e-6)
        assert (np.diff(got.distances) >= 0).all()
        if got.shifts is not None:
            named = x[got.indices] + got.shifts[:, :dimension] * lengths - a[row]
            assert np.allclose(np.linalg.norm(named, axis=1), got.distances, atol=1e-5)


CONTACTS = {"scope": ["all", "between", "within"], "min_distance": [0.0, 0.05], "tolerance": [1e-6, 0.1], "groups": [None, "apart", "one way"],
            "moving": [True, False], "kept": [False, True], "threads": [1, 2]}


@pytest.mark.parametrize("chosen", list(pairs_of(CONTACTS)), ids=names)
def test_contacts(rng, chosen):
    """Every vertex with every face and every edge with every edge, one by one."""
    meshes, all_edges = [], []
    groups = {None: [(1, 0xFFFFFFFF)] * 2, "apart": [(1, 1), (2, 2)], "one way": [(1, 3), (2, 1)]}[chosen["groups"]]
    for group, mask in groups:
        start = (rng.random((4, 1, 3)) + 0.4 * rng.random((4, 3, 3))).reshape(-1, 3)
        end = start + rng.uniform(-0.7, 0.7, start.shape) if chosen["moving"] else None
        faces = np.arange(12).reshape(-1, 3)
        meshes.append(quadrat.Mesh(start, faces, end, group=group, mask=mask))
        all_edges.append(np.vstack([faces[:, [0, 1]], faces[:, [0, 2]], faces[:, [1, 2]]]))
    options = {"min_distance": chosen["min_distance"], "tolerance": chosen["tolerance"]}
    if chosen["kept"]:
        kept = quadrat.ContactCandidates(meshes, min_distance=chosen["min_distance"], scope=chosen["scope"], threads=chosen["threads"])
        found = kept.find_contacts(meshes, **options)
        assert kept.earliest_time(meshes, **options) == found.earliest
    else:
        found = quadrat.find_contacts(meshes, scope=chosen["scope"], threads=chosen["threads"], **options)
        assert quadrat.earliest_time(meshes, scope=chosen["scope"], threads=chosen["threads"], **options) == found.earliest

    def meet(a, b):
        allowed = {"all": True, "between": a != b, "within": a == b}[chosen["scope"]]
        return allowed and groups[a][0] & groups[b][1] and groups[b][0] & groups[a][1]

    def points(mesh, at):
        return mesh.start[at], (mesh.start if mesh.end is None else mesh.end)[at]

    expected = {}
    for a, b in itertools.product(range(2), repeat=2):
        if not meet(a, b):
            continue
        queries = {0: [(v, f) for v in range(12) for f in range(4) if a != b or v not in meshes[b].triangles[f]],
                   1: [(e, f) for e in range(12) for f in range(12) if a < b or (a == b and e < f and not set(all_edges[a][e]) & set(all_edges[a][f]))]}
        for kind, rows in queries.items():
            if not rows:
                continue
            first = [[v] if kind == 0 else all_edges[a][v].tolist() for v, _ in rows]
            second = [(meshes[b].triangles if kind == 0 else all_edges[b])[f].tolist() for _, f in rows]
            ends = [np.concatenate(both, axis=1) for both in zip(points(meshes[a], np.array(first)), points(meshes[b], np.array(second)))]
            times = quadrat.impact_times("edge_edge" if kind else "vertex_face", *ends, **options)
            for k in np.nonzero(np.isfinite(times))[0]:
                key = (kind, frozenset([(a, *first[k]), (b, *second[k])])) if kind else (kind, (a, *first[k]), (b, *second[k]))
                expected[key] = times[k]
    got = {}
    for row in found.rows:
        (a, b), at = row["meshes"].tolist(), row["vertices"].tolist()
        sides = [(a, at[0]), (b, *at[1:])] if row["kind"] == 0 else [(a, *at[:2]), (b, *at[2:])]
        if row["kind"] == 0:
            sides[1] = (b, *meshes[b].triangles[row["features"][1]].tolist())
        else:
            sides = [(m, *next(e for e in all_edges[m].tolist() if set(e) == set(v))) for m, *v in sides]
        got[(1, frozenset(sides)) if row["kind"] else (0, *sides)] = row["time"]
    assert got.keys() == expected.keys()
    assert all(abs(got[key] - expected[key]) <= chosen["tolerance"] for key in got)


SETS = {"spheres": [False, True], "filters": [False, True], "rest": [False, True], "erase": [False, True], "move": [False, True], "other": [False, True],
        "sort": [False, True], "singly": [False, True], "threads": [1, 2]}


def touching(a, b, round_):
    if not round_:
        return overlapping(a, b)
    d = a.shape[1] - 1
    gap = a[:, None, :d].astype(float) - b[None, :, :d]
    return (gap * gap).sum(axis=2) <= (a[:, None, d].astype(float) + b[None, :, d]) ** 2


@pytest.mark.parametrize("chosen", list(pairs_of(SETS)), ids=names)
def test_sets_of_boxes(kind, rng, chosen):
    dimension, dtype = kind
    round_ = chosen["spheres"]

    def things(count):
        boxes = random_boxes(rng, count, dimension, dtype, 0.4)
        return np.hstack([boxes[:, :dimension], rng.uniform(0.01, 0.2, (count, 1)).astype(dtype)]) if round_ else boxes

    def given(rows):
        return {"spheres" if round_ else "boxes": rows}

    def made(rows, group, mask):
        made = quadrat.BroadPhase(**given(rows[:1 if chosen["singly"] else len(rows)]), group=group[:1] if chosen["singly"] else group,
                                  mask=mask[:1] if chosen["singly"] else mask, threads=chosen["threads"])
        for k in range(1, len(rows) if chosen["singly"] else 0):
            assert made.insert(**given(rows[k:k + 1]), group=group[k], mask=mask[k]) == k
        return made

    rows, count = things(90), 90
    group, mask = np.ones(count, np.uint32), np.full(count, 0xFFFFFFFF, np.uint32)
    if chosen["filters"]:
        group, mask = rng.integers(0, 8, (2, count)).astype(np.uint32)
    kept = made(rows, group, mask)
    there, resting = np.ones(count, bool), np.zeros(count, bool)
    if chosen["rest"]:
        resting[::3] = True
        kept.rest(np.nonzero(resting)[0])
    if chosen["move"]:
        slots = np.arange(1, count, 7)
        rows[slots] = things(len(slots))
        kept.move(slots, **given(rows[slots]))
        resting[slots] = False
    if chosen["erase"]:
        there[::5] = False
        kept.erase(np.nonzero(~there)[0])
    both = (group[:, None] & mask[None, :]).astype(bool) & (mask[:, None] & group[None, :]).astype(bool)
    if chosen["other"]:
        second = things(70)
        other = quadrat.BroadPhase(**given(second), threads=chosen["threads"])
        allowed = (group & 0xFFFFFFFF).astype(bool) & (mask & 1).astype(bool)
        i, j = np.nonzero(touching(rows, second, round_) & (there & allowed)[:, None])
        found = kept.find_pairs(other, sort=chosen["sort"])
    else:
        meet = touching(rows, rows, round_) & both & there & there[:, None] & ~(resting & resting[:, None])
        i, j = np.nonzero(np.triu(meet, 1))
        found = kept.find_pairs(sort=chosen["sort"])
    expected = set(zip(i.tolist(), j.tolist()))
    if round_:  # where rounding decides
        assert len(as_set(found) ^ expected) <= 1
    else:
        assert as_set(found) == expected
    if chosen["sort"]:
        assert found.tolist() == sorted(found.tolist())
    assert len(kept) == there.sum() and np.array_equal(kept.occupied, there)
