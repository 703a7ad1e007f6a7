"""Exit codes, help, version, signals, bench and demo."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time
import unittest

import numpy as np

from support import QUADRAT, CommandLine

VERBS = ("pairs", "neighbors", "simulate", "bench", "demo")


class Usage(CommandLine):
    def test_wrong_usage(self):
        self.save("b.npy", np.zeros((2, 6)))
        for words in ((), ("dance",), ("pairs",), ("pairs", "b.npy", "--method", "magic"), ("pairs", "b.npy", "--what"),
                      ("pairs", "b.npy", "--threads", "many"), ("pairs", "b.npy", "b.npy", "b.npy"), ("neighbors", "b.npy"),
                      ("neighbors", "b.npy", "--radius", "wide"), ("neighbors", "b.npy", "--radius", "1", "--radius-rule", "wide"),
                      ("bench",), ("bench", "broad-phase", "--scenario", "B9"), ("bench", "neighbors", "--scenario", "B1")):
            self.fails(2, *words, says="quadrat: ")
        self.fails(2, "dance", says=["unknown verb 'dance'", "pairs"])
        self.fails(2, "neighbors", "b.npy", "--k", "0", says="expected a whole number")
        self.fails(2, "pairs", "b.npy", "--repeat", "0", says="--repeat")
        # Whole numbers, in decimals: -1 is not the largest one, 010 is not 8.
        for option in ("--max-bytes", "--threads", "--repeat"):
            for bad in ("-1", "010", "1.5", "1e3", "", "99999999999999999999"):
                self.fails(2, "pairs", "b.npy", option, bad, says=option)
        self.fails(2, "pairs", "b.npy", "--max-bytes", "0", says="--max-bytes")
        for option in ("--n", "--steps", "--seed", "--threads"):
            self.fails(2, "bench", "broad-phase", option, "-1", says=option)

    def test_help_has_an_example(self):
        self.assertEqual(self.run_quadrat("--help").returncode, 0)
        for verb in VERBS:
            result = self.run_quadrat(verb, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Example:\n  quadrat " + verb, result.stdout)
            self.assertIn(verb, self.run_quadrat("--help").stdout)

    def test_version(self):
        result = self.run_quadrat("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^quadrat \d+\.\d+\.\d+\n$")

    def test_no_progress_when_stderr_is_no_terminal(self):
        result = self.run_quadrat("bench", "broad-phase", "--method", "brute", "--n", 30000, "--steps", 5)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_progress_goes_before_the_result(self):
        self.save("b.npy", np.tile(np.arange(6, dtype=np.float32), (60000, 1)) + self.random.random((60000, 1)) * 1e6)
        try:
            terminal, inside = pty.openpty()
        except OSError as problem:
            self.skipTest(f"no terminals here: {problem}")
        process = subprocess.Popen([QUADRAT, "pairs", "b.npy", "--method", "brute", "--repeat", "4", "--json"], cwd=self.folder.name,
                                   stdin=inside, stdout=inside, stderr=inside)
        self.addCleanup(process.kill)
        os.close(inside)
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn(b"finding pairs", shown)
        self.assertTrue(json.loads(shown[shown.rindex(b"\x1b[K") + 3:])["tested"], shown)

    def test_interrupted(self):
        lo = self.random.random((400000, 3)).astype(np.float32)
        self.save("b.npy", np.hstack([lo, lo]))
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([QUADRAT, "pairs", "b.npy", "--method", "brute", "--out", "p.npy"], cwd=self.folder.name,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            deadline = time.time() + 60
            while len(self.files()) == 1 and process.poll() is None and time.time() < deadline:
                time.sleep(0.01)
            self.assertEqual(len(self.files()), 2, "the temporary file never appeared")
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            self.assertEqual(self.files(), {"b.npy"})

    def test_ignored_signals_stay_ignored(self):
        lo = self.random.random((60000, 3)).astype(np.float32)
        self.save("b.npy", np.hstack([lo, lo]))
        process = subprocess.Popen(["nohup", QUADRAT, "pairs", "b.npy", "--method", "brute"], cwd=self.folder.name,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        while b"quadrat" not in pathlib.Path(f"/proc/{process.pid}/comm").read_bytes() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_a_file_that_may_not_grow_is_one_line(self):
        self.save("p.npy", self.random.random((20000, 3)))
        result = subprocess.run(["bash", "-c", 'ulimit -f 100; "$0" neighbors p.npy --radius 0.1 --out near', QUADRAT],
                                cwd=self.folder.name, capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
        self.assertIn("cannot write", result.stderr)
        self.assertEqual(self.files(), {"p.npy"})

    def test_full_standard_output(self):
        for words in ("--help",), ("pairs", "--help"), ("--version",):
            with open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([QUADRAT, *words], stdout=full, stderr=subprocess.PIPE).returncode, 1)

    def test_more_threads_than_processors(self):
        lo = self.random.random((20000, 3))
        self.save("b.npy", np.hstack([lo, lo + 0.01]))
        self.assertEqual(self.json("pairs", "b.npy", "--threads", "64")["threads"], 64)  # and nothing on stderr

    def test_bench(self):
        for words, first in ((("broad-phase",), "B1"), (("neighbors",), "W1")):
            result = self.json("bench", *words, "--n", 2000, "--steps", 3, "--method", "brute")
            other = self.json("bench", *words, "--n", 2000, "--steps", 3, "--threads", 2)
            self.assertEqual(result["scenario"], first)
            self.assertGreater(result["pairs"], 0)
            self.assertEqual((result["pairs"], result["checksum"]), (other["pairs"], other["checksum"]))
            for key in ("ms_per_step", "setup_ms"):
                self.assertGreater(result[key], 0)
        for scenario in ("B2", "B3", "B4", "B5", "B6"):
            self.json("bench", "broad-phase", "--scenario", scenario, "--n", 500, "--steps", 1)
        for scenario in ("W2", "W3", "W4"):
            self.json("bench", "neighbors", "--scenario", scenario, "--n", 500, "--steps", 1)

    def test_demo(self):
        result = self.json("demo", "--boxes", "--n", 1000, "--steps", 2, "--out", "pictures")
        self.assertGreater(result["pairs"], 0)
        self.assertGreater(result["neighbors"], 0)
        with open(self.path("pictures/demo.png"), "rb") as file:
            self.assertTrue(re.match(rb"\x89PNG\r\n", file.read(8)))
        self.assertEqual(os.listdir(self.path("pictures")), ["demo.png"])


if __name__ == "__main__":
    unittest.main()
