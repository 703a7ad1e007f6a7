"""Kept candidates, the time until the first contact, closest points and potentials."""
import numpy as np
import pytest

import quadrat
from test_contacts import FACE, cloud_of_triangles


def line_search(rng, shares=(1.0, 0.7, 0.3, 0.05)):
    start, end, triangles = cloud_of_triangles(rng, 12)
    for share in shares:
        yield quadrat.Mesh(start, triangles, start + share * (end - start))


@pytest.mark.parametrize("threads", [1, 2])
def test_candidates_serve_every_shorter_step(rng, threads):
    meshes = list(line_search(rng))
    kept = quadrat.ContactCandidates(meshes[0], threads=threads)
    found = quadrat.find_candidates(meshes[0])
    assert len(kept) == sum(len(found[name]) for name in found if name != "edges") > 0
    assert all(np.array_equal(kept.arrays[name], found[name]) for name in found)
    with pytest.raises(ValueError):
        kept.arrays["edge_edge"][0, 0] = 7
    held = kept.arrays["vertex_face"]
    copied = held.copy()
    for mesh in meshes:
        expected = quadrat.find_contacts(mesh)
        assert kept.find_contacts(mesh).rows.tobytes() == expected.rows.tobytes()
        assert kept.earliest_time(mesh) == quadrat.earliest_time(mesh) == expected.earliest
        assert quadrat.earliest_time(mesh, 0.2) == (expected.earliest if expected.earliest <= 0.2 else np.inf)
    del kept
    assert np.array_equal(held, copied)


def test_what_candidates_refuse(rng):
    mesh, other = quadrat.Mesh(FACE, [[0, 1, 2]]), quadrat.Mesh(*cloud_of_triangles(rng, 4)[::2])
    kept = quadrat.ContactCandidates(other)
    for call in (lambda: kept.find_contacts(mesh), lambda: quadrat.earliest_time(mesh, 2), lambda: quadrat.earliest_time(mesh, np.nan),
                 lambda: quadrat.ContactCandidates(mesh, scope="none")):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(MemoryError):
        quadrat.ContactCandidates(quadrat.Mesh(np.zeros((30, 3)), np.arange(30).reshape(-1, 3)), max_candidates=10)


@pytest.mark.parametrize("kind", ["vertex_face", "edge_edge"])
def test_closest_points(rng, kind):
    points = rng.random((200, 4, 3))
    points[0, 2:] = points[0, 1]  # a face, or an edge, without extent
    near = quadrat.closest_points(kind, points)
    assert np.allclose(near.distance, np.linalg.norm(near.first - near.second, axis=1), atol=1e-12)
    weights = near.barycentric
    split = 1 if kind == "vertex_face" else 2
    first = np.einsum("nk,nkd->nd", weights[:, :split], points[:, :split])
    second = np.einsum("nk,nkd->nd", weights[:, split:], points[:, split:])
    assert np.allclose(first, near.first) and np.allclose(second, near.second)
    assert np.allclose(near.direction * near.distance[:, None], near.first - near.second, atol=1e-12)
    # No pair of sampled points is nearer.
    for _ in range(300):
        a = np.ones((1, 1)) if split == 1 else rng.dirichlet([0.5, 0.5], 1)
        b = rng.dirichlet([0.5] * (4 - split), 1)
        gap = np.einsum("ik,nkd->nd", a, points[:, :split]) - np.einsum("ik,nkd->nd", b, points[:, split:])
        assert (np.linalg.norm(gap, axis=1) >= near.distance - 1e-12).all()


def test_triangles(rng):
    a, b = rng.random((300, 3, 3)), rng.random((300, 3, 3)) + [0.5, 0, 0]
    near, meet = quadrat.closest_triangles(a, b), quadrat.triangles_intersect(a, b)
    assert meet.dtype == bool and 10 < meet.sum() < 290 and np.array_equal(near.distance == 0, meet)
    assert np.allclose(np.linalg.norm(near.first - near.second, axis=1), near.distance, atol=1e-9)
    for threads in (1, 2, 7):
        again = quadrat.closest_triangles(a, b, threads=threads)
        assert all(np.array_equal(x, y) for x, y in zip(near, again))


def differences(function, points, step=1e-6):
    """Gradients by central differences."""
    out = np.empty((len(points), 12))
    for k in range(12):
        ahead, behind = points.copy().reshape(-1, 12), points.copy().reshape(-1, 12)
        ahead[:, k] += step
        behind[:, k] -= step
        out[:, k] = (function(ahead.reshape(-1, 4, 3)) - function(behind.reshape(-1, 4, 3))) / (2 * step)
    return out


def potentials(kind, rng):
    moved, forces = rng.random((40, 4, 3)) * 0.01, rng.random(40)
    where = rng.random((40, 4, 3))
    yield "squared_distance", lambda x, **more: quadrat.squared_distance(kind, x, **more)
    yield "contact_barrier", lambda x, **more: quadrat.contact_barrier(kind, x, 2.0, threshold=0.3 if kind == "edge_edge" else 0.0, **more)
    yield "friction_potential", lambda x, **more: quadrat.friction_potential(kind, where, moved + (x - where), forces, 0.4, 0.5, **more)


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("kind", ["vertex_face", "edge_edge"])
def test_derivatives(rng, kind, which):
    _, function = list(potentials(kind, np.random.default_rng(3)))[which]
    points = np.random.default_rng(4).random((40, 4, 3))
    found = function(points, hessian=True)
    assert found.value.shape == (40,) and found.gradient.shape == (40, 4, 3) and found.hessian.shape == (40, 12, 12)
    assert function(points).hessian is None and np.array_equal(function(points).gradient, found.gradient)
    numbers = differences(lambda x: function(x).value, points)
    scale = 1 + np.abs(found.gradient).max(axis=(1, 2))
    close = np.abs(found.gradient.reshape(-1, 12) - numbers).max(axis=1) < 1e-4 * scale
    assert close.mean() > 0.9, "but for those where the stencil changes"
    assert np.allclose(found.hessian, found.hessian.transpose(0, 2, 1))
    projected = function(points, project=True)
    assert np.array_equal(projected.gradient, found.gradient) and np.linalg.eigvalsh(projected.hessian).min() > -1e-6 * np.abs(projected.hessian).max()
    if which == 0:
        assert np.allclose(found.value, quadrat.closest_points(kind, points).distance ** 2)


def test_a_barrier_ends_where_it_should():
    points = [[[1, 1, z], [0, 0, 0], [3, 0, 0], [0, 3, 0]] for z in (0.5, 0.999, 1.0, 2.0)]
    value = quadrat.contact_barrier("vertex_face", points, 1.0).value
    assert value[0] > value[1] > 0 and value[2] == value[3] == 0


def test_what_is_refused(rng):
    good = rng.random((3, 4, 3))
    bad = good.copy()
    bad[2, 1, 0] = np.nan
    for call in (lambda x: quadrat.closest_points("vertex_face", x), lambda x: quadrat.impact_times("edge_edge", x, x),
                 lambda x: quadrat.squared_distance("edge_edge", x), lambda x: quadrat.contact_barrier("edge_edge", x, 1)):
        with pytest.raises(quadrat.QuadratError) as caught:
            call(bad)
        assert (caught.value.row, caught.value.column) == (2, 3) and caught.value.field in ("points", "start")
        for wrong in (good[0], good[:, :3], good[:, :, :2]):
            with pytest.raises(ValueError):
                call(wrong)
    for call in (lambda: quadrat.closest_points("face_face", good), lambda: quadrat.contact_barrier("edge_edge", good, 0),
                 lambda: quadrat.contact_barrier("edge_edge", good, 1, threshold=-1), lambda: quadrat.impact_times("edge_edge", good, good[:2]),
                 lambda: quadrat.friction_potential("edge_edge", good, good, 1, -1, 1), lambda: quadrat.closest_triangles(good[:, :3], good[:2, :3])):
        with pytest.raises(ValueError):
            call()
    for group in (-1, 2**32, 1.5, [1, 2]):
        with pytest.raises((ValueError, TypeError), match="group"):
            quadrat.find_contacts(quadrat.Mesh(FACE, [[0, 1, 2]], group=group))
