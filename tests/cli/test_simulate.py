"""quadrat simulate: what it writes, what it refuses, and that a stopped run continues with the same bytes."""
import csv
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np

from support import QUADRAT, CommandLine

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenes")


def water(**changes):
    """A small dam break with a floating ball."""
    scene = {
        "domain": {"lo": [0, 0, 0], "hi": [0.4, 0.2, 0.3]},
        "spacing": 0.02,
        "blocks": [{"lo": [0, 0, 0], "hi": [0.16, 0.2, 0.16]}],
        "end_time": 0.06, "frame_interval": 0.01,
        "view": {"width": 64, "height": 36, "samples": 1},
    }
    scene.update(changes)
    return scene


def everything(solver):
    """Fluid of two phases, an emitter, bodies that move and a cloth."""
    scene = water(solver=solver, phases=[{"name": "water"}, {"name": "oil", "rest_density": 700}])
    scene["domain"] = {"lo": [0, 0, 0], "hi": [0.5, 0.24, 0.5], "open": ["+z"]}
    scene["blocks"] = [{"lo": [0, 0, 0], "hi": [0.16, 0.24, 0.12]}]
    scene["emitters"] = [{"phase": "oil", "position": [0.35, 0.12, 0.42], "radius": 0.04, "speed": 1.5}]
    scene["bodies"] = [{"motion": "dynamic", "radius": 0.03, "position": [0.22, 0.06, 0.04], "array": {"count": [2, 2, 1], "step": [0.08, 0.1, 1]}},
                       {"shape": "box", "size": [0.04, 0.04, 0.04], "motion": "dynamic", "position": [0.45, 0.12, 0.03]}]
    scene["cloths"] = [{"sheet": {"cells": [8, 8], "size": [0.2, 0.2], "center": [0.35, 0.12, 0.3]}, "pins": "corners", "density": 0.5}]
    scene.update(end_time=0.15, frame_interval=0.03)
    return scene


def read_ply(path):
    with open(path, "rb") as file:
        data = file.read()
    head, body = data.split(b"end_header\n", 1)
    types = {"float": "<f4", "double": "<f8", "uint": "<u4", "uchar": "u1"}
    fields = [(n, types[t]) for t, n in re.findall(r"property (\w+) (\w+)\n", head.decode())]
    n = int(re.search(r"element vertex (\d+)", head.decode()).group(1))
    return np.frombuffer(body, np.dtype(fields), n)


class Simulate(CommandLine):
    def scene(self, scene, name="scene.json"):
        return self.write(name, json.dumps(scene))

    def tree(self, folder, but=("times.csv", "report.html", "film.mp4")):
        """Every file below a folder with its bytes."""
        result = {}
        for root, _, files in os.walk(self.path(folder)):
            for name in files:
                if name in but:
                    continue
                with open(os.path.join(root, name), "rb") as file:
                    result[os.path.relpath(os.path.join(root, name), self.path(folder))] = file.read()
        return result

    def test_what_it_leaves(self):
        self.scene(water())
        result = self.json("simulate", "scene.json", "-o", "out", "--vtp", "--npy", "--no-film")
        self.assertEqual(result["frames"], 7)
        particles = result["particles"]
        self.assertEqual(particles, 8 * 10 * 8)
        names = set(os.listdir(self.path("out/frames")))
        for frame in range(7):
            for end in (".ply", ".vtp", ".positions.npy", ".velocities.npy", ".densities.npy", ".ids.npy"):
                self.assertIn("fluid_%05d%s" % (frame, end), names)
            with open(self.path("out/pictures/%05d.png" % frame), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        ply = read_ply(self.path("out/frames/fluid_00006.ply"))
        x = np.load(self.path("out/frames/fluid_00006.positions.npy"))
        self.assertEqual(x.shape, (particles, 3))
        np.testing.assert_array_equal(np.stack([ply["x"], ply["y"], ply["z"]], 1), x)
        np.testing.assert_array_equal(ply["id"], np.arange(particles))
        v = np.load(self.path("out/frames/fluid_00006.velocities.npy"))
        self.assertLess(v[:, 2].mean(), 0, "gravity pulls")
        self.assertTrue(((x >= 0) & (x <= [0.4, 0.2, 0.3])).all())
        with open(self.path("out/statistics.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(r["frame"]) for r in rows], list(range(7)))
        for row in rows:
            for key in ("time", "kinetic", "potential", "average_density_error", "neighbors", "pairs"):
                self.assertTrue(np.isfinite(float(row[key])), key)
            self.assertEqual(float(row["mass"]), float(rows[0]["mass"]))
        with open(self.path("out/statistics.jsonl")) as file:
            self.assertEqual(len([json.loads(line) for line in file]), 7)
        with open(self.path("out/series.pvd")) as file:
            self.assertEqual(file.read().count("<DataSet "), 7)
        with open(self.path("out/report.html")) as file:
            page = file.read()
        for part in ("<svg", "Density error", "Energy", "Time per phase", "data:image/png;base64,"):
            self.assertIn(part, page)
        self.assertNotRegex(page, r'(src|href)="(?!data:)')

    def test_threads_and_resume_give_the_same_bytes(self):
        self.scene(water())
        self.json("simulate", "scene.json", "-o", "whole", "--threads", 1, "--no-film")
        self.json("simulate", "scene.json", "-o", "two", "--threads", 2, "--no-film")
        whole = self.tree("whole")
        self.assertGreater(len(whole), 15)
        self.assertEqual(whole, self.tree("two"))
        self.json("simulate", "scene.json", "-o", "parts", "--frames", 2, "--no-film")
        self.json("simulate", "scene.json", "-o", "parts", "--frames", 3, "--resume", "--no-film", "--threads", 2)
        self.json("simulate", "scene.json", "-o", "parts", "--resume", "--no-film")
        self.assertEqual(whole, self.tree("parts"))

    def test_resume_with_everything_in_the_scene(self):
        """Dynamic bodies, a cloth, an emitter and two phases: stopped after any frame, on one thread or two, the bytes are the same."""
        for solver in ("incompressible", "weakly_compressible"):
            self.scene(everything(solver))
            self.json("simulate", "scene.json", "-o", "whole", "--threads", 1, "--no-pictures")
            whole = self.tree("whole")
            first, last = (read_ply(self.path("whole/frames/fluid_%05d.ply" % k)) for k in (0, 5))
            self.assertGreater(len(last), len(first), "the emitter sends")
            self.assertNotEqual(whole["frames/solids_00000.ply"], whole["frames/solids_00005.ply"])
            for stop in (1, 3):
                folder = "parts%d" % stop
                self.json("simulate", "scene.json", "-o", folder, "--frames", stop, "--no-pictures", "--threads", 2)
                self.json("simulate", "scene.json", "-o", folder, "--resume", "--no-pictures", "--threads", 1 + stop % 2)
                self.assertEqual(whole, self.tree(folder), (solver, stop))

    def test_ctrl_c_does_not_wait_for_the_frame(self):
        """One frame is a simulated hour; the run ends after the step."""
        self.scene(water(end_time=7200, frame_interval=3600))
        process = subprocess.Popen([QUADRAT, "simulate", "scene.json", "-o", "out", "--no-pictures"], cwd=self.folder.name,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.time() + 120
        while not os.path.exists(self.path("out/checkpoint.qsim")) and time.time() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertIn("stopped after frame 0", err)

    def test_ctrl_c_while_frame_0_is_drawn(self):
        self.scene(water(view={"width": 64, "height": 36, "samples": 4096}))
        process = subprocess.Popen([QUADRAT, "simulate", "scene.json", "-o", "out"], cwd=self.folder.name, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.time() + 60
        while not os.path.exists(self.path("out/frames/fluid_00000.ply")) and time.time() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertIn("stopped before frame 0 was whole; continue with --resume", err)
        self.json("simulate", "scene.json", "-o", "out", "--resume", "--frames", 1, "--no-pictures")
        self.json("simulate", "scene.json", "-o", "whole", "--frames", 1, "--no-pictures")
        self.assertEqual(self.tree("out"), self.tree("whole"))

    def test_series_lists_what_is_there(self):
        self.scene(water())
        self.json("simulate", "scene.json", "-o", "out", "--frames", 1, "--no-pictures")
        self.json("simulate", "scene.json", "-o", "out", "--frames", 2, "--no-pictures", "--vtp", "--resume")
        self.json("simulate", "scene.json", "-o", "out", "--frames", 4, "--no-pictures", "--vtp", "--resume")
        with open(self.path("out/series.pvd")) as file:
            self.assertEqual(re.findall(r'file="([^"]*)"', file.read()), ["frames/fluid_%05d.vtp" % k for k in (2, 3, 4)])

    def test_pictures_from_the_middle_of_a_run(self):
        self.scene(water())
        self.json("simulate", "scene.json", "-o", "out", "--frames", 2, "--no-pictures")
        result = self.json("simulate", "scene.json", "-o", "out", "--resume", "--no-film")
        self.assertEqual(result["frames"], 7)
        self.assertEqual(sorted(os.listdir(self.path("out/pictures"))), ["%05d.png" % k for k in range(3, 7)])

    def test_fresh_run_removes_the_old_one(self):
        self.scene(water())
        self.json("simulate", "scene.json", "-o", "out", "--no-film")
        self.json("simulate", "scene.json", "-o", "out", "--frames", 1, "--no-pictures")
        self.assertEqual(len(os.listdir(self.path("out/frames"))), 2)
        self.assertEqual(os.listdir(self.path("out/pictures")), [])

    def test_files_of_others_are_never_touched(self):
        self.scene(water())
        for name in ("pictures/IMG_20231105.jpg", "pictures/12345.png", "frames/data_00017.csv", "film.mp4", "report.html"):
            folder = "with_" + name.replace("/", "_")
            os.makedirs(os.path.dirname(self.path(folder + "/" + name)))
            self.write(folder + "/" + name, "mine")
            self.fails(1, "simulate", "scene.json", "-o", folder, "--no-pictures", "--frames", 1, says=(name, "not from a run"))
            self.assertEqual(self.tree(folder, but=()), {name: b"mine"})
        os.makedirs(self.path("beside/notes"))
        self.write("beside/notes/a.txt", "mine")
        self.json("simulate", "scene.json", "-o", "beside", "--no-pictures", "--frames", 1)
        self.write("beside/frames/fluid_00001.txt", "mine")
        self.json("simulate", "scene.json", "-o", "beside", "--no-pictures", "--frames", 0)
        tree = self.tree("beside")
        self.assertEqual((tree["notes/a.txt"], tree["frames/fluid_00001.txt"]), (b"mine", b"mine"))
        self.assertNotIn("frames/fluid_00001.ply", tree)

    def test_a_stopped_run_is_not_lost_by_mistake(self):
        self.scene(water(end_time=1000, frame_interval=0.002))
        process = subprocess.Popen([QUADRAT, "simulate", "scene.json", "-o", "out", "--no-pictures"], cwd=self.folder.name,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.time() + 120
        while not os.path.exists(self.path("out/frames/fluid_00002.ply")) and time.time() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        before = self.tree("out")
        self.fails(1, "simulate", "scene.json", "-o", "out", "--no-pictures", says=("stopped after frame", "--resume", "--overwrite"))
        self.assertEqual(before, self.tree("out"))
        self.fails(2, "simulate", "scene.json", "-o", "out", "--resume", "--overwrite", says="--overwrite")
        good = before["checkpoint.qsim"]
        self.write("out/checkpoint.qsim", good[:len(good) // 2] + b"\xff" * 8 + good[len(good) // 2 + 8:])
        self.fails(1, "simulate", "scene.json", "-o", "out", "--no-pictures", says=("damaged", "--overwrite"))
        self.json("simulate", "scene.json", "-o", "out", "--no-pictures", "--frames", 1, "--overwrite")
        self.assertNotIn("frames/fluid_00002.ply", self.tree("out"))
        self.json("simulate", "scene.json", "-o", "out", "--no-pictures", "--frames", 1)  # that one was finished

    def test_resume_takes_what_does_not_matter(self):
        self.scene(water())
        self.json("simulate", "scene.json", "-o", "out", "--no-pictures", "--frames", 2)
        changed = water(name="longer", about="to see more", end_time=2 * water()["end_time"], view={"width": 64})
        changed.setdefault("frame_interval", 0.02)
        self.scene(changed, "longer.json")
        result = self.json("simulate", "longer.json", "-o", "out", "--no-pictures", "--resume", "--frames", 8)
        self.assertEqual((result["frames"], result["scene"]), (9, "longer"))
        self.scene(water(end_time=0.035), "shorter.json")  # between two frames: those of the longer run all the same
        self.json("simulate", "shorter.json", "-o", "short", "--no-pictures")
        self.json("simulate", "longer.json", "-o", "short", "--no-pictures", "--resume", "--frames", 8)
        self.assertEqual(self.tree("short")["frames/fluid_00008.ply"], self.tree("out")["frames/fluid_00008.ply"])
        self.json("simulate", "longer.json", "-o", "whole", "--no-pictures", "--frames", 8)
        one, two = self.tree("out"), self.tree("whole")
        self.assertEqual(one.keys(), two.keys())
        for name in one:
            if name != "checkpoint.qsim":  # which holds the scene that it began with
                self.assertEqual(one[name], two[name], name)

    def test_interrupted(self):
        self.scene(water(end_time=1000, frame_interval=0.002))
        for number in (signal.SIGINT, signal.SIGTERM):
            out_folder = "out%d" % number
            process = subprocess.Popen([QUADRAT, "simulate", "scene.json", "-o", out_folder, "--no-pictures"], cwd=self.folder.name,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            deadline = time.time() + 120
            while not os.path.exists(self.path(out_folder + "/frames/fluid_00003.ply")) and time.time() < deadline:
                time.sleep(0.02)
            process.send_signal(number)
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, -number, err)
            self.assertEqual(out, "")
            stopped = int(re.search(r"stopped after frame (\d+)", err).group(1))
            self.assertEqual(err.count("\n"), 1)
            names = sorted(os.listdir(self.path(out_folder + "/frames")))
            self.assertEqual(names[-1], "fluid_%05d.ply" % stopped)
            result = self.json("simulate", "scene.json", "-o", out_folder, "--no-pictures", "--resume", "--frames", stopped + 2)
            self.assertEqual(result["frames"], stopped + 3)
            again = self.json("simulate", "scene.json", "-o", "again", "--no-pictures", "--frames", stopped + 2)
            self.assertEqual(again["steps"], result["steps"])
            self.assertEqual(self.tree(out_folder), self.tree("again"))

    def test_bad_scenes(self):
        self.write("inside_out.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
        self.write("far.obj", "v 0 0 0\nv 1e300 0 0\nv 0 1e300 0\nf 1 2 3\n")
        ball = {"shape": "sphere", "radius": 0.02, "position": [0.3, 0.1, 0.1]}
        for change, says in (
                ({"bodies": [ball, dict(ball, position=[0.3, 0.1, 0.2]), dict(ball, radius=-1)]},
                 "/bodies/2/radius: expected a positive number, found -1"),
                ({"bodeis": []}, "/bodeis: unknown key; did you mean bodies?"),
                ({"zebra": 1}, "/zebra: unknown key"),
                ({"bodies": [dict(ball, radus=1)]}, "/bodies/0/radus: unknown key; did you mean radius?"),
                ({"bodies": {}}, "/bodies: expected an array, found an object"),
                ({"spacing": "small"}, '/spacing: expected a positive number, found "small"'),
                ({"spacing": 0}, "/spacing: expected a positive number, found 0"),
                ({"spacing": True}, "/spacing: expected a positive number, found true"),
                ({"gravity": [0, 1]}, "/gravity: expected an array of 3 numbers, found an array of 2"), ({"gravity": [0, 1, 2, 3]}, "/gravity: expected an array of 3 numbers"),
                ({"gravity": [0, None, 1]}, "/gravity/1: expected a finite number, found null"),
                ({"solver": "magic"}, "/solver: expected weakly_compressible, ideal_gas or incompressible"),
                ({"stepping": {"kind": "fixed", "fixed": 0}}, "/stepping/fixed: expected a positive number, found 0"),
                ({"stepping": {"kind": "fixed"}}, "/stepping/fixed: missing"),
                ({"frame_interval": 0}, "/frame_interval: expected a positive number, found 0"),
                ({"end_time": -1}, "/end_time: expected a positive number"),
                ({"phases": [{"particle_mass": 0}]}, "/phases/0/particle_mass: expected a positive number, found 0"),
                ({"phases": [{"rest_density": 0}]}, "/phases/0/rest_density: expected a positive number, found 0"),
                ({"phases": []}, "/phases: expected 1 to 255 phases"),
                ({"blocks": []}, "/: expected blocks, particles, emitters, bodies or cloths"),
                ({"blocks": [{"lo": [0, 0, 0], "hi": [0.1, 0, 0.1]}]}, "/blocks/0/hi/1: expected more than lo"),
                ({"blocks": [{"lo": [0, 0, 0], "hi": [0.1, 0.1, 0.1], "phase": 3}]}, "/blocks/0/phase: "),
                ({"bodies": [ball, ball]}, "/bodies/1: overlaps /bodies/0"),
                ({"bodies": [dict(ball, array={"count": [2, 1, 1], "step": [0.01, 0, 0]})]}, "/bodies/0: two of its bodies overlap"),
                ({"bodies": [dict(ball, motion="dynamic", position=[0.3, 0.1, 0.01])]}, "/bodies/0/position: expected a body inside the domain, found one that reaches 0.01 m beyond the wall -z"),
                ({"domain": {"lo": [0, 0, 0], "hi": [0.4, 0.2, 0.4], "planes": [{"normal": [-1, 0, 0], "offset": -0.31}]}, "bodies": [dict(ball, motion="dynamic")]},
                 "/bodies/0/position: expected a body inside the domain, found one that reaches 0.01 m beyond /domain/planes/0"),
                ({"bodies": [ball], "emitters": [{"position": [0.31, 0.1, 0.1], "radius": 0.02, "speed": 1}]}, "/emitters/0/position: overlaps /bodies/0"),
                ({"dimension": 2, "domain": {"lo": [0, 0], "hi": [1, 1], "open": ["+z"]}, "blocks": [{"lo": [0, 0], "hi": [0.5, 0.5]}]}, "/domain/open/0: expected a side along x or y"),
                ({"stepping": {"fixed": 0.001}}, "/stepping/fixed: needs the kind fixed"),
                ({"solver": "incompressible", "support": 0.02}, "/support: expected a support of 1.2 to 8 times"),
                ({"domain": {"lo": [0, 0, 0], "hi": [0.4, 0.2, 0.3], "periodic": [True, False, False], "open": ["+x"]}}, "/domain/open: expected a side that is not periodic, found +x"),
                ({"blocks": [{"lo": [0, 0, 0], "hi": [0.1, 0.1, 0.1]}, {"lo": [0, 0, 0], "hi": [0.1, 0.1, 0.1]}]}, "/blocks/1: overlaps /blocks/0 by 0.1 m"),
                ({"bodies": [dict(ball, name="a"), dict(ball, position=[0.2, 0.1, 0.1], name="a")]}, "/bodies/1/name: expected a name of its own, found that of /bodies/0"),
                ({"phases": [{"name": "a"}, {"name": "a"}]}, "/phases/1/name: expected a name of its own, found that of /phases/0"),
                ({"stepping": {"kind": "fixed", "fixed": 0.01}}, "/stepping/fixed: expected at most"),
                ({"bodies": [{"radius": 1000, "position": [0, 0, -1000]}]}, "/bodies/0: expected a smaller body or a larger spacing"),
                ({"bodies": [{"shape": "mesh", "file": "none.obj"}]}, ("/bodies/0/file: ", "none.obj")),
                ({"bodies": [{"shape": "sphere"}]}, "/bodies/0/radius: missing"),
                ({"cloths": [{"file": "none.obj"}]}, ("/cloths/0/file: ", "none.obj")),
                ({"domain": {"lo": [0, 0, 0], "hi": [1, -1, 1]}}, "/domain/hi/1: expected more than lo"),
                ({"domain": {"lo": [0, 0, 0]}}, "/domain/hi: missing"),
                ({"domain": {"lo": [0, 0, 1], "hi": [1, 1]}}, "/domain/hi: expected an array of 3 numbers"),
                ({"blocks": [{"lo": [0, 0, 0], "hi": [0.2, 0.2]}]}, "/blocks/0/hi: expected an array of 3 numbers"),
                ({"bodies": [dict(ball, array={"count": [1000, 1000, 1000], "step": [1, 1, 1]})]}, "/bodies/0/array/count: expected at most"),
                ({"particles": [{"file": "none.npy"}]}, ("/particles/0/file: ", "none.npy")),
                ({"domain": {"lo": [0, 0, 0], "hi": [0.4, 0.2, 0.06], "periodic": [False, False, True]}}, "/domain: "),
                ({"bodies": [{"shape": "mesh", "file": "inside_out.obj", "motion": "dynamic"}]}, "/bodies/0: "),
                ({"cloths": [{"file": "far.obj"}]}, "/cloths/0: "),
                ({"view": {"width": 1e9}}, "/view/width: expected a whole number"),
                ({"view": {"color": "red"}}, "/view/color: "),
                ({"frame_interval": 1e-9}, "/frame_interval: expected at most a million frames"),
                ({"phases": [{"rest_density": 1e-40}]}, "/phases/0/rest_density: expected a number between"),
                ({"phases": [{"rest_density": 1e40}]}, "/phases/0/rest_density: expected a number between"),
                ({"phases": [{"tension": 1e300}]}, "/phases/0/tension: expected a number between"),
                ({"phases": [{"negative_pressure": 1}]}, "/phases/0/negative_pressure: expected true or false"),
                ({"spacing": 1e300}, "/spacing: expected a number between"),
                ({"blocks": [{"lo": [0, 0, 0], "hi": [0.1, 0.1, 0.1], "velocity": [1e15, 0, 0]}]}, "/blocks/0/velocity: needs steps"),
                ({"particles": [{"positions": [[0.1, 0.1, 0.1]], "velocity": [1e15, 0, 0]}]}, "/particles/0/velocity: needs steps"),
                ({"bodies": [dict(ball, motion="moving", velocity=[0, 0, 1e15])]}, "/bodies/0/velocity: needs steps"),
                ({"emitters": [{"position": [0.3, 0.1, 0.2], "radius": 0.02, "speed": 1e15}]}, "/emitters/0/speed: needs steps"),
                ({"variants": 3}, "/variants: expected an object, found 3"),
                ({"variants": {"a": []}}, "/variants/a: expected an object"),
                ({"dimension": 2, "domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]}}, "/domain/hi/2: expected 0 in two dimensions, found 1"),
                ({"dimension": 2, "domain": {"lo": [0, 0], "hi": [1, 1]}, "blocks": [{"lo": [0, 0], "hi": [0.5, 0.5]}],
                  "view": {"fluid": "surface"}}, "/view/fluid: expected balls or auto"),
        ):
            self.scene(water(**change))
            with self.subTest(change=change):
                self.fails(1, "simulate", "scene.json", "-o", "out", says=("scene.json: ",) + ((says,) if isinstance(says, str) else says))

    def test_a_body_in_the_plane_turns(self):
        self.scene({"dimension": 2, "domain": {"lo": [0, 0], "hi": [1, 1]}, "spacing": 0.05, "end_time": 0.02, "frame_interval": 0.01,
                    "blocks": [{"lo": [0, 0], "hi": [1, 0.2]}],
                    "bodies": [{"shape": "box", "size": [0.4, 0.05], "position": [0.5, 0.6], "motion": "moving", "angular_velocity": [0, 0, 3]}]})
        self.assertEqual(self.json("simulate", "scene.json", "-o", "out", "--no-pictures")["frames"], 3)

    def test_a_film_of_the_later_part(self):
        if not shutil.which("ffmpeg"):
            self.skipTest("no ffmpeg")
        self.scene(water(end_time=0.12))
        self.json("simulate", "scene.json", "-o", "out", "--no-pictures", "--frames", 6)
        self.assertTrue(self.json("simulate", "scene.json", "-o", "50 %d", "--frames", 1)["film"].endswith("film.mp4"))
        result = self.json("simulate", "scene.json", "-o", "out", "--resume", "--frames", 8)
        self.assertTrue(result["film"].endswith("film.mp4"))
        self.assertTrue(os.path.exists(self.path("out/film.mp4")))
        self.assertEqual([name for name in os.listdir(self.path("out")) if name.startswith(".")], [])

    def test_errors_of_the_run_name_the_entry(self):
        ball = {"radius": 0.02, "position": [0.3, 0.1, 0.1]}
        self.scene(water(bodies=[dict(ball, array={"count": [1, 1, 2], "step": [0, 0, 0.1]}), dict(ball, position=[0.2, 0.1, 0.25], motion="dynamic", velocity=[1e9, 0, 0])],
                         stepping={"kind": "fixed", "fixed": 0.001}, blocks=[]))
        result = subprocess.run([QUADRAT, "simulate", "scene.json", "-o", "out", "--no-pictures"], cwd=self.folder.name, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 1)
        for text in ("scene.json: /bodies/1: ", "blew up", "the last checkpoint is"):
            self.assertIn(text, result.stderr)

    def test_bad_files(self):
        self.fails(1, "simulate", "none.json", "-o", "out", says="none.json: ")
        for text, says in (("", "line 1"), ("{\n\n\"domain\": }", "line 3"), ("[]", "/: expected an object"), ("{\"a\": \"\x01\"}", "line 1"),
                           ("[" * 100000, "line 1"), (b"\xff\xfe{}", "line 1"), ("{}", "/domain: missing")):
            self.write("scene.json", text)
            self.fails(1, "simulate", "scene.json", "-o", "out", says=("scene.json: ", says))
        text = json.dumps(water(particles=[{"positions": [[0.3, 0.1, 0.1], [0.3, "x", 0.2]]}]))
        for old, path in (('"x"', "/particles/0/positions/1/1: "), ("0.06", "/end_time: "), ("36", "/view/height: ")):
            self.write("scene.json", text.replace(old, "1e999"))
            self.fails(1, "simulate", "scene.json", "-o", "out", says=("scene.json: ", path + "expected a finite number"))
        self.write("scene.json", json.dumps(water(phases=[{}])).replace("[{}]", '[{"viscosity": 1, "name": "a", "viscosity": 2}]'))
        self.fails(1, "simulate", "scene.json", "-o", "out", says=("scene.json: ", "/phases/0/viscosity: this key is there twice"))
        self.scene(water())
        self.fails(2, "simulate", "scene.json", "-o", "", says="--out")
        self.fails(1, "simulate", "scene.json", "-o", "out", "--variant", "none", says="/variants: missing")
        self.scene(water(variants={"coarse": {"spacing": 0.04}}))
        self.fails(2, "simulate", "scene.json", "-o", "out", "--variant", "none", says="choose one of coarse")
        self.fails(2, "simulate")
        for option in ("--frames", "--threads", "--width", "--samples"):
            for number in ("many", "-1", "99999999999999999999999", "-18446744073709551615", "1.5", "010", ""):
                self.fails(2, "simulate", "scene.json", "-o", "out", option, number, says="whole number")

    def test_resume_refuses_what_is_not_its_own(self):
        self.scene(water())
        self.fails(1, "simulate", "scene.json", "-o", "out", "--resume", says="checkpoint.qsim")
        self.json("simulate", "scene.json", "-o", "out", "--frames", 1, "--no-pictures")
        self.scene(water(spacing=0.03), "other.json")
        self.fails(1, "simulate", "other.json", "-o", "out", "--resume", says=("checkpoint.qsim", "another scene"))
        good = self.tree("out")["checkpoint.qsim"]
        flipped = [good[:at] + bytes([good[at] ^ 1]) + good[at + 1:] for at in (16, 24, 60, len(good) // 2, len(good) - 1)]
        for bad in (b"", good[:40], good[:-1], good[:24] + b"\xff" * 64 + good[88:], good + b"x", *flipped):
            self.write("out/checkpoint.qsim", bad)
            self.fails(1, "simulate", "scene.json", "-o", "out", "--resume", says="checkpoint.qsim")
        self.write("out/checkpoint.qsim", b"quadrat-run-01" + good[14:])
        self.fails(1, "simulate", "scene.json", "-o", "out", "--resume", says=("checkpoint.qsim", "not a checkpoint of this version"))

    def test_outputs_that_cannot_be_written(self):
        self.scene(water())
        self.write("file", "")
        self.fails(1, "simulate", "scene.json", "-o", "file/out", says="cannot write")
        self.fails(1, "simulate", "scene.json", "-o", "/proc/quadrat", says="cannot write")

    def test_full_disk(self):
        self.scene(water())
        self.json("simulate", "scene.json", "-o", "out", "--frames", 1, "--no-pictures")
        checkpoint = self.tree("out")["checkpoint.qsim"]
        frame = os.path.getsize(self.path("out/frames/fluid_00001.ply"))

        def limit():  # every file above this size fails, as on a full disk
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (frame - 1, frame - 1))
        result = subprocess.run([QUADRAT, "simulate", "scene.json", "-o", "out", "--resume", "--no-pictures"], cwd=self.folder.name,
                                capture_output=True, text=True, preexec_fn=limit, timeout=300)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("cannot write", result.stderr)
        self.assertIn("--resume", result.stderr)
        tree = self.tree("out")
        self.assertEqual(tree["checkpoint.qsim"], checkpoint)
        self.assertFalse([name for name in tree if "tmp" in name or "part" in name], tree.keys())
        self.json("simulate", "scene.json", "-o", "out", "--resume", "--no-pictures")
        self.json("simulate", "scene.json", "-o", "whole", "--no-pictures")
        self.assertEqual(self.tree("out"), self.tree("whole"))

    def test_scenes_of_the_project(self):
        names = sorted(name[:-5] for name in os.listdir(SCENES) if name.endswith(".json"))
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            with self.subTest(name=name):
                result = self.json("simulate", os.path.join(SCENES, name + ".json"), "-o", name, "--frames", 0, "--width", 64,
                                   "--samples", 1, "--no-film")
                self.assertEqual(result["frames"], 1)
        demo = self.json("demo", "-o", "demo", "--frames", 0, "--width", 64, "--samples", 1, "--no-film")
        self.assertEqual(demo["scene"], "flagship")
        for case in ("case1", "case2", "case3"):
            result = self.json("simulate", os.path.join(SCENES, "dam_break_1600.json"), "-o", case, "--variant", case, "--frames", 15,
                               "--no-pictures", "--no-ply")
            self.assertEqual(result["particles"], 1600)
            # It keeps its volume: at rest its middle would be 0.0269 m above the floor.
            with open(self.path(case + "/statistics.csv")) as file:
                last = list(csv.DictReader(file))[-1]
            self.assertGreater(float(last["potential"]) / (9.81 * float(last["mass"])), 0.9 * 0.0269)


if __name__ == "__main__":
    unittest.main()
