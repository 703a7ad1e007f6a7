"""What touches what: a set of boxes or spheres that move, come and go."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from . import _quadrat
from ._arrays import (F32, F64, Array, ArrayLike, asked_as, boxes_of, byte_limit, floats, indices_of, points_of, refuse_infinite,
                      rows_of, spheres_of, thread_count, vector_of)
from ._errors import refuse
from ._progress import Following, Progress

# What an object is that nobody gave a filter: in group bit 0, and meets every group.
GROUP, MASK = 1, 0xFFFFFFFF


class PairEvents(NamedTuple):
    """What has happened to the pairs since the last time; each a (P, 2) array of slots, first < second.

    An object whose slot was erased and used again is another one: pairs of the old one end, those of the new one begin.
    """

    begun: Array
    """Pairs that were not there before."""
    persisting: Array
    """Pairs that still are."""
    ended: Array
    """Pairs that are gone, or of which an object is."""


class BroadPhase:
    """A set of boxes, or of spheres, that move, come and go, and their overlapping pairs.

    An object has a slot, which is its number in pairs and in update(): row i of the first insert() is slot i. The slot of an
    erased object is used again. Dimension and type are those of the first rows; later ones are converted. Questions are not
    rounded: a set of float32 refuses an array of float64 whose numbers are none of float32. May be used from several threads:
    changes wait for questions and the other way round.

    boxes: (N, 2 D) as lo.. hi.., or (N, 2, D).
    spheres: in their place, (N, D + 1) as centre.. radius; a set holds one or the other.
    group, mask: 32 bits each, one number or one per row: two objects are a pair only if the group bits of each meet the mask bits
    of the other. Default: everything meets.
    threads, max_bytes: as for find_pairs() of the package; max_bytes holds for find() and nearest(), too.
    box: the lengths of a periodic world, one per axis, 0: open. Boxes may lie anywhere and must be smaller than the world. Such a
    set is given all its boxes by update(), and finds pairs, with shifts if asked: nothing else.

    A set cannot be copied or pickled: keep the boxes, and make another from them.

    >>> import quadrat
    >>> set = quadrat.BroadPhase([[0, 0, 1, 1], [3, 0, 4, 1]])
    >>> set.update([[0, 0, 1, 1], [1, 1, 2, 2]])
    >>> set.find_pairs()
    array([[0, 1]], dtype=uint32)
    >>> quadrat.BroadPhase(spheres=[[0, 0, 1], [1.5, 0, 1], [9, 9, 1]]).find_pairs()
    array([[0, 1]], dtype=uint32)
    """

    __slots__ = ("_threads", "_max_bytes", "_set", "_dimension", "_dtype", "_round", "_box", "_world")

    def __init__(self, boxes: Optional[ArrayLike] = None, *, spheres: Optional[ArrayLike] = None, group: Optional[ArrayLike] = None,
                 mask: Optional[ArrayLike] = None, box: Optional[ArrayLike] = None, threads: Optional[int] = None,
                 max_bytes: Optional[int] = None) -> None:
        self._threads, self._max_bytes = thread_count(threads), byte_limit(max_bytes)
        self._set: Optional[_quadrat.BroadPhase] = None
        self._dimension = 0
        self._dtype: Any = None
        self._round = False  # spheres
        self._box: Optional[Array] = None if box is None else floats(box, "box", F64)
        self._world: Optional[_quadrat.PeriodicBoxes] = None  # in place of _set where there is a box
        if self._box is not None:
            if spheres is not None or group is not None or mask is not None:
                raise refuse("box", "spheres, groups and masks are not for periodic worlds", "unsupported")
            if self._box.shape not in ((2,), (3,)):
                raise refuse("box", f"expected 2 or 3 lengths, got shape {self._box.shape}", "bad_shape")
            self._dimension = len(self._box)
            if boxes is not None:
                self._fill_world(boxes)
            return
        if boxes is not None or spheres is not None:
            self.insert(boxes, spheres=spheres, group=group, mask=mask)

    def insert(self, boxes: Optional[ArrayLike] = None, *, spheres: Optional[ArrayLike] = None, group: Optional[ArrayLike] = None,
               mask: Optional[ArrayLike] = None) -> int:
        """Adds boxes, or spheres, at consecutive slots, and gives the first of these.

        >>> import quadrat
        >>> set = quadrat.BroadPhase([[0, 0, 2, 2]], group=0b01, mask=0b10)    # meets bullets alone
        >>> set.insert([[1, 1, 3, 3], [1, 1, 3, 3]], group=[0b01, 0b10])
        1
        >>> set.find_pairs(sort=True)
        array([[0, 2],
               [1, 2]], dtype=uint32)
        """
        if self._box is not None:
            raise refuse("box", "a periodic world is given all its boxes at once, by update()", "unsupported")
        rows = self._rows(boxes, spheres)
        filters: "tuple[Optional[Array], Optional[Array]]" = (None, None)
        if group is not None or mask is not None:
            filters = _bits(group, "group", len(rows), GROUP), _bits(mask, "mask", len(rows), MASK)
        made = self._set
        if made is None:
            dimension = (rows.shape[1] if spheres is None else 2 * rows.shape[1] - 2) // 2
            made = _quadrat.BroadPhase(dimension, rows.dtype == F32, self._threads, self._max_bytes)
            first = made.insert(rows, spheres is not None, *filters)
            self._set, self._dimension, self._dtype = made, dimension, rows.dtype
        else:
            first = made.insert(rows, spheres is not None, *filters)
        self._round = spheres is not None
        return first

    def insert_half_spaces(self, normals: ArrayLike, offsets: ArrayLike, *, group: int = GROUP, mask: int = MASK) -> Array:
        """Adds the half-spaces dot(normal, x) <= offset, such as a ground, and gives their slots. Each is tested with every box.

        >>> import quadrat
        >>> set = quadrat.BroadPhase([[0, 2, 1, 3], [5, -1, 6, 1]])
        >>> ground = set.insert_half_spaces([[0, 1]], 0)
        >>> set.find_pairs()
        array([[1, 2]], dtype=uint32)
        """
        set = self._filled()
        directions = self._points(normals, "normals")
        ends = vector_of(offsets, "offsets", len(directions), self._dtype)
        return set.insert_half_spaces(np.column_stack([directions, ends]), *_filter(group, mask))

    def update(self, boxes: Optional[ArrayLike] = None, *, spheres: Optional[ArrayLike] = None) -> None:
        """Moves everything: row i is what slot i is now; rows of empty slots, of half-spaces and of what rests are not looked
        at."""
        if self._box is not None and spheres is None:
            self._fill_world(boxes)
        else:
            self._filled().update(self._rows(boxes, spheres), spheres is not None)

    def _fill_world(self, boxes: Optional[ArrayLike]) -> None:
        assert self._box is not None
        given = boxes_of(boxes, "boxes", 2 * self._dimension, self._dtype)
        world = self._world
        if world is None:
            world = _quadrat.PeriodicBoxes(given.dtype == F32, self._box, self._threads, self._max_bytes)
        world.update(given)
        self._world, self._dtype = world, given.dtype

    def move(self, slots: ArrayLike, boxes: Optional[ArrayLike] = None, *, spheres: Optional[ArrayLike] = None) -> None:
        """Gives a few objects new places, or none of them if a row is bad. What rests wakes up."""
        self._filled().move(indices_of(slots, "slots"), self._rows(boxes, spheres), spheres is not None)

    def erase(self, slots: ArrayLike) -> None:
        """Removes objects, or none of them if a slot is empty."""
        self._filled().erase(indices_of(slots, "slots"))

    def set_filter(self, slots: ArrayLike, group: ArrayLike = GROUP, mask: ArrayLike = MASK) -> None:
        """Gives objects other group and mask bits."""
        given = indices_of(slots, "slots")
        self._filled().set_filters(given, _bits(group, "group", len(given), GROUP), _bits(mask, "mask", len(given), MASK))

    def rest(self, slots: ArrayLike) -> None:
        """Puts objects to rest, such as walls and bodies that sleep: two of them are no pair any more, and a step costs what the
        others cost. Questions find them as before; move() wakes them.

        >>> import quadrat
        >>> set = quadrat.BroadPhase([[0, 0, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3]])
        >>> set.rest([0, 1])
        >>> set.find_pairs(sort=True), set.resting
        (array([[0, 2],
               [1, 2]], dtype=uint32), array([ True,  True, False]))
        """
        self._filled().rest(indices_of(slots, "slots"), True)

    def wake(self, slots: ArrayLike) -> None:
        """Ends the rest of objects, where they are."""
        self._filled().rest(indices_of(slots, "slots"), False)

    def clear(self) -> None:
        """Removes everything and gives the memory back; slots begin at 0 again. Dimension and type stay."""
        if self._set is not None:
            self._set.clear()
        if self._world is not None:
            self._world.update(np.empty((0, 2 * self._dimension), self._dtype))

    def find_pairs(self, other: "Optional[BroadPhase]" = None, *, sort: bool = False, shifts: bool = False,
                   progress: Progress = None) -> Any:
        """All overlapping pairs of slots, as find_pairs() of the package gives them; with `other`, between the two sets.

        shifts: in a periodic world (pairs, shifts): the first box overlaps the second moved by shifts * box, (P, D) int32. A pair
        comes once for each shift with which it overlaps.

        >>> import quadrat
        >>> pairs, shifts = quadrat.BroadPhase([[0, 1, 2, 2], [9, 1, 10.5, 2]], box=[10, 0]).find_pairs(shifts=True)
        >>> pairs.tolist(), shifts.tolist()
        ([[0, 1]], [[-1, 0]])
        """
        if self._box is not None:
            return self._find_images(other, sort, shifts, progress)
        if shifts:
            raise refuse("shifts", "only a periodic world has them: give a box", "unsupported")
        if other is not None and other._box is not None:
            raise refuse("other", "pairs of two sets are not for periodic worlds", "unsupported")
        if self._set is None or (other is not None and other._set is None):
            return np.empty((0, 2), np.uint32)
        with Following(progress, "find_pairs") as callback:
            if other is None:
                return self._set.find_pairs(sort, callback)
            assert other._set is not None
            return self._set.find_pairs_with(other._set, sort, callback)

    def _find_images(self, other: "Optional[BroadPhase]", sort: bool, shifts: bool, progress: Progress) -> Any:
        if other is not None:
            raise refuse("other", "pairs of two sets are not for periodic worlds", "unsupported")
        if self._world is None:
            found = np.empty((0, 2), np.uint32), np.empty((0, self._dimension), np.int32)
        else:
            with Following(progress, "find_pairs") as callback:
                found = self._world.find_pairs(sort, callback)
        return found if shifts else found[0]

    def find_events(self, *, progress: Progress = None) -> PairEvents:
        """Finds the pairs, and what has happened to them since the last find_events(): at the first one all begin.

        >>> import quadrat
        >>> set = quadrat.BroadPhase([[0, 0, 1, 1], [1, 0, 2, 1], [5, 0, 6, 1]])
        >>> set.find_events().begun
        array([[0, 1]], dtype=uint32)
        >>> set.update([[0, 0, 1, 1], [4, 0, 5, 1], [5, 0, 6, 1]])
        >>> begun, persisting, ended = set.find_events()
        >>> begun, ended
        (array([[1, 2]], dtype=uint32), array([[0, 1]], dtype=uint32))
        """
        if self._box is not None:
            raise refuse("box", "a periodic world has no events", "unsupported")
        if self._set is None:
            return PairEvents(*(np.empty((0, 2), np.uint32) for _ in range(3)))
        with Following(progress, "find_events") as callback:
            return PairEvents(*self._set.find_events(callback))

    def find(self, boxes: Optional[ArrayLike] = None, *, points: Optional[ArrayLike] = None, spheres: Optional[ArrayLike] = None,
             segments: Optional[ArrayLike] = None, group: Optional[int] = None, mask: Optional[int] = None,
             progress: Progress = None) -> "tuple[Array, Array]":
        """(offsets, slots): what query q meets is slots[offsets[q]:offsets[q + 1]], ascending.

        boxes, points, spheres or segments: the queries; segments are (N, 2 D) or (N, 2, D), both ends. A sphere of the set counts
        as its box, here and in all other questions.
        group, mask: only what may meet an object of these. Default: everything is found.

        >>> import quadrat
        >>> offsets, slots = quadrat.BroadPhase([[0, 0, 1, 1], [1, 0, 2, 1]]).find([[1, 1, 1, 1], [5, 5, 6, 6]])
        >>> offsets, slots
        (array([0, 2, 2]), array([0, 1], dtype=int32))
        """
        set = self._filled()
        given = [(k, values) for k, values in enumerate((points, boxes, spheres, segments)) if values is not None]
        if len(given) != 1:
            raise TypeError("find() takes boxes, points, spheres or segments")
        shape, values = given[0]
        if shape == 0:
            rows = self._points(values, "points")
        elif shape == 2:
            rows = self._spheres(values)
        else:
            rows = self._boxes(values, "boxes" if shape == 1 else "segments")
        with Following(progress, "find") as callback:
            return set.find(shape, rows, _asked(group, mask), callback)

    def find_on_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = np.inf, *, group: Optional[int] = None,
                     mask: Optional[int] = None) -> "tuple[Array, Array]":
        """(offsets, slots): every box that each ray enters, as find() gives them; the arguments are those of closest_hits()."""
        return self._filled().find(4, self._rays(origins, directions, lengths), _asked(group, mask), None)

    def find_any(self, boxes: ArrayLike, *, group: Optional[int] = None, mask: Optional[int] = None) -> Array:
        """Whether places are free: for each box the slot of something that overlaps it, -1 if nothing does."""
        return self._filled().find_any(self._boxes(boxes, "boxes"), _asked(group, mask))

    def nearest(self, points: ArrayLike, k: Optional[int] = None, *, group: Optional[int] = None,
                mask: Optional[int] = None) -> "tuple[Array, Array]":
        """(slots, distances): the box nearest to each point, 0 away if it holds it; -1 and infinity without boxes. With k both are
        (N, k), nearest first.

        >>> import quadrat
        >>> quadrat.BroadPhase([[0, 0, 1, 1], [4, 0, 5, 1]]).nearest([[2, 0.5], [9, 1]])
        (array([0, 1]), array([1., 4.]))
        """
        rows, asked = self._points(points, "points"), _asked(group, mask)
        if k is None:
            return self._filled().nearest(rows, asked)
        if not 1 <= k < 1 << 32:
            raise refuse("k", f"must be at least 1 and below 2^32, not {k}")
        return self._filled().k_nearest(rows, k, asked)

    def closest_hits(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = np.inf, *, group: Optional[int] = None,
                     mask: Optional[int] = None) -> "tuple[Array, Array]":
        """(slots, distances): the first box that each ray enters, and where, in multiples of its direction; -1 and infinity
        where there is none.

        lengths: where the rays end, in multiples of their directions. Default: nowhere; a length that is known saves time.
        """
        return self._filled().closest_hits(self._rays(origins, directions, lengths), _asked(group, mask))

    def cast_boxes(self, boxes: ArrayLike, motions: ArrayLike, *, group: Optional[int] = None,
                   mask: Optional[int] = None) -> "tuple[Array, Array]":
        """(slots, shares): what each box meets first on its way, and after which share of its motion, 0 where they overlap from
        the start; -1 and infinity where it meets nothing.

        >>> import quadrat
        >>> quadrat.BroadPhase([[4, 0, 5, 1]]).cast_boxes([[0, 0, 1, 1]], [[6, 0]])
        (array([0]), array([0.5]))
        """
        rows = self._boxes(boxes, "boxes")
        return self._filled().casts(rows, False, self._motions(motions), _asked(group, mask))

    def cast_spheres(self, spheres: ArrayLike, motions: ArrayLike, *, group: Optional[int] = None,
                     mask: Optional[int] = None) -> "tuple[Array, Array]":
        """The same for spheres, (N, D + 1)."""
        rows = self._spheres(spheres)
        return self._filled().casts(rows, True, self._motions(motions), _asked(group, mask))

    def __len__(self) -> int:
        """How many objects there are."""
        if self._world is not None:
            return self._world.size()
        return 0 if self._set is None else self._set.size()

    @property
    def slots(self) -> int:
        """How many slots there are, empty ones included: the rows that update() takes."""
        if self._world is not None:
            return self._world.size()
        return 0 if self._set is None else self._set.slots()

    @property
    def occupied(self) -> Array:
        """(slots,) of bool: which of them are not empty."""
        return np.empty(0, bool) if self._set is None else self._set.occupied()

    @property
    def resting(self) -> Array:
        """(slots,) of bool: what rests."""
        return np.empty(0, bool) if self._set is None else self._set.resting()

    def stats(self) -> "dict[str, int]":
        """tests: of boxes, by the last find_pairs(); grids; resting, loose and unbounded objects; bytes. Of a periodic world
        images (boxes held twice), tests and bytes."""
        if self._world is not None:
            return self._world.stats()
        if self._set is None:
            return dict.fromkeys(("tests", "grids", "resting", "loose", "unbounded", "bytes"), 0)
        return self._set.stats()

    def __reduce__(self) -> "tuple[object, ...]":
        raise TypeError("a BroadPhase can be neither copied nor pickled: keep the boxes, and make another from them")

    def __repr__(self) -> str:
        if self._world is not None:
            return f"BroadPhase of {len(self)} boxes in {self._dimension}D, {self._dtype}, periodic"
        if self._set is None:
            return "BroadPhase of no boxes"
        return f"BroadPhase of {len(self)} {'spheres' if self._round else 'boxes'} in {self._dimension}D, {self._dtype}"

    def _filled(self) -> _quadrat.BroadPhase:
        if self._box is not None:
            raise refuse("box", "a periodic world finds pairs, and nothing else", "unsupported")
        if self._set is None:
            raise refuse("boxes", "nothing was inserted yet", "stale_id")
        return self._set

    def _rows(self, boxes: Optional[ArrayLike], spheres: Optional[ArrayLike]) -> Array:
        """Those of the two that are given, of the dimension and type of the set if it has one."""
        if (boxes is None) == (spheres is None):
            raise TypeError("expected boxes or spheres")
        if spheres is None:
            return boxes_of(boxes, "boxes", 2 * self._dimension or None, self._dtype)
        return spheres_of(spheres, "spheres", self._dimension or None, self._dtype)

    def _points(self, values: ArrayLike, name: str) -> Array:
        self._filled()
        return points_of(asked_as(values, name, self._dtype), name, np.empty((0, self._dimension), self._dtype))

    def _motions(self, values: ArrayLike) -> Array:
        rows = self._points(values, "motions")
        refuse_infinite(rows, "motions")
        return rows

    def _boxes(self, values: ArrayLike, name: str) -> Array:
        self._filled()
        return boxes_of(asked_as(values, name, self._dtype), name, 2 * self._dimension, self._dtype)

    def _spheres(self, values: ArrayLike) -> Array:
        self._filled()
        return spheres_of(asked_as(values, "spheres", self._dtype), "spheres", self._dimension, self._dtype)

    def _rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike) -> Array:
        """(N, 2 D + 1)."""
        start, along = self._points(origins, "origins"), self._points(directions, "directions")
        if len(start) != len(along):
            raise refuse("directions", f"expected {len(start)} rows, got {len(along)}", "bad_shape")
        return np.column_stack([start, along, vector_of(asked_as(lengths, "lengths", self._dtype), "lengths", len(start), self._dtype)])


def _bits(values: Optional[ArrayLike], name: str, count: int, default: int) -> Array:
    """(count,) of uint32."""
    given = indices_of(default if values is None else values, name, np.uint32)
    return given if given.shape == (count,) else rows_of(given, name, count)


def _filter(group: int, mask: int) -> "tuple[int, int]":
    return int(_bits(group, "group", 1, GROUP)[0]), int(_bits(mask, "mask", 1, MASK)[0])


def _asked(group: Optional[int], mask: Optional[int]) -> "Optional[tuple[int, int]]":
    """The filter of a question; None for everything."""
    return None if group is None and mask is None else _filter(GROUP if group is None else group, MASK if mask is None else mask)
