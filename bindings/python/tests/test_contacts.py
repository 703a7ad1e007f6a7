"""find_contacts on meshes whose contacts are known, and against single queries."""
import pickle

import numpy as np
import pytest

import quadrat

FACE = [[0, 0, 0], [3, 0, 0], [0, 3, 0]]


def test_a_point_on_a_face():
    floor = quadrat.Mesh(FACE, [[0, 1, 2]])
    drop = quadrat.Mesh([[1, 1, 2]], end=[[1, 1, -2]], points=[0])
    found = quadrat.find_contacts([floor, drop], tolerance=1e-9)
    assert len(found) == 1 and found.candidates >= 1
    row = found.rows[0]
    assert row["time"] == pytest.approx(0.5, abs=1e-8) and row["time"] <= 0.5 and found.earliest == row["time"]
    assert quadrat._contacts.KINDS[row["kind"]] == "vertex_face" and row["meshes"].tolist() == [1, 0] and row["features"].tolist() == [0, 0]
    assert row["vertices"].tolist() == [0, 0, 1, 2] and np.allclose(row["barycentric"], [1, 1 / 3, 1 / 3, 1 / 3])
    assert np.allclose(row["normal"], [0, 0, 1]) and np.allclose(row["first"], [1, 1, 0], atol=1e-7)
    assert found.vertex_times[1][0] == found.earliest and np.isfinite(found.vertex_times[0]).all()
    assert np.array_equal(pickle.loads(pickle.dumps(found)).rows, found.rows)
    near = quadrat.find_contacts([floor, quadrat.Mesh([[1, 1, 0.5]], points=[0])], min_distance=0.6)
    assert near.earliest == 0 and near["distance"][0] == pytest.approx(0.5)
    assert len(quadrat.find_contacts([floor, quadrat.Mesh([[1, 1, 0.5]], points=[0])])) == 0


def cloud_of_triangles(rng, count):
    start = rng.random((3 * count, 3))
    start = (start.reshape(count, 3, 3) * 0.3 + rng.random((count, 1, 3))).reshape(-1, 3)
    return start, start + rng.uniform(-0.9, 0.9, start.shape), np.arange(3 * count).reshape(-1, 3)


@pytest.mark.parametrize("threads", [1, 2])
def test_all_features_one_by_one(rng, threads):
    start, end, triangles = cloud_of_triangles(rng, 12)
    found = quadrat.find_contacts(quadrat.Mesh(start, triangles, end), threads=threads)
    expected = []
    for vertex in range(len(start)):
        for face, corners in enumerate(triangles):
            if vertex not in corners:
                chosen = [vertex, *corners]
                time = quadrat.impact_times("vertex_face", start[chosen][None], end[chosen][None])[0]
                if np.isfinite(time):
                    expected.append((0, vertex, face, time))
    times = found.rows[found["kind"] == 0]
    assert {(int(f[0]), int(f[1])): t for f, t in zip(times["features"], times["time"])} == {(v, f): t for _, v, f, t in expected}
    assert len(expected) > 5 and (np.diff(found["time"]) >= 0).all()
    edges = quadrat.find_candidates(quadrat.Mesh(start, triangles, end))["edges"]
    rows = found.rows[found["kind"] == 1]
    assert len(rows) > 5
    for row in rows:
        chosen = np.concatenate([edges[row["features"][0]], edges[row["features"][1]]])
        assert quadrat.impact_times("edge_edge", start[chosen][None], end[chosen][None])[0] == row["time"]


def test_scopes_groups_and_segments(rng):
    a = quadrat.Mesh(*[x for x in (cloud_of_triangles(rng, 6)[0], np.arange(18).reshape(-1, 3))])
    b = quadrat.Mesh(np.asarray(a.start) + 0.01, a.triangles)
    whole = quadrat.find_contacts([a, b])
    between, within = quadrat.find_contacts([a, b], scope="between"), quadrat.find_contacts([a, b], scope="within")
    assert len(between) + len(within) == len(whole) and (between["meshes"][:, 0] != between["meshes"][:, 1]).all()
    apart = quadrat.find_contacts([quadrat.Mesh(a.start, a.triangles, group=1, mask=1), quadrat.Mesh(b.start, b.triangles, group=2, mask=2)])
    assert len(apart) == len(within)
    rope = quadrat.Mesh([[1, 1, 1.0], [1, 1, -1]], segments=[[0, 1]])
    assert len(quadrat.find_contacts([quadrat.Mesh(FACE, [[0, 1, 2]]), rope])) == 0  # it crosses the face and touches no edge
    candidates = quadrat.find_candidates([quadrat.Mesh(FACE, [[0, 1, 2]]), rope])
    assert candidates["edges"].shape == (4, 2)


def test_what_is_refused():
    good = np.array(FACE, float)
    bad = good.copy()
    bad[1, 2] = np.nan
    for mesh, row in ((quadrat.Mesh(bad, [[0, 1, 2]]), 1), (quadrat.Mesh(good, [[0, 1, 2], [0, 1, 3]]), 1), (quadrat.Mesh(good, [[0, 1, -1]]), 0),
                      (quadrat.Mesh(good, [[0, 1, 2]], good[:2]), None), (quadrat.Mesh(good, [[0, 1]]), None), (quadrat.Mesh(good[:, :2], [[0, 1, 2]]), None)):
        with pytest.raises(quadrat.QuadratError) as caught:
            quadrat.find_contacts(mesh)
        assert row in (None, caught.value.row)
    mesh = quadrat.Mesh(good, [[0, 1, 2]])
    for options in ({"min_distance": -1}, {"tolerance": 0}, {"tolerance": 2}, {"scope": "none"}, {"min_distance": np.nan}):
        with pytest.raises(quadrat.QuadratError):
            quadrat.find_contacts(mesh, **options)
    for call in (lambda: quadrat.find_contacts([1]), lambda: quadrat.find_contacts(quadrat.Mesh(good, [[0.0, 1, 2]]))):
        with pytest.raises(TypeError):
            call()
    crowd = quadrat.Mesh(np.zeros((30, 3)), np.arange(30).reshape(-1, 3))
    with pytest.raises(MemoryError):
        quadrat.find_contacts(crowd, max_candidates=10)
    assert len(quadrat.find_contacts([])) == 0 and quadrat.find_contacts([]).earliest == np.inf
