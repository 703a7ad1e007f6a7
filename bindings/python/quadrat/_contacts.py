"""Contact of moving meshes, exactly: none missed, none invented, never late."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _quadrat
from ._arrays import F64, Array, ArrayLike, array_of, floats, number, points_of, thread_count
from ._errors import refuse

KINDS = ("vertex_face", "edge_edge", "vertex_edge", "vertex_vertex")
"""What the `kind` of a contact counts through."""


def _features(values: Optional[ArrayLike], name: str, corners: int) -> Optional[Array]:
    """(N, corners) of uint32."""
    if values is None:
        return None
    array = array_of(values, name)
    if array.size == 0:
        return np.empty((0, corners) if corners > 1 else 0, np.uint32)
    wanted = array.ndim == 1 if corners == 1 else array.ndim == 2 and array.shape[1] == corners
    if not wanted:
        raise refuse(name, f"expected shape {'(N,)' if corners == 1 else f'(N, {corners})'}, got {array.shape}", "bad_shape")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, got {array.dtype}")
    bad = (array < 0) | (array > 2**32 - 1)
    if bad.any():
        place = np.argwhere(bad)[0]
        raise refuse(name, f"{array[tuple(place)]} is not a vertex", row=int(place[0]), column=int(place[1]) if corners > 1 else None)
    return np.require(array, np.uint32, ["C_CONTIGUOUS", "ALIGNED"])


@dataclass
class Mesh:
    """A surface, and if wanted single segments and points, at the start and at the end of a step.

    start, end: (V, 3) vertices at the two times, which move in straight lines; without an end the mesh is at rest.
    triangles: (F, 3) rows of start. segments: (S, 2), edges of no triangle. points: (P,), vertices of neither.
    group, mask: two meshes meet only if the group bits of each meet the mask bits of the other.
    """

    start: ArrayLike
    triangles: Optional[ArrayLike] = None
    end: Optional[ArrayLike] = None
    segments: Optional[ArrayLike] = None
    points: Optional[ArrayLike] = None
    group: int = 1
    mask: int = 0xFFFFFFFF

    def _parts(self) -> "tuple[Any, ...]":
        like = np.empty((0, 3), F64)
        end = None if self.end is None else points_of(self.end, "end", like)
        return (_features(self.triangles, "triangles", 3), points_of(self.start, "start", like), end,
                _features(self.segments, "segments", 2), _features(self.points, "points", 1), self.group, self.mask)


class Contacts:
    """The contacts of a step, sorted by time.

    rows: a structured array with the fields time, kind (see KINDS), meshes, features, vertices, barycentric, normal, first and
    second (the closest points), distance.
    earliest: the first time of all; infinity without contact.
    vertex_times: for each mesh and vertex its first contact, or infinity.
    candidates: how many pairs of features were decided.
    """

    __slots__ = ("rows", "earliest", "vertex_times", "candidates")

    def __init__(self, rows: Array, earliest: float, vertex_times: "list[Array]", candidates: int) -> None:
        self.rows, self.earliest, self.vertex_times, self.candidates = rows, earliest, vertex_times, candidates

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        """A field by its name, or rows."""
        return self.rows[key]

    def __reduce__(self) -> "tuple[object, ...]":
        return Contacts, (self.rows, self.earliest, self.vertex_times, self.candidates)

    def __repr__(self) -> str:
        return f"Contacts: {len(self)}, the first at {self.earliest:g}"


def _meshes(meshes: Union[Mesh, Sequence[Mesh]]) -> "list[tuple[Any, ...]]":
    every = [meshes] if isinstance(meshes, Mesh) else list(meshes)
    for mesh in every:
        if not isinstance(mesh, Mesh):
            raise TypeError(f"meshes: expected Mesh, got {type(mesh).__name__}")
    return [mesh._parts() for mesh in every]


def find_contacts(meshes: Union[Mesh, Sequence[Mesh]], *, min_distance: float = 0.0, tolerance: float = 1e-6, scope: str = "all",
                  max_candidates: int = 300_000_000, threads: Optional[int] = None) -> Contacts:
    """All contacts of meshes with themselves and each other during a step, and when each begins, 0 to 1.

    Exact for min_distance = 0. Features that share a vertex never count.

    min_distance: contact is being this close. tolerance: how much too early a time may be. scope: "all", "between" or "within"
    meshes. max_candidates: more pairs of features raise TooLargeError, a MemoryError.

    >>> import quadrat
    >>> floor = quadrat.Mesh([[0, 0, 0], [3, 0, 0], [0, 3, 0]], [[0, 1, 2]])
    >>> drop = quadrat.Mesh([[1, 1, 1]], end=[[1, 1, -1]], points=[0])
    >>> contacts = quadrat.find_contacts([floor, drop])
    >>> round(contacts.earliest, 3), contacts["normal"].tolist()
    (0.5, [[0.0, 0.0, 1.0]])
    """
    return Contacts(*_quadrat.find_contacts(_meshes(meshes), number(min_distance, "min_distance"), number(tolerance, "tolerance"),
                                            scope, max_candidates, thread_count(threads)))


def find_candidates(meshes: Union[Mesh, Sequence[Mesh]], *, min_distance: float = 0.0, scope: str = "all",
                    max_candidates: int = 300_000_000, threads: Optional[int] = None) -> "dict[str, Array]":
    """Pairs of features whose boxes over the step overlap, by kind, and the edges: features are numbered through all meshes."""
    return _quadrat.find_candidates(_meshes(meshes), number(min_distance, "min_distance"), scope, max_candidates, thread_count(threads))


def impact_times(kind: str, start: ArrayLike, end: ArrayLike, *, min_distance: float = 0.0, tolerance: float = 1e-6) -> Array:
    """The first contact of many single queries, infinity for none.

    kind: "vertex_face" or "edge_edge". start, end: (N, 4, 3): the vertex and the three corners, or the two ends of both edges.

    >>> import quadrat
    >>> start = [[[1, 1, 1], [0, 0, 0], [3, 0, 0], [0, 3, 0]]]
    >>> end = [[[1, 1, -1], [0, 0, 0], [3, 0, 0], [0, 3, 0]]]
    >>> quadrat.impact_times("vertex_face", start, end).round(3)
    array([0.5])
    """
    if kind not in KINDS[:2]:
        raise refuse("kind", f"must be vertex_face or edge_edge, not {kind}")
    parts = []
    for name, values in (("start", start), ("end", end)):
        array = floats(values, name, F64)
        if array.ndim != 3 or array.shape[1:] != (4, 3):
            raise refuse(name, f"expected shape (N, 4, 3), got {array.shape}", "bad_shape")
        parts.append(array.reshape(-1, 12))
    return _quadrat.impact_times(kind == "edge_edge", parts[0], parts[1], number(min_distance, "min_distance"), number(tolerance, "tolerance"))
