"""pack, unpack, lookup and info: values come back, bad input is named."""
import os
import struct
import subprocess
import unittest
import zlib

import numpy as np

from support import CommandLine


def checksum(data):
    """qvox_checksum of the reference page, written again."""
    mask, prime = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mix(h, w):
        h = (h ^ w) * 0xBF58476D1CE4E5B9 & mask
        return h ^ h >> 29

    lanes, at = [prime, prime ^ 1, prime ^ 2, prime ^ 3], 0
    while at + 32 <= len(data):
        for k, word in enumerate(struct.unpack_from("<4Q", data, at)):
            lanes[k] = mix(lanes[k], word)
        at += 32
    h = mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3])
    for byte in data[at:]:
        h = mix(h, byte)
    return mix(h, len(data))


class Voxels(CommandLine):
    def setUp(self):
        super().setUp()
        self.points = np.unique(self.random.integers(-30, 30, (3000, 3)), axis=0).astype(np.int32)
        self.random.shuffle(self.points)
        self.values = self.random.random((len(self.points), 2)).astype(np.float32) + 1
        self.save("p.npy", self.points)
        self.save("v.npy", self.values)

    def in_space_order(self):
        order = np.lexsort((self.points[:, 0], self.points[:, 1], self.points[:, 2]))
        return self.points[order], self.values[order]

    def test_round_trip(self):
        queries = np.vstack([self.points[::-1], self.random.integers(-40, 40, (2000, 3)).astype(np.int32)])
        self.save("q.npy", queries)
        known = {tuple(p): v for p, v in zip(self.points.tolist(), self.values)}
        want = np.array([known.get(tuple(q), np.zeros(2)) for q in queries.tolist()], np.float32)
        there = np.array([tuple(q) in known for q in queries.tolist()])
        for words in ((), ("--layout", "voxel"), ("--layout", "brick"), ("--layout", "bits"), ("--construction", "compact"),
                      ("--optimize", "size"),
                      ("--encoding", "position-tag"), ("--encoding", "domain-bit"), ("--coherence", "defined"),
                      ("--compress", 5), ("--block", "auto"), ("--block", 3), ("--mipmap",), ("--mipmap", "--block", 2)):
            packed = self.json("pack", "p.npy", "--values", "v.npy", *words, "-o", "f.qvox")
            self.assertTrue(packed["exact"], words)
            info = self.json("info", "f.qvox", "--verify")
            for key in ("entries", "domain", "table", "offsets", "encoding", "layout", "overhead_bits_per_entry", "block"):
                self.assertEqual(info[key], packed[key])
            self.json("unpack", "f.qvox", "-o", "u")
            points, values = self.in_space_order()
            np.testing.assert_array_equal(np.load(self.path("u.coordinates.npy")), points)
            np.testing.assert_array_equal(np.load(self.path("u.values.npy")), values)
            result = self.json("lookup", "f.qvox", "q.npy", "-o", "l.npy", "--found", "f.npy")
            np.testing.assert_array_equal(np.load(self.path("l.npy")), want)
            self.assertTrue(result["exact"], words)
            self.assertEqual(result["found"], there.sum())
            np.testing.assert_array_equal(np.load(self.path("f.npy")) != 0, there)

    def test_the_same_file_every_time(self):
        for words in (("--construction", "compact"), ("--layout", "voxel"), ("--block", "auto")):
            files = []
            for name, threads in (("a.qvox", 1), ("b.qvox", 2)):
                self.json("pack", "p.npy", "--values", "v.npy", *words, "--threads", threads, "-o", name)
                with open(self.path(name), "rb") as file:
                    files.append(file.read())
            self.assertEqual(files[0], files[1])

    def test_several_channels(self):
        self.save("h.npy", np.arange(len(self.points), dtype=np.float64))
        self.json("pack", "p.npy", "--values", "color=v.npy", "--values", "height=h.npy", "-o", "f.qvox")
        self.json("lookup", "f.qvox", "p.npy", "--channel", "height", "-o", "l.npy")
        np.testing.assert_array_equal(np.load(self.path("l.npy")), np.arange(len(self.points)))
        self.fails(1, "lookup", "f.qvox", "p.npy", "--channel", "weight", "-o", "x.npy", says="weight")
        self.fails(2, "pack", "p.npy", "--encoding", "foo", "-o", "x.qvox", says=("'foo'", "bucket-tag", "position-hash"))
        self.fails(1, "pack", "f.qvox", "-o", "x.qvox", says=("f.qvox", ".png", ".vdb"))

    def test_shader(self):
        self.json("pack", "p.npy", "--values", "v.npy", "--layout", "voxel", "-o", "f.qvox")
        self.assertIn("int quadrat_find(ivec3", self.run_quadrat("info", "f.qvox", "--glsl").stdout)
        self.json("unpack", "f.qvox", "--textures", "-o", "t")
        self.assertEqual(np.load(self.path("t.offsets.npy")).shape[1], 2048)

    def test_names_of_channels_stay_in_their_folder(self):
        self.save("w.npy", self.values[:, 0].copy())
        for name in ("/../../elsewhere", "coordinates", "a b"):
            self.json("pack", "p.npy", "--values", f"{name}=w.npy", "-o", "n.qvox")
            self.fails(1, "unpack", "n.qvox", "-o", "x", says=("n.qvox", "channel " + name))
        self.json("pack", "p.npy", "--values", "offsets=w.npy", "--layout", "voxel", "-o", "n.qvox")
        self.fails(1, "unpack", "n.qvox", "--textures", "-o", "x", says="channel offsets")
        self.json("pack", "p.npy", "--values", "v.npy", "--mipmap", "-o", "m.qvox")
        self.assertIn("vec2 quadrat_sample(vec3 x, float lod)", self.run_quadrat("info", "m.qvox", "--glsl").stdout)
        self.save("deep.npy", self.values[:, 0].astype(np.float64))
        self.json("pack", "p.npy", "--values", "deep.npy", "--mipmap", "-o", "m.qvox")
        self.fails(1, "info", "m.qvox", "--glsl", says=("m.qvox", "f64"))

    def test_bad_input(self):
        twice = np.vstack([self.points, self.points[17]])
        self.save("twice.npy", twice)
        self.fails(1, "pack", "twice.npy", "-o", "x.qvox", says=("twice.npy", "row %d" % (len(twice) - 1), "row 17"))
        self.fails(1, "pack", "twice.npy", "--block", "auto", "-o", "x.qvox", says=("twice.npy", "row 17"))
        self.save("short.npy", self.values[:-1])
        self.fails(1, "pack", "p.npy", "--values", "short.npy", "-o", "x.qvox", says=("short.npy", str(len(self.points) - 1)))
        self.save("wide.npy", np.array([[0, 0, 0], [0, 1 << 21, 0]]))
        self.fails(1, "pack", "wide.npy", "-o", "x.qvox", says=("wide.npy", "row 1", "column 1", "2^21"))
        self.save("huge.npy", np.array([[0, 0, 1 << 40]]))
        self.fails(1, "pack", "huge.npy", "-o", "x.qvox", says=("huge.npy", "row 0"))
        self.save("half.npy", np.array([[0.5, 1, 2]]))
        self.fails(1, "pack", "half.npy", "-o", "x.qvox", says="half.npy")
        self.save("four.npy", np.zeros((2, 4), np.int32))
        self.fails(1, "pack", "four.npy", "-o", "x.qvox", says="four.npy")
        self.fails(1, "pack", "missing.npy", "-o", "x.qvox", says="missing.npy")
        self.fails(2, "pack", "p.npy", "--block", "big", "-o", "x.qvox", says="--block")
        self.fails(2, "pack", "p.npy", "--layout", "round", "-o", "x.qvox", says="--layout")
        for layout in ("brick", "bits"):
            self.fails(2, "pack", "p.npy", "--layout", layout, "--encoding", "constrained", "-o", "x.qvox",
                       says=("--encoding", "constrained", "--layout voxel", layout))
        self.fails(2, "pack", "p.npy", says="--out")

    def test_broken_files(self):
        self.json("pack", "p.npy", "--values", "v.npy", "-o", "f.qvox")
        with open(self.path("f.qvox"), "rb") as file:
            good = file.read()
        self.write("empty.qvox", b"")
        self.write("cut.qvox", good[: len(good) // 2])
        self.write("text.qvox", b"not a file of voxels" * 100)
        flipped = bytearray(good)
        flipped[100] ^= 4
        self.write("header.qvox", bytes(flipped))
        flipped = bytearray(good)
        flipped[1500] ^= 4
        self.write("body.qvox", bytes(flipped))
        for name in ("empty", "cut", "text", "header"):
            for verb in (("info",), ("lookup", "p.npy", "-o", "x.npy"), ("unpack", "-o", "x")):
                self.fails(1, verb[0], name + ".qvox", *verb[1:], says=name + ".qvox")
        for verb in (("info", "--verify"), ("lookup", "p.npy", "-o", "x.npy"), ("unpack", "-o", "x")):
            self.fails(1, verb[0], "body.qvox", *verb[1:], says=("body.qvox", "checksum"))
        self.fails(1, "info", "missing.qvox", says="missing.qvox")
        self.save("flat.npy", np.zeros((3, 2), np.int32))
        self.fails(1, "lookup", "f.qvox", "flat.npy", "-o", "x.npy", says="flat.npy")

    def test_empty_and_far(self):
        self.save("none.npy", np.zeros((0, 3), np.int32))
        self.assertEqual(self.json("pack", "none.npy", "-o", "e.qvox")["entries"], 0)
        self.assertEqual(self.json("lookup", "e.qvox", "p.npy")["found"], 0)
        far = np.array([[-(1 << 31)] * 3, [(1 << 31) - 1] * 3], np.int64)
        self.save("far.npy", far)
        self.json("pack", "p.npy", "--values", "v.npy", "-o", "f.qvox")
        self.assertEqual(self.json("lookup", "f.qvox", "far.npy")["found"], 0)

    def write_vdb(self, name, kind, points, values, *words):
        program = os.environ.get("QUADRAT_WRITE_VDB")
        if not program:
            self.skipTest("built without OpenVDB")
        lines = "".join("%d %d %d %.17g\n" % (*p, v) for p, v in zip(points.tolist(), values.tolist()))
        subprocess.run([program, self.path(name), kind, *map(str, words)], input=lines, text=True, check=True)

    def test_openvdb(self):
        points, values = self.in_space_order()
        values = values[:, 0]
        for kind, dtype, given in (("float", np.float32, values), ("double", np.float64, values.astype(np.float64)),
                                   ("int32", np.int32, np.arange(len(points)))):
            self.write_vdb("g.vdb", kind, points, given, "density")
            self.assertEqual(self.json("pack", "g.vdb", "-o", "g.qvox")["entries"], len(points))
            self.json("unpack", "g.qvox", "-o", "g")
            np.testing.assert_array_equal(np.load(self.path("g.coordinates.npy")), points)
            back = np.load(self.path("g.density.npy"))
            self.assertEqual(back.dtype, dtype)
            np.testing.assert_array_equal(back, given.astype(dtype))
        # A tile of 8^3 equal voxels beside single ones, and a grid without a name.
        self.write_vdb("t.vdb", "float", points, values, "", 64)
        self.assertEqual(self.json("pack", "t.vdb", "-o", "t.qvox")["entries"], len(points) + 512)
        corners = np.array([[64, 64, 64], [71, 71, 71], [72, 71, 71]])
        self.save("c.npy", corners)
        self.json("lookup", "t.qvox", "c.npy", "-o", "l.npy", "--found", "f.npy")
        np.testing.assert_array_equal(np.load(self.path("l.npy")), [3, 3, 7])  # the grid's background
        np.testing.assert_array_equal(np.load(self.path("f.npy")) != 0, [True, True, False])
        # The background of the grid fills blocks.
        self.json("pack", "g.vdb", "--block", 2, "-o", "b.qvox")
        self.write_vdb("s.vdb", "points", points[:5], values)
        self.fails(1, "pack", "s.vdb", "-o", "x.qvox", says=("s.vdb", "float"))
        self.write("bad.vdb", b"not a grid" * 50)
        self.fails(1, "pack", "bad.vdb", "-o", "x.qvox", says="bad.vdb")
        self.fails(1, "pack", "missing.vdb", "-o", "x.qvox", says="missing.vdb")

    def test_openvdb_there_and_back(self):
        if not os.environ.get("QUADRAT_WRITE_VDB"):
            self.skipTest("built without OpenVDB")
        n = len(self.points)
        given = {kind: self.random.integers(0, 100, n).astype(kind)
                 for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "i8", "f2", "f4", "f8", "b1")}
        given["v"] = self.random.random((n, 3)).astype(np.float32)
        words = []
        for name, values in given.items():
            self.save(name + ".npy", values)
            words += ["--values", "%s=%s.npy" % (name, name)]
        self.json("pack", "p.npy", *words, "--note", "v.unit=m/s", "--note", "v.class=staggered",
                  "--note", "name=my grid", "--note", "unit=mm", "--note", "author=me", "-o", "a.qvox")
        self.json("unpack", "a.qvox", "-o", "a.vdb")
        self.json("pack", "a.vdb", "-o", "b.qvox")
        info = self.json("info", "b.qvox")
        self.assertEqual(info["notes"]["v.unit"], "m/s")
        self.assertEqual(info["notes"]["v.class"], "staggered")
        for key, text in (("name", "my grid"), ("unit", "mm"), ("author", "me")):
            self.assertEqual(info["notes"][key], text)
        self.assertEqual(info["transform"], self.json("info", "a.qvox")["transform"])
        self.json("unpack", "a.qvox", "-o", "ua")
        self.json("unpack", "b.qvox", "-o", "ub")
        for name in ("coordinates", *given):
            a, b = (np.load(self.path("u%s.%s.npy" % (f, name))) for f in "ab")
            self.assertEqual(a.dtype, b.dtype, name)
            np.testing.assert_array_equal(a, b)
        # Four numbers are four grids; one of several grids can be chosen, or two.
        self.save("c.npy", self.random.integers(0, 255, (n, 4)).astype(np.uint8))
        self.json("pack", "p.npy", "--values", "c=c.npy", "-o", "c.qvox")
        self.json("unpack", "c.qvox", "-o", "c.vdb")
        self.assertEqual([c["name"] for c in self.json("pack", "c.vdb", "-o", "d.qvox")["channels"]],
                         ["c.0", "c.1", "c.2", "c.3"])
        one = self.json("pack", "c.vdb", "--grid", "c.2", "-o", "d.qvox")
        self.assertEqual([(c["name"], c["type"]) for c in one["channels"]], [("c.2", "u8")])
        self.fails(1, "pack", "c.vdb", "--grid", "c.7", "-o", "d.qvox", says=("c.vdb", "c.7"))
        # Without channels the set itself is kept.
        self.json("pack", "p.npy", "-o", "e.qvox")
        self.json("unpack", "e.qvox", "-o", "e.vdb")
        self.assertEqual(self.json("pack", "e.vdb", "-o", "f.qvox")["entries"], n)
        self.fails(1, "unpack", "a.qvox", "-o", "no/such/folder/a.vdb", says="a.vdb")

    def test_grids_become_channels(self):
        """Each grid has its own active voxels: the others have its background there."""
        self.write_vdb("a.vdb", "two", self.points, self.values[:, 0], "density")
        packed = self.json("pack", "a.vdb", "-o", "a.qvox")
        self.assertEqual([c["name"] for c in packed["channels"]], ["density", "other"])
        self.assertEqual(packed["skipped"], ["cloud (ptdataidx32)"])
        self.assertEqual(packed["transform"]["origin"], [10, 20, 30])
        self.assertEqual(packed["transform"]["step"], [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]])
        self.assertEqual(packed["notes"]["density.class"], "fog volume")
        self.json("unpack", "a.qvox", "-o", "u")
        at, density, other = (np.load(self.path("u.%s.npy" % n)) for n in ("coordinates", "density", "other"))
        self.assertEqual(len(at), len(self.points) + 1)
        far = (at == [1000, 1000, 1000]).all(axis=1)
        self.assertEqual(far.sum(), 1)
        np.testing.assert_array_equal(density[far], [7])
        np.testing.assert_array_equal(other[far], [4])
        self.assertTrue((other[~far] == -1).all())

    def test_colours_of_a_mesh(self):
        # A square of two triangles with a colour at each corner: every voxel has that of the nearest one.
        colors = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (250, 250, 0)]
        corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
        text = ("ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\n"
                "property list uchar int vertex_indices\nend_header\n")
        for (x, y), c in zip(corners, colors):
            text += "%d %d 0 %d %d %d\n" % (x, y, *c)
        self.write("m.ply", text + "3 0 1 2\n3 0 2 3\n")
        self.json("pack", "m.ply", "--resolution", 8, "-o", "m.qvox")
        self.json("unpack", "m.qvox", "-o", "m")
        at, color, normal = (np.load(self.path("m.%s.npy" % n)) for n in ("coordinates", "color", "normal"))
        self.assertEqual(len(at), 64)
        for p, c in zip(at.tolist(), color.tolist()):
            near = [(p[0] + 0.5 - 8 * x) ** 2 + (p[1] + 0.5 - 8 * y) ** 2 for x, y in corners]
            # The first triangle that touches a voxel counts; beside the diagonal that is the one without the fourth corner.
            mine = (0, 1, 2) if p[1] - p[0] <= 1 else (0, 2, 3)
            self.assertIn(tuple(c[:3]), [colors[k] for k in mine if near[k] == min(near[j] for j in mine)], p)
        np.testing.assert_array_equal(normal, np.tile(np.float32([0, 0, 1]), (64, 1)))

    def test_values_keep_type_and_shape(self):
        n = len(self.points)
        order = np.lexsort((self.points[:, 0], self.points[:, 1], self.points[:, 2]))
        for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "b1"):
            for shape in ((), (1,), (3,), (4, 4), (2, 3, 2)):
                values = self.random.integers(0, 2 if kind == "b1" else 100, (n, *shape)).astype(kind)
                self.save("t.npy", values)
                for words in ((), ("--block", 2)):
                    self.json("pack", "p.npy", "--values", "t=t.npy", *words, "-o", "t.qvox")
                    self.json("unpack", "t.qvox", "-o", "t")
                    back = np.load(self.path("t.t.npy"))
                    self.assertEqual(back.dtype, values.dtype)
                    np.testing.assert_array_equal(back, values[order])
                    self.json("lookup", "t.qvox", "p.npy", "-o", "l.npy")
                    np.testing.assert_array_equal(np.load(self.path("l.npy")), values)
        self.save("t.npy", np.zeros((n, 1, 1, 1, 1, 2), np.uint8))
        self.fails(1, "pack", "p.npy", "--values", "t.npy", "-o", "x.qvox", says=("t.npy", "axes"))
        self.save("t.npy", np.zeros((n, 4097), np.uint8))
        self.fails(1, "pack", "p.npy", "--values", "t.npy", "-o", "x.qvox", says=("t.npy", "4096"))

    def test_notes_and_transform(self):
        packed = self.json("pack", "p.npy", "--note", "name=porous rock", "--note", "unit=mm=1e-3 m", "-o", "f.qvox")
        self.assertEqual(packed["notes"], {"name": "porous rock", "unit": "mm=1e-3 m"})
        self.assertEqual(self.json("info", "f.qvox")["notes"], packed["notes"])
        self.assertEqual(packed["transform"], {"origin": [0, 0, 0], "step": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})
        self.fails(2, "pack", "p.npy", "--note", "name", "-o", "x.qvox", says="--note")
        self.fails(2, "pack", "p.npy", "--note", "=name", "-o", "x.qvox", says="--note")
        # A mesh stands where it stood: the samples are the centres of its cells.
        self.write("m.obj", "v 1 2 3\nv 3 2 3\nv 1 4 3\nf 1 2 3\n")
        mesh = self.json("pack", "m.obj", "--resolution", 4, "-o", "m.qvox")
        self.assertEqual(mesh["transform"]["origin"], [1.25, 2.25, 3.25])
        self.assertEqual(mesh["transform"]["step"][1], [0, 0.5, 0])

    def test_options_that_do_not_fit_the_input(self):
        self.fails(2, "pack", "p.npy", "--background", "0,0,0", "-o", "x.qvox", says="--background")
        self.fails(2, "pack", "p.npy", "--resolution", 64, "-o", "x.qvox", says="--resolution")
        self.fails(2, "pack", "p.npy", "--cells", "complete", "-o", "x.qvox", says=("--cells", "--block"))
        self.fails(2, "pack", "p.npy", "--grid", "density", "-o", "x.qvox", says="--grid")

    def test_errors_of_mipmaps_and_blocks_are_about_what_was_given(self):
        points = np.zeros((2000, 3), np.int64)
        points[:, 0] = np.arange(2000)
        points[1999, 0] = 1600000
        self.save("long.npy", points)
        self.save("one.npy", np.ones(2000, np.float32))
        for words in (("--mipmap",), ("--mipmap", "--block", 2)):
            self.fails(1, "pack", "long.npy", "--values", "one.npy", *words, "-o", "x.qvox",
                       says=("long.npy", "mipmap", "1600001"))
            self.assertNotIn("row", self.run_quadrat("pack", "long.npy", "--values", "one.npy", *words, "-o", "x.qvox").stderr)
        twice = np.vstack([self.points, self.points[17]])
        self.save("twice.npy", twice)
        self.save("w.npy", np.ones(len(twice), np.float32))
        for words in (("--mipmap",), ("--mipmap", "--block", 2), ("--block", 2)):
            self.fails(1, "pack", "twice.npy", "--values", "w.npy", *words, "-o", "x.qvox",
                       says=("row %d" % (len(twice) - 1), "row 17", "(%d, %d, %d)" % tuple(self.points[17])))

    def test_what_was_not_done_is_said(self):
        box = np.argwhere(np.ones((12, 12, 12), bool)).astype(np.int32)
        self.save("box.npy", box)
        self.save("b.npy", np.ones(len(box), np.float32))
        said = lambda *words: self.run_quadrat("pack", *words, "-o", "x.qvox").stderr
        # Mipmaps know the share of what is coherent, as everything else does.
        shares = {}
        for words in ((), ("--mipmap",), ("--mipmap", "--block", 2), ("--block", 2)):
            packed = self.json("pack", "p.npy", "--values", "v.npy", "--layout", "voxel", "--coherence", "defined", *words,
                               "-o", "x.qvox")
            shares[words] = packed["coherent_share"]
            self.assertGreater(packed["coherent_share"], 0.2, words)
        note = said("p.npy", "--values", "v.npy", "--layout", "voxel", "--coherence", "defined", "--mipmap")
        if shares["--mipmap",] < 1:
            self.assertIn("note: %.0f %%" % (100 * shares["--mipmap",]), note)
        # A full box takes a bit per cell, and no hash.
        for option in ("--seed", "--construction", "--coherence"):
            value = {"--seed": 3, "--construction": "compact", "--coherence": "defined"}[option]
            self.assertIn(option + " has no effect", said("box.npy", option, value))
            for layout in ("bits", "keys"):
                self.fails(2, "pack", "box.npy", "--layout", layout, option, value, "-o", "x.qvox", says=(option, layout))
        self.assertEqual(said("box.npy"), "")
        self.assertEqual(self.json("pack", "p.npy", "--layout", "keys", "-o", "x.qvox")["layout"], "keys")

    def test_samples_of_incomplete_cells_are_counted(self):
        lone = self.points[(self.points % 3 == 0).all(1)]
        self.save("lone.npy", lone)
        self.save("l.npy", np.ones(len(lone), np.float32))
        self.fails(1, "pack", "lone.npy", "--values", "l.npy", "--block", 2, "--cells", "complete", "-o", "x.qvox",
                   says=("--cells complete", "nothing"))
        # A full box of samples from (-4, -4, -4) to (4, 4, 4), with all that is around it far enough away.
        axis = np.arange(-4, 5)
        full = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
        alone = lone[(np.abs(lone) > 6).any(1)]
        both = np.vstack([full, alone]).astype(np.int32)
        self.save("both.npy", both)
        self.save("c.npy", np.ones(len(both), np.float32))
        words = ("pack", "both.npy", "--values", "c.npy", "--block", 2, "--cells", "complete", "-o", "x.qvox")
        self.assertEqual(self.json(*words)["left_out"], len(alone))
        self.assertIn("note: %s samples" % len(alone) if len(alone) < 1000 else "samples", self.run_quadrat(*words).stderr)
        self.assertNotIn("left_out", self.json("pack", "both.npy", "--values", "c.npy", "--block", 2, "-o", "x.qvox"))

    def test_names_of_values(self):
        os.makedirs(self.path("d=1"), exist_ok=True)
        self.save("d=1/v.npy", self.values)
        self.assertEqual(self.json("pack", "p.npy", "--values", "d=1/v.npy", "-o", "f.qvox")["channels"][0]["name"], "values")
        self.assertEqual(self.json("pack", "p.npy", "--values", "a=d=1/v.npy", "-o", "f.qvox")["channels"][0]["name"], "a")
        # Control characters do not reach the terminal as they are.
        bad = "a\x1b[31mred"
        self.json("pack", "p.npy", "--values", bad + "=v.npy", "-o", "f.qvox")
        self.fails(1, "unpack", "f.qvox", "-o", "x", says="channel a\\x1b[31mred")
        self.assertNotIn("\x1b", self.run_quadrat("info", "f.qvox").stdout)

    def test_many_channels(self):
        self.save("few.npy", self.points[:5])
        for k in range(1100):
            self.save("c%d.npy" % k, np.full(5, k, np.uint16))
        words = [w for k in range(1100) for w in ("--values", "c%d=c%d.npy" % (k, k))]
        self.json("pack", "few.npy", *words, "-o", "f.qvox")
        self.json("lookup", "f.qvox", "few.npy", "--channel", "c1099", "-o", "l.npy")
        np.testing.assert_array_equal(np.load(self.path("l.npy")), np.full(5, 1099))

    def test_an_empty_set_with_values(self):
        self.save("none.npy", np.zeros((0, 3), np.int32))
        self.save("no.npy", np.zeros((0,), np.float32))
        for words in ((), ("--block", 2), ("--mipmap",)):
            self.json("pack", "none.npy", "--values", "no.npy", *words, "-o", "e.qvox")
            self.assertEqual(self.json("info", "e.qvox", "--verify")["entries"], 0)
            self.json("unpack", "e.qvox", "-o", "e")
            self.assertEqual(np.load(self.path("e.values.npy")).shape, (0,))

    def test_a_hostile_domain_of_position_hashes(self):
        """2^63 positions to walk over: refused at once."""
        self.json("pack", "p.npy", "--values", "v.npy", "--layout", "voxel", "--encoding", "position-hash", "-o", "h.qvox")
        with open(self.path("h.qvox"), "rb") as file:
            data = bytearray(file.read())
        sections = struct.unpack_from("<I", data, 56)[0]
        for at in (76, 100):
            data[at:at + 12] = struct.pack("<3I", 1 << 21, 1 << 21, 1 << 21)
        head = 512 + 80 * sections
        data[504:512] = b"\0" * 8
        data[504:512] = struct.pack("<Q", checksum(bytes(data[:head])))
        self.write("h.qvox", bytes(data))
        self.fails(1, "unpack", "h.qvox", "-o", "x", says=("h.qvox", "position hashes"))

    def test_pictures(self):
        image = np.zeros((20, 30, 4), np.uint8)
        image[5:9, 10:22] = self.random.integers(1, 256, (4, 12, 4))
        rows = b"".join(b"\0" + row.tobytes() for row in image)
        chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 30, 20, 8, 6, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        self.write("a.png", png)
        for words in ((), ("--background", "0,0,0,0"), ("--background", "0,0,0")):
            self.assertEqual(self.json("pack", "a.png", *words, "-o", "a.qvox")["entries"], 48)
            self.json("unpack", "a.qvox", "-o", "a")
            at, color = np.load(self.path("a.coordinates.npy")), np.load(self.path("a.color.npy"))
            np.testing.assert_array_equal(color, image[at[:, 1], at[:, 0]])
            self.assertEqual(color.any(axis=1).sum(), 48)
        for wrong in ("0,0", "0,0,0,256", "0,0,0,-1", "0,0,0,x", "0,,0,0", "red"):
            self.fails(2, "pack", "a.png", "--background=" + wrong, "-o", "x.qvox", says="--background")
        # 16 bits a channel stay 16 bits.
        deep = np.zeros((20, 30, 4), np.uint16)
        deep[5:9, 10:22] = self.random.integers(1, 65536, (4, 12, 4))
        rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in deep)
        self.write("d.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 30, 20, 16, 6, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        for words in ((), ("--background", "0,0,0,0")):
            self.assertEqual(self.json("pack", "d.png", *words, "-o", "d.qvox")["entries"], 48)
            self.json("unpack", "d.qvox", "-o", "d")
            at, color = np.load(self.path("d.coordinates.npy")), np.load(self.path("d.color.npy"))
            self.assertEqual(color.dtype, np.uint16)
            np.testing.assert_array_equal(color, deep[at[:, 1], at[:, 0]])
        self.fails(2, "pack", "d.png", "--background", "0,0,65536", "-o", "x.qvox", says="65535")
        self.write("cut.png", png[:70])
        self.fails(1, "pack", "cut.png", "-o", "x.qvox", says="cut.png")

    def test_bench(self):
        for name in ("D1", "D5"):
            result = self.json("bench", "voxels", "--scenario", name, "--n", 2000)
            self.assertGreater(result["entries"], 0)
            self.assertTrue(result["right"])


if __name__ == "__main__":
    unittest.main()
