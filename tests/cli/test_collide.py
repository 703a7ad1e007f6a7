"""quadrat collide: contacts of two small meshes computed by hand, query files, bad meshes; quadrat bench ccd."""
import csv
import json
import math
import os
import unittest
from fractions import Fraction

import numpy as np

from support import CommandLine

# Two triangles, one above the other; the upper one falls through the lower one.
UPPER = [(0.1, 0.1, 1), (0.8, 0.1, 1), (0.1, 0.8, 1)]
LOWER = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


def obj(vertices, faces):
    return "".join("v %r %r %r\n" % tuple(map(float, v)) for v in vertices) + "".join(
        "f " + " ".join(str(i + 1) for i in f) + "\n" for f in faces)


def rows(queries):
    """Lines of a query file: eight points and the answer each."""
    text = ""
    for points, truth in queries:
        for p in points:
            text += ",".join("%d,%d" % Fraction(x).as_integer_ratio() for x in p) + ",%d\n" % truth
    return text


class Collide(CommandLine):
    def falling(self, to=-1):
        faces = [(0, 1, 2), (3, 4, 5)]
        self.write("a0.obj", obj(UPPER + LOWER, faces))
        self.write("a1.obj", obj([(x, y, to) for x, y, _ in UPPER] + LOWER, faces))

    def contacts(self, *words):
        result = self.json("collide", *words, "--out", "c.csv")
        with open(self.path("c.csv")) as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), result["contacts"])
        return result, table

    def test_falls_through(self):
        self.falling()
        result, table = self.contacts("a0.obj", "a1.obj")
        # The three corners of the upper one are inside the lower one; no edges cross.
        self.assertEqual(sorted((r["kind"], r["feature_a"], r["feature_b"]) for r in table), [("vertex-face", str(i), "1") for i in range(3)])
        for r in table:
            self.assertLessEqual(float(r["time"]), 0.5)
            self.assertGreaterEqual(float(r["time"]), 0.5 - 1e-6)
            self.assertAlmostEqual(float(r["nz"]), 1)
            w = [float(r["w%d" % i]) for i in range(4)]
            self.assertAlmostEqual(sum(w[1:]), 1)
            at = sum(w[i + 1] * np.array(LOWER[i]) for i in range(3))
            np.testing.assert_allclose(at[:2], UPPER[int(r["feature_a"])][:2], atol=1e-6)
            np.testing.assert_allclose([float(r[k]) for k in ("bx", "by", "bz")], at, atol=1e-6)
            self.assertLess(float(r["distance"]), 1e-5)
        self.assertAlmostEqual(result["earliest"], 0.5, places=5)

    def test_distance_with_and_json(self):
        self.falling()
        faces = [(0, 1, 2)]
        self.write("u0.obj", obj(UPPER, faces)), self.write("u1.obj", obj([(x, y, 0.25) for x, y, _ in UPPER], faces))
        self.write("l.obj", obj(LOWER, faces))
        self.assertEqual(self.json("collide", "u0.obj", "u1.obj", "--with", "l.obj", "l.obj")["contacts"], 0)
        result = self.json("collide", "u0.obj", "u1.obj", "--with", "l.obj", "l.obj", "--distance", 0.5, "--out", "c.json")
        with open(self.path("c.json")) as file:
            contacts = json.load(file)
        self.assertEqual(len(contacts), result["contacts"])
        self.assertAlmostEqual(result["earliest"], 2 / 3, places=5)
        for c in contacts:
            self.assertEqual(set(c), {"time", "kind", "meshes", "features", "vertices", "barycentric", "points", "normal", "distance"})
            self.assertLessEqual(c["distance"], 0.5 + 1e-5)
            self.assertEqual(c["meshes"], [0, 1] if c["normal"][2] > 0 else [1, 0])

    def test_order_and_threads(self):
        # Two wavy sheets in one mesh; the upper one falls through the lower one.
        n = 20
        sheet = [(i / n, j / n, 0.02 * math.sin(i) * math.cos(j)) for i in range(n) for j in range(n)]
        upper = [(x + 0.013, y + 0.017, 0.2 - z) for x, y, z in sheet]
        faces = [f for i in range(n - 1) for j in range(n - 1) for d in [i * n + j] for f in ((d, d + 1, d + n), (d + 1, d + n + 1, d + n))]
        faces += [tuple(v + n * n for v in f) for f in faces]
        self.write("a0.obj", obj(sheet + upper, faces))
        self.write("a1.obj", obj(sheet + [(x, y, z - 0.4) for x, y, z in upper], faces))
        outputs = []
        for threads in (1, 2):
            self.json("collide", "a0.obj", "a1.obj", "--threads", threads, "--out", "c.csv")
            with open(self.path("c.csv")) as file:
                outputs.append(file.read())
        self.assertGreater(len(outputs[0].splitlines()), 100)
        self.assertEqual(outputs[0], outputs[1])
        times = [float(line.split(",")[0]) for line in outputs[0].splitlines()[1:]]
        self.assertEqual(times, sorted(times))

    def test_vertex_times(self):
        self.falling()
        self.json("collide", "a0.obj", "a1.obj", "--vertex-times", "v.csv")
        with open(self.path("v.csv")) as file:
            times = [float(r["time"]) for r in csv.DictReader(file)]
        self.assertEqual(len(times), 6)
        self.assertTrue(all(0.5 - 1e-6 <= t <= 0.5 for t in times))

    def test_huge_motion(self):
        self.falling(to=-1e12)
        result, table = self.contacts("a0.obj", "a1.obj")
        self.assertEqual(len(table), 3)
        self.assertLessEqual(result["earliest"], 1 / (1e12 + 1))

    def test_a_hopeless_step_is_refused(self):
        # 400 triangles that all cross the whole scene: every box meets every other.
        corners, faces = [], []
        for i in range(400):
            corners += [(i, 0, 0), (i + 1, 0, 0), (i, 1, 0)]
            faces.append((3 * i, 3 * i + 1, 3 * i + 2))
        self.write("near.obj", obj(corners, faces))
        self.write("far.obj", obj([(1e12 * (-1) ** k, 1e12 * y + k, 1e12) for k, (x, y, z) in enumerate(corners)], faces))
        self.fails(1, "collide", "near.obj", "far.obj", "--max-candidates", "1000", "--out", "c.csv",
                   says=["max_candidates", "1000"])
        self.assertGreater(self.json("collide", "near.obj", "far.obj")["candidates"], 1000)

    def test_queries_that_are_no_file(self):
        self.fails(1, "collide", "--queries", ".", says=["directory"])
        self.fails(1, "collide", "--queries", "none.csv", says=["none.csv", "No such file"])
        self.fails(2, "collide", "--queries", "none.csv", "--no-self", says=["--no-self"])

    def test_segments_and_points(self):
        # A rope falls through a triangle, a point through the rope's middle, a cloud through the triangle.
        self.write("l.obj", obj(LOWER, [(0, 1, 2)]))
        rope = [(-1, 0.25, 1), (1, 0.25, 1), (3, 0.25, 1)]
        for name, z in (("r0.obj", 1), ("r1.obj", -1)):
            self.write(name, obj([(x, y, z) for x, y, _ in rope] + [(0, 0.25, 3 * z)], []) + "l 1 2 3\np 4\n")
        result, table = self.contacts("r0.obj", "r1.obj", "--with", "l.obj", "l.obj", "--no-self")
        kinds = sorted(row["kind"] for row in table)
        self.assertIn("edge-edge", kinds)
        self.assertIn("vertex-face", kinds)
        result, table = self.contacts("r0.obj", "r1.obj")
        self.assertEqual([row["kind"] for row in table], ["vertex-edge"])
        self.assertAlmostEqual(float(table[0]["time"]), 0.5, places=5)
        for name, z in (("c0.obj", 1), ("c1.obj", -1)):
            self.write(name, obj([(0.1, 0.1, z), (0.2, 0.1, z), (5, 5, z)], []))
        result, table = self.contacts("c0.obj", "c1.obj", "--with", "l.obj", "l.obj", "--no-self")
        self.assertEqual([row["kind"] for row in table], ["vertex-face"] * 2)
        self.write("c2.obj", obj([(0.1, 0.1, 0)] * 3, []) + "p 1\n")
        self.fails(1, "collide", "c0.obj", "c2.obj", says=["c2.obj", "points differ"])

    def test_more_than_two_meshes(self):
        for number, x in (("a", 0), ("b", 10), ("c", 0.05)):
            for name, z in (("0", 1), ("1", -1)):
                self.write(number + name + ".obj", obj([(x + 0.2, 0.2, z), (x + 0.3, 0.2, z), (x + 0.2, 0.3, z)], [(0, 1, 2)]))
        self.write("l.obj", obj(LOWER, [(0, 1, 2)]))
        result, table = self.contacts("l.obj", "l.obj", "--with", "a0.obj", "a1.obj",
                                      "--with", "b0.obj", "b1.obj", "--with", "c0.obj", "c1.obj", "--no-self")
        pairs = {(row["mesh_a"], row["mesh_b"]) for row in table}
        self.assertTrue({("1", "0"), ("3", "0")} <= pairs)
        self.assertFalse(any("2" in pair for pair in pairs))
        first = self.json("collide", "l.obj", "l.obj", "--with", "a0.obj", "a1.obj", "--with", "b0.obj", "b1.obj",
                          "--with", "c0.obj", "c1.obj", "--no-self", "--earliest")
        self.assertEqual(first["earliest"], result["earliest"])
        self.fails(2, "collide", "l.obj", "l.obj", "--with", "a0.obj", "a1.obj", "b0.obj")
        self.fails(2, "collide", "l.obj", "l.obj", "--earliest", "--out", "c.csv", says="--earliest")
        self.assertIsNone(self.json("collide", "b0.obj", "b1.obj", "--with", "l.obj", "l.obj", "--earliest")["earliest"])

    def test_bad_meshes(self):
        self.falling()
        tri = [(0, 1, 2)]
        self.write("quad.obj", obj(LOWER + [(1, 1, 0)], [(0, 1, 3, 2)]))
        self.assertEqual(self.json("collide", "quad.obj", "quad.obj")["contacts"], 0)  # becomes two triangles
        for name, text, says in (("range.obj", obj(LOWER, [(0, 1, 8)]), ["line 4", "9"]),
                                 ("nan.obj", "v nan 0 0\n" + obj(LOWER, tri), ["line 1", "NaN"]),
                                 ("inf.obj", "v 0 inf 0\n" + obj(LOWER, tri), ["line 1", "infinite"]),
                                 ("empty.obj", "", "no vertices"),
                                 ("line.obj", obj(LOWER, []) + "l 1\n", ["line 4", "2 points"]),
                                 ("far.obj", obj(LOWER, []) + "p 4\n", ["line 4", "4"]),
                                 ("empty.ply", "", "empty.ply"),
                                 ("broken.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", "broken.ply")):
            self.write(name, text)
            self.fails(1, "collide", name, name, says=[name, *([says] if isinstance(says, str) else says)])
        self.write("fewer.obj", obj(LOWER, tri))
        self.write("turned.obj", obj(UPPER + LOWER, [(0, 1, 2), (3, 5, 4)]))
        self.fails(1, "collide", "a0.obj", "fewer.obj", says=["fewer.obj", "3 vertices", "6"])
        self.fails(1, "collide", "a0.obj", "turned.obj", says=["turned.obj", "triangles differ"])
        self.fails(1, "collide", "a0.obj", "a1.obj", "--with", "a0.obj", "fewer.obj", says="fewer.obj")
        self.fails(1, "collide", "a0.obj", "none.obj", says="none.obj")
        self.fails(1, "collide", "a0.obj", "a1.obj", "--out", "c.xyz", says="c.xyz")
        self.fails(1, "collide", "a0.obj", "a1.obj", "--out", "no/where.csv", says="where.csv")

    def test_usage(self):
        self.falling()
        for words in ((), ("a0.obj",), ("a0.obj", "a1.obj", "--distance", "-1"), ("a0.obj", "a1.obj", "--distance", "nan"),
                      ("a0.obj", "a1.obj", "--tolerance", "0"), ("a0.obj", "a1.obj", "--with", "a0.obj"),
                      ("a0.obj", "a1.obj", "--queries", "q.csv"), ("--queries", "q.csv", "--kind", "face-face")):
            self.fails(2, "collide", *words)

    def queries(self):
        """A vertex that falls through a face, beside it, onto its corner at the end, and at rest on it."""
        face = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        query = lambda a, b: [a, *face, b, *face]
        return [(query((0.25, 0.25, 1), (0.25, 0.25, -1)), 1), (query((1.25, 0.25, 1), (1.25, 0.25, -1)), 0),
                (query((1, 1, 1), (1, 0, 0)), 1), (query((0.5, 0.5, 0), (0.5, 0.5, 0)), 1)]

    def test_queries(self):
        self.write("vertex-face.csv", rows(self.queries()))
        result = self.json("collide", "--queries", "vertex-face.csv", "--out", "t.csv")
        want = {"queries": 4, "truth_positive": 3, "reported_positive": 3, "false_positive": 0, "false_negative": 0}
        self.assertEqual({k: result[k] for k in want}, want)
        self.assertGreater(result["ns_per_query"], 0)
        self.assertGreaterEqual(result["ns_p999"], result["ns_median"])
        with open(self.path("t.csv")) as file:
            times = [float(r["time"]) for r in csv.DictReader(file)]
        self.assertEqual(times[1:], [math.inf, 1, 0])
        self.assertTrue(0.5 - 1e-6 <= times[0] <= 0.5)
        # Without a telling name: the kind that fits the answers, or as told; wrong answers are counted.
        self.write("q.csv", rows(self.queries()))
        self.assertEqual(self.json("collide", "--queries", "q.csv")["false_positive"], 0)
        self.write("w.csv", rows([(p, 1 - t) for p, t in self.queries()]))
        result = self.json("collide", "--queries", "w.csv", "--kind", "vertex-face")
        self.assertEqual((result["false_positive"], result["false_negative"]), (3, 1))
        text = self.run_quadrat("collide", "--queries", "q.csv", "--kind", "vertex-face").stdout
        for word in ("4 queries", "3 reported", "0 false positives", "0 false negatives", "ns per query"):
            self.assertIn(word, text)

    def test_query_numbers(self):
        """Long integers, signs on either side, and quotients that are no doubles."""
        points = [(Fraction(1, 3), Fraction(-1, 7), 1), (-1, -1, 0), (2, -1, 0), (0, 3, 0)]
        self.write("vertex-face.csv", rows([(points + [(Fraction(1, 3), Fraction(-1, 7), -1)] + points[1:], 1)]))
        result = self.json("collide", "--queries", "vertex-face.csv")
        self.assertEqual((result["rounded"], result["reported_positive"]), (1, 1))
        big = 10 ** 40
        text = rows([self.queries()[0]]).replace("1,4", "%d,%d" % (big, 4 * big)).replace("-1,1", "1,-1")
        self.write("vertex-face.csv", text)
        result = self.json("collide", "--queries", "vertex-face.csv")
        self.assertEqual((result["rounded"], result["false_negative"]), (0, 0))

    def test_bad_queries(self):
        good = rows(self.queries())
        for text, says in ((good[:-20], ""), ("1,1,1\n", ["line 1", "7 columns"]), (good.replace("1,4", "1,0", 1), "line 1"),
                           (good.replace("1,4", "x,4", 1), "line 1"), (good.replace(",1\n", ",2\n", 1), ["line 1", "truth"]),
                           ("\n".join(good.splitlines()[:-1]), "fewer than 8 rows")):
            self.write("vertex-face.csv", text)
            self.fails(1, "collide", "--queries", "vertex-face.csv", says=["vertex-face.csv", *([says] if isinstance(says, str) else says)])
        self.fails(1, "collide", "--queries", "edge-edge.csv", says="edge-edge.csv")
        self.write("empty-vertex-face.csv", "")
        self.assertEqual(self.json("collide", "--queries", "empty-vertex-face.csv")["queries"], 0)

    def test_bench(self):
        results = [self.json("bench", "ccd", "--scenario", "C1", "--n", 3000, "--steps", 2, "--threads", t) for t in (1, 2)]
        for key in ("pairs", "checksum", "tested"):
            self.assertEqual(results[0][key], results[1][key])
        self.assertGreater(results[0]["pairs"], 0)
        self.assertGreater(results[0]["ms_per_step"], 0)
        self.assertGreater(results[0]["setup_ms"], 0)
        self.assertGreater(self.json("bench", "ccd", "--scenario", "C2", "--n", 8000, "--steps", 1, "--method", "candidates")["pairs"], 0)
        self.fails(2, "bench", "ccd", "--scenario", "B1", says="C1")


if __name__ == "__main__":
    unittest.main()
