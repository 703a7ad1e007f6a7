"""What touches what: overlapping pairs of boxes."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _quadrat
from ._arrays import F32, Array, ArrayLike, boxes_of, byte_limit, indices_of, points_of, thread_count, vector_of
from ._errors import refuse
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


class BroadPhase:
    """A set of boxes that move, come and go, and their overlapping pairs.

    A box has a slot, which is its number in pairs and in update(): row i of the first insert() is slot i. The slot of an erased
    box is used again. Dimension and type are those of the first boxes; later ones are converted. May be used from several
    threads: changes wait for questions and the other way round.

    >>> import quadrat
    >>> set = quadrat.BroadPhase([[0, 0, 1, 1], [3, 0, 4, 1]])
    >>> set.update([[0, 0, 1, 1], [1, 1, 2, 2]])
    >>> set.find_pairs()
    array([[0, 1]], dtype=uint32)
    """

    __slots__ = ("_threads", "_max_bytes", "_set", "_width", "_dtype")

    def __init__(self, boxes: Optional[ArrayLike] = None, *, threads: Optional[int] = None, max_bytes: Optional[int] = None) -> None:
        self._threads, self._max_bytes = thread_count(threads), byte_limit(max_bytes)
        self._set: Optional[_quadrat.BroadPhase] = None
        self._width = 0
        self._dtype: Any = None
        if boxes is not None:
            self.insert(boxes)

    def insert(self, boxes: ArrayLike) -> int:
        """Adds boxes at consecutive slots, and gives the first of these."""
        given = boxes_of(boxes, "boxes", self._width or None, self._dtype)
        if self._set is None:
            made = _quadrat.BroadPhase(given.shape[1] // 2, given.dtype == F32, self._threads, self._max_bytes)
            first = made.insert(given)
            self._set, self._width, self._dtype = made, given.shape[1], given.dtype
            return first
        return self._set.insert(given)

    def update(self, boxes: ArrayLike) -> None:
        """Moves everything: row i is the new box of slot i; rows of empty slots are not looked at."""
        set = self._filled()
        set.update(boxes_of(boxes, "boxes", self._width, self._dtype))

    def move(self, slots: ArrayLike, boxes: ArrayLike) -> None:
        """Gives a few boxes new places, or none of them if a row is bad."""
        set = self._filled()
        set.move(indices_of(slots, "slots"), boxes_of(boxes, "boxes", self._width, self._dtype))

    def erase(self, slots: ArrayLike) -> None:
        """Removes boxes, or none of them if a slot is empty."""
        self._filled().erase(indices_of(slots, "slots"))

    def find_pairs(self, other: "Optional[BroadPhase]" = None, *, sort: bool = False, progress: Progress = None) -> Array:
        """All overlapping pairs of slots, as find_pairs() of the package gives them; with `other`, between the two sets."""
        if self._set is None or (other is not None and other._set is None):
            return np.empty((0, 2), np.uint32)
        with Following(progress, "find_pairs") as callback:
            if other is None:
                return self._set.find_pairs(sort, callback)
            assert other._set is not None
            return self._set.find_pairs_with(other._set, sort)

    def find(self, boxes: ArrayLike) -> tuple[Array, Array]:
        """(offsets, slots): the boxes that overlap query q are slots[offsets[q]:offsets[q + 1]], ascending.

        >>> import quadrat
        >>> offsets, slots = quadrat.BroadPhase([[0, 0, 1, 1], [1, 0, 2, 1]]).find([[1, 1, 1, 1], [5, 5, 6, 6]])
        >>> offsets, slots
        (array([0, 2, 2]), array([0, 1], dtype=int32))
        """
        return self._filled().find_boxes(boxes_of(boxes, "boxes", self._width, self._dtype))

    def nearest(self, points: ArrayLike) -> tuple[Array, Array]:
        """(slots, distances): the box nearest to each point, 0 away if it holds it; -1 and infinity without boxes."""
        return self._filled().nearest(self._rows(points, "points"))

    def closest_hits(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = np.inf) -> tuple[Array, Array]:
        """(slots, distances): the first box that each ray enters, and where, in multiples of its direction; -1 and infinity
        where there is none.

        lengths: where the rays end, in multiples of their directions. Default: nowhere; a length that is known saves time.
        """
        set = self._filled()
        start = self._rows(origins, "origins")
        return set.closest_hits(start, self._rows(directions, "directions"), vector_of(lengths, "lengths", len(start), self._dtype))

    def __len__(self) -> int:
        """How many boxes there are."""
        return 0 if self._set is None else self._set.size()

    @property
    def slots(self) -> int:
        """How many slots there are, empty ones included: the rows that update() takes."""
        return 0 if self._set is None else self._set.slots()

    def stats(self) -> "dict[str, int]":
        """tests: of boxes, by the last find_pairs(); grids; bytes."""
        return {"tests": 0, "grids": 0, "bytes": 0} if self._set is None else self._set.stats()

    def __repr__(self) -> str:
        return f"BroadPhase of {len(self)} boxes in {self._width // 2}D, {self._dtype}" if self._set is not None else "BroadPhase of no boxes"

    def _filled(self) -> _quadrat.BroadPhase:
        if self._set is None:
            raise refuse("boxes", "nothing was inserted yet", "stale_id")
        return self._set

    def _rows(self, values: ArrayLike, name: str) -> Array:
        return points_of(values, name, np.empty((0, self._width // 2), self._dtype))
