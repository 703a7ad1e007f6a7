"""scipy's cKDTree on the points that rivals.cpp saved; appends a line of JSON per scene. It searches in float64, so what
it gives is brought to the predicate of float32 afterwards, untimed. Usage: scipy_rival.py OUT.jsonl PREFIX"""
import glob
import json
import sys
import time

import numpy as np
from scipy.spatial import cKDTree


def checksum(i, j):
    z = (i.astype(np.uint64) << np.uint64(32) | j.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return int((z ^ z >> np.uint64(31)).sum(dtype=np.uint64))


def exact(points, lists, r):
    """Entries and checksum of the neighbours among the candidates, a block of rows at a time."""
    entries, total = 0, 0
    for begin in range(0, len(points), 100000):
        block = lists[begin:begin + 100000]
        i = np.repeat(np.arange(begin, begin + len(block)), [len(b) for b in block])
        j = np.concatenate([np.asarray(b, np.int64) for b in block])
        d = points[j] - points[i]
        near = (d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] <= r * r) & (i != j)
        entries += int(near.sum())
        total += checksum(i[near], j[near])
    return entries, f"{total % 2**64:016x}"


def nearest_exact(points, candidates, k):
    """The same for the k nearest by float32 distance, then index, out of a few more candidates; they include the point."""
    total = 0
    for begin in range(0, len(points), 100000):
        j = candidates[begin:begin + 100000]
        i = np.arange(begin, begin + len(j))
        d = points[j] - points[i][:, None]
        square = d[:, :, 0] * d[:, :, 0] + d[:, :, 1] * d[:, :, 1] + d[:, :, 2] * d[:, :, 2]
        square[j == i[:, None]] = np.inf
        first = np.take_along_axis(j, np.lexsort((j, square))[:, :k], 1)
        total += checksum(np.repeat(i, k), first.ravel())
    return k * len(points), f"{total % 2**64:016x}"


path, prefix = sys.argv[1:3]
out = open(path, "a")


def report(scene, ms, entries, digits):
    out.write(json.dumps({"scene": scene, "method": "scipy", "ms": ms, "entries": entries, "checksum": digits}) + "\n")
    out.flush()


for name in sorted(glob.glob(prefix + "*.f32")):
    scene, radius = name[len(prefix):-4].rsplit("_", 1)
    points = np.fromfile(name, np.float32).reshape(-1, 3)
    r = np.float32(radius)
    start = time.perf_counter()
    tree = cKDTree(points)
    lists = tree.query_ball_point(points, float(r) * (1 + 1e-6), workers=1, return_sorted=False)
    ms = 1000 * (time.perf_counter() - start)
    report(scene, ms, *exact(points, lists, r))
    if scene == "W2":
        start = time.perf_counter()
        cKDTree(points).query(points, 17, workers=1)
        ms = 1000 * (time.perf_counter() - start)
        report("W2-k16", ms, *nearest_exact(points, tree.query(points, 20, workers=1)[1], 16))
