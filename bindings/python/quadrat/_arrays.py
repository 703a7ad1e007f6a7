"""What the functions take as arrays. float32 and float64 in C order are read where they are; anything else is converted once:
other orders and strides are copied, other numbers become float64. DLPack tensors of the host are read in place, too. What float64
does not hold is refused, and so are questions that a float32 structure would round."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._errors import refuse

Array = np.ndarray[Any, np.dtype[Any]]
ArrayLike = Any  # whatever array_of() takes

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
# The largest size_t, which the library reads as "no limit".
NO_LIMIT = (1 << 64) - 1


def array_of(values: ArrayLike, name: str) -> Array:
    """Any array-like as an array; lists, scalars and tensors of the host are legal."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        if mask.any():
            place = np.argwhere(np.atleast_1d(mask))[0]
            raise refuse(name, "masked", row=int(place[0]), column=int(place[1]) if len(place) > 1 else None)
        return np.asarray(values.data)
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array_interface__"):
            return np.from_dlpack(values)
        return np.asarray(values)
    except (ValueError, TypeError, BufferError) as error:
        raise refuse(name, f"not an array of numbers ({error})", "bad_shape") from error


def floats(values: ArrayLike, name: str, dtype: "Optional[np.dtype[Any]]" = None) -> Array:
    """float32 or float64 in C order; of `dtype` where it is given."""
    array = array_of(values, name)
    given = array.dtype
    if given is F64 or given is F32:
        if (dtype is None or dtype is given) and array.flags.c_contiguous and array.flags.aligned:
            return array
    elif given.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers, got {given}")
    elif given.kind != "f" and given.itemsize == 8:
        _refuse_beyond(array, name)
    if dtype is None:
        dtype = F32 if given.kind == "f" and given.itemsize == 4 else F64
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _refuse_beyond(whole: Array, name: str) -> None:
    """Whole numbers beyond 2^53, between which float64 has gaps."""
    bad = (whole > 1 << 53) | (whole < -(1 << 53)) if whole.dtype.kind == "i" else whole > 1 << 53
    if np.any(bad):
        row, column = _place(bad)
        raise refuse(name, f"{whole[np.asarray(bad)].flat[0]} is beyond 2^53, where float64 has no place for every whole number",
                     row=row, column=column)


def _place(bad: Any) -> "tuple[Optional[int], Optional[int]]":
    """(row, column) of the first that is set; what follows the rows counts as one axis."""
    flat = int(np.argmax(bad))
    if np.ndim(bad) == 0:
        return None, None
    width = int(np.prod(np.shape(bad)[1:], dtype=np.int64))
    return flat // width, flat % width if np.ndim(bad) > 1 else None


def common_type(*arrays: Array) -> "np.dtype[Any]":
    """The type in which several sets are computed together: float64 unless all are float32."""
    common: Any = F32 if all(array.dtype == F32 for array in arrays) else F64
    return common


def asked_as(values: ArrayLike, name: str, dtype: "np.dtype[Any]") -> Array:
    """What is asked of a structure that computes in `dtype`. A float32 structure takes numbers of Python as its own, as NumPy does;
    of an array it refuses what float32 does not hold, since the answer would be to another question."""
    if dtype != F32 or isinstance(values, (list, tuple, float, int)):
        return floats(values, name, dtype)
    given = floats(values, name)
    if given.dtype == F32:
        return given
    rounded = given.astype(F32)
    bad = (rounded != given) & ~(np.isnan(rounded) & np.isnan(given))
    if bad.any():
        row, column = _place(bad)
        raise refuse(name, f"{given[bad].flat[0]!r} is no float32, in which this structure computes; round it yourself, "
                     "astype(numpy.float32), or make the structure of float64", row=row, column=column)
    return rounded


def points_of(values: ArrayLike, name: str = "points", like: Optional[Array] = None) -> Array:
    """(N, 2) or (N, 3); with `like`, of its width and type."""
    array = floats(values, name, None if like is None else like.dtype)
    if array.ndim != 2 or array.shape[1] not in ((2, 3) if like is None else (like.shape[1],)):
        wanted = "(N, 2) or (N, 3)" if like is None else f"(N, {like.shape[1]})"
        raise refuse(name, f"expected shape {wanted}, got {array.shape}", "bad_shape")
    return array


def boxes_of(values: ArrayLike, name: str = "boxes", width: Optional[int] = None, dtype: "Optional[np.dtype[Any]]" = None) -> Array:
    """(N, 2 D) as lo.. hi.., or (N, 2, D)."""
    array = floats(values, name, dtype)
    if array.ndim == 3 and array.shape[1] == 2 and array.shape[2] in (2, 3):
        array = array.reshape(array.shape[0], 2 * array.shape[2])
    if array.ndim != 2 or array.shape[1] not in ((4, 6) if width is None else (width,)):
        wanted = "(N, 4), (N, 6), (N, 2, 2) or (N, 2, 3)" if width is None else f"(N, {width}) or (N, 2, {width // 2})"
        raise refuse(name, f"expected shape {wanted}, got {array.shape}", "bad_shape")
    return array


def spheres_of(values: ArrayLike, name: str = "spheres", dimension: Optional[int] = None, dtype: "Optional[np.dtype[Any]]" = None) -> Array:
    """(N, D + 1) as centre.. radius."""
    array = floats(values, name, dtype)
    if array.ndim != 2 or array.shape[1] not in ((3, 4) if dimension is None else (dimension + 1,)):
        wanted = "(N, 3) or (N, 4)" if dimension is None else f"(N, {dimension + 1})"
        raise refuse(name, f"expected shape {wanted}, got {array.shape}", "bad_shape")
    return array


def vector_of(values: ArrayLike, name: str, count: int, dtype: "np.dtype[Any]") -> Array:
    """(count,) of a type; one number stands for all."""
    array = floats(values, name, dtype)
    if array.ndim == 0:
        return np.full(count, array, dtype)
    if array.shape != (count,):
        raise refuse(name, f"expected shape ({count},), got {array.shape}", "bad_shape")
    return array


def indices_of(values: ArrayLike, name: str, dtype: Any = np.uint32) -> Array:
    """Whole numbers that are not negative, in one dimension; negative or too large ones are refused, not wrapped around."""
    array = np.atleast_1d(array_of(values, name))
    if array.size == 0:
        return np.empty(0, dtype)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, got {array.dtype}")
    if array.ndim != 1:
        raise refuse(name, f"expected one dimension, got shape {array.shape}", "bad_shape")
    limits = np.iinfo(dtype)
    bad = (array < limits.min) | (array > limits.max)
    if bad.any():
        row = int(np.argmax(bad))
        raise refuse(name, f"{array[row]} is not an index", "stale_id" if dtype is np.uint32 else "bad_value", row)
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def rows_of(values: Array, name: str, count: int) -> Array:
    """(count,), of as many or of one for all."""
    if values.shape not in ((count,), (1,)):
        raise refuse(name, f"expected shape ({count},), got {values.shape}", "bad_shape")
    return np.full(count, values[0], values.dtype) if len(values) == 1 else values


def thread_count(threads: Optional[int]) -> int:
    """0, which means all, for None."""
    if threads is None:
        return 0
    count = int(threads)
    if count != threads or not 1 <= count <= 4096:
        raise refuse("threads", f"must be 1 to 4096, or None for all processors, not {threads}")
    return count


def byte_limit(max_bytes: Optional[int]) -> int:
    """NO_LIMIT for None."""
    if max_bytes is None:
        return NO_LIMIT
    if max_bytes < 0:
        raise refuse("max_bytes", f"must not be negative, not {max_bytes}")
    return min(int(max_bytes), NO_LIMIT)


def refuse_beyond(wanted: int, max_bytes: int, what: str) -> None:
    """A result of `wanted` bytes where so many are not allowed."""
    if wanted > max_bytes:
        raise refuse("max_bytes", f"{what} would take {wanted} bytes, more than the {max_bytes} that are allowed", "too_large")


def refuse_infinite(rows: Array, name: str) -> None:
    """Rows of floats of which one is not finite."""
    if not np.isfinite(rows).all():
        row, column = (int(x) for x in np.argwhere(~np.isfinite(rows))[0])
        raise refuse(name, f"{rows[row, column]} is not finite", row=row, column=column)


def number(value: Any, name: str) -> float:
    """One number; an array of one is refused like any other."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise refuse(name, f"expected one number, got shape {value.shape}", "bad_shape")
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}: expected a number, got {value!r}")
    return float(value)


def box_of(box: ArrayLike, dimension: int) -> Optional[Array]:
    """The vectors of a periodic box, (D, D) of float64, from D lengths (0: open) or a matrix of row vectors."""
    if box is None:
        return None
    array = floats(box, "box", F64)
    if array.shape == (dimension,):
        return np.diag(array)
    if array.shape != (dimension, dimension):
        raise refuse("box", f"expected {dimension} lengths or a matrix of {dimension} row vectors, got shape {array.shape}", "bad_shape")
    return array


def origin_of(origin: ArrayLike, dimension: int) -> Optional[Array]:
    """The corner of a periodic box."""
    return None if origin is None else vector_of(origin, "origin", dimension, F64)
