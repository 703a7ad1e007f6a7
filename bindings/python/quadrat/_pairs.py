"""What touches what, in one call."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _quadrat
from ._arrays import Array, ArrayLike, array_of, boxes_of, byte_limit, common_type, thread_count
from ._broad_phase import BroadPhase
from ._errors import QuadratError
from ._progress import Following, Progress


def find_pairs(boxes: ArrayLike, other: Optional[ArrayLike] = None, *, box: Optional[ArrayLike] = None, shifts: bool = False,
               sort: bool = False, dtype: Any = np.uint32, threads: Optional[int] = None, max_bytes: Optional[int] = None,
               progress: Progress = None) -> Any:
    """All overlapping pairs of boxes, each once; boxes that touch overlap.

    Gives a (P, 2) array of row numbers: within one set first < second, between two sets a row of `boxes` and a row of `other`.
    The order is the same for any number of threads.

    boxes: (N, 2 D) with the columns lo.. hi.., or (N, 2, D), for D = 2 or 3. lo <= hi; infinite bounds are legal.
    other: the boxes of a second set; pairs inside each of the two are not looked for. float64 if one of the two is.
    box, shifts: the lengths of a periodic world, 0: open; (pairs, shifts) as BroadPhase.find_pairs() gives them.
    sort: by first, then by second.
    dtype: numpy.uint32 as the library has them, without a copy, or numpy.int64 for libraries that cannot read those.
    threads: how many, the calling one included. Default: one per processor.
    max_bytes: of the result; what needs more raises TooLargeError, a MemoryError, with the size. Default: no limit.
    progress: True, or a function of the share that is done.

    >>> import quadrat
    >>> quadrat.find_pairs([[0, 0, 1, 1], [1, 0, 2, 1], [5, 5, 6, 6]])
    array([[0, 1]], dtype=uint32)
    """
    if box is not None or shifts:
        world = BroadPhase(boxes, box=box, threads=threads, max_bytes=max_bytes)
        found = world.find_pairs(None if other is None else BroadPhase(other), sort=sort, shifts=shifts, progress=progress)
        pairs, *moved = found if shifts else (found,)
        pairs = pairs if dtype is np.uint32 else pairs.astype(dtype)
        return (pairs, *moved) if shifts else pairs
    kind = None
    if other is not None:
        boxes, other = array_of(boxes, "boxes"), array_of(other, "other")
        kind = common_type(boxes, other)
    given = boxes_of(boxes, dtype=kind)
    dimension = given.shape[1] // 2
    if other is None:
        count, most = thread_count(threads), byte_limit(max_bytes)
        if progress is None:
            pairs = _quadrat.find_pairs(given, dimension, count, most, sort, None)
        else:
            with Following(progress, "find_pairs") as callback:
                pairs = _quadrat.find_pairs(given, dimension, count, most, sort, callback)
    else:
        first = BroadPhase(given, threads=threads, max_bytes=max_bytes)
        rows = boxes_of(other, "other", given.shape[1], kind)
        try:
            second = BroadPhase(rows, threads=threads, max_bytes=max_bytes)
        except QuadratError as error:
            error.field, error.args = "other", (str(error).replace("boxes", "other", 1),)
            raise
        pairs = first.find_pairs(second, sort=sort, progress=progress)
    return pairs if dtype is np.uint32 else pairs.astype(dtype)
