"""The Python package beside scipy's cKDTree and ASE's neighbour list, interleaved in one process: medians and ratios.

rivals.py [--n 100000] [--rounds 5] [--threads 1] [--only WORD]: float64, about 30 neighbours each, open and periodic."""
import argparse
import statistics
import time

import numpy as np
from scipy.spatial import cKDTree

import quadrat
import quadrat.scipy

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=100_000)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--only", default="")
options = parser.parse_args()

rng = np.random.default_rng(11)
n = options.n
radius = (30 / (4 / 3 * np.pi * n)) ** (1 / 3)
points = rng.random((n, 3))
threads = options.threads


def best(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def compare(name, ours, theirs, same):
    """Rounds of both, one after the other; the results of the last round are compared."""
    if options.only not in name:
        return
    times = ([], [])
    for _ in range(options.rounds):
        t, a = best(ours)
        times[0].append(t)
        t, b = best(theirs)
        times[1].append(t)
    assert same(a, b), name
    mine, other = map(statistics.median, times)
    print(f"{name:32} {1e3 * mine:9.1f} ms {1e3 * other:9.1f} ms {other / mine:7.1f}x", flush=True)


print(f"{n} points, radius {radius:.4f}, {threads} thread(s), medians of {options.rounds}   quadrat     rival")
for periodic in (False, True):
    box = [1.0, 1.0, 1.0] if periodic else None
    boxsize = 1.0 if periodic else None
    word = "periodic" if periodic else "open"
    tree, index = cKDTree(points, boxsize=boxsize), quadrat.CellIndex(radius, box=box, points=points, threads=threads)
    kept = {}

    def full(**more):
        index.update(points)
        kept["near"] = near = index.find_neighbors(out=kept.pop("near", None), **more)
        return near

    def tree_of():
        return cKDTree(points, boxsize=boxsize)

    compare(f"query_pairs, {word}", lambda: full(half=True).to_coo(), lambda: tree_of().query_pairs(radius, output_type="ndarray"),
            lambda a, b: len(a[0]) == len(b))
    compare(f"sparse_distance_matrix, {word}", lambda: full(distances=True, include_self=True),
            lambda: (t := tree_of()).sparse_distance_matrix(t, radius, output_type="ndarray"), lambda a, b: a.entries == len(b))
    compare(f"query_ball_point, {word}", lambda: full(include_self=True), lambda: (t := tree_of()).query_ball_point(points, radius, workers=1),
            lambda a, b: a.entries == sum(map(len, b)))
    compare(f"query k = 16, {word}", lambda: (index.update(points), index.find_nearest(16))[1], lambda: tree_of().query(points, 17, workers=1),
            lambda a, b: np.allclose(a.to_dense()[1], b[0][:, 1:]))

if not options.only or "ase" in options.only:
    try:
        import ase
        from ase.neighborlist import neighbor_list

        import quadrat.ase
    except ImportError:
        pass
    else:
        scale = 1 / radius
        atoms = {word: ase.Atoms(numbers=np.ones(n), positions=points * scale, cell=[scale] * 3, pbc=word == "periodic") for word in ("open", "periodic")}
        for word, of in atoms.items():
            compare(f"ase ijdDS, {word}", lambda: quadrat.ase.neighbor_list("ijdDS", of, 1.0, threads=threads), lambda: neighbor_list("ijdDS", of, 1.0),
                    lambda a, b: len(a[0]) == len(b[0]))
