"""Sparse voxels whose positions come and go."""
from __future__ import annotations

from typing import Any, Iterator, Optional

import numpy as np

from . import _quadrat
from ._arrays import Array, ArrayLike, array_of
from ._errors import refuse
from ._voxels import SparseVoxels, _positions, pack


class EditableVoxels:
    """Values at grid positions that can be inserted and erased at any time; what is packed stays packed, with an overlay that is
    packed again by itself when it has grown.

    voxels: SparseVoxels to begin with, whose first channel is copied. Default: nothing.
    dimension, dtype, shape: without voxels the dimension, and what one value is. Default: a float64 in 3D.

    >>> import quadrat
    >>> voxels = quadrat.EditableVoxels(quadrat.pack([[0, 0, 0], [5, -3, 40]], [1.5, 2.5]))
    >>> voxels.insert([[1, 1, 1]], [7.0]), voxels.erase([[0, 0, 0]])
    (1, 1)
    >>> voxels[1, 1, 1], (0, 0, 0) in voxels, len(voxels)
    (7.0, False, 2)
    >>> voxels.pack().items()
    (array([[ 1,  1,  1],
           [ 5, -3, 40]], dtype=int32), array([7. , 2.5]))
    """

    __slots__ = ("_rows", "_values", "_dimension")

    def __init__(self, voxels: Optional[SparseVoxels] = None, *, dimension: int = 3, dtype: Any = np.float64,
                 shape: "tuple[int, ...]" = ()) -> None:
        if voxels is None:
            if dimension not in (2, 3):
                raise refuse("dimension", f"must be 2 or 3, not {dimension}")
            self._dimension, self._rows = dimension, _quadrat.VoxelEdits(dimension)
            self._values = np.empty((0, *shape), dtype)
            return
        self._dimension = voxels.dimension
        positions, values = voxels.items()
        self._set(positions, values)

    def _set(self, positions: Array, values: Array) -> None:
        self._rows = _quadrat.VoxelEdits(self._dimension)
        if len(positions):
            self._rows.assign(positions)
        self._values = values

    def insert(self, positions: ArrayLike, values: ArrayLike) -> int:
        """Stores values[i] at positions[i], or one value at all; gives how many positions are new. Of equal positions the last
        counts. All of them or, where the span of all positions would exceed 2^21 cells on an axis, none."""
        at = _positions(positions, "positions", self._dimension)
        given = np.broadcast_to(np.asarray(array_of(values, "values"), self._values.dtype), (len(at), *self._values.shape[1:]))
        before = len(self)
        rows = self._rows.insert(at)
        if self._rows.rows() > len(self._values):
            grown = np.zeros((max(self._rows.rows(), 2 * len(self._values)), *self._values.shape[1:]), self._values.dtype)
            grown[:len(self._values)] = self._values
            self._values = grown
        self._values[rows] = given
        return len(self) - before

    def erase(self, positions: ArrayLike) -> int:
        """Removes positions; gives how many there were."""
        return self._rows.erase(_positions(positions, "positions", self._dimension))

    def get(self, positions: ArrayLike, default: Any = 0) -> Array:
        """The values at many positions, `default` for what is not stored."""
        at = self._rows.find(_positions(positions, "positions", self._dimension))
        missing: Any = at < 0
        if len(self._values) == 0:
            return np.full((len(at), *self._values.shape[1:]), default, self._values.dtype)
        out = self._values[np.where(missing, 0, at)]
        out[missing] = default
        return out

    def __getitem__(self, position: Any) -> Any:
        """The value at one position, or the values at the rows of an (N, D) array; KeyError for what is not stored."""
        single = isinstance(position, tuple)
        at = self._rows.find(_positions([position] if single else position, "positions", self._dimension))
        if (at < 0).any():
            raise KeyError(position if single else tuple(np.asarray(position)[int(np.argmax(at < 0))].tolist()))
        return self._values[at[0]] if single else self._values[at]

    def __setitem__(self, position: Any, value: Any) -> None:
        """Stores a value at one position, or at the rows of an (N, D) array, whether they were there or not."""
        self.insert([position] if isinstance(position, tuple) else position, [value] if isinstance(position, tuple) else value)

    def __delitem__(self, position: Any) -> None:
        """Removes one position; KeyError if it is not there."""
        if self.erase([position]) == 0:
            raise KeyError(position)

    def __contains__(self, position: Any) -> bool:
        return bool(self._rows.find(_positions([position], "positions", self._dimension))[0] >= 0)

    def __len__(self) -> int:
        """Stored positions."""
        return self._rows.size()

    def __iter__(self) -> "Iterator[tuple[int, ...]]":
        """The stored positions as tuples, by z, y, x."""
        return map(tuple, self.items()[0].tolist())

    def items(self) -> "tuple[Array, Array]":
        """(positions, values): what is stored, by z, y, x."""
        positions, rows = self._rows.all()
        order = np.lexsort(positions.T)
        return positions[order], self._values[rows[order]]

    def pack(self, **options: Any) -> SparseVoxels:
        """What is stored now as SparseVoxels; options: those of pack() of the package."""
        return pack(*self.items(), **options)

    def __reduce__(self) -> "tuple[object, ...]":
        return _restored, (self._dimension, *self.items())

    def __repr__(self) -> str:
        return f"EditableVoxels: {len(self)} in {self._dimension}D, {self._values.dtype}"


def _restored(dimension: int, positions: Array, values: Array) -> EditableVoxels:
    self = EditableVoxels.__new__(EditableVoxels)
    self._dimension = dimension
    self._set(positions, values)
    return self
