"""Fluid, solids and cloth in one scene, advanced in time."""
from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any, Iterator, Mapping, Optional, Union

import numpy as np

from . import _quadrat
from ._arrays import Array, ArrayLike, number, thread_count
from ._errors import refuse
from ._progress import Following, Progress


class _Encoder(json.JSONEncoder):
    """NumPy's numbers and arrays in scenes."""

    def default(self, o: Any) -> Any:
        if isinstance(o, (np.ndarray, np.generic)):
            return o.tolist()
        if isinstance(o, os.PathLike):
            return os.fspath(o)
        return super().default(o)


class Frame:
    """What a run looks like at one time: time in seconds, positions (N, 3) and velocities of the particles, and bodies."""

    __slots__ = ("time", "positions", "velocities", "bodies")

    def __init__(self, simulation: "Simulation") -> None:
        self.time = simulation.time
        self.positions = simulation.positions
        self.velocities = simulation.velocities
        self.bodies = simulation.bodies

    def __repr__(self) -> str:
        return f"Frame at {self.time:g} s: {len(self.positions)} particles, {len(self.bodies)} bodies"


class Simulation:
    """One run of a scene: a dict with the keys of docs/scenes.md, or a file with the same in JSON. SI units.

    Arrays are those of the last step; they are copies, made once per step, and stay as they are when the run goes on. Entry k of
    each is the same particle; the order changes with the steps, ids stay.

    variant: the name of one of the file's variants. threads: how many; the result is the same for any number.

    >>> import quadrat
    >>> run = quadrat.Simulation({"domain": {"lo": [0, 0, 0], "hi": [1, 0.5, 1]}, "spacing": 0.05,
    ...                           "blocks": [{"lo": [0, 0, 0], "hi": [0.3, 0.5, 0.5]}]})
    >>> run.advance_to(0.02)
    >>> run.time
    0.02
    >>> run.positions.shape[1], run.positions.dtype
    (3, dtype('float32'))
    """

    __slots__ = ("_run", "_kept", "_scene")

    def __init__(self, scene: "Union[str, os.PathLike[str], Mapping[str, Any]]", *, variant: str = "", threads: Optional[int] = None) -> None:
        count = thread_count(threads)
        self._scene: Optional[tuple[str, str, str]] = None  # text, or else the name of a file, and the variant
        if isinstance(scene, Mapping):
            text = json.dumps(scene, cls=_Encoder)
            self._run = _quadrat.Simulation(text, "scene", variant, False, count)
            self._scene = text, "", variant
        else:
            name = os.fspath(scene)
            if not os.path.exists(name):
                raise FileNotFoundError(f"{name}: there is no such scene; a scene may also be given as a dict")
            self._run = _quadrat.Simulation("", name, variant, True, count)
            self._scene = "", os.path.abspath(name), variant
        self._forget()

    @classmethod
    def load(cls, saved: bytes, *, threads: Optional[int] = None) -> "Simulation":
        """The run that save() was called on; it goes on bit for bit."""
        self = cls.__new__(cls)
        self._run = _quadrat.Simulation.load(saved, thread_count(threads))
        self._scene = None
        self._forget()
        return self

    def save(self) -> bytes:
        """Everything that the run depends on, for this version of the library."""
        return self._run.save()

    def step(self) -> None:
        """One time step, as long as the scene allows."""
        self._forget()
        self._run.step()

    def advance_to(self, time: float, *, progress: Progress = None) -> None:
        """Steps until this time, in seconds; Ctrl-C ends it between two steps, from which it can go on."""
        end = number(time, "time")
        self._forget()
        with Following(progress, "advance_to") as callback:
            self._run.advance_to(end, callback)

    def frames(self, dt: float, end: Optional[float] = None) -> Iterator[Frame]:
        """A frame every dt seconds, the one of now first, until `end` (default: the end_time of the scene)."""
        last = self._run.end_time() if end is None else number(end, "end")
        if not dt > 0:
            raise refuse("dt", f"must be positive, not {dt}")
        begin, number_of = self.time, 0
        yield Frame(self)
        while begin + (number_of + 1) * dt <= last * (1 + 1e-12):
            number_of += 1
            self.advance_to(begin + number_of * dt)
            yield Frame(self)

    @property
    def time(self) -> float:
        """Seconds since the scene began."""
        return self._run.time()

    @property
    def positions(self) -> Array:
        """(N, 3) float32, metres."""
        return self._particles("positions")

    @property
    def velocities(self) -> Array:
        """(N, 3) float32, m / s."""
        return self._particles("velocities")

    @property
    def densities(self) -> Array:
        """(N,) float32, kg / m^3."""
        return self._particles("densities")

    @property
    def pressures(self) -> Array:
        """(N,) float32, Pa."""
        return self._particles("pressures")

    @property
    def phases(self) -> Array:
        """(N,) uint8: which of the scene's phases."""
        return self._particles("phases")

    @property
    def ids(self) -> Array:
        """(N,) uint32: who is who."""
        return self._particles("ids")

    @property
    def bodies(self) -> Array:
        """A structured array with a row per body: position, orientation (w, x, y, z), velocity, angular_velocity."""
        rows = self._run.bodies()
        kind = np.dtype([("position", "f8", 3), ("orientation", "f8", 4), ("velocity", "f8", 3), ("angular_velocity", "f8", 3)])
        return rows.view(kind).reshape(len(rows))

    def cloth_faces(self, number: int = 0) -> Array:
        """(4 F,) int64: the triangles of a sheet as VTK and PyVista have them: pyvista.PolyData(positions, faces)."""
        from ._contacts import vtk_faces

        return vtk_faces(self.cloth(number)[0])

    def as_pyvista(self) -> Any:
        """The particles as a pyvista.PolyData with velocities, densities and ids, where PyVista is installed."""
        try:
            pyvista = import_module("pyvista")
        except ImportError as error:
            raise ImportError("as_pyvista() needs PyVista, which is not installed; positions is what it reads") from error
        cloud = pyvista.PolyData(self.positions)
        for name in ("velocities", "densities", "ids"):
            cloud[name] = getattr(self, name)
        return cloud

    def cloth(self, number: int = 0) -> "tuple[Array, Array]":
        """(triangles, positions) of a sheet."""
        if not 0 <= number < self._run.cloths():
            raise IndexError(f"cloth {number} of {self._run.cloths()}")
        return self._run.cloth(number)

    def stats(self) -> "dict[str, Any]":
        """Energies in joules, errors of the density, steps, contacts, seconds: what docs/reference/simulation.md lists."""
        return self._run.stats()

    def preset(self) -> "dict[str, float]":
        """What was chosen where the scene left it open: support, spacing, expected_speed, sound_speed, first_step."""
        return self._run.preset()

    def picture(self, width: int = 640, height: int = 480, *, color: Optional[ArrayLike] = None) -> bytes:
        """A PNG of the particles from the front and above, coloured by speed or by `color`, one number per particle. It needs
        nothing but NumPy, and shows neither bodies nor cloth; render() shows everything."""
        from ._picture import particles_as_png

        speed = np.linalg.norm(self.velocities, axis=1) if color is None else np.asarray(color, float)
        return particles_as_png(self.positions, speed, width, height, flat=self._run.dimension() == 2)

    def render(self, width: Optional[int] = None, *, samples: Optional[int] = None) -> bytes:
        """A ray traced PNG of all that there is, seen as the scene's `view` says, by the program `quadrat` (see python -m quadrat).

        width: in pixels; the height goes with it. samples: per pixel. Default: as the scene has them. FileNotFoundError without
        the program; a run that was loaded or unpickled does not know its scene's view, and is refused.
        """
        from ._picture import traced

        if self._scene is None:
            raise refuse("scene", "a run that was loaded does not know how to look at its scene: picture() draws it", "unsupported")
        return traced(*self._scene, self._run.save_as_start(), width, samples)

    def show(self, width: int = 640, height: int = 480) -> Any:
        """In a notebook the ray traced picture where the program `quadrat` is there, and else picture()."""
        from IPython.display import Image

        from .__main__ import program

        if self._scene is not None and program() is not None:
            try:
                return Image(data=self.render(width), format="png")
            except RuntimeError:
                pass  # a program of another version, or a scene with files beside it
        return Image(data=self.picture(width, height), format="png")

    def _repr_png_(self) -> bytes:
        return self.picture()

    def __reduce__(self) -> "tuple[object, ...]":
        return Simulation.load, (self.save(),)

    def __repr__(self) -> str:
        return f"Simulation at {self.time:g} s: {len(self.positions)} particles, {len(self.bodies)} bodies"

    def _forget(self) -> None:
        self._kept: "dict[str, Array]" = {}

    def _particles(self, field: str) -> Array:
        kept = self._kept
        if field not in kept:
            kept[field] = self._run.particles(field)
        return kept[field]
