"""pack, unpack, lookup and info: values come back, bad input is named."""
import os
import struct
import subprocess
import unittest
import zlib

import numpy as np

from support import CommandLine


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
            if "--block" not in words:  # a block holds samples that were not stored, too
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
        self.fails(1, "info", "m.qvox", "--glsl", says="m.qvox")

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
        np.testing.assert_array_equal(np.load(self.path("l.npy")), [3, 3, 0])
        np.testing.assert_array_equal(np.load(self.path("f.npy")) != 0, [True, True, False])
        # The background of the grid fills blocks.
        self.json("pack", "g.vdb", "--block", 2, "-o", "b.qvox")
        self.write_vdb("v.vdb", "vector", points, values)
        self.fails(1, "pack", "v.vdb", "-o", "x.qvox", says=("v.vdb", "float"))
        self.write("bad.vdb", b"not a grid" * 50)
        self.fails(1, "pack", "bad.vdb", "-o", "x.qvox", says="bad.vdb")
        self.fails(1, "pack", "missing.vdb", "-o", "x.qvox", says="missing.vdb")

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
        self.write("cut.png", png[:70])
        self.fails(1, "pack", "cut.png", "-o", "x.qvox", says="cut.png")

    def test_bench(self):
        for name in ("D1", "D5"):
            result = self.json("bench", "voxels", "--scenario", name, "--n", 2000)
            self.assertGreater(result["entries"], 0)
            self.assertTrue(result["right"])


if __name__ == "__main__":
    unittest.main()
