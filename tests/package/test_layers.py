"""Reads every #include line and fails on one that points up, sideways, or into a private folder from a public header."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["QUADRAT_SOURCE"])

BELOW = {
    "base": set(),
    "cells": {"base"},
    "broad_phase": {"base", "cells"},
    "neighbors": {"base", "cells"},
    "voxels": {"base", "cells"},
    "ccd": {"base", "cells", "broad_phase"},
    "simulation": {"base", "cells", "broad_phase", "neighbors", "voxels", "ccd"},
    "distributed": {"base", "cells", "broad_phase", "neighbors"},
    "io": {"base"},
    "workloads": {"base"},
    "render": {"base"},
    "scene_io": {"base", "cells", "broad_phase", "neighbors", "voxels", "ccd", "simulation", "io"},
}
# A binding stands on the whole library, and on the readers of scenes; what the command line alone needs is not for it.
BELOW["bindings"] = set(BELOW) - {"io", "render", "workloads", "distributed"}
# Public headers that belong to base.
BASE_HEADERS = {"geometry", "error", "executor", "id", "version"}
# The headers of a room that files outside of it may include; the head of its main header says so, too.
OPEN = {
    "broad_phase/events": {"event_table"},
    "broad_phase/loose": {"dynamic_grids", "unbounded_list"},
    "broad_phase/sorted": {"grid_set", "size_classes"},
    "broad_phase/hashes": set(),
    "ccd/closest": {"nearest"},
    "ccd/exact": {"exact", "coefficients"},
    "ccd/filter": {"filter", "quadratic", "separation", "separation_kernel"},
    "ccd/pipeline": set(),
    "ccd/potential": set(),
    "cells/hashes": {"classed_hash", "point_table"},
    "io/mesh": {"mesh"},
    "io/table": {"csv", "npy", "table", "xyz"},
    "neighbors/grid": {"bounds", "grid", "images", "level"},
    "neighbors/nearest": {"kept", "nearest", "nearest_images", "tree"},
    "neighbors/search": {"kernel", "searches", "walk"},
    "simulation/cloth": {"cloths"},
    "simulation/fluid": {"fluid", "boundary", "pressure_solver", "pack-inl", "pair_loops"},
    "simulation/scene": {"world", "fields", "scene_fields", "complain", "leaving"},
    "simulation/solids": {"solids", "shape"},
    "simulation/step": set(),
    "simulation/grains": {"grain_fields"},
    "simulation/viscosity": {"holds", "viscosity"},
    "voxels/file": set(),
    "voxels/glsl": set(),
    "voxels/hash": {"build", "domain", "short_tags", "slot_reader"},
    "voxels/index": {"state", "estimates"},
    "voxels/sampling": {"columns"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def public_module(header):
    """Of "quadrat/cells/x.hpp" or "quadrat/cells.hpp": cells."""
    parts = header.split("/")
    name = parts[1] if len(parts) > 2 else parts[1].removesuffix(".hpp")
    return "base" if name in BASE_HEADERS else name


def target(quote, name):
    """The module that an include names, or None for other libraries."""
    if name.startswith("quadrat/"):
        return public_module(name)
    first = name.split("/")[0]
    return first if "/" in name and first in BELOW else None


class Layers(unittest.TestCase):
    def check(self, path, module):
        for number, quote, name in includes(path):
            other = target(quote, name)
            if other is None or other == module:
                continue
            self.assertIn(other, BELOW[module], f"{path.relative_to(SOURCE)}:{number}: {module} must not include {name}")

    def test_sources(self):
        files = [path for path in (SOURCE / "src").rglob("*") if path.suffix in (".hpp", ".cpp")]
        self.assertGreater(len(files), 10)
        for path in files:
            module = path.relative_to(SOURCE / "src").parts[0]
            self.assertIn(module, BELOW, path)
            self.check(path, module)

    def test_bindings(self):
        files = [path for path in (SOURCE / "bindings").rglob("*") if path.suffix in (".hpp", ".cpp")]
        self.assertGreater(len(files), 5)
        for path in files:
            self.check(path, "bindings")
            modules = {target(quote, name) for _, quote, name in includes(path)} & {"broad_phase", "neighbors", "voxels", "ccd", "simulation"}
            self.assertLessEqual(len(modules), 1, f"{path.relative_to(SOURCE)} binds {sorted(modules)}: one file per module")

    def test_rooms(self):
        for path in (SOURCE / "src").rglob("*"):
            if path.suffix not in (".hpp", ".cpp"):
                continue
            folder = path.relative_to(SOURCE / "src").parts[:-1]
            if len(folder) > 1:
                self.assertIn("/".join(folder[:2]), OPEN, f"{path.relative_to(SOURCE)}: a room that this test does not know")
            for number, quote, name in includes(path):
                parts = name.split("/")
                room = "/".join(parts[:2])
                if quote == '"' and room in OPEN and room != "/".join(folder[:2]):
                    header = "/".join(parts[2:]).removesuffix(".hpp")
                    self.assertIn(header, OPEN[room], f"{path.relative_to(SOURCE)}:{number}: {name} is for its room alone")

    def test_the_tree_is_explained(self):
        tree = re.search(r"^```\n(.*?)^```", (SOURCE / "HACKING.md").read_text(), re.S | re.M).group(1)
        explained, module = set(), None
        for line in tree.splitlines():
            if match := re.match(r"src/(\w+)/ ", line):
                module = match.group(1)
            elif not line.startswith("  "):
                module = None
            elif module:
                explained.add(f"{module}/{line.split('/')[0].strip()}")
        self.assertEqual(explained, set(OPEN), "the rooms in HACKING.md and those that are there")

    def test_public_headers(self):
        for path in (SOURCE / "include").rglob("*.hpp"):
            name = str(path.relative_to(SOURCE / "include"))
            if name == "quadrat/quadrat.hpp":
                continue
            self.check(path, public_module(name))
            for number, quote, other in includes(path):
                self.assertEqual(quote, "<", f"{name}:{number}: public headers include with <>")
                self.assertTrue(other.startswith("quadrat/") or "/" not in other, f"{name}:{number}: {other}: only the standard library")

    def test_the_test_can_fail(self):
        self.assertEqual(target('"', "neighbors/grid.hpp"), "neighbors")
        self.assertNotIn("neighbors", BELOW["broad_phase"])
        self.assertEqual(public_module("quadrat/error.hpp"), "base")


if __name__ == "__main__":
    unittest.main()
