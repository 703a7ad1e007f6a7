"""quadrat-mpi writes the bytes that quadrat writes, on any number of ranks."""
import json
import unittest

import numpy as np

from ranks_support import OnRanks

COUNTS = (1, 2, 3, 7)


class CommandLineOnRanks(OnRanks):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def object(self, result):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def test_pairs(self):
        for d, dtype in ((3, np.float32), (2, np.float64)):
            lo = self.random.random((3000, d)) * 10
            boxes = np.hstack([lo, lo + self.random.random((3000, d)) ** 3 * 2]).astype(dtype)
            boxes[7, :d], boxes[7, d:] = -np.inf, np.inf  # in a pair with all others: one rank must not sort them all
            self.save("b.npy", boxes)
            serial = self.json("pairs", "b.npy", "--out", "serial.npy")
            for ranks in COUNTS:
                for cuts in ("auto", "sample"):
                    one = self.object(self.mpi(ranks, "pairs", "b.npy", "--out", "p.npy", "--json", "--cuts", cuts))
                    self.assertEqual((one["pairs"], one["checksum"]), (serial["pairs"], serial["checksum"]))
                    self.assertEqual(self.read("p.npy"), self.read("serial.npy"), ranks)
                self.assertEqual(one["ranks"], ranks)
                self.assertEqual(one["ghosts"] > 0, ranks > 1)
            self.object(self.mpi(3, "pairs", "b.npy", "--out", "q.npy", "--parts", "--json"))
            parts = [np.load(self.path(f"q.part-000{r}.npy")) for r in range(3)]
            np.testing.assert_array_equal(np.vstack(parts), np.load(self.path("serial.npy")))

    def test_neighbors(self):
        x = (self.random.random((1500, 3)) * 10).astype(np.float32)
        self.save("x.npy", x)
        for box in ((), ("--periodic", "10,10,0"), ("--periodic", "10,0,0,3,10,0,0,2,10")):
            serial = self.json("neighbors", "x.npy", "--radius", 1, "--out", "serial", *box)
            for ranks in COUNTS:
                one = self.object(self.mpi(ranks, "neighbors", "x.npy", "--radius", 1, "--out", "r", "--json", *box))
                self.assertEqual((one["pairs"], one["checksum"]), (serial["pairs"], serial["checksum"]))
                for part in ("offsets", "indices"):
                    self.assertEqual(self.read(f"r.{part}.npy"), self.read(f"serial.{part}.npy"), (ranks, box))

    def test_few_and_no_rows(self):
        for n in (0, 1, 2):
            self.save("b.npy", np.tile(np.float32([0, 0, 0, 1, 1, 1]), (n, 1)))
            self.json("pairs", "b.npy", "--out", "serial.npy")
            self.object(self.mpi(7, "pairs", "b.npy", "--out", "p.npy", "--json"))
            self.assertEqual(self.read("p.npy"), self.read("serial.npy"))

    def test_bench(self):
        self.assertGreater(self.object(self.mpi(2, "bench", "--n", 4000, "--steps", 2))["pairs"], 4000)

    def test_the_serial_program_refuses_to_run_many_times(self):
        from support import QUADRAT
        self.save("b.npy", np.zeros((2, 6)))
        result = self.on_ranks(2, QUADRAT, "pairs", "b.npy", "--out", "p.npy")
        self.assertEqual(result.returncode, 2)
        self.assertIn("quadrat-mpi", result.stderr)
        self.assertEqual(self.files(), {"b.npy"})
        self.assertEqual(self.on_ranks(1, QUADRAT, "pairs", "b.npy").returncode, 0)


if __name__ == "__main__":
    unittest.main()
