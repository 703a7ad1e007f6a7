"""What is near what: neighbours within a radius, the k nearest, counts."""
from __future__ import annotations

import operator
from typing import Any, Iterator, Optional, Union

import numpy as np

from . import _quadrat
from ._arrays import (F32, Array, ArrayLike, array_of, asked_as, box_of, byte_limit, common_type, floats, indices_of, number, origin_of,
                      points_of, refuse_beyond, thread_count, vector_of)
from ._errors import refuse
from ._neighbor_list import Filling, Neighbors
from ._progress import Following, Progress

_DISTANCES = {False: 0, None: 0, True: 1, "distance": 1, "squared": 2}


def _distance_kind(distances: Union[bool, str, None]) -> int:
    try:
        return _DISTANCES[distances]
    except (KeyError, TypeError):
        raise refuse("distances", f"must be True, False or 'squared', not {distances!r}") from None


class CellIndex:
    """All neighbours within a radius, and the k nearest, of points that it holds a copy of: the structure to keep when points
    move.

    Near means dx*dx + dy*dy + dz*dz <= radius*radius, each operation rounded in the type of the points, so that NumPy can
    repeat every answer; the radius is rounded to that type first. May be used from several threads: changes wait for questions
    and the other way round.

    radius: in the unit of the coordinates; may be left out if build() is given radii, and for find_nearest().
    points, radii: as for build(), which is then called.
    rule: how two radii make one: "own" (the row's), "max", "min" or "sum".
    skin: lists reach radius + skin, and update() sorts only when a list of before might lack a neighbour.
    box: periodic: D lengths (0: open along that axis) or a (D, D) matrix of row vectors (a row of zeros: open).
    origin: the corner of the box. Default: zero.
    threads: how many, the calling one included. Default: one per processor.
    max_bytes: of a result; what needs more raises TooLargeError, a MemoryError, with the size. Default: no limit.

    >>> import numpy, quadrat
    >>> points = numpy.array([[0.0, 0, 0], [1, 0, 0], [5, 0, 0]])
    >>> index = quadrat.CellIndex(1.5, points=points)
    >>> index.find_neighbors()[0]
    array([1], dtype=int32)
    >>> points[2] = [2, 0, 0]
    >>> index.update(points)
    True
    >>> index.find_neighbors()[1]
    array([0, 2], dtype=int32)
    """

    __slots__ = ("_index", "_points", "_radius", "_reach", "_options")

    def __init__(self, radius: Optional[float] = None, *, points: Optional[ArrayLike] = None, radii: Optional[ArrayLike] = None,
                 rule: str = "own", skin: float = 0.0, box: Optional[ArrayLike] = None, origin: Optional[ArrayLike] = None,
                 threads: Optional[int] = None, max_bytes: Optional[int] = None) -> None:
        self._index: Optional[_quadrat.CellIndex] = None
        self._points: Any = None  # an array without rows, of the width and type of the points
        self._radius = 0.0 if radius is None else number(radius, "radius")
        self._reach = 0.0  # the radius of the index in C++, which always has one
        if radius is not None and not 0 < self._radius < np.inf:
            raise refuse("radius", f"must be positive and finite, not {radius}")
        self._options = (str(rule), number(skin, "skin"), box, origin, byte_limit(max_bytes), thread_count(threads))
        if points is not None:
            self.build(points, radii)

    def build(self, points: ArrayLike, radii: Optional[ArrayLike] = None) -> None:
        """Sorts the points; point i has index i. What was there before is forgotten.

        points: (N, 2) or (N, 3), finite.
        radii: one per point, positive; the radius of the index is then for queries only.
        """
        given = points_of(points)
        rule, skin, box, origin, max_bytes, threads = self._options
        index, width, reach = self._index, given.shape[1], self._radius
        vectors = box_of(box, width)
        if reach == 0 and radii is None:
            reach = _some_radius(vectors, len(given))
        if index is None or reach != self._reach or given.dtype != self._points.dtype or width != self._points.shape[1]:
            index = _quadrat.CellIndex(width, given.dtype == F32, reach, rule, skin, vectors, origin_of(origin, width), max_bytes, threads)
        index.build(given, None if radii is None else vector_of(radii, "radii", len(given), given.dtype))
        self._reach = reach
        self._index, self._points = index, given[:0]

    def update(self, points: ArrayLike) -> bool:
        """The same points after a step, with the radii they had. False if nothing was done because no point has moved more than
        half of the skin: the last lists then still hold every neighbour."""
        index = self._built()
        return index.update(points_of(points, "points", self._points))

    def insert(self, points: ArrayLike, radii: Optional[ArrayLike] = None) -> int:
        """Adds points after the last index, and gives the first new one. Costs a build."""
        index = self._built()
        given = points_of(points, "points", self._points)
        return index.insert(given, None if radii is None else vector_of(radii, "radii", len(given), given.dtype))

    def erase(self, indices: ArrayLike) -> None:
        """Takes points out. The others keep their indices; rows of the erased are empty. Costs a build."""
        self._built().erase(indices_of(indices, "indices"))

    def find_neighbors(self, queries: Optional[ArrayLike] = None, *, half: bool = False, include_self: bool = False,
                       distances: Union[bool, str] = False, vectors: bool = False, shifts: bool = False,
                       groups: Optional[ArrayLike] = None, searches: Optional[ArrayLike] = None, out: Optional[Neighbors] = None,
                       progress: Progress = None) -> Neighbors:
        """One row per point, or per query: who is within the radius, in the order of the cells, which is always the same.

        queries: (M, D); a point at the very place of a query is its neighbour, and radii of points do not apply. They are not
        rounded: an index of float32 refuses an array of float64 whose numbers are none of float32.
        half: each pair once.
        include_self: point i is in its own row, too.
        distances: True, or "squared".
        vectors: x_j + shift - x_i.
        shifts: which periodic image, in whole box vectors.
        groups: of each point, 0 to 63; with searches: bit h of searches[g] is set if rows of group g hold points of group h.
        out: a result of before, which is filled again and given back. Its memory is used again if nobody holds its arrays. A call
        that is refused leaves it as it was; one that is stopped while it searches leaves it without rows.
        """
        index = self._searched()
        asked = None if queries is None else self._asked(queries)
        colors = None if groups is None else indices_of(groups, "groups", np.uint8)
        masks = None if searches is None else indices_of(searches, "searches", np.uint64)
        kind = _distance_kind(distances)
        with Filling(out) as found:
            if progress is None:
                index.find_neighbors(found, asked, half, include_self, kind, vectors, shifts, colors, masks, None)
            else:
                with Following(progress, "find_neighbors") as callback:
                    index.find_neighbors(found, asked, half, include_self, kind, vectors, shifts, colors, masks, callback)
        return Neighbors._of(found, index.size(), self._options[5], out)

    def find_nearest(self, k: int, queries: Optional[ArrayLike] = None, *, max_distance: Optional[float] = None,
                     out: Optional[Neighbors] = None, progress: Progress = None) -> Neighbors:
        """The k nearest points of each point (without itself) or query, nearest first, equal distances by index, with distances.
        In a periodic box every image counts, and shifts are stored. Rows are shorter where there are no more points, or none
        within max_distance."""
        index = self._built()
        asked = None if queries is None else self._asked(queries)
        count = operator.index(k)
        if not 1 <= count < 1 << 32:
            raise refuse("k", f"must be at least 1 and below 2^32, not {k}")
        most = 0.0 if max_distance is None else number(max_distance, "max_distance")
        if max_distance is not None and not 0 < most:
            raise refuse("max_distance", f"must be positive, not {max_distance}")
        with Filling(out) as found, Following(progress, "find_nearest") as callback:
            index.find_nearest(found, count, asked, 0.0 if most == np.inf else most, callback)
        return Neighbors._of(found, index.size(), self._options[5], out)

    def count_neighbors(self, *, progress: Progress = None) -> Array:
        """(N,) uint32: how many neighbours each point has, without the list."""
        index = self._searched()
        with Following(progress, "count_neighbors") as callback:
            return index.count_neighbors(callback)

    def count_pairs(self, *, progress: Progress = None) -> int:
        """How many pairs there are; directed ones if there are radii whose rule is not symmetric."""
        index = self._searched()
        with Following(progress, "count_pairs") as callback:
            return index.count_pairs(callback)

    def chunks(self, queries: ArrayLike, rows: int = 100_000, *, own: bool = False, half: bool = False,
               **options: Any) -> Iterator["tuple[int, Neighbors]"]:
        """find_neighbors(queries) for so many rows at a time: (first row, Neighbors), for lists that do not fit into memory.

        own: the queries are the points of the index, row for row, and none is its own neighbour. Without it they are queries like
        others. The radius of the index counts, also where points have radii. half: of these each pair once, in the row of the
        smaller index, and of images of one point that whose first shift that is not zero is positive.

        >>> import quadrat
        >>> points = [[0.0, 0], [1, 0], [5, 0]]
        >>> for first, near in quadrat.CellIndex(1, points=points).chunks(points, rows=2):
        ...     print(first, near.counts)
        0 [2 2]
        2 [1]
        """
        index = self._built()
        asked = self._asked(queries)
        if rows < 1:
            raise refuse("rows", f"must be at least 1, not {rows}")
        if half and not own:
            raise refuse("half", "queries have no half list, but for own=True", "unsupported")
        if own and len(asked) != index.size():
            raise refuse("queries", f"expected the {index.size()} points of the index, got {len(asked)} rows", "bad_shape")
        periodic = own and self._options[2] is not None
        wanted = bool(options.pop("shifts", False))
        for first in range(0, len(asked), rows):
            near = self.find_neighbors(asked[first:first + rows], shifts=wanted or periodic, **options)
            if own:
                near = _without_self(near, first, half)
                near.shifts = near.shifts if wanted else None
            yield first, near

    @property
    def order(self) -> Array:
        """The indices that are there in the order of the cells: arrays that are sorted by it are read faster along a list."""
        return self._built().order()

    def __len__(self) -> int:
        """Indices given out so far, erased ones included."""
        return 0 if self._index is None else self._index.size()

    def stats(self) -> "dict[str, int]":
        """tests: of distances, by the last search; bytes held; points that are there."""
        return self._built().stats()

    def __reduce__(self) -> "tuple[object, ...]":
        """Neither copied nor pickled once it holds points, which nobody can ask it for again."""
        if self._index is not None:
            raise TypeError("a CellIndex with points can be neither copied nor pickled: keep the points, and build another from them")
        rule, skin, box, origin, max_bytes, threads = self._options
        return _unbuilt, (self._radius or None, rule, skin, box, origin, max_bytes, threads)

    def __repr__(self) -> str:
        if self._index is None:
            return f"CellIndex of no points, radius {self._radius:g}"
        return f"CellIndex of {len(self)} points in {self._points.shape[1]}D, {self._points.dtype}, radius {self._radius:g}"

    def _built(self) -> _quadrat.CellIndex:
        if self._index is None:
            raise refuse("points", "build() was not called yet", "stale_id")
        return self._index

    def _asked(self, queries: ArrayLike) -> Array:
        return points_of(asked_as(queries, "queries", self._points.dtype), "queries", self._points)

    def _searched(self) -> _quadrat.CellIndex:
        """The index, for what needs a radius."""
        index = self._built()
        if self._radius != self._reach:
            raise refuse("radius", "was not given, nor radii of the points")
        return index


def _unbuilt(radius: Optional[float], rule: str, skin: float, box: Any, origin: Any, max_bytes: int, threads: int) -> CellIndex:
    return CellIndex(radius, rule=rule, skin=skin, box=box, origin=origin, max_bytes=max_bytes, threads=threads or None)


def _without_self(near: Neighbors, first: int, half: bool) -> Neighbors:
    """The rows of points from `first` on without the points themselves; of each pair one if wanted."""
    i, j = near._homes(True) + first, near.indices
    keep: Any = i < j if half else i != j
    if near.shifts is not None:
        moved: Any = near.shifts != 0
        same = (i == j) & moved.any(axis=1)
        if half:
            same &= near.shifts[np.arange(len(j)), np.argmax(moved, axis=1)] > 0
        keep |= same
    return near._chosen(keep)


def _some_radius(vectors: Optional[Array], count: int) -> float:
    """What an index for the nearest alone is built with: of a periodic box about the distance of its points."""
    if vectors is None or not vectors.any():
        return 1.0
    lengths = np.sqrt((vectors**2).sum(axis=1))
    return float(lengths[lengths > 0].min()) / max(1.0, count ** (1 / len(vectors)))


def _together(points: ArrayLike, queries: Optional[ArrayLike]) -> "tuple[ArrayLike, Optional[ArrayLike]]":
    """Both in the wider type of the two."""
    if queries is None:
        return points, None
    given, asked = array_of(points, "points"), array_of(queries, "queries")
    kind = common_type(given, asked)
    return floats(given, "points", kind), floats(asked, "queries", kind)


def find_neighbors(points: ArrayLike, radius: Optional[float] = None, *, queries: Optional[ArrayLike] = None,
                   box: Optional[ArrayLike] = None, origin: Optional[ArrayLike] = None, half: bool = False, include_self: bool = False,
                   distances: Union[bool, str] = False, vectors: bool = False, shifts: bool = False,
                   radii: Optional[ArrayLike] = None, rule: str = "own", groups: Optional[ArrayLike] = None,
                   searches: Optional[ArrayLike] = None, threads: Optional[int] = None, max_bytes: Optional[int] = None,
                   progress: Progress = None) -> Neighbors:
    """All neighbours within a radius, in one call: row i holds the points near point i, without i, or with queries those near
    query i. The arguments are those of CellIndex and its find_neighbors(). Points and queries are float64 if one of the two is.

    >>> import quadrat
    >>> near = quadrat.find_neighbors([[0.1, 0.5], [0.9, 0.5]], 0.3, box=[1, 1], distances=True, shifts=True)
    >>> near.shifts[0], near.distances.round(3)
    (array([-1,  0,  0], dtype=int32), array([0.2, 0.2]))
    """
    if radius is None and radii is None:
        raise TypeError("find_neighbors() needs a radius or radii")
    index = CellIndex(radius, rule=rule, box=box, origin=origin, threads=threads, max_bytes=max_bytes)
    points, queries = _together(points, queries)
    index.build(points, radii)
    return index.find_neighbors(queries, half=half, include_self=include_self, distances=distances, vectors=vectors,
                                shifts=shifts, groups=groups, searches=searches, progress=progress)


def find_nearest(points: ArrayLike, k: int, *, queries: Optional[ArrayLike] = None, max_distance: Optional[float] = None,
                 box: Optional[ArrayLike] = None, origin: Optional[ArrayLike] = None, threads: Optional[int] = None,
                 max_bytes: Optional[int] = None, progress: Progress = None) -> Neighbors:
    """The k nearest points of each point, or of each query, in one call; see CellIndex.find_nearest().

    >>> import quadrat
    >>> near = quadrat.find_nearest([[0.0, 0], [1, 0], [5, 0]], 1)
    >>> near.to_dense()
    (array([[1],
           [0],
           [1]]), array([[1.],
           [1.],
           [4.]]))
    """
    points, queries = _together(points, queries)
    index = CellIndex(box=box, origin=origin, threads=threads, max_bytes=max_bytes, points=points)
    return index.find_nearest(k, queries, max_distance=max_distance, progress=progress)


def count_neighbors(points: ArrayLike, radius: Optional[float] = None, *, box: Optional[ArrayLike] = None,
                    origin: Optional[ArrayLike] = None, radii: Optional[ArrayLike] = None, rule: str = "own",
                    threads: Optional[int] = None, max_bytes: Optional[int] = None, progress: Progress = None) -> Array:
    """How many neighbours each point has: (N,) uint32. The arguments are those of find_neighbors(); the result takes 4 bytes per
    point, and max_bytes bounds the images of a periodic box, too.

    >>> import quadrat
    >>> quadrat.count_neighbors([[0.0, 0], [1, 0], [5, 0]], 1)
    array([1, 1, 0], dtype=uint32)
    """
    if radius is None and radii is None:
        raise TypeError("count_neighbors() needs a radius or radii")
    index = CellIndex(radius, rule=rule, box=box, origin=origin, threads=threads, max_bytes=max_bytes)
    index.build(points, radii)
    refuse_beyond(4 * len(index), index._options[4], "the counts")
    return index.count_neighbors(progress=progress)


def z_order(points: ArrayLike, edge: float) -> Array:
    """The order of the points along a Z curve of cells with this edge, about the radius that will be searched: points[z_order]
    is searched with fewer cache misses. (N,) uint32.

    >>> import quadrat
    >>> quadrat.z_order([[1.5, 1.5], [0.5, 0.5], [1.5, 0.5]], 1)
    array([1, 2, 0], dtype=uint32)
    """
    given = points_of(points)
    return _quadrat.z_order(given, given.shape[1], number(edge, "edge"))
