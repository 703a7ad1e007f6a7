"""Spatial hashing: what touches what, what is near what, what is at this cell.

>>> import numpy, quadrat
>>> points = numpy.random.default_rng(1).random((1000, 3))
>>> near = quadrat.find_neighbors(points, 0.1, distances=True)
>>> near
Neighbors: 1000 rows, 3768 entries, distances
"""
from ._broad_phase import BroadPhase, find_pairs
from ._contacts import Contacts, Mesh, find_candidates, find_contacts, impact_times
from ._errors import FileError, QuadratError, StaleError, TooLargeError
from ._neighbor_list import Neighbors
from ._neighbors import CellIndex, count_neighbors, find_nearest, find_neighbors, z_order
from ._quadrat import __version__
from ._simulation import Frame, Simulation
from ._voxels import SparseVoxels, pack
from ._voxels import open as open  # not in __all__, where it would hide Python's own

__all__ = [
    "BroadPhase", "CellIndex", "Contacts", "FileError", "Frame", "Mesh", "Neighbors", "QuadratError", "Simulation", "SparseVoxels",
    "StaleError", "TooLargeError", "__version__", "count_neighbors", "find_candidates", "find_contacts", "find_nearest",
    "find_neighbors", "find_pairs", "impact_times", "pack", "z_order",
]
