"""Contact of moving meshes, exactly: none missed, none invented, never late."""
from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _quadrat
from ._arrays import F64, Array, ArrayLike, array_of, byte_limit, indices_of, number, points_of, thread_count
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


@dataclass(eq=False)
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

    def __eq__(self, other: object) -> bool:
        """Equal arrays, groups and masks."""
        if not isinstance(other, Mesh):
            return NotImplemented
        if (self.group, self.mask) != (other.group, other.mask):
            return False
        every = [(getattr(self, name), getattr(other, name)) for name in ("start", "triangles", "end", "segments", "points")]
        return all((a is None) == (b is None) and (a is None or np.array_equal(array_of(a, "mesh"), array_of(b, "mesh"))) for a, b in every)

    __hash__ = None  # type: ignore[assignment]

    @property
    def faces(self) -> Array:
        """(4 F,) int64: 3, a, b, c for each triangle, as VTK and PyVista have them: pyvista.PolyData(mesh.start, mesh.faces)."""
        return vtk_faces(_features(self.triangles, "triangles", 3))

    def as_pyvista(self) -> Any:
        """The start as a pyvista.PolyData, where PyVista is installed; meshio takes `meshio.Mesh(mesh.start, [("triangle",
        mesh.triangles)])`."""
        return pyvista_mesh(points_of(self.start, "start", np.empty((0, 3), F64)), self.faces)

    def _parts(self) -> "tuple[Any, ...]":
        like = np.empty((0, 3), F64)
        bits = [indices_of(value, name) for value, name in ((self.group, "group"), (self.mask, "mask"))]
        for value, name in zip(bits, ("group", "mask")):
            if len(value) != 1:
                raise refuse(name, f"expected one number, got {len(value)}", "bad_shape")
        end = None if self.end is None else points_of(self.end, "end", like)
        return (_features(self.triangles, "triangles", 3), points_of(self.start, "start", like), end,
                _features(self.segments, "segments", 2), _features(self.points, "points", 1), int(bits[0][0]), int(bits[1][0]))


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


def vtk_faces(triangles: Optional[Array]) -> Array:
    """(4 F,) int64: the number of corners, which is 3, before those of each triangle."""
    if triangles is None or len(triangles) == 0:
        return np.empty(0, np.int64)
    return np.column_stack([np.full(len(triangles), 3, np.int64), triangles.astype(np.int64)]).reshape(-1)


def pyvista_mesh(points: Array, faces: Array) -> Any:
    """A pyvista.PolyData of them."""
    try:
        pyvista = import_module("pyvista")
    except ImportError as error:
        raise ImportError("as_pyvista() needs PyVista, which is not installed; `faces` is what it reads") from error
    return pyvista.PolyData(points, faces)


class ContactCandidates:
    """Pairs of features that may meet, kept over the steps of a line search: every motion in which each vertex stays in the box of
    its motion here is decided among them, without a broad phase.

    meshes, scope, max_candidates, threads: as for find_contacts(). min_distance: grows the boxes; for motions that leave them by up
    to r add 2 r.

    >>> import numpy, quadrat
    >>> floor = quadrat.Mesh([[0, 0, 0], [3, 0, 0], [0, 3, 0]], [[0, 1, 2]])
    >>> start, end = numpy.array([[1.0, 1, 1]]), numpy.array([[1.0, 1, -1]])
    >>> kept = quadrat.ContactCandidates([floor, quadrat.Mesh(start, end=end, points=[0])])
    >>> for share in (1.0, 0.5, 0.25):
    ...     trial = quadrat.Mesh(start, end=start + share * (end - start), points=[0])
    ...     print(round(kept.earliest_time([floor, trial]), 3))
    0.5
    1.0
    inf
    """

    __slots__ = ("_kept", "_threads")

    def __init__(self, meshes: Union[Mesh, Sequence[Mesh]], *, min_distance: float = 0.0, scope: str = "all",
                 max_candidates: int = 300_000_000, threads: Optional[int] = None) -> None:
        self._threads = thread_count(threads)
        self._kept = _quadrat.find_candidates(_meshes(meshes), number(min_distance, "min_distance"), scope, byte_limit(max_candidates),
                                              self._threads)

    def find_contacts(self, meshes: Union[Mesh, Sequence[Mesh]], *, min_distance: float = 0.0, tolerance: float = 1e-6) -> Contacts:
        """find_contacts() of meshes with the same triangles, segments and points, among these pairs."""
        return Contacts(*_quadrat.find_contacts(_meshes(meshes), self._kept, number(min_distance, "min_distance"),
                                                number(tolerance, "tolerance"), "all", byte_limit(None), self._threads))

    def earliest_time(self, meshes: Union[Mesh, Sequence[Mesh]], t_max: float = 1.0, *, min_distance: float = 0.0,
                      tolerance: float = 1e-6) -> float:
        """earliest_time() of them, among these pairs."""
        return _quadrat.earliest_time(_meshes(meshes), self._kept, number(t_max, "t_max"), number(min_distance, "min_distance"),
                                      number(tolerance, "tolerance"), "all", byte_limit(None), self._threads)

    @property
    def arrays(self) -> "dict[str, Array]":
        """edges, vertex_face, edge_edge, vertex_edge and vertex_vertex: (N, 2) of uint32 each, read-only, as find_candidates()
        gives them."""
        return self._kept.arrays()

    def __len__(self) -> int:
        """How many pairs, of all kinds together."""
        return self._kept.size()

    def __reduce__(self) -> "tuple[object, ...]":
        return _candidates_of, (self._threads, self.arrays)

    def __repr__(self) -> str:
        return f"ContactCandidates: {len(self)} pairs"


def _candidates_of(threads: int, arrays: "dict[str, Array]") -> ContactCandidates:
    self = ContactCandidates.__new__(ContactCandidates)
    self._threads, self._kept = threads, _quadrat.Candidates(**arrays)
    return self


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
    return Contacts(*_quadrat.find_contacts(_meshes(meshes), None, number(min_distance, "min_distance"), number(tolerance, "tolerance"),
                                            scope, byte_limit(max_candidates), thread_count(threads)))


def earliest_time(meshes: Union[Mesh, Sequence[Mesh]], t_max: float = 1.0, *, min_distance: float = 0.0, tolerance: float = 1e-6,
                  scope: str = "all", max_candidates: int = 300_000_000, threads: Optional[int] = None) -> float:
    """How far meshes may move: the first time of contact up to t_max, a share of the step, or infinity. Contacts behind it are not
    looked for, so that it costs a fraction of find_contacts().

    >>> import quadrat
    >>> floor = quadrat.Mesh([[0, 0, 0], [3, 0, 0], [0, 3, 0]], [[0, 1, 2]])
    >>> drop = quadrat.Mesh([[1, 1, 1]], end=[[1, 1, -1]], points=[0])
    >>> round(quadrat.earliest_time([floor, drop]), 3), quadrat.earliest_time([floor, drop], 0.25)
    (0.5, inf)
    """
    return _quadrat.earliest_time(_meshes(meshes), None, number(t_max, "t_max"), number(min_distance, "min_distance"),
                                  number(tolerance, "tolerance"), scope, byte_limit(max_candidates), thread_count(threads))


def find_candidates(meshes: Union[Mesh, Sequence[Mesh]], *, min_distance: float = 0.0, scope: str = "all",
                    max_candidates: int = 300_000_000, threads: Optional[int] = None) -> "dict[str, Array]":
    """Pairs of features whose boxes over the step overlap, by kind, and the edges: features are numbered through all meshes."""
    return _quadrat.find_candidates(_meshes(meshes), number(min_distance, "min_distance"), scope, byte_limit(max_candidates),
                                    thread_count(threads)).arrays()
