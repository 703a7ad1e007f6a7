"""What bad data gets: every error of the library, as an exception that is also the one that Python users expect."""
from __future__ import annotations

from typing import Optional


class QuadratError(ValueError):
    """Bad data, with its place. Rows, columns and bytes count from 0, lines of text files from 1; what is not known is None.

    >>> import quadrat
    >>> try:
    ...     quadrat.find_neighbors([[0.0, 0.0], [0.0, float("nan")]], 1)
    ... except quadrat.QuadratError as error:
    ...     print(error.kind, error.row, error.column)
    bad_value 1 1
    """

    kind: str = ""
    """bad_value, bad_shape, bad_format, unsupported, cannot_read, cannot_write, stale_id, duplicate, too_large."""
    row: Optional[int] = None
    """Position in an array, or row of a file."""
    column: Optional[int] = None
    """Column of an array; boxes have the columns lo.. hi.."""
    line: Optional[int] = None
    """Line of a text file."""
    byte: Optional[int] = None
    """Offset in a binary file."""
    field: str = ""
    """Name of an argument, option, header entry or property."""
    file: str = ""
    """The file as it was named."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.args, self.__dict__


class TooLargeError(QuadratError, MemoryError):
    """A result that would need more than max_bytes, or than an index can address; the message names the size."""


class StaleError(QuadratError, IndexError):
    """A slot or index of something that was erased, or was never there."""


class FileError(QuadratError, OSError):
    """A file that cannot be read or written."""


_CLASSES = {"too_large": TooLargeError, "stale_id": StaleError, "cannot_read": FileError, "cannot_write": FileError}


def make(kind: str, message: str, row: Optional[int] = None, column: Optional[int] = None, line: Optional[int] = None,
         byte: Optional[int] = None, field: str = "", file: str = "") -> BaseException:
    """The exception for an error of the library."""
    if kind == "stopped":
        return KeyboardInterrupt(message)
    error = _CLASSES.get(kind, QuadratError)(message)
    error.kind, error.row, error.column, error.line, error.byte, error.field, error.file = kind, row, column, line, byte, field, file
    return error


def refuse(field: str, message: str, kind: str = "bad_value", row: Optional[int] = None, column: Optional[int] = None) -> BaseException:
    """The exception for an argument that is refused here."""
    place = field + ("" if row is None else f": row {row}") + ("" if column is None else f", column {column}")
    return make(kind, f"{place}: {message}", row, column, field=field)
