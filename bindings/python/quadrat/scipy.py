"""KDTree with the calls of scipy.spatial.KDTree, for two and three dimensions and Euclidean distance, on a CellIndex.

Everything is float64, as in scipy. boxsize makes axes periodic: data must then lie in [0, boxsize), and each point counts once, by
its nearest image; axes whose boxsize is 0 or infinite are open. Where scipy's order is that of its tree, it is that of the cells
here, and always the same. Nothing is nearer than a negative radius; scipy takes its square.

A tree keeps the cells of the last few radii and numbers of neighbours that it was asked for, so that questions about single points
cost microseconds in any order. It can be pickled and copied at any time, and makes its cells again.
"""
from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any, Callable, Optional

import numpy as np

from . import _quadrat
from ._arrays import F64, Array, ArrayLike, floats, points_of
from ._neighbor_list import Neighbors
from ._neighbors import CellIndex

__all__ = ["KDTree", "cKDTree"]


# So many indices are kept for each: radii of many rows, numbers of neighbours of many rows, and reaches for a few rows.
_KEPT = 3


class KDTree:
    """Neighbours of points; see the module for what differs from scipy.

    >>> import quadrat.scipy
    >>> tree = quadrat.scipy.KDTree([[0.0, 0], [1, 0], [5, 0]])
    >>> tree.query([[0.9, 0]], k=2)
    (array([[0.1, 0.9]]), array([[1, 0]]))
    >>> tree.query_pairs(1.0)
    {(0, 1)}
    >>> tree.query_ball_point([0.5, 0], 0.5)
    [0, 1]
    """

    def __init__(self, data: ArrayLike, leafsize: int = 10, compact_nodes: bool = True, copy_data: bool = False,
                 balanced_tree: bool = True, boxsize: Optional[ArrayLike] = None, *, threads: Optional[int] = None) -> None:
        self.data = points_of(floats(data, "data", F64), "data")
        self.n, self.m = self.data.shape
        self.leafsize = leafsize
        self.boxsize: Optional[Array] = None
        self._box: Optional[Array] = None
        self._threads = threads
        if boxsize is not None:
            self.boxsize = np.broadcast_to(np.asarray(boxsize, float), self.m).copy()
            if not (self.boxsize >= 0).all():
                raise ValueError("boxsize must not be negative or NaN")
            periodic = (self.boxsize > 0) & np.isfinite(self.boxsize)
            self._box = np.where(periodic, self.boxsize, 0.0) if periodic.any() else None
            for axis in np.nonzero(self.boxsize > 0)[0]:
                if ((self.data[:, axis] >= self.boxsize[axis]) | (self.data[:, axis] < 0)).any():
                    raise ValueError("Some input data are greater than the size of the periodic box.")
        self._forget()

    def _forget(self) -> None:
        self._spread: "Optional[tuple[float, int]]" = None  # the volume of the data, and of how many dimensions
        self._by_radius: "OrderedDict[float, CellIndex]" = OrderedDict()
        self._by_reach: "OrderedDict[float, CellIndex]" = OrderedDict()  # powers of two
        self._by_count: "OrderedDict[tuple[int, Optional[float]], CellIndex]" = OrderedDict()

    def __getstate__(self) -> "dict[str, Any]":
        return {name: value for name, value in self.__dict__.items() if name not in ("_by_radius", "_by_reach", "_by_count")}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def maxes(self) -> Array:
        """The largest coordinates."""
        return self.data.max(axis=0) if self.n else np.zeros(self.m)

    @property
    def mins(self) -> Array:
        """The smallest coordinates."""
        return self.data.min(axis=0) if self.n else np.zeros(self.m)

    def _index(self, radius: float) -> CellIndex:
        """The index for this radius."""
        return _kept(self._by_radius, radius, lambda: CellIndex(radius, box=self._box, threads=self._threads, points=self.data))

    def _few(self, rows: int) -> bool:
        """Whether cells for just these rows would cost more than the search."""
        return 8 * rows < self.n

    def _covering(self, radius: float, rows: int) -> "tuple[CellIndex, float]":
        """An index that reaches at least so far, and how far: for a few rows one that is there, or serves other radii, too."""
        if radius in self._by_radius or not self._few(rows) or not 2.0**-60 < radius < 2.0**60:
            return self._index(radius), radius
        for kept in (self._by_radius, self._by_reach):
            reach = min((reach for reach in kept if radius <= reach <= 4 * radius), default=0.0)
            if reach:
                kept.move_to_end(reach)
                return kept[reach], reach
        reach = 2.0 ** math.ceil(math.log2(radius))
        return _kept(self._by_reach, reach, lambda: CellIndex(reach, box=self._box, threads=self._threads, points=self.data)), reach

    def _rows(self, x: ArrayLike) -> "tuple[Array, tuple[int, ...]]":
        """Points as (N, m), and the shape that they were given in."""
        given = floats(x, "x", F64)
        if given.ndim == 0 or given.shape[-1] != self.m:
            raise ValueError(f"x must consist of vectors of length {self.m} but has shape {given.shape}")
        return given.reshape(-1, self.m), given.shape[:-1]

    def query(self, x: ArrayLike, k: Any = 1, eps: float = 0, p: float = 2, distance_upper_bound: float = np.inf,
              workers: int = 1) -> "tuple[Any, Any]":
        """(distances, indices) of the k nearest, infinity and n where there are fewer; k may be a list of ranks from 1.
        Distances below distance_upper_bound count."""
        _euclidean(p, eps)
        rows, shape = self._rows(x)
        ranks = np.arange(1, int(k) + 1) if np.ndim(k) == 0 else np.asarray(k, np.int64)
        if len(ranks) == 0 or ranks.min() < 1:
            raise ValueError("k must be an integer greater than or equal to 1, or a list of them")
        most = int(ranks.max())
        distances = np.full((len(rows), most), np.inf)
        indices = np.full((len(rows), most), self.n, np.int64)
        if self.n and len(rows):
            self._fill_nearest(rows, most, distance_upper_bound, distances, indices)
        if np.ndim(k) == 0 and int(k) == 1:
            d, i = distances[:, 0].reshape(shape), indices[:, 0].reshape(shape)
            return (float(d), int(i)) if shape == () else (d, i)
        d, i = distances[:, ranks - 1], indices[:, ranks - 1]
        return d.reshape(*shape, len(ranks)), i.reshape(*shape, len(ranks))

    def _fill_nearest(self, rows: Array, k: int, bound: float, distances: Array, indices: Array) -> None:
        limit = None if bound == np.inf else float(bound)
        if limit is not None and not limit > 0:
            return
        wanted = min(k, self.n)
        ask, todo = wanted, np.arange(len(rows))
        while len(todo):
            near = self._nearest(ask, rows[todo], limit)
            found, lengths = near.to_dense(self.n)
            assert lengths is not None
            if self._box is not None:
                found, lengths = _nearest_images(found, lengths, self.n)
            width = min(k, found.shape[1])
            distances[todo, :width], indices[todo, :width] = lengths[:, :width], found[:, :width]
            # Images of one point fill places that others should have: ask those rows for more.
            short = (found != self.n).sum(axis=1) < wanted if self._box is not None else np.zeros(len(todo), bool)
            short &= near.counts == ask
            todo = todo[short]
            ask *= 2

    def _nearest(self, k: int, rows: Array, limit: Optional[float]) -> Neighbors:
        """The k nearest, all nearer than a limit."""
        if self._few(len(rows)) and 16 * k < self.n:
            found = self._nearest_of_few(k, rows, limit)
            if found is not None:
                return found
        index = _kept(self._by_count, (k, limit), lambda: CellIndex(box=self._box, threads=self._threads, points=self.data))
        near = index.find_nearest(k, rows, max_distance=limit)
        assert near.distances is not None
        return near if limit is None else near._chosen(near.distances < limit)

    def _nearest_of_few(self, k: int, rows: Array, limit: Optional[float]) -> Optional[Neighbors]:
        """The same by a search within a radius, from cells that serve other numbers and limits, too; None where some row has fewer
        points there than it asks for."""
        if self._spread is None:
            extent = np.ptp(self.data, axis=0)
            wide = extent[extent > 1e-3 * extent.max(initial=0)]
            self._spread = float(np.prod(wide)), max(1, len(wide))
        volume, dimensions = self._spread
        reach = (2 * k / self.n * volume) ** (1 / dimensions)
        for _ in range(3):
            enough = limit is not None and reach >= limit
            wanted = limit if enough and limit is not None else reach
            if not 2.0**-60 < wanted < 2.0**60:
                return None
            index, reach = self._covering(wanted, len(rows))
            near = index.find_neighbors(rows, distances=True)
            assert near.distances is not None
            if limit is not None:
                near = near._chosen(near.distances < limit)
            if enough or bool((near.counts >= k).all()):
                return _first(near, k)
            reach *= 2
        return None

    def query_pairs(self, r: float, p: float = 2, eps: float = 0, output_type: str = "set") -> Any:
        """The pairs i < j at most r apart, as a set or an array."""
        _euclidean(p, eps)
        pairs = self._pairs(float(r))
        if output_type == "ndarray":
            return pairs
        if output_type != "set":
            raise ValueError("Invalid output type")
        return set(zip(pairs[:, 0].tolist(), pairs[:, 1].tolist()))

    def _pairs(self, r: float) -> Array:
        if not r > 0:
            return self._coincident_pairs() if r == 0 else np.empty((0, 2), np.intp)
        if r == np.inf:
            return np.stack(np.triu_indices(self.n, 1), axis=1).astype(np.intp)
        i, j = self._index(r).find_neighbors(half=True).to_coo(np.intp)
        pairs = np.stack([np.minimum(i, j), np.maximum(i, j)], axis=1)
        if self._box is None:
            return pairs
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return np.unique(pairs, axis=0) if self._images_repeat(r) else pairs

    def _coincident_pairs(self) -> Array:
        same: "dict[tuple[float, ...], list[int]]" = {}
        for k, row in enumerate(self.data.tolist()):
            same.setdefault(tuple(row), []).append(k)
        return np.array([(a, b) for group in same.values() for n, a in enumerate(group) for b in group[n + 1:]], np.intp).reshape(-1, 2)

    def _images_repeat(self, r: float) -> bool:
        """Whether one point may be near in several images."""
        return self._box is not None and bool((2 * r >= self._box[self._box > 0]).any())

    def _near(self, rows: Array, r: float, distances: Any = False) -> Neighbors:
        """Who is at most r away from each row, each point once, by its nearest image. distances: False, True, or "squared"."""
        if r == np.inf:
            return self._everything(rows, distances)
        if not r > 0 or not self.n:
            return _coincident(rows, self.data, r == 0)
        index, reach = (self._index(r), r) if distances is True else self._covering(r, len(rows))
        beside: Any = distances or ("squared" if self._images_repeat(r) or reach != r else False)
        near = index.find_neighbors(rows, distances=beside)
        if reach != r:
            squares: Any = near.distances
            near = near._chosen(squares <= r * r)  # what the index itself compares
        return _once(near) if self._images_repeat(r) else near

    def _near_each(self, rows: Array, radii: Array) -> Neighbors:
        """Who is at most radii[k] away from rows[k]: one search at the largest, of which each row keeps what its own allows."""
        largest = float(radii.max())
        near = self._near(rows, largest, "squared")
        if (radii == largest).all():
            return near
        assert near.distances is not None
        return near._chosen(near.distances <= np.repeat(radii * radii, near.counts))

    def _everything(self, rows: Array, distances: Any) -> Neighbors:
        """Every point for each row."""
        if not np.isfinite(rows).all():
            raise ValueError("x must be finite")
        gaps = self.data[None, :, :] - rows[:, None, :]
        if self._box is not None:
            for axis in np.nonzero(self._box > 0)[0]:
                gaps[..., axis] -= self._box[axis] * np.rint(gaps[..., axis] / self._box[axis])
        lengths = (gaps * gaps).sum(axis=2).reshape(-1)
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * self.n
        indices = np.tile(np.arange(self.n, dtype=np.int32), len(rows))
        return Neighbors(offsets, indices, lengths if distances == "squared" else np.sqrt(lengths), columns=self.n)

    def query_ball_point(self, x: ArrayLike, r: ArrayLike, p: float = 2.0, eps: float = 0, workers: int = 1,
                         return_sorted: Optional[bool] = None, return_length: bool = False) -> Any:
        """Lists of the points at most r from each x, or their numbers; sorted if asked for, or if there is one list per row."""
        _euclidean(p, eps)
        rows, shape = self._rows(x)
        radii = np.broadcast_to(np.asarray(r, float), shape).reshape(-1)
        out = np.zeros(len(rows), np.intp) if return_length else np.empty(len(rows), object)
        sort = bool(return_sorted or (return_sorted is None and shape != ()))
        for chosen in _alike(radii):
            whole = len(chosen) == len(rows)
            asked, own = (rows, radii) if whole else (rows[chosen], radii[chosen])
            near = self._near(asked, float(own[0])) if (own == own[0]).all() or np.isnan(own[0]) else self._near_each(asked, own)
            found = near.counts if return_length else _lists(near, sort)
            if whole:
                out = found
            else:
                out[chosen] = found
        if shape == ():
            return int(out[0]) if return_length else out[0]
        return out.reshape(shape)

    def query_ball_tree(self, other: "KDTree", r: float, p: float = 2.0, eps: float = 0) -> "list[list[int]]":
        """For each point of this tree the points of the other that are at most r away, sorted."""
        _euclidean(p, eps)
        near = other._near(self.data, float(r))
        return list(_lists(near, True))

    def sparse_distance_matrix(self, other: "KDTree", max_distance: float, p: float = 2.0, output_type: str = "dok_matrix") -> Any:
        """Distances of at most max_distance between the points of two trees: "dok_matrix", "coo_matrix", "dict" or "ndarray"."""
        from scipy.sparse import coo_matrix

        _euclidean(p, 0)
        near = other._near(self.data, float(max_distance), distances=True)
        i, j = near.to_coo(np.intp)
        v = near.distances if near.distances is not None else np.zeros(near.entries)
        if output_type == "ndarray":
            out = np.empty(len(v), [("i", np.intp), ("j", np.intp), ("v", np.float64)])
            out["i"], out["j"], out["v"] = i, j, v
            return out
        if output_type == "dict":
            return dict(zip(zip(i.tolist(), j.tolist()), v.tolist()))
        matrix = coo_matrix((v, (i, j)), shape=(self.n, other.n))
        if output_type == "coo_matrix":
            return matrix
        if output_type == "dok_matrix":
            return matrix.todok()
        raise ValueError("Invalid output type")

    def count_neighbors(self, other: "KDTree", r: ArrayLike, p: float = 2.0, weights: Any = None, cumulative: bool = True) -> Any:
        """How many pairs of a point here and one there are at most r apart, for each r; between successive ones if not
        cumulative."""
        _euclidean(p, 0)
        if weights is not None:
            raise NotImplementedError("weights: use find_neighbors(...).sum(weights=...)")
        radii = np.asarray(r, float)
        edges = np.atleast_1d(radii)
        if not len(edges):
            return np.empty(0, np.intp)
        if not cumulative and (np.diff(edges) < 0).any():
            raise ValueError("r must be non-decreasing if cumulative is False")
        edges = np.where(np.isnan(edges), np.inf, edges)  # scipy's choice
        largest = float(edges.max())
        near = other._near(self.data, largest, "squared")
        assert near.distances is not None
        lengths = np.sort(near.distances)
        counts = np.searchsorted(lengths, np.where(edges < 0, -1.0, edges * edges), side="right")
        if not cumulative:
            counts = np.diff(counts, prepend=0)
        return int(counts[0]) if radii.ndim == 0 else counts.astype(np.intp)


cKDTree = KDTree


def _euclidean(p: float, eps: float) -> None:
    if p != 2:
        raise NotImplementedError(f"p={p}: only Euclidean distance, p=2")
    if eps < 0:
        raise ValueError("eps must be non-negative")


def _nearest_images(found: Array, lengths: Array, n: int) -> "tuple[Array, Array]":
    """Each point once per row, at its smallest distance: what comes again is moved behind, as missing."""
    order = np.argsort(found, axis=1, kind="stable")
    ids = np.take_along_axis(found, order, axis=1)
    again = np.zeros(found.shape, bool)
    np.put_along_axis(again, order[:, 1:], ids[:, 1:] == ids[:, :-1], axis=1)
    again |= found == n
    found, lengths = np.where(again, n, found), np.where(again, np.inf, lengths).astype(lengths.dtype)
    front = np.argsort(again, axis=1, kind="stable")
    return np.take_along_axis(found, front, axis=1), np.take_along_axis(lengths, front, axis=1)


def _once(near: Neighbors) -> Neighbors:
    """Each point once per row, at its smallest distance."""
    assert near.distances is not None
    homes = near.homes
    order = np.lexsort((near.distances, near.indices, homes))
    i, j = homes[order], near.indices[order]
    keep = np.ones(len(order), bool)
    keep[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    counts = np.bincount(i[keep], minlength=len(near))
    return Neighbors(np.concatenate([[0], np.cumsum(counts)]), j[keep], near.distances[order][keep], columns=near.columns)


def _first(near: Neighbors, k: int) -> Neighbors:
    """The k nearest of each row, nearest first, equal distances by index."""
    assert near.distances is not None
    homes = near.homes
    order = np.lexsort((near.indices, near.distances, homes))
    order = order[np.arange(len(order)) - near.offsets[homes] < k]
    counts = np.minimum(near.counts, k)
    return Neighbors(np.concatenate([[0], np.cumsum(counts)]), near.indices[order], near.distances[order], columns=near.columns)


def _lists(near: Neighbors, sort: bool) -> Array:
    """An array of lists, one per row."""
    return _quadrat.row_lists(near.offsets, np.ascontiguousarray(near.indices).view(np.uint32), sort)


def _alike(radii: Array) -> "list[Array]":
    """The rows of radii that are worth one search: within a factor of two, and the rest by itself."""
    if len(radii) and (radii == radii[0]).all():
        return [np.arange(len(radii))]
    with np.errstate(all="ignore"):
        sizes = np.where(radii > 0, np.ceil(np.log2(radii)), -np.inf)
    sizes[np.isnan(radii) | (radii < 0)] = np.nan
    groups = [np.nonzero(sizes == size)[0] for size in np.unique(sizes[~np.isnan(sizes)])]
    none = np.nonzero(np.isnan(sizes))[0]
    return groups + ([none] if len(none) else [])


def _kept(kept: "OrderedDict[Any, CellIndex]", key: Any, make: "Callable[[], CellIndex]") -> CellIndex:
    """What is kept under the key, made if it is not; what was not asked for the longest time goes."""
    found = kept.get(key)
    if found is None:
        found = make()
        while len(kept) >= _KEPT:
            kept.popitem(last=False)
        kept[key] = found
    else:
        kept.move_to_end(key)
    return found


def _coincident(rows: Array, data: Array, wanted: bool) -> Neighbors:
    """The points at the very place of each row; none if they are not wanted."""
    places: "dict[tuple[float, ...], list[int]]" = {}
    for k, row in enumerate(data.tolist() if wanted else []):
        places.setdefault(tuple(row), []).append(k)
    found = [places.get(tuple(row), []) for row in rows.tolist()]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in found])]).astype(np.int64)
    flat = np.array([k for row in found for k in row], np.int32)
    return Neighbors(offsets, flat, np.zeros(len(flat), data.dtype), columns=len(data))
