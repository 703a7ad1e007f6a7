"""What the tests of the command line share: running it, and answers computed by NumPy alone."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

QUADRAT = os.environ["QUADRAT"]


def mix(x):
    with np.errstate(over="ignore"):
        z = x + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return z ^ z >> np.uint64(31)


def checksum(a, b):
    """16 hex digits over the pairs (a[k], b[k])."""
    keys = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    with np.errstate(over="ignore"):
        return "%016x" % int(mix(keys).sum(dtype=np.uint64))


def overlaps(a, b):
    """Indices of all overlapping boxes of a and b: closed comparisons in the input's type."""
    d = a.shape[1] // 2
    hit = np.ones((len(a), len(b)), bool)
    for k in range(d):
        hit &= (a[:, None, k] <= b[None, :, d + k]) & (b[None, :, k] <= a[:, None, d + k])
    return np.nonzero(hit)


def box_pairs(boxes):
    a, b = overlaps(boxes, boxes)
    return a[a < b], b[a < b]


def near_pairs(x, r):
    """Directed pairs with dx*dx + dy*dy + dz*dz <= r*r, in the input's type and in this order."""
    r = x.dtype.type(r)
    total = None
    for k in range(x.shape[1]):
        d = x[None, :, k] - x[:, None, k]
        total = d * d if total is None else total + d * d
    hit = total <= r * r
    np.fill_diagonal(hit, False)
    i, j = np.nonzero(hit)
    return i, j, np.sqrt(total[i, j])


class CommandLine(unittest.TestCase):
    """Each test has its own empty directory."""

    def setUp(self):
        self.random = np.random.default_rng(sum(map(ord, self.id())))
        self.folder = tempfile.TemporaryDirectory(prefix="quadrat-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, name, array):
        array = np.asarray(array)
        if name.endswith(".npy"):
            np.save(self.path(name), array)
        else:
            np.savetxt(self.path(name), array, delimiter=",", fmt="%.17g")
        return name

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return name

    def run_quadrat(self, *words):
        return subprocess.run([QUADRAT, *map(str, words)], cwd=self.folder.name, capture_output=True, text=True, timeout=300)

    def json(self, *words):
        result = self.run_quadrat(*words, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return json.loads(result.stdout)

    def files(self):
        return set(os.listdir(self.folder.name))

    def fails(self, status, *words, says=()):
        """Exit status, one line on stderr that holds all of `says`, nothing on stdout, no new file."""
        before = self.files()
        result = self.run_quadrat(*words)
        self.assertEqual(result.returncode, status, (words, result.stderr, result.stdout))
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, result.stderr)
        self.assertEqual(self.files(), before)


def methods(verb):
    """The names after "one of: auto" in the help of a verb."""
    text = subprocess.run([QUADRAT, verb, "--help"], capture_output=True, text=True).stdout
    line = next(line for line in text.splitlines() if "one of: auto" in line)
    return line.split("one of: auto")[1].split()
