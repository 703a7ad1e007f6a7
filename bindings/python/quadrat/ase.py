"""Neighbour lists for ASE: neighbor_list() with the arguments of ase.neighborlist.neighbor_list(), and a NeighborList for
calculators.

The same entries as ASE's, sorted by i; within one i they are in the order of the cells, which is always the same. Strictly
nearer than the cutoff counts, as ASE has it. An axis whose cell vector is zero is open, whatever pbc says of it; ASE puts a vector of
length 1 there.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._arrays import F64, Array, ArrayLike
from ._neighbors import CellIndex

__all__ = ["NeighborList", "neighbor_list"]


def _box(atoms: Any) -> Optional[Array]:
    """The periodic vectors; rows of zeros where the atoms are open."""
    pbc = np.broadcast_to(np.asarray(atoms.pbc, bool), 3)
    cell = np.array(atoms.cell, float).reshape(3, 3)
    return np.where(pbc[:, None], cell, 0.0) if pbc.any() else None


def _species_cutoffs(atoms: Any, cutoff: "Mapping[tuple[Any, Any], float]") -> Array:
    """(119, 119) of the cutoffs by atomic number; 0 where no pair was named."""
    from ase.data import atomic_numbers

    table = np.zeros((119, 119))
    for (a, b), value in cutoff.items():
        i, j = (atomic_numbers[s] if isinstance(s, str) else int(s) for s in (a, b))
        table[i, j] = table[j, i] = value
    return table


def neighbor_list(quantities: str, a: Any, cutoff: "Union[float, Sequence[float], Array, Mapping[tuple[Any, Any], float]]",
                  self_interaction: bool = False, max_nbins: float = 1e6, *, threads: Optional[int] = None) -> Any:
    """Pairs of atoms that are near: one array per letter of `quantities`, a single letter gives its array alone.

    quantities: "i" first atom, "j" second atom, "d" distance, "D" vector from i to j, "S" shift in whole cell vectors.
    a: ase.Atoms.
    cutoff: a number; a dict by pairs of elements, such as {("H", "O"): 1.2}; or a radius per atom, which are added up.
    self_interaction: whether an atom without a shift is its own neighbour.
    max_nbins: not needed, and there for ASE's sake.

    >>> from ase.build import molecule
    >>> import quadrat.ase
    >>> quadrat.ase.neighbor_list("ij", molecule("H2O"), {("H", "O"): 1.2})
    (array([0, 0, 1, 2]), array([1, 2, 0, 0]))
    """
    for letter in quantities:
        if letter not in "ijdDS":
            raise ValueError(f"quantities: there is no {letter!r}")
    positions = np.ascontiguousarray(a.positions, F64)
    species: Optional[Array] = None
    radii: Optional[Array] = None
    if isinstance(cutoff, Mapping):
        species = _species_cutoffs(a, cutoff)
        numbers = np.asarray(a.numbers)
        present = np.unique(numbers)
        largest = float(species[np.ix_(present, present)].max(initial=0))
    elif np.isscalar(cutoff):
        largest = float(cutoff)  # type: ignore[arg-type]
    else:
        radii = np.asarray(cutoff, float)
        if radii.shape != (len(positions),):
            raise ValueError(f"cutoff: expected a radius for each of {len(positions)} atoms, got shape {radii.shape}")
        largest = 2 * float(radii.max(initial=0))
    if not largest > 0 or not len(positions):
        return _selected(quantities, *_nothing())
    if radii is not None and (radii <= 0).any():
        # A sum may be positive where one radius is not: search by the largest, and look at each pair.
        index = CellIndex(largest, box=_box(a), threads=threads, points=positions)
    elif radii is not None:
        index = CellIndex(rule="sum", box=_box(a), threads=threads, points=positions, radii=radii)
    else:
        index = CellIndex(largest, box=_box(a), threads=threads, points=positions)
    near = index.find_neighbors(distances=True, vectors=True, shifts=True, include_self=self_interaction)
    i, j = near.to_coo(np.int64)
    assert near.distances is not None and near.vectors is not None and near.shifts is not None
    d, D, S = near.distances, near.vectors, near.shifts.astype(np.int64) if "S" in quantities else near.shifts
    if species is not None:
        limit: Any = species[numbers[i], numbers[j]]
    elif radii is not None:
        limit = radii[i] + radii[j]
    else:
        limit = largest
    keep: Any = d < limit
    if not keep.all():
        i, j, d, D, S = i[keep], j[keep], d[keep], D[keep], S[keep]
    return _selected(quantities, i, j, d, D, S)


def _nothing() -> "tuple[Array, ...]":
    none = np.empty(0, np.int64)
    return none, none, np.empty(0), np.empty((0, 3)), np.empty((0, 3), np.int64)


def _selected(quantities: str, *arrays: Array) -> Any:
    by_letter = dict(zip("ijdDS", arrays))
    chosen = tuple(by_letter[letter] for letter in quantities)
    return chosen[0] if len(chosen) == 1 else chosen


class NeighborList:
    """For calculators: the neighbours of each atom, built again only when an atom has moved by more than the skin.

    The arguments and calls of ase.neighborlist.NeighborList. With bothways an atom is its own neighbour once, as in
    NewPrimitiveNeighborList; ASE's default lists it twice, and so does primitive=ase.neighborlist.PrimitiveNeighborList here.

    cutoffs: a radius per atom; two atoms are neighbours if they are nearer than the sum of theirs and twice the skin.
    skin: how far an atom may move before the list is built again.
    self_interaction: an atom is its own neighbour. bothways: each pair in both lists; otherwise in one.
    primitive: one of ASE's two classes, whose ways are taken; the search is the same. Default: those of NewPrimitiveNeighborList.

    >>> from ase.build import molecule
    >>> import quadrat.ase
    >>> water = molecule("H2O")
    >>> near = quadrat.ase.NeighborList([0.7, 0.5, 0.5], skin=0.0, self_interaction=False, bothways=True)
    >>> near.update(water), near.get_neighbors(0)[0]
    (True, array([1, 2]))
    """

    def __init__(self, cutoffs: ArrayLike, skin: float = 0.3, sorted: bool = False, self_interaction: bool = True,
                 bothways: bool = False, primitive: Any = None, *, threads: Optional[int] = None) -> None:
        self.cutoffs = np.asarray(cutoffs, float) + skin
        self.skin, self.sorted = skin, sorted
        self.self_interaction, self.bothways = self_interaction, bothways
        self.nupdates = 0
        # Pairs, each once, those with images and atoms beside themselves included, and those with images alone: as ASE's default
        # counts them.
        self.nneighbors = self.npbcneighbors = 0
        self._own_twice = bothways and getattr(primitive, "__name__", "") == "PrimitiveNeighborList"
        self._threads = threads
        self._seen: "Optional[tuple[Array, Array, Array]]" = None

    def update(self, atoms: Any) -> bool:
        """Builds the list if the atoms, the cell or the boundaries have changed by more than the skin; True if it did."""
        now = np.array(atoms.positions, float), np.array(atoms.cell, float), np.array(atoms.pbc, bool)
        if self._seen is not None and all(x.shape == y.shape for x, y in zip(now, self._seen)):
            positions, cell, pbc = self._seen
            still = ((now[0] - positions) ** 2).sum(axis=1).max(initial=0) <= self.skin**2
            if still and (now[1] == cell).all() and (now[2] == pbc).all():
                return False
        i, j, S = neighbor_list("ijS", atoms, self.cutoffs, self_interaction=False, threads=self._threads)
        # One of (i, j, S) and (j, i, -S): the one with the smaller i, and of images of one atom the positive shift.
        first = np.argmax(S != 0, axis=1)
        once = (i < j) | ((i == j) & (S[np.arange(len(S)), first] > 0))
        self.nneighbors = int(once.sum()) + (len(atoms) if self.self_interaction else 0)
        self.npbcneighbors = int(S[once].any(axis=1).sum())
        if not self.bothways:
            i, j, S = i[once], j[once], S[once]
        if self.self_interaction:
            own = np.repeat(np.arange(len(atoms)), 2 if self._own_twice else 1)
            i, j = np.concatenate([own, i]), np.concatenate([own, j])
            S = np.concatenate([np.zeros((len(own), 3), S.dtype), S])
            order = np.argsort(i, kind="stable")
            i, j, S = i[order], j[order], S[order]
        if self.sorted:
            order = np.lexsort((S[:, 2], S[:, 1], S[:, 0], j, i))
            i, j, S = i[order], j[order], S[order]
        self.pair_first, self.pair_second, self.offset_vec = i, j, S
        self._starts = np.searchsorted(i, np.arange(len(atoms) + 1))
        self._seen = now
        self.nupdates += 1
        return True

    def get_neighbors(self, a: int) -> "tuple[Array, Array]":
        """(indices, offsets) of the neighbours of atom a: atom j is at positions[j] + offset @ cell."""
        self._updated()
        begin, end = self._starts[a], self._starts[a + 1]
        return self.pair_second[begin:end], self.offset_vec[begin:end]

    def get_connectivity_matrix(self, sparse: bool = True) -> Any:
        """1 where atom j is in the list of atom i: a scipy.sparse.dok_matrix, or an array, of int8."""
        self._updated()
        shape = len(self._starts) - 1, len(self._starts) - 1
        if sparse:
            from scipy.sparse import coo_matrix

            pairs = np.unique(np.stack([self.pair_first, self.pair_second]), axis=1)
            return coo_matrix((np.ones(pairs.shape[1], np.int8), tuple(pairs)), shape=shape).todok()
        matrix = np.zeros(shape, np.int8)
        matrix[self.pair_first, self.pair_second] = 1
        return matrix

    def _updated(self) -> None:
        if self.nupdates == 0:
            raise RuntimeError("Must call update(atoms) on your neighborlist first!")
