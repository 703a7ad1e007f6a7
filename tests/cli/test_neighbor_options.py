"""What quadrat neighbors stores beside the indices, whose rows it makes, and boxes from files, against NumPy."""
import unittest

import numpy as np

from support import CommandLine, near_pairs


def images(x, box, r):
    """(i, j, shift, vector) of every neighbour in a periodic box, by all shifts of one box each way."""
    found = []
    for s in np.ndindex(3, 3, 3):
        shift = np.array(s) - 1
        d = x[None] - x[:, None] + shift @ box
        hit = (d**2).sum(2) <= r * r
        if not shift.any():
            np.fill_diagonal(hit, False)
        for i, j in zip(*np.nonzero(hit)):
            found.append((i, j, *shift, *d[i, j]))
    return sorted(found)


class NeighborOptions(CommandLine):
    def rows(self, prefix="n"):
        """(i, j, shift, vector) of the files."""
        offsets, indices, vectors, shifts, distances = (
            np.load(self.path(f"{prefix}.{name}.npy"))
            for name in ("offsets", "indices", "vectors", "shifts", "distances"))
        self.assertEqual((shifts.dtype, shifts.shape, vectors.shape), (np.int32, (len(indices), 3), (len(indices), 3)))
        np.testing.assert_allclose(np.sqrt((vectors**2).sum(1)), distances)
        i = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return [(*a,) for a in zip(i, indices, *shifts.T, *vectors.T)]

    def compare(self, found, expected):
        self.assertEqual(len(found), len(expected))
        self.assertGreater(len(found), 0)
        found = np.array(sorted(found), float)
        np.testing.assert_array_equal(found[:, :5], np.array(expected)[:, :5])
        np.testing.assert_allclose(found[:, 5:], np.array(expected)[:, 5:], atol=1e-12)

    extras = ("-o", "n", "--distances", "--vectors", "--shifts")

    def test_vectors_and_shifts(self):
        x = self.random.random((150, 3)) * 4
        self.save("x.npy", x)
        box = np.array([[4, 0, 0], [1, 4, 0], [-1, 0.5, 4.0]])
        inside = self.random.random((150, 3)) @ box
        self.save("t.npy", inside)
        for name, points, cell in (("x.npy", x, np.diag([4.0] * 3)), ("t.npy", inside, box)):
            periodic = ",".join(map(str, cell.flatten()))
            self.json("neighbors", name, "--radius", 1.1, "--periodic", periodic, *self.extras)
            expected = images(points, cell, 1.1)
            self.compare(self.rows(), expected)
            self.json("neighbors", name, "--radius", 1.1, "--periodic", periodic, "--half", *self.extras)
            half = self.rows()
            self.assertTrue(all(i <= j for i, j, *_ in half))
            self.compare(half + [(j, i, *(-s for s in rest)) for i, j, *rest in half], expected)

    def test_queries_and_self(self):
        x, q = self.random.random((200, 3)), self.random.random((40, 3))
        self.save("x.npy", x), self.save("q.npy", q)
        hit = ((x[None] - q[:, None])**2).sum(2) <= 0.04
        self.json("neighbors", "x.npy", "--queries", "q.npy", "--radius", 0.2, "-o", "n")
        offsets, indices = (np.load(self.path(f"n.{name}.npy")) for name in ("offsets", "indices"))
        i, j = np.nonzero(hit)
        np.testing.assert_array_equal(np.repeat(np.arange(40), np.diff(offsets)), i)
        np.testing.assert_array_equal(indices, j)
        self.assertEqual(self.json("neighbors", "x.npy", "--queries", "q.npy", "--k", 3)["pairs"], 120)
        i, j, _ = near_pairs(x, 0.2)
        plain = self.json("neighbors", "x.npy", "--radius", 0.2)["pairs"]
        self.assertEqual(self.json("neighbors", "x.npy", "--radius", 0.2, "--self")["pairs"], plain + 200)
        self.assertEqual(self.json("neighbors", "x.npy", "--radius", 0.2, "--subdivision", 3)["pairs"], plain)
        self.fails(2, "neighbors", "x.npy", "--queries", "q.npy", "--radius", 1, "--half", says="half")
        self.fails(2, "neighbors", "x.npy", "--radius", 1, "--self", "--method", "uniform", says="--self")
        self.fails(2, "neighbors", "x.npy", "--radius", 1, "--vectors", says="--out")

    def test_groups(self):
        x = self.random.random((300, 2))
        groups = self.random.integers(0, 3, 300)
        self.save("x.npy", x), self.save("g.csv", groups)
        i, j, _ = near_pairs(x, 0.15)
        sees = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]], bool)
        keep = sees[groups[i], groups[j]]
        result = self.json("neighbors", "x.npy", "--radius", 0.15, "--groups", "g.csv", "--searches", "6,1,0")
        self.assertEqual(result["pairs"], int(keep.sum()))
        self.fails(1, "neighbors", "x.npy", "--radius", 1, "--groups", "g.csv", "--searches", "6,1", says="group 2")
        self.fails(2, "neighbors", "x.npy", "--radius", 1, "--groups", "g.csv", says="--searches")
        groups[7] = 64
        self.save("g.csv", groups)
        self.fails(1, "neighbors", "x.npy", "--radius", 1, "--groups", "g.csv", "--searches", "1", says="line 8")

    def test_boxes_and_frames_of_xyz_files(self):
        box = np.array([[3, 0, 0], [0.5, 3, 0], [0, 0.25, 3.0]])
        frames = [self.random.random((60, 3)) @ box for _ in range(3)]
        text = ""
        for points in frames:
            text += '60\nLattice="%s" Properties=species:S:1:pos:R:3 pbc="T T T"\n' % " ".join(map(str, box.flatten()))
            text += "".join("C %.17g %.17g %.17g\n" % tuple(p) for p in points)
        self.write("f.xyz", text)
        for k, points in enumerate(frames):
            self.json("neighbors", "f.xyz", "--frame", k, "--lattice", "--radius", 0.9, *self.extras)
            self.compare(self.rows(), images(points, box, 0.9))
        self.write("open.xyz", text[:text.index("60\n", 5)].replace("T T T", "F F F"))
        plain = self.json("neighbors", "open.xyz", "--radius", 0.9)["pairs"]
        self.assertEqual(plain, len(near_pairs(frames[0], 0.9)[0]))
        self.fails(1, "neighbors", "open.xyz", "--lattice", "--radius", 0.9, says="no Lattice")
        self.fails(1, "neighbors", "f.xyz", "--frame", 3, "--radius", 0.9, says="no frame 3")
        self.fails(1, "neighbors", "f.xyz", "--radius", 0.9, says="several frames")
        self.fails(2, "neighbors", "f.xyz", "--lattice", "--periodic", "1,1,1", "--radius", 1, says="not both")
        self.write("bad.xyz", text.replace("3.0", "x"))
        self.fails(1, "neighbors", "bad.xyz", "--frame", 0, "--lattice", "--radius", 1, says="nine numbers")
        self.save("x.npy", frames[0])
        self.fails(1, "neighbors", "x.npy", "--lattice", "--radius", 1, says=".xyz")

    def test_periods_that_the_type_cannot_hold(self):
        x = self.random.random((50, 3))
        self.save("x.npy", x), self.save("f.npy", x.astype(np.float32))
        for length in ("1e-300", "1e-170", "1e170"):
            self.fails(1, "neighbors", "x.npy", "--radius", 0.1, "--periodic", f"{length},1,1", says="periodic")
        for length in ("1e-50", "1e50"):
            self.fails(1, "neighbors", "f.npy", "--radius", 0.1, "--periodic", f"{length},1,1", says="--periodic")
        self.fails(1, "neighbors", "x.npy", "--radius", 0.1, "--periodic", "1e-10,1,1", says="too many periodic boxes")

    def test_grains_of_any_size_and_points_at_one_place(self):
        x = self.random.random((4000, 3)).astype(np.float32)
        radii = np.full(4000, 0.01, np.float32)
        radii[:3] = 0.3
        self.save("x.npy", x), self.save("r.npy", radii)
        near = near_pairs(x, 0.7)
        for rule, reach in (("sum", np.add.outer), ("max", np.maximum.outer), ("min", np.minimum.outer)):
            pairs = int((near[2]**2 <= reach(radii, radii)[near[0], near[1]]**2).sum())
            found = self.json("neighbors", "x.npy", "--radii", "r.npy", "--radius-rule", rule)
            self.assertLessEqual(abs(found["pairs"] - pairs), 2, rule)  # this square is of a rounded root
            self.assertLess(found["tested"], 4000 * 1000)
        same = np.ones((30000, 3), np.float32)
        self.save("same.npy", same)
        found = self.json("neighbors", "same.npy", "--k", 4, "-o", "n")
        self.assertEqual(found["pairs"], 120000)
        self.assertLess(found["tested"], 30000 * 100)
        rows = np.load(self.path("n.indices.npy")).reshape(30000, 4)
        np.testing.assert_array_equal(rows[2], [0, 1, 3, 4])
        np.testing.assert_array_equal(rows[5:], np.broadcast_to(np.arange(4), (29995, 4)))


if __name__ == "__main__":
    unittest.main()
