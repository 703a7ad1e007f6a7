"""What is at this cell: sparse pixels and voxels, packed without holes."""
from __future__ import annotations

import errno
import operator
import os
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Union

import numpy as np

from . import _quadrat
from ._arrays import F64, Array, ArrayLike, array_of, byte_limit, floats, points_of, refuse_beyond, thread_count, vector_of
from ._errors import refuse
from ._progress import Following, Progress

# The numbers of ValueType.
_TYPES = {"u1": 1, "i1": 2, "u2": 3, "i2": 4, "u4": 5, "i4": 6, "u8": 7, "i8": 8, "f4": 9, "f8": 10, "f2": 11, "b1": 12}


def _positions(values: ArrayLike, name: str, dimension: Optional[int] = None) -> Array:
    """(N, D) of int32; floats are refused rather than rounded, and what 32 bits do not hold."""
    array = array_of(values, name)
    widths = (2, 3) if dimension is None else (dimension,)
    if array.ndim != 2 or array.shape[1] not in widths:
        raise refuse(name, f"expected shape {' or '.join(f'(N, {w})' for w in widths)}, got {array.shape}", "bad_shape")
    if array.dtype.kind not in "iu":
        if array.size:
            raise TypeError(f"{name}: expected whole numbers, got {array.dtype}")
        return np.empty(array.shape, np.int32)
    if array.dtype.itemsize > 4 or array.dtype.kind == "u":
        bad = (array > 2**31 - 1) | (array < -(2**31))
        if bad.any():
            row, column = (int(x) for x in np.argwhere(bad)[0])
            raise refuse(name, f"{array[row, column]} does not fit 32 bits", row=row, column=column)
    return np.require(array, np.int32, ["C_CONTIGUOUS", "ALIGNED"])


def _column(name: str, values: ArrayLike, count: int) -> _quadrat.Column:
    """Values as the library takes them: rows of bytes with the type of each scalar."""
    array = array_of(values, name)
    if array.shape[:1] != (count,):
        raise refuse(name, f"expected shape ({count}, ...), got {array.shape}", "bad_shape")
    code = f"{array.dtype.kind}{array.dtype.itemsize}"
    if code not in _TYPES:
        raise TypeError(f"{name}: expected integers, bool or floats of 2, 4 or 8 bytes, got {array.dtype}")
    components = int(np.prod(array.shape[1:], dtype=np.int64))
    native = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return _quadrat.Column(name, _TYPES[code], components, native.reshape(-1).view(np.uint8),
                           [] if array.ndim < 3 or array.ndim > 5 else list(array.shape[1:]))


class VoxelHits(NamedTuple):
    """Stored voxels on rays; each is the cube of edge 1 around its position."""

    rows: Array
    """(H,) int64: where the value is in values and every channel; -1 where a ray meets nothing."""
    positions: Array
    """(H, D) int32."""
    enter: Array
    """(H,): where the ray enters the cube, in multiples of its direction; infinity where it meets nothing."""
    leave: Array
    """(H,): where it leaves."""


class SparseVoxels:
    """Values at a fixed set of grid positions, found with two or three reads of memory each.

    Made by pack() and open(). Channels are arrays on the library's own memory, those of a file mapped, and can be written in
    place; which positions exist is fixed. A position is (x, y) or (x, y, z), whole numbers of any sign.

    >>> import numpy, quadrat
    >>> voxels = quadrat.pack([[0, 0, 0], [5, -3, 40]], [1.5, 2.5])
    >>> voxels[5, -3, 40]
    2.5
    >>> voxels[0, 0, 0] = 7
    >>> voxels.get([[0, 0, 0], [9, 9, 9]], default=-1)
    array([ 7., -1.])
    >>> (5, -3, 40) in voxels, (0, 0, 1) in voxels, len(voxels)
    (True, False, 2)
    """

    __slots__ = ("_voxels", "_about", "_first", "_rays", "__weakref__")

    def __init__(self, voxels: _quadrat.Voxels) -> None:
        self._voxels = voxels
        self._about = voxels.about()
        self._rays: Optional[_quadrat.VoxelRays] = None
        names = voxels.names()
        self._first: Optional[Array] = voxels.channel(names[0]) if names else None

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self._about["dimension"])

    @property
    def channels(self) -> "dict[str, Array]":
        """The values by name, in storage order: (values,) or (values, components). Writing into them changes the values in
        memory; the file of a mapped one stays."""
        return {name: self._voxels.channel(name) for name in self._voxels.names()}

    @property
    def values(self) -> Array:
        """The first channel in storage order; find() says which value belongs to which position."""
        if self._first is None:
            raise refuse("values", "there is no channel", "bad_shape")
        return self._first

    def find(self, positions: ArrayLike) -> Array:
        """(N,) int64: where the value of each position is in values and every channel; -1 for what is not stored."""
        return self._voxels.find(_positions(positions, "positions", self.dimension))

    def get(self, positions: ArrayLike, default: Any = 0, *, channel: Optional[str] = None) -> Array:
        """The values at many positions, `default` for what is not stored."""
        values = self.values if channel is None else self._voxels.channel(channel)
        at = self.find(positions)
        missing: Any = at < 0
        if len(values) == 0:
            return np.full((len(at), *values.shape[1:]), default, values.dtype)
        out = values[np.where(missing, 0, at)]
        out[missing] = default
        return out

    def set(self, positions: ArrayLike, values: ArrayLike, *, channel: Optional[str] = None) -> None:
        """Writes values at stored positions, or none of them if one is not stored; of equal positions the last counts."""
        if self._about["block"]:
            raise refuse("positions", "samples in blocks are stored several times: pack them again", "unsupported")
        at = self.find(positions)
        missing: Any = at < 0
        if missing.any():
            raise refuse("positions", "not stored", "stale_id", int(np.argmax(missing)))
        (self.values if channel is None else self._voxels.channel(channel))[at] = values

    def _is_single(self, key: Any) -> bool:
        return isinstance(key, tuple) and all(hasattr(k, "__index__") for k in key)

    def __getitem__(self, key: Any) -> Any:
        """The value at one position, voxels[x, y, z]; KeyError if it is not stored. With an (N, D) array the values at many. With
        slices a full array, 0 where nothing is stored: voxels[0:3, 0:3, 5]; they count positions, negative ones included, and end
        before the second.

        >>> import quadrat
        >>> voxels = quadrat.pack([[0, 0], [2, 1], [-1, 1]], [5, 6, 7])
        >>> voxels[0:3, 0:2]
        array([[5, 0],
               [0, 0],
               [0, 6]])
        >>> voxels[:, 1]
        array([7, 0, 0, 6])
        """
        if isinstance(key, tuple) and any(isinstance(k, slice) or k is Ellipsis for k in key):
            return self._cut(key)
        if self._is_single(key):
            at = int(self.find([key])[0])
            if at < 0:
                raise KeyError(key)
            return self.values[at]
        rows = self.find(key)
        missing: Any = rows < 0
        if missing.any():
            raise KeyError(tuple(array_of(key, "positions")[int(np.argmax(missing))].tolist()))
        return self.values[rows]

    def _cut(self, key: "tuple[Any, ...]") -> Array:
        """The full array of slices and numbers, one per axis."""
        if key.count(Ellipsis) == 1:
            at = key.index(Ellipsis)
            key = key[:at] + (slice(None),) * (self.dimension + 1 - len(key)) + key[at + 1:]
        if len(key) != self.dimension or not all(isinstance(k, slice) or hasattr(k, "__index__") for k in key):
            raise IndexError(f"expected {self.dimension} slices or whole numbers")
        first, last = self.bounds
        axes = []
        for k, lo, hi in zip(key, first.tolist(), last.tolist()):
            if isinstance(k, slice):
                step = 1 if k.step is None else operator.index(k.step)
                if step < 1:
                    raise IndexError(f"steps of slices must be positive, not {step}")
                axes.append(np.arange(lo if k.start is None else operator.index(k.start), hi + 1 if k.stop is None else operator.index(k.stop), step))
            else:
                axes.append(np.array([operator.index(k)]))
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dimension)
        kept = [len(axis) for k, axis in zip(key, axes) if isinstance(k, slice)]
        return self.get(grid, 0).reshape(*kept, *self._shape(None))

    def __setitem__(self, key: Any, value: Any) -> None:
        """Writes at one stored position, or at the rows of an (N, D) array."""
        try:
            self.set([key] if self._is_single(key) else key, value)
        except IndexError as error:
            raise KeyError(key if self._is_single(key) else str(error)) from None

    def __contains__(self, position: Any) -> bool:
        return bool(self.find([position])[0] >= 0)

    def __iter__(self) -> "Iterator[tuple[int, ...]]":
        """The stored positions as tuples, by z, y, x."""
        return map(tuple, self.positions.tolist())

    def __len__(self) -> int:
        """Stored positions, or blocks."""
        return int(self._about["entries"])

    def items(self) -> "tuple[Array, Array]":
        """(positions, values): what is stored, by z, y, x; values of the first channel.

        >>> import quadrat
        >>> quadrat.pack([[3, 0], [0, 1], [0, 0]], [1, 2, 3]).items()
        (array([[0, 0],
               [3, 0],
               [0, 1]], dtype=int32), array([3, 1, 2]))
        """
        positions, at = self._voxels.sorted()
        return positions, self.values[at]

    @property
    def positions(self) -> Array:
        """(N, D) int32: the stored positions, by z, y, x."""
        return self._voxels.sorted()[0]

    @property
    def bounds(self) -> "tuple[Array, Array]":
        """(lo, hi): the smallest and largest coordinates; in blocks those of the blocks."""
        lo = np.array(self._about["origin"], np.int64)
        return lo, lo + np.array(self._about["extent"], np.int64) - 1

    def dense(self, lo: Optional[ArrayLike] = None, hi: Optional[ArrayLike] = None, *, default: Any = 0,
              channel: Optional[str] = None) -> Array:
        """A box of values as a full array, a[x - lo, y - lo, ...], `default` where nothing is stored. lo, hi: both inside;
        default: bounds. With lo[2] == hi[2] it is a slice.

        >>> import quadrat
        >>> quadrat.pack([[0, 0], [2, 1]], [5, 6]).dense()
        array([[5, 0],
               [0, 0],
               [0, 6]])
        """
        first, last = self.bounds
        start = first if lo is None else np.asarray(lo, np.int64)
        stop = last if hi is None else np.asarray(hi, np.int64)
        size = np.maximum(stop - start + 1, 0)
        grid = np.indices(size).reshape(self.dimension, -1).T + start
        return self.get(grid, default, channel=channel).reshape(*size, *self._shape(channel))

    def _shape(self, channel: Optional[str]) -> "tuple[int, ...]":
        return tuple((self.values if channel is None else self._voxels.channel(channel)).shape[1:])

    def _marcher(self) -> _quadrat.VoxelRays:
        if self._rays is None:
            self._rays = self._voxels.rays()
        return self._rays

    def _lines(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike) -> Array:
        """(N, 2 D + 1)."""
        like = np.empty((0, self.dimension), F64)
        start, along = (points_of(floats(values, name, F64), name, like) for values, name in ((origins, "origins"), (directions, "directions")))
        if len(along) == 1:
            along = np.broadcast_to(along, (len(start), self.dimension))
        if len(start) != len(along):
            raise refuse("directions", f"expected {len(start)} rows, got {len(along)}", "bad_shape")
        return np.column_stack([start, along, vector_of(lengths, "lengths", len(start), F64)])

    def first_hits(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = np.inf, *, threads: Optional[int] = None) -> VoxelHits:
        """The first stored voxel that each ray passes.

        origins, directions: (N, D) in the unit of the grid; one row of directions stands for all. lengths: where the rays end, in
        multiples of their directions. Default: nowhere.

        >>> import quadrat
        >>> voxels = quadrat.pack([[4, 0, 0], [9, 0, 0]], [1.5, 2.5])
        >>> hits = voxels.first_hits([[0, 0, 0], [0, 7, 0]], [[1, 0, 0]])
        >>> hits.enter, voxels.values[hits.rows[0]]
        (array([3.5, inf]), 1.5)
        """
        return VoxelHits(*self._marcher().first(self._lines(origins, directions, lengths), thread_count(threads)))

    def all_hits(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = np.inf, *,
                 threads: Optional[int] = None) -> "tuple[Array, VoxelHits]":
        """(offsets, hits): what ray k passes is offsets[k] to offsets[k + 1] of each array of the hits, in the order in which it
        enters them. The arguments are those of first_hits()."""
        offsets, *hits = self._marcher().march(self._lines(origins, directions, lengths), thread_count(threads))
        return offsets, VoxelHits(*hits)

    def add_channel(self, name: str, values: ArrayLike, positions: ArrayLike) -> None:
        """A channel more: values[i] at positions[i], zero where nothing is given."""
        at = _positions(positions, "positions", self.dimension)
        self._voxels.add_channel(_column(name, values, len(at)), at)
        self._about = self._voxels.about()
        if self._first is None:
            self._first = self._voxels.channel(name)

    def save(self, path: "Union[str, os.PathLike[str]]", *, compression: int = 0) -> None:
        """Writes a .qvox file; an old one stays if this fails. compression: 0, which can be mapped, to 19."""
        self._voxels.write(os.fspath(path), compression)

    def stats(self) -> "dict[str, Any]":
        """entries, values, index_bytes, value_bytes, layout, encoding, block, overhead_bits_per_entry, ..."""
        return dict(self._about)

    def __reduce__(self) -> "tuple[object, ...]":
        return _decoded, (self._voxels.encode(0),)

    def __copy__(self) -> "SparseVoxels":
        return _decoded(self._voxels.encode(0))

    def __deepcopy__(self, memo: object) -> "SparseVoxels":
        return _decoded(self._voxels.encode(0))

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self._about["extent"])
        return f"SparseVoxels: {len(self)} in {size}, {', '.join(self._voxels.names()) or 'no channels'}"


def _decoded(data: bytes) -> SparseVoxels:
    return SparseVoxels(_quadrat.Voxels.decode(data, False, byte_limit(None)))


def pack(coordinates: ArrayLike, values: "Union[None, ArrayLike, Mapping[str, ArrayLike]]" = None, *, layout: str = "auto", optimize: str = "speed",
         encoding: str = "auto", construction: str = "fast", coherence: str = "none", seed: int = 1, offset_bits: int = 8,
         block: int = 0, threads: Optional[int] = None, max_bytes: Optional[int] = None, progress: Progress = None) -> SparseVoxels:
    """Packs values[i] at coordinates[i], in any order.

    coordinates: (N, 2) or (N, 3) whole numbers, no two rows equal, spanning at most 2^21 on an axis.
    values: (N,) or (N, ...) of integers, floats or bool of 1 to 8 bytes, or several of them by name. Default: none, for
    membership alone.
    layout: "auto", "voxel", "brick", "bits" or "keys". optimize: what "auto" looks for, "speed" or "size". encoding: "auto", "constrained", "domain-bit", "position-tag",
    "position-hash", "bucket-tag". construction: "fast" or "compact". coherence: "none", "defined", "domain". seed: any. See the
    reference of voxels.
    block: if not 0, samples in blocks of so many cells, for interpolation.
    max_bytes: of the values and the tables that find them; what needs more raises TooLargeError, a MemoryError, with the size.
    Default: no limit.

    >>> import quadrat
    >>> quadrat.pack([[0, 0, 0], [5, -3, 40]], {"color": [[255, 0, 0], [0, 0, 255]], "weight": [0.5, 1.5]})
    SparseVoxels: 2 in 6 x 4 x 41, color, weight
    """
    at = _positions(coordinates, "coordinates")
    named: Mapping[str, ArrayLike] = {} if values is None else values if isinstance(values, Mapping) else {"values": values}
    columns = [_column(str(name), column, len(at)) for name, column in named.items()]
    options = _quadrat.PackOptions(layout, optimize, encoding, construction, coherence, seed, offset_bits, thread_count(threads))
    limit = byte_limit(max_bytes)
    refuse_beyond(sum(column.nbytes() for column in columns), limit, "the values")
    with Following(progress, "pack") as callback:
        packed = SparseVoxels(_quadrat.Voxels.pack(at, at.shape[1], columns, block, options, callback))
    about = packed.stats()
    refuse_beyond(about["index_bytes"] + about["value_bytes"], limit, "the voxels")
    return packed


def open(path: "Union[str, os.PathLike[str]]", *, verify: bool = False, max_bytes: Optional[int] = None) -> SparseVoxels:
    """Opens a .qvox file: mapped, so that it takes no longer for a large one. Values may be changed in memory; the file is not.

    verify: looks at the checksum of every section, which reads the whole file.
    max_bytes: of what compressed sections take in memory.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return SparseVoxels(_quadrat.Voxels.read(name, verify, byte_limit(max_bytes)))
