"""What one failing rank does: the expected exit status, one line, no file left behind, and nobody waits for ever."""
import os
import unittest

import numpy as np

from ranks_support import FAIL, OnRanks


class Failures(OnRanks):
    def boxes(self, n=6000):
        lo = self.random.random((n, 3)) * 12
        return np.hstack([lo, lo + 1]).astype(np.float32)

    def test_a_stage_throws_on_one_rank(self):
        for ranks in (2, 3, 7):
            self.ends(self.on_ranks(ranks, FAIL, "throw"), 1, "does not converge", f"(on rank {ranks - 1})")

    def test_a_bad_value_in_one_rank(self):
        self.ends(self.on_ranks(3, FAIL, "value"), 1, "index 5, column 4", "(on rank 2)")

    def test_memory_ends_on_one_rank(self):
        self.ends(self.on_ranks(3, FAIL, "memory"), 1, "not enough memory", "(on rank 2)")

    def test_one_rank_is_killed(self):
        result = self.on_ranks(3, FAIL, "kill")
        self.assertEqual(result.returncode, 137)  # 128 + SIGKILL, as mpirun says
        self.assertLess(result.seconds, 30)

    def test_a_bad_value_in_one_slice_of_the_file(self):
        boxes = self.boxes()
        boxes[4567, 2] = np.nan
        self.save("b.npy", boxes)
        for ranks in (1, 3, 7):
            self.ends(self.mpi(ranks, "pairs", "b.npy", "--out", "p.npy"), 1, "b.npy", "row 4567, column 2")
            self.assertEqual(self.files(), {"b.npy"})

    def test_files_that_cannot_be_read(self):
        self.save("b.npy", self.boxes(100))
        with open(self.path("b.npy"), "rb") as file:
            self.write("short.npy", file.read()[:-5])
        self.save("i.npy", np.zeros((4, 6), np.int32))
        self.save("c.npy", np.zeros((4, 5), np.float32))
        self.write("empty.npy", "")
        for name in ("short.npy", "i.npy", "c.npy", "empty.npy", "none.npy"):
            self.ends(self.mpi(3, "pairs", name), 1, name)

    def test_limits_of_memory(self):
        self.save("b.npy", self.boxes())
        self.ends(self.mpi(3, "pairs", "b.npy", "--max-bytes", 1000, "--out", "p.npy"), 1, "max_bytes")
        self.assertEqual(self.files(), {"b.npy"})

    def test_a_full_disk(self):
        self.save("b.npy", self.boxes())
        self.ends(self.mpi(3, "pairs", "b.npy", "--out", "/dev/full"), 1, "/dev/full", "No space left")
        self.ends(self.mpi(3, "pairs", "b.npy", "--out", "nowhere/p.npy"), 1, "nowhere/p.npy")

    def test_wrong_usage(self):
        self.ends(self.mpi(3, "pears"), 2, "quadrat-mpi")
        self.ends(self.mpi(3, "pairs", "b.npy", "--cuts", "scissors"), 2, "--cuts")
        self.save("x.npy", np.zeros((4, 3), np.float32))
        self.ends(self.mpi(2, "neighbors", "x.npy", "--radius", -1), 1, "radius")
        self.ends(self.mpi(2, "neighbors", "x.npy", "--radius", 1, "--periodic", "1,2"), 1, "--periodic")

    def test_many_failures_do_not_hang(self):
        rounds = int(os.environ.get("QUADRAT_FAILURE_ROUNDS", "5"))
        for mode in ("throw", "value"):
            for _ in range(rounds):
                self.ends(self.on_ranks(5, FAIL, mode, limit=40), 1, "(on rank 4)")


if __name__ == "__main__":
    unittest.main()
