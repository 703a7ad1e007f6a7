"""quadrat neighbors against NumPy, with every method, and what bad points get."""
import unittest

import numpy as np

from support import CommandLine, checksum, methods, near_pairs


class Neighbors(CommandLine):
    def points(self, n, d, dtype):
        return (self.random.random((n, d)) * 2 - 1).astype(dtype)

    def check(self, name, x, r, *options):
        i, j, _ = near_pairs(x, r)
        result = self.json("neighbors", name, "--radius", r, *options)
        self.assertEqual(result["pairs"], len(i), options)
        self.assertEqual(result["checksum"], checksum(i, j), options)
        return result

    def load(self, prefix):
        return [np.load(self.path(f"{prefix}.{name}.npy")) for name in ("offsets", "indices")]

    def test_every_method_and_type(self):
        for d in (2, 3):
            for dtype in (np.float32, np.float64):
                x = self.points(1200, d, dtype)
                self.save("x.npy", x)
                for method in ["auto", *methods("neighbors")]:
                    for threads in (1, 2):
                        self.check("x.npy", x, 0.13, "--method", method, "--threads", threads)

    def test_counts_its_tests(self):
        self.save("x.npy", self.points(3000, 3, np.float32))
        for method in methods("neighbors"):
            result = self.json("neighbors", "x.npy", "--radius", 0.1, "--method", method)
            # hsh meets each pair once
            self.assertGreaterEqual(result["tested"], result["pairs"] // 2, method)
            if method == "brute":
                self.assertEqual(result["tested"], 9000000)
            else:
                self.assertLess(result["tested"], 9000000, method)
        self.assertGreater(self.json("neighbors", "x.npy", "--k", 5)["tested"], 15000)
        self.assertGreater(self.json("neighbors", "x.npy", "--radius", 0.1, "--periodic", "2,2,2")["tested"], 0)

    def test_files_of_all_kinds(self):
        x = self.points(200, 3, np.float64)
        self.check(self.save("x.csv", x), x, 0.3)
        lines = ["%.17g %.17g %.17g" % tuple(p) for p in x]
        self.write("x.xyz", "200\ncomment\n" + "".join(f"C {line}\n" for line in lines))
        self.check("x.xyz", x, 0.3)
        head = "ply\nformat %s 1.0\nelement vertex 200\nproperty double x\nproperty double y\nproperty double z\nend_header\n"
        self.write("a.ply", head % "ascii" + "\n".join(lines) + "\n")
        self.check("a.ply", x, 0.3)
        self.write("b.ply", (head % "binary_big_endian").encode() + x.astype(">f8").tobytes())
        self.check("b.ply", x, 0.3)
        f = x.astype(np.float32)
        self.write("f.ply", (head % "binary_little_endian").replace("double", "float").encode() + f.tobytes())
        self.check("f.ply", f, 0.3)

    def test_rows_are_sorted_and_complete(self):
        x = self.points(600, 3, np.float32)
        self.save("x.npy", x)
        i, j, distance = near_pairs(x, 0.25)
        for method in methods("neighbors"):
            self.json("neighbors", "x.npy", "--radius", 0.25, "--out", "n", "--distances", "--method", method)
            offsets, indices = self.load("n")
            self.assertEqual((offsets.dtype, indices.dtype), (np.int64, np.uint32))
            np.testing.assert_array_equal(offsets, np.concatenate([[0], np.cumsum(np.bincount(i, minlength=600))]))
            np.testing.assert_array_equal(indices, j)
            found = np.load(self.path("n.distances.npy"))
            self.assertEqual(found.dtype, np.float32)
            np.testing.assert_array_equal(found, distance)

    def test_half_lists_need_a_symmetric_rule(self):
        self.save("x.npy", self.points(50, 3, np.float32))
        self.save("r.npy", np.full(50, 0.3, np.float32))
        for method in ("cell-index", "extended"):
            args = ("neighbors", "x.npy", "--radii", "r.npy", "--half", "--method", method)
            self.fails(1, *args, says="symmetric rule")
            self.json(*args, "--radius-rule", "max")
        self.fails(2, "neighbors", "x.npy", "--radii", "r.npy", "--method", "uniform", says="cell-index or extended")

    def test_lists_that_are_too_long_are_refused_before_they_are_made(self):
        self.save("x.npy", np.zeros((4000, 3), np.float32))
        need = 4000 * 3999 * 4 + 4000 * 8
        for method in methods("neighbors"):
            args = ("neighbors", "x.npy", "--radius", 1, "--method", method, "--max-bytes")
            self.fails(1, *args, 1000000, says=str(need))
            self.assertEqual(self.json(*args, need)["pairs"], 4000 * 3999)

    def test_distances_whose_squares_leave_the_range(self):
        for radius, distance in ((1e25, 1.0), (1.0, 1e-31), (1e-30, 1e-31)):
            x = np.array([[0, 0, 0], [distance, 0, 0]], np.float32)
            self.save("x.npy", x)
            for method in methods("neighbors"):
                self.json("neighbors", "x.npy", "--radius", radius, "--out", "n", "--distances", "--method", method)
                np.testing.assert_array_equal(np.load(self.path("n.distances.npy")), [x[1, 0], x[1, 0]], method)

    def test_half_lists(self):
        x = self.points(500, 2, np.float64)
        self.save("x.npy", x)
        i, j, _ = near_pairs(x, 0.2)
        i, j = i[i < j], j[i < j]
        for method in methods("neighbors"):
            result = self.json("neighbors", "x.npy", "--radius", 0.2, "--half", "-o", "n", "--method", method)
            self.assertEqual((result["pairs"], result["checksum"]), (len(i), checksum(i, j)), method)
            offsets, indices = self.load("n")
            np.testing.assert_array_equal(np.repeat(np.arange(500), np.diff(offsets)), i)
            np.testing.assert_array_equal(indices, j)

    def test_periodic_box(self):
        x = self.random.random((400, 3))
        self.save("x.npy", x)
        d = x[None] - x[:, None]
        d -= np.round(d)
        distance = np.sqrt((d**2).sum(2))
        hit = distance <= 0.2
        np.fill_diagonal(hit, False)
        self.assertGreater(np.abs(distance - 0.2).min(), 1e-12)
        i, j = np.nonzero(hit)
        for box in ("1,1,1", "1,0,0,0,1,0,0,0,1"):
            result = self.json("neighbors", "x.npy", "--radius", 0.2, "--periodic", box)
            self.assertEqual((result["pairs"], result["checksum"]), (len(i), checksum(i, j)))
        self.fails(1, "neighbors", "x.npy", "--radius", 0.2, "--periodic", "1,1", says="--periodic")

    def test_radii(self):
        x = self.points(400, 3, np.float64)
        radii = self.random.random(400) * 0.2 + 0.05
        self.save("x.npy", x), self.save("r.npy", radii)
        rules = {"own": radii[:, None] + 0 * radii, "max": np.maximum.outer(radii, radii),
                 "min": np.minimum.outer(radii, radii), "sum": np.add.outer(radii, radii)}
        d = x[None] - x[:, None]
        square = d[..., 0] ** 2 + d[..., 1] ** 2 + d[..., 2] ** 2
        for rule, reach in rules.items():
            hit = square <= reach * reach
            np.fill_diagonal(hit, False)
            i, j = np.nonzero(hit)
            result = self.json("neighbors", "x.npy", "--radii", "r.npy", "--radius-rule", rule)
            self.assertEqual((result["pairs"], result["checksum"]), (len(i), checksum(i, j)), rule)
        self.save("short.npy", radii[:-1])
        self.fails(1, "neighbors", "x.npy", "--radii", "short.npy", says="short.npy: 399 radii for 400 points")
        radii[5] = -1
        self.save("bad.npy", radii)
        self.fails(1, "neighbors", "x.npy", "--radii", "bad.npy", says="bad.npy: row 5")

    def test_nearest(self):
        x = self.points(300, 3, np.float64)
        self.save("x.npy", x)
        d = x[None] - x[:, None]
        square = d[..., 0] ** 2 + d[..., 1] ** 2 + d[..., 2] ** 2
        np.fill_diagonal(square, np.inf)
        nearest = np.argsort(square, axis=1, kind="stable")[:, :5]
        self.json("neighbors", "x.npy", "--k", 5, "--out", "n")
        offsets, indices = self.load("n")
        np.testing.assert_array_equal(np.diff(offsets), 5)
        np.testing.assert_array_equal(indices.reshape(300, 5), nearest)
        result = self.json("neighbors", "x.npy", "--k", 5, "--radius", 0.2)
        self.assertEqual(result["pairs"], int(np.minimum(5, (square <= 0.2 * 0.2).sum(1)).sum()))

    def test_nearest_in_a_periodic_box(self):
        x = self.random.random((300, 3))
        self.save("x.npy", x)
        d = x[None] - x[:, None]
        d -= np.round(d)
        square = (d**2).sum(2)
        np.fill_diagonal(square, np.inf)
        nearest = np.argsort(square, axis=1)[:, :6]
        self.json("neighbors", "x.npy", "--k", 6, "--periodic", "1,1,1", "--out", "n", "--distances")
        offsets, indices = self.load("n")
        np.testing.assert_array_equal(np.diff(offsets), 6)
        np.testing.assert_array_equal(indices.reshape(300, 6), nearest)
        found = np.load(self.path("n.distances.npy")).reshape(300, 6)
        np.testing.assert_allclose(found, np.sqrt(np.take_along_axis(square, nearest, 1)), rtol=1e-9)
        # More than there are points: images of the same one.
        self.save("two.npy", x[:2])
        result = self.json("neighbors", "two.npy", "--k", 9, "--periodic", "1,1,1")
        self.assertEqual(result["pairs"], 18)
        self.fails(2, "neighbors", "x.npy", "--k", 6, "--half", says="--k goes with")

    def test_nothing_is_a_valid_input(self):
        for points in (np.zeros((0, 3), np.float32), np.zeros((0, 2))):
            self.save("x.npy", points)
            for method in methods("neighbors"):
                result = self.json("neighbors", "x.npy", "--radius", 1, "--out", "n", "--method", method)
                self.assertEqual(result["pairs"], 0)
                offsets, indices = self.load("n")
                np.testing.assert_array_equal(offsets, [0])
                self.assertEqual(len(indices), 0)

    def test_bad_points(self):
        good = self.points(30, 3, np.float32)
        for value, message in ((np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")):
            points = good.copy()
            points[17, 2] = value
            self.save("x.npy", points)
            self.fails(1, "neighbors", "x.npy", "--radius", 1, "-o", "n", says=f"x.npy: row 17, column 2: {message}")
            self.save("x.csv", points)
            self.fails(1, "neighbors", "x.csv", "--radius", 1, "-o", "n", says=f"x.csv: line 18, row 17, column 2: {message}")
        self.save("good.npy", good)
        for radius in (0, -1, "nan", "inf", 1e-60):
            self.fails(1, "neighbors", "good.npy", "--radius", radius, "-o", "n", says="--radius")
        self.save("four.npy", np.zeros((3, 4)))
        self.fails(1, "neighbors", "four.npy", "--radius", 1, "-o", "n", says="four.npy: 4 columns")
        self.fails(1, "neighbors", "good.npy", "--radius", 1, "-o", "nowhere/n", says="nowhere/n.offsets.npy: cannot write")
        self.fails(1, "neighbors", "good.npy", "--radius", 9, "-o", "n", "--max-bytes", 100, says="bytes")
        self.write("cut.ply", "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n")
        self.fails(1, "neighbors", "cut.ply", "--radius", 1, says="cut.ply: line 9")
        self.write("cut.xyz", "2\n\nH 1 2 3\n")
        self.fails(1, "neighbors", "cut.xyz", "--radius", 1, says="cut.xyz: line 3: truncated")


if __name__ == "__main__":
    unittest.main()
