"""pack, unpack, lookup and info: values come back, bad input is named."""
import os
import unittest

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

    def test_shader(self):
        self.json("pack", "p.npy", "--values", "v.npy", "--layout", "voxel", "-o", "f.qvox")
        self.assertIn("int quadrat_find(ivec3", self.run_quadrat("info", "f.qvox", "--glsl").stdout)
        self.json("unpack", "f.qvox", "--textures", "-o", "t")
        self.assertEqual(np.load(self.path("t.offsets.npy")).shape[1], 2048)

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
        self.fails(1, "info", "body.qvox", "--verify", says=("body.qvox", "checksum"))
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

    def test_bench(self):
        for name in ("D1", "D5"):
            result = self.json("bench", "voxels", "--scenario", name, "--n", 2000)
            self.assertGreater(result["entries"], 0)
            self.assertTrue(result["right"])


if __name__ == "__main__":
    unittest.main()
