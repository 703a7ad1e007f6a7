"""quadrat.ase against ase.neighborlist."""
import numpy as np
import pytest

ase = pytest.importorskip("ase")

from ase.build import bulk, molecule  # noqa: E402
from ase.neighborlist import NeighborList, NewPrimitiveNeighborList, neighbor_list  # noqa: E402

import quadrat.ase  # noqa: E402


def atoms_of(name):
    rng = np.random.default_rng(len(name))
    if name == "molecule":
        return molecule("CH3CH2OH")
    if name == "crystal":
        return bulk("NaCl", "rocksalt", a=5.64) * (2, 2, 2)
    if name == "small cell":
        return bulk("Cu")
    if name == "one":
        return ase.Atoms("H", [[0, 0, 0]], cell=[3, 3, 3], pbc=True)
    if name == "none":
        return ase.Atoms()
    cell = {"open": np.eye(3) * 8, "cubic": np.eye(3) * 8, "triclinic": [[7, 0, 0], [2, 8, 0], [-1, 3, 9]], "slab": np.diag([7, 8, 30]),
            "outside": [[7, 0, 0], [2, 8, 0], [-1, 3, 9]]}[name]
    pbc = {"open": False, "slab": [True, True, False]}.get(name, True)
    positions = rng.random((60, 3)) @ cell
    if name == "outside":
        positions += rng.integers(-3, 4, (60, 3)) @ cell
    return ase.Atoms(numbers=rng.choice([1, 8, 29], 60), positions=positions, cell=cell, pbc=pbc)


NAMES = ["open", "cubic", "triclinic", "slab", "outside", "molecule", "crystal", "small cell", "one", "none"]


def rows(i, j, d, D, S):
    order = np.lexsort((S[:, 2], S[:, 1], S[:, 0], j, i))
    return i[order], j[order], d[order], D[order], S[order]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cutoff", ["number", "species", "atoms"])
@pytest.mark.parametrize("own", [False, True])
def test_the_same_rows(name, cutoff, own):
    atoms = atoms_of(name)
    rng = np.random.default_rng(3)
    given = {"number": 2.7183, "species": {("H", "O"): 2.1, ("Cu", "Cu"): 3.3, (1, 1): 1.9, ("Na", "Cl"): 2.9},
             "atoms": rng.uniform(0.4, 1.7, len(atoms)).tolist()}[cutoff]
    if name == "none":
        assert [len(x) for x in quadrat.ase.neighbor_list("ijdDS", atoms, given)] == [0] * 5
        return
    found = quadrat.ase.neighbor_list("ijdDS", atoms, given, own)
    assert (np.diff(found[0]) >= 0).all(), "not sorted by the first atom"
    expected = neighbor_list("ijdDS", atoms, given, own)
    for ours, theirs in zip(rows(*found), rows(*expected)):
        assert ours.shape == theirs.shape and np.allclose(ours, theirs, atol=1e-9)
        assert ours.dtype.kind == theirs.dtype.kind


@pytest.mark.parametrize("quantities", ["i", "S", "jd", "Dij"])
def test_quantities(quantities):
    atoms = atoms_of("cubic")
    whole = dict(zip("ijdDS", quadrat.ase.neighbor_list("ijdDS", atoms, 2.5)))
    found = quadrat.ase.neighbor_list(quantities, atoms, 2.5)
    for letter, array in zip(quantities, found if len(quantities) > 1 else [found]):
        assert np.array_equal(array, whole[letter])
    with pytest.raises(ValueError):
        quadrat.ase.neighbor_list("ix", atoms, 2.5)
    with pytest.raises(ValueError):
        quadrat.ase.neighbor_list("ij", atoms, [1.0, 2.0])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "none"])
@pytest.mark.parametrize("own", [False, True])
def test_the_class_for_calculators(name, own):
    atoms = atoms_of(name)
    radii = np.random.default_rng(4).uniform(0.5, 1.5, len(atoms))
    ours = quadrat.ase.NeighborList(radii, skin=0.2, self_interaction=own, bothways=True)
    theirs = NeighborList(radii, skin=0.2, self_interaction=own, bothways=True, primitive=NewPrimitiveNeighborList)
    half = quadrat.ase.NeighborList(radii, skin=0.2, self_interaction=False, bothways=False, sorted=True)
    assert ours.update(atoms) is True and theirs.update(atoms) and half.update(atoms)
    for _ in range(2):
        pairs = set()
        for a in range(len(atoms)):
            j, S = ours.get_neighbors(a)
            expected_j, expected_S = theirs.get_neighbors(a)
            assert sorted((x, *y) for x, y in zip(j.tolist(), S.tolist())) == sorted((x, *y) for x, y in zip(expected_j.tolist(), np.asarray(expected_S).astype(int).tolist()))
            for x, s in zip(*(values.tolist() for values in half.get_neighbors(a))):
                for row in ((a, x, *s), (x, a, *(-v for v in s))):
                    assert row not in pairs
                    pairs.add(row)
        whole = {(a, x, *s) for a in range(len(atoms)) for x, s in zip(*(v.tolist() for v in ours.get_neighbors(a)))}
        assert pairs == {row for row in whole if row[0] != row[1] or any(row[2:])}
        assert ours.update(atoms) is False and ours.nupdates == (1 if _ == 0 else 2)
        atoms.positions += 0.15
        assert half.update(atoms) == (np.sqrt(3) * 0.15 > 0.2)
        assert ours.update(atoms) == theirs.update(atoms)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "none"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("bothways", [False, True])
def test_counts_and_matrices_are_those_of_the_default(name, own, bothways):
    from ase.neighborlist import PrimitiveNeighborList

    atoms = atoms_of(name)
    radii = np.random.default_rng(4).uniform(0.5, 1.5, len(atoms))
    ours = quadrat.ase.NeighborList(radii, skin=0.2, self_interaction=own, bothways=bothways, primitive=PrimitiveNeighborList)
    theirs = NeighborList(radii, skin=0.2, self_interaction=own, bothways=bothways, primitive=PrimitiveNeighborList)
    for call in (lambda: ours.get_neighbors(0), ours.get_connectivity_matrix):
        with pytest.raises(RuntimeError, match="update"):
            call()
    assert ours.update(atoms) and theirs.update(atoms)
    assert (ours.nneighbors, ours.npbcneighbors, ours.nupdates) == (theirs.nneighbors, theirs.npbcneighbors, theirs.nupdates)
    matrix, expected = ours.get_connectivity_matrix(sparse=False), theirs.get_connectivity_matrix(sparse=False)
    assert np.array_equal(ours.get_connectivity_matrix().toarray(), matrix) and matrix.dtype == expected.dtype
    if bothways:
        assert np.array_equal(matrix, expected)
        for a in range(len(atoms)):
            assert sorted(ours.get_neighbors(a)[0].tolist()) == sorted(theirs.get_neighbors(a)[0].tolist())
    else:
        assert np.array_equal(matrix | matrix.T, expected | expected.T)
    assert ours.get_neighbors(0)[1].dtype == np.int64


def test_an_axis_without_a_vector_is_open():
    positions = np.random.default_rng(0).random((40, 3)) * 3
    for cell in (np.zeros((3, 3)), np.diag([5.0, 5, 0]), np.diag([5.0, 0, 0])):
        atoms = ase.Atoms("H40", positions, cell=cell, pbc=True)
        there = ase.Atoms("H40", positions, cell=np.diag(np.where(np.diag(cell) > 0, np.diag(cell), 50)), pbc=np.diag(cell) > 0)
        found, expected = quadrat.ase.neighbor_list("ijdDS", atoms, 1.2), neighbor_list("ijdDS", there, 1.2)
        for ours, theirs in zip(rows(*found), rows(*expected)):
            assert np.allclose(ours, theirs) and ours.dtype == theirs.dtype
