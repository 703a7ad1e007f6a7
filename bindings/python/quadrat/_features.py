"""Single features, many at a time: when a vertex meets a face or an edge an edge, how near they are, and the potentials that keep
them apart."""
from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from . import _quadrat
from ._arrays import F64, Array, ArrayLike, floats, number, refuse_infinite, thread_count, vector_of
from ._errors import refuse

KINDS = ("vertex_face", "edge_edge")


class ClosestPoints(NamedTuple):
    """The closest points of pairs of features."""

    distance: Array
    """(N,)."""
    first: Array
    """(N, 3): on the vertex or the first edge."""
    second: Array
    """(N, 3): on the face or the second edge."""
    direction: Array
    """(N, 3): unit vectors from second to first; zero where they coincide."""
    barycentric: Array
    """(N, 4): weights of the four points."""


class ClosestTriangles(NamedTuple):
    """The closest points of pairs of triangles."""

    distance: Array
    """(N,); 0 where they intersect, which is decided exactly."""
    first: Array
    """(N, 3)."""
    second: Array
    """(N, 3)."""


class Potential(NamedTuple):
    """Values and their derivatives by the coordinates of four points."""

    value: Array
    """(N,)."""
    gradient: Array
    """(N, 4, 3)."""
    hessian: Optional[Array]
    """(N, 12, 12), symmetric, point after point; None where it was not asked for."""


def _edges(kind: str) -> bool:
    if kind not in KINDS:
        raise refuse("kind", f"must be vertex_face or edge_edge, not {kind}")
    return kind == "edge_edge"


def _corners(values: ArrayLike, name: str, corners: int, count: Optional[int] = None) -> Array:
    """(N, 3 corners) of finite doubles."""
    array = floats(values, name, F64)
    if array.ndim != 3 or array.shape[1:] != (corners, 3) or (count is not None and len(array) != count):
        wanted = f"({'N' if count is None else count}, {corners}, 3)"
        raise refuse(name, f"expected shape {wanted}, got {array.shape}", "bad_shape")
    flat = array.reshape(-1, 3 * corners)
    refuse_infinite(flat, name)
    return flat


def _positive(value: float, name: str) -> float:
    given = number(value, name)
    if not 0 < given < np.inf:
        raise refuse(name, f"must be positive and finite, not {value}")
    return given


def impact_times(kind: str, start: ArrayLike, end: ArrayLike, *, min_distance: float = 0.0, tolerance: float = 1e-6,
                 threads: Optional[int] = None) -> Array:
    """The first contact of many single queries, infinity for none.

    kind: "vertex_face" or "edge_edge". start, end: (N, 4, 3): the vertex and the three corners, or the two ends of both edges.

    >>> import quadrat
    >>> start = [[[1, 1, 1], [0, 0, 0], [3, 0, 0], [0, 3, 0]]]
    >>> end = [[[1, 1, -1], [0, 0, 0], [3, 0, 0], [0, 3, 0]]]
    >>> quadrat.impact_times("vertex_face", start, end).round(3)
    array([0.5])
    """
    edges, given = _edges(kind), _corners(start, "start", 4)
    return _quadrat.impact_times(edges, given, _corners(end, "end", 4, len(given)), number(min_distance, "min_distance"),
                                 number(tolerance, "tolerance"), thread_count(threads))


def closest_points(kind: str, points: ArrayLike, *, threads: Optional[int] = None) -> ClosestPoints:
    """The closest points of vertices and faces, or of pairs of edges, however degenerate.

    kind, points: as kind and start of impact_times().

    >>> import quadrat
    >>> near = quadrat.closest_points("vertex_face", [[[1, 1, 2], [0, 0, 0], [3, 0, 0], [0, 3, 0]]])
    >>> near.distance, near.second
    (array([2.]), array([[1., 1., 0.]]))
    """
    return ClosestPoints(*_quadrat.closest_points(_edges(kind), _corners(points, "points", 4), thread_count(threads)))


def closest_triangles(first: ArrayLike, second: ArrayLike, *, threads: Optional[int] = None) -> ClosestTriangles:
    """The closest points of triangles first[k] and second[k], (N, 3, 3) each.

    >>> import quadrat
    >>> quadrat.closest_triangles([[[0, 0, 0], [3, 0, 0], [0, 3, 0]]], [[[1, 1, 2], [1, 1, 5], [9, 9, 9]]]).distance
    array([2.])
    """
    a = _corners(first, "first", 3)
    return ClosestTriangles(*_quadrat.closest_triangles(a, _corners(second, "second", 3, len(a)), thread_count(threads)))


def triangles_intersect(first: ArrayLike, second: ArrayLike, *, threads: Optional[int] = None) -> Array:
    """(N,) of bool: whether the triangles first[k] and second[k], (N, 3, 3) each, share a point. Exact; touching counts.

    >>> import quadrat
    >>> quadrat.triangles_intersect([[[0, 0, 0], [3, 0, 0], [0, 3, 0]]], [[[1, 1, -1], [1, 1, 1], [9, 9, 9]]])
    array([ True])
    """
    a = _corners(first, "first", 3)
    return _quadrat.triangles_intersect(a, _corners(second, "second", 3, len(a)), thread_count(threads))


def _potential(value: Array, gradient: Array, hessian: Optional[Array]) -> Potential:
    return Potential(value, gradient.reshape(-1, 4, 3), None if hessian is None else hessian.reshape(-1, 12, 12))


def squared_distance(kind: str, points: ArrayLike, *, hessian: bool = False, project: bool = False,
                     threads: Optional[int] = None) -> Potential:
    """The squared distances of features with their derivatives, by the stencil that is right for each: of points, of a point and a
    line or plane, of two lines.

    kind, points: as for closest_points(). hessian: with second derivatives. project: of these without negative eigenvalues, for
    Newton steps that must go downhill.

    >>> import quadrat
    >>> value, gradient, _ = quadrat.squared_distance("vertex_face", [[[1, 1, 2], [0, 0, 0], [3, 0, 0], [0, 3, 0]]])
    >>> value, gradient[0, 0]
    (array([4.]), array([0., 0., 4.]))
    """
    return _potential(*_quadrat.squared_distances(_edges(kind), _corners(points, "points", 4), hessian or project, project, thread_count(threads)))


def contact_barrier(kind: str, points: ArrayLike, activation_distance: float, *, threshold: ArrayLike = 0.0, hessian: bool = False,
                    project: bool = False, threads: Optional[int] = None) -> Potential:
    """The logarithmic barrier of features that are nearer than activation_distance, 0 for all others (incremental potential
    contact).

    threshold: of the mollifier of nearly parallel edges, one number or one per row; 1e-3 |u|^2 |v|^2 of the edges at rest is usual.
    Default: 0, none. The rest as for squared_distance().

    >>> import quadrat
    >>> features = [[[1, 1, height], [0, 0, 0], [3, 0, 0], [0, 3, 0]] for height in (0.1, 2)]
    >>> value, gradient, _ = quadrat.contact_barrier("vertex_face", features, activation_distance=1)
    >>> value.round(3), float(gradient[0, 0, 2].round(2))
    (array([4.514, 0.   ]), -21.43)
    """
    given = _corners(points, "points", 4)
    limits = vector_of(threshold, "threshold", len(given), F64)
    if not (limits >= 0).all():
        raise refuse("threshold", "must not be negative", row=int(np.argmin(limits >= 0)))
    return _potential(*_quadrat.contact_barriers(_edges(kind), given, _positive(activation_distance, "activation_distance") ** 2, limits,
                                                 hessian or project, project, thread_count(threads)))


def friction_potential(kind: str, points: ArrayLike, displacements: ArrayLike, forces: ArrayLike, mu: float, threshold: float, *,
                       hessian: bool = False, project: bool = False, threads: Optional[int] = None) -> Potential:
    """Lagged friction at contacts, as a potential of the displacements since the start of the step: its negative gradient is the
    force.

    points: where the contacts are, as for closest_points(). displacements: (N, 4, 3). forces: of each contact, one number or one
    per row. mu: the coefficient of friction. threshold: the slip below which friction is static, in the unit of length.

    >>> import quadrat
    >>> contact = [[[1, 1, 0], [0, 0, 0], [3, 0, 0], [0, 3, 0]]]
    >>> slip = [[[0.5, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]]
    >>> quadrat.friction_potential("vertex_face", contact, slip, 10, mu=0.3, threshold=0.01).gradient[0, 0]
    array([3., 0., 0.])
    """
    given = _corners(points, "points", 4)
    moved, size = _corners(displacements, "displacements", 4, len(given)), vector_of(forces, "forces", len(given), F64)
    friction = number(mu, "mu")
    if not 0 <= friction < np.inf:
        raise refuse("mu", f"must not be negative, not {mu}")
    return _potential(*_quadrat.friction_potentials(_edges(kind), given, moved, size, friction, _positive(threshold, "threshold"),
                                                    hessian or project, project, thread_count(threads)))
