"""Rows of neighbours as two flat arrays, and what is commonly done with them."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Iterator, Optional

import numpy as np

from . import _quadrat
from ._arrays import F32, F64, Array, ArrayLike, array_of
from ._errors import QuadratError, refuse

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_FIELDS = ("offsets", "indices", "distances", "vectors", "shifts")


class Neighbors:
    """Who is near whom: row i holds the neighbours of point i, or of query i.

    The neighbours of row i are indices[offsets[i]:offsets[i + 1]], which is near[i]; distances, vectors and shifts stand entry
    by entry beside the indices, and are None where they were not asked for. The arrays are the library's own memory, not copied;
    they stay valid, and are yours, for as long as you hold them.

    >>> import quadrat
    >>> near = quadrat.find_neighbors([[0.0, 0], [1, 0], [5, 0]], 1, distances=True)
    >>> near
    Neighbors: 3 rows, 2 entries, distances
    >>> near[0], len(near)
    (array([1], dtype=int32), 3)
    >>> offsets, indices, distances = near
    >>> offsets
    array([0, 1, 2, 2])
    """

    __slots__ = ("offsets", "indices", "distances", "vectors", "shifts", "columns", "_list", "_threads")

    offsets: Array
    """(rows + 1,) int64: where each row begins and ends."""
    indices: Array
    """(entries,) int32 (uint32 beyond 2^31 points): the neighbours, row after row."""
    distances: Optional[Array]
    """(entries,): distances, or their squares, in the type of the points."""
    vectors: Optional[Array]
    """(entries, D): x_j + shift - x_i, in the type of the points."""
    shifts: Optional[Array]
    """(entries, 3) int32: how many times each box vector was added to x_j; the third is 0 in 2D."""
    columns: int
    """How many points there are to be neighbours."""

    def __init__(self, offsets: ArrayLike, indices: ArrayLike, distances: Optional[ArrayLike] = None, vectors: Optional[ArrayLike] = None,
                 shifts: Optional[ArrayLike] = None, *, columns: int) -> None:
        self.offsets, self.indices = np.asarray(offsets, np.int64), np.asarray(indices)
        self.distances = None if distances is None else np.asarray(distances)
        self.vectors = None if vectors is None else np.asarray(vectors)
        self.shifts = None if shifts is None else np.asarray(shifts)
        self.columns = int(columns)
        self._list: Optional[_quadrat.NeighborList] = None
        self._threads = 0

    @classmethod
    def _of(cls, found: _quadrat.NeighborList, columns: int, threads: int, into: "Optional[Neighbors]" = None) -> "Neighbors":
        self = cls.__new__(cls) if into is None else into
        self.offsets, self.indices, self.distances, self.vectors, self.shifts = found.arrays()
        if columns > 1 << 31:
            self.indices = self.indices.view(np.uint32)
        self.columns, self._list, self._threads = columns, found, threads
        return self

    def __len__(self) -> int:
        """How many rows."""
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Array]:
        """offsets, indices, and what else is stored, so that a result unpacks like a tuple. rows() walks over the rows."""
        return iter([value for value in (getattr(self, field) for field in _FIELDS) if value is not None])

    def __getitem__(self, row: int) -> Array:
        """The neighbours of one row: a view."""
        begin, end = self._span(row)
        return self.indices[begin:end]

    def _span(self, row: int) -> tuple[int, int]:
        k = operator.index(row)
        count = len(self.offsets) - 1
        if not -count <= k < count:
            raise IndexError(f"row {k} of {count}")
        k %= count
        return int(self.offsets[k]), int(self.offsets[k + 1])

    def row(self, row: int) -> "Neighbors":
        """One row with all that is stored beside it, as a result of its own on the same memory."""
        begin, end = self._span(row)
        cut = [None if value is None else value[begin:end] for value in (self.indices, self.distances, self.vectors, self.shifts)]
        return Neighbors([0, end - begin], *cut, columns=self.columns)

    def _chosen(self, keep: Array) -> "Neighbors":
        """The entries that are wanted, in their order."""
        ends = np.concatenate([[0], np.cumsum(keep)])
        beside = [None if value is None else value[keep] for value in (self.distances, self.vectors, self.shifts)]
        return Neighbors(ends[self.offsets], self.indices[keep], *beside, columns=self.columns)

    def rows(self) -> Iterator[Array]:
        """The neighbours of row 0, 1, 2, ..."""
        ends = self.offsets.tolist()
        return (self.indices[begin:end] for begin, end in zip(ends, ends[1:]))

    @property
    def entries(self) -> int:
        """Neighbours of all rows together."""
        return len(self.indices)

    @property
    def counts(self) -> Array:
        """(rows,) int64: the length of each row."""
        return np.diff(self.offsets)

    @property
    def homes(self) -> Array:
        """(entries,) int32: the row of each entry; with indices they are the pairs (i, j)."""
        return self._homes(len(self) > 1 << 31)

    def _homes(self, wide: bool) -> Array:
        return _quadrat.homes(np.ascontiguousarray(self.offsets), len(self.indices), wide, self._threads)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(value.nbytes for value in self._arrays() if value is not None)

    def _arrays(self) -> "list[Optional[Array]]":
        return [getattr(self, field) for field in _FIELDS]

    def to_coo(self, dtype: Any = None) -> tuple[Array, Array]:
        """(i, j): the row and the neighbour of each entry. dtype: of both; default: as the indices have it, int32.

        >>> import quadrat
        >>> quadrat.find_neighbors([[0.0, 0], [1, 0], [5, 0]], 1).to_coo()
        (array([0, 1], dtype=int32), array([1, 0], dtype=int32))
        """
        if dtype is None:
            return self.homes, self.indices
        wide = np.dtype(dtype).itemsize > 4
        return self._homes(wide).astype(dtype, copy=False), self.indices.astype(dtype)

    def to_scipy(self, values: Optional[ArrayLike] = None) -> "csr_matrix":
        """A scipy.sparse.csr_matrix of rows and columns on the same memory.

        values: one per entry. Default: the distances, and ones where there are none. Periodic images of one point are entries
        of their own, which scipy adds up where it adds.
        """
        from scipy.sparse import csr_matrix

        data = self.distances if values is None else array_of(values, "values")
        if data is None:
            data = np.ones(self.entries)
        if data.shape != (self.entries,):
            raise refuse("values", f"expected shape ({self.entries},), got {data.shape}", "bad_shape")
        return csr_matrix((data, self.indices, self.offsets), shape=(len(self), self.columns), copy=False)

    def to_dense(self, fill: int = -1) -> tuple[Array, Optional[Array]]:
        """(indices, distances) as (rows, longest) arrays, short rows filled up with `fill` and infinity: the k nearest as
        scipy has them."""
        counts = self.counts
        width = int(counts.max(initial=0))
        there = np.arange(width) < counts[:, None]
        indices = np.full((len(self), width), fill, np.int64)
        indices[there] = self.indices
        if self.distances is None:
            return indices, None
        distances = np.full((len(self), width), np.inf, self.distances.dtype)
        distances[there] = self.distances
        return indices, distances

    def sum(self, values: Optional[ArrayLike] = None, *, weights: Optional[ArrayLike] = None) -> Array:
        """The sum over the neighbours of each row of weights[entry] * values[j]; 0 for rows without any.

        values: one per point, (N,) or (N, ...). Default: 1 for every point.
        weights: one per entry. Default: 1.

        >>> import quadrat
        >>> near = quadrat.find_neighbors([[0.0, 0], [1, 0], [5, 0]], 1, distances=True)
        >>> near.sum([10.0, 20.0, 30.0])
        array([20., 10.,  0.])
        >>> near.sum(weights=near.distances)
        array([1., 1., 0.])
        """
        return self._reduce(np.add, values, weights, 0)

    def mean(self, values: ArrayLike, *, weights: Optional[ArrayLike] = None) -> Array:
        """sum(values, weights) divided by the sum of the weights; NaN for rows without neighbours."""
        total = self.sum(values, weights=weights)
        by = self.counts if weights is None else self.sum(weights=weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / by.reshape(by.shape + (1,) * (total.ndim - 1))

    def min(self, values: ArrayLike, *, empty: float = np.inf) -> Array:
        """The smallest value of each row's neighbours; `empty` for rows without any. Whole numbers become float64 unless `empty`
        is whole, too; those beyond 2^53 are then refused."""
        return self._reduce(np.minimum, values, None, empty)

    def max(self, values: ArrayLike, *, empty: float = -np.inf) -> Array:
        """The largest value of each row's neighbours; `empty` as for min()."""
        return self._reduce(np.maximum, values, None, empty)

    def reduce(self, function: np.ufunc, entries: ArrayLike, empty: float = 0) -> Array:
        """function.reduce over the entries of each row, for one number (or row of numbers) per entry.

        >>> import numpy, quadrat
        >>> near = quadrat.find_neighbors([[0.0, 0], [1, 0], [5, 0]], 1, distances=True)
        >>> near.reduce(numpy.maximum, near.distances, empty=-1)
        array([ 1.,  1., -1.])
        """
        given = array_of(entries, "entries")
        if given.shape[:1] != (self.entries,):
            raise refuse("entries", f"expected shape ({self.entries}, ...), got {given.shape}", "bad_shape")
        dtype = _type_with(given, empty)
        out = np.full((len(self), *given.shape[1:]), empty, dtype)
        # reduceat() knows no empty segments; without them each of the others ends where the next begins.
        full = self.offsets[1:] > self.offsets[:-1]
        if full.any():
            segments: Any = function
            out[full] = segments.reduceat(given.astype(dtype, copy=False), self.offsets[:-1][full], axis=0)
        return out

    def _reduce(self, function: np.ufunc, values: Optional[ArrayLike], weights: Optional[ArrayLike], empty: float) -> Array:
        if values is None:
            entries = np.ones(self.entries, np.int64) if weights is None else array_of(weights, "weights")
            return self.reduce(function, entries, empty)
        given = array_of(values, "values")
        if given.shape[:1] != (self.columns,):
            raise refuse("values", f"expected shape ({self.columns}, ...), got {given.shape}", "bad_shape")
        by = None if weights is None else array_of(weights, "weights")
        if by is not None and by.shape != (self.entries,):
            raise refuse("weights", f"expected shape ({self.entries},), got {by.shape}", "bad_shape")
        dtype = given.dtype if by is None else np.result_type(given, by)
        if function is np.add and dtype in (F32, F64) and self.indices.dtype.itemsize == 4 and self.indices.flags.c_contiguous:
            return self._sums(given, by, dtype)
        entries = given[self.indices]
        if by is not None:
            entries = entries * by.reshape(by.shape + (1,) * (entries.ndim - 1))
        return self.reduce(function, entries, empty)

    def _sums(self, values: Array, weights: Optional[Array], dtype: Any) -> Array:
        """Sums of floats, in double and without an array as long as the list."""
        shape = values.shape[1:]
        table = np.ascontiguousarray(values.reshape(len(values), int(np.prod(shape, dtype=np.int64))), dtype)
        by = None if weights is None else np.ascontiguousarray(weights, dtype)
        found = _quadrat.row_sums(np.ascontiguousarray(self.offsets), self.indices.view(np.uint32), table, by, self._threads)
        return found.reshape(len(self), *shape)

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.columns, *self._arrays())

    def __copy__(self) -> "Neighbors":
        return _made(self.columns, *self._arrays())

    def __deepcopy__(self, memo: object) -> "Neighbors":
        return _made(self.columns, *(None if value is None else value.copy() for value in self._arrays()))

    def __eq__(self, other: object) -> bool:
        """The same rows in the same order, with the same beside them."""
        if not isinstance(other, Neighbors):
            return NotImplemented
        return self.columns == other.columns and all(
            b is None if a is None else b is not None and np.array_equal(a, b) for a, b in zip(self._arrays(), other._arrays()))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        beside = "".join(f", {field}" for field in _FIELDS[2:] if getattr(self, field) is not None)
        return f"Neighbors: {len(self)} rows, {self.entries} entries{beside}"


class Filling:
    """`with Filling(out) as memory:`, the memory to fill: that of `out`, whose arrays are given up for the time, or new. A call that
    refuses its arguments has not written to it, and `out` is then as it was."""

    __slots__ = ("_out", "_arrays", "_memory")

    def __init__(self, out: Optional[Neighbors]) -> None:
        self._out = out
        self._memory = out._list if out is not None and out._list is not None else _quadrat.NeighborList()
        self._arrays: "list[Any]" = []

    def __enter__(self) -> _quadrat.NeighborList:
        out = self._out
        if out is not None:
            # Where each array is, and not the array, which would keep the memory from being used again.
            for array in out._arrays():
                ours = array is not None and type(array.base).__name__ == "PyCapsule"
                self._arrays.append((array.__array_interface__["data"][0], array.shape, array.dtype) if ours and array is not None else array)
            del array
            out.offsets, out.indices = np.zeros(1, np.int64), np.empty(0, np.int32)
            out.distances = out.vectors = out.shifts = None
            out._list = self._memory
        return self._memory

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._out is not None and isinstance(error, QuadratError) and not isinstance(error, MemoryError):
            back = [self._memory.restored(*array) if isinstance(array, tuple) else array for array in self._arrays]
            for name, array in zip(_FIELDS, back):
                setattr(self._out, name, array)


def _type_with(entries: Array, empty: float) -> "np.dtype[Any]":
    """The type that holds what comes of the entries beside `empty`: whole numbers stay what they are where `empty` is one."""
    dtype = entries.dtype
    if dtype.kind not in "biu" or (dtype == np.uint64 and empty >= 0 and float(empty).is_integer()):
        return dtype
    whole = float(empty).is_integer()
    if dtype.itemsize == 8:
        most = (1 << 63) - 1 if whole else 1 << 53
        bad = (entries > most) | (entries < -(1 << 53)) if dtype.kind == "i" and not whole else entries > most
        if np.any(bad):
            held = "int64 holds" if whole else "float64 holds"
            raise refuse("entries", f"{entries[bad].flat[0]} is more than {held} beside empty={empty}: give a whole number that is not negative"
                         if dtype.kind == "u" else
                         f"{entries[bad].flat[0]} is more than {held} beside empty={empty}: give a whole number",
                         row=int(np.argmax(bad)) // max(1, bad[:1].size))
    return np.dtype(np.int64 if whole else np.float64)


def _made(columns: int, *arrays: Any) -> Neighbors:
    return Neighbors(*arrays, columns=columns)
