"""Spatial hashing: what touches what, what is near what, what is at this cell.

>>> import numpy, quadrat
>>> points = numpy.random.default_rng(1).random((1000, 3))
>>> near = quadrat.find_neighbors(points, 0.1, distances=True)
>>> near
Neighbors: 1000 rows, 3768 entries, distances
"""
from typing import TYPE_CHECKING, Any

from ._broad_phase import BroadPhase, PairEvents
from ._errors import FileError, QuadratError, StaleError, TooLargeError
from ._neighbor_list import Neighbors
from ._neighbors import CellIndex, count_neighbors, find_nearest, find_neighbors, z_order
from ._pairs import find_pairs
from ._quadrat import __version__

if TYPE_CHECKING:
    from ._contacts import ContactCandidates, Contacts, Mesh, earliest_time, find_candidates, find_contacts
    from ._features import (ClosestPoints, ClosestTriangles, Potential, closest_points, closest_triangles, contact_barrier,
                            friction_potential, impact_times, squared_distance, triangles_intersect)
    from ._simulation import Frame, Simulation
    from ._voxel_edits import EditableVoxels
    from ._voxels import SparseVoxels, VoxelHits, open, pack

__all__ = [
    "BroadPhase", "CellIndex", "ClosestPoints", "ClosestTriangles", "ContactCandidates", "Contacts", "EditableVoxels",
    "FileError", "Frame", "Mesh", "Neighbors", "PairEvents", "Potential", "QuadratError", "Simulation", "SparseVoxels",
    "StaleError", "TooLargeError", "VoxelHits", "__version__", "closest_points", "closest_triangles", "contact_barrier",
    "count_neighbors", "earliest_time", "find_candidates", "find_contacts", "find_nearest", "find_neighbors", "find_pairs",
    "friction_potential", "impact_times", "pack", "squared_distance", "triangles_intersect", "z_order",
]

# Imported when they are first asked for, so that `import quadrat` takes no longer than what most programs use. open() is not in
# __all__, where it would hide Python's own.
_LATER = {
    "ContactCandidates": "_contacts", "Contacts": "_contacts", "Mesh": "_contacts", "earliest_time": "_contacts",
    "find_candidates": "_contacts", "find_contacts": "_contacts", "ClosestPoints": "_features", "ClosestTriangles": "_features",
    "Potential": "_features", "closest_points": "_features", "closest_triangles": "_features", "contact_barrier": "_features",
    "friction_potential": "_features", "impact_times": "_features", "squared_distance": "_features",
    "triangles_intersect": "_features", "Frame": "_simulation", "Simulation": "_simulation", "SparseVoxels": "_voxels",
    "VoxelHits": "_voxels", "open": "_voxels", "pack": "_voxels", "EditableVoxels": "_voxel_edits",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'quadrat' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"quadrat.{_LATER[name]}"), name)
    return value


def __dir__() -> "list[str]":
    return sorted({*globals(), *_LATER})
