"""What touches what, in one call."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _quadrat
from ._arrays import Array, ArrayLike, boxes_of, byte_limit, thread_count
from ._broad_phase import BroadPhase
from ._progress import Following, Progress


def find_pairs(boxes: ArrayLike, other: Optional[ArrayLike] = None, *, sort: bool = False, dtype: Any = np.uint32,
               threads: Optional[int] = None, max_bytes: Optional[int] = None, progress: Progress = None) -> Array:
    """All overlapping pairs of boxes, each once; boxes that touch overlap.

    Gives a (P, 2) array of row numbers: within one set first < second, between two sets a row of `boxes` and a row of `other`.
    The order is the same for any number of threads.

    boxes: (N, 2 D) with the columns lo.. hi.., or (N, 2, D), for D = 2 or 3. lo <= hi; infinite bounds are legal.
    other: the boxes of a second set; pairs inside each of the two are not looked for.
    sort: by first, then by second.
    dtype: numpy.uint32 as the library has them, without a copy, or numpy.int64 for libraries that cannot read those.
    threads: how many, the calling one included. Default: one per processor.
    max_bytes: of the result; what needs more raises TooLargeError, a MemoryError, with the size. Default: no limit.
    progress: True, or a function of the share that is done.

    >>> import quadrat
    >>> quadrat.find_pairs([[0, 0, 1, 1], [1, 0, 2, 1], [5, 5, 6, 6]])
    array([[0, 1]], dtype=uint32)
    """
    given = boxes_of(boxes)
    dimension = given.shape[1] // 2
    if other is None:
        count, most = thread_count(threads), byte_limit(max_bytes)
        if progress is None:
            pairs: Array = _quadrat.find_pairs(given, dimension, count, most, sort, None)
        else:
            with Following(progress, "find_pairs") as callback:
                pairs = _quadrat.find_pairs(given, dimension, count, most, sort, callback)
    else:
        first = BroadPhase(given, threads=threads, max_bytes=max_bytes)
        second = BroadPhase(boxes_of(other, "other", given.shape[1], given.dtype), threads=threads, max_bytes=max_bytes)
        pairs = first.find_pairs(second, sort=sort, progress=progress)
    return pairs if dtype is np.uint32 else pairs.astype(dtype)
