"""T(n, P): what a step costs on P ranks with n bodies each, from constants that quadrat-mpi bench measures here and a network
that is assumed. Usage: model.py FILE.json..., each line an object of `quadrat-mpi bench`; without files the constants below.

  T = s (n + g) + o n + alpha (2 m + 4 log2 P) + beta 32 g

s    build and find per body held (CPU, measured on one rank)
o    homes and reach per own body (migrate + halo on one rank, where nothing is sent)
g    ghosts: (a + 0.8)^3 - a^3 with a = n^(1/3), boxes of 0.8 of the mean spacing (the density of the bench)
m    neighbours of a leaf: 14 on average of a bisection, at most P - 1
32   bytes of a copy: 8 of id and 24 of box
alpha, beta   latency and time per byte; 4 log2 P stands for the small reductions and the counts
Not in it: cuts (rare), imbalance (at most 1.2 by default), the caller's own arrays, and the P counts of four bytes that every
rank tells every other in each exchange. What is beyond the ranks that were measured is extrapolation."""
import json
import sys
from math import log2

SEARCH, OWN = 56e-9, 10e-9  # seconds per body


def step(n, ranks, alpha, beta, search=SEARCH, own=OWN):
    a = n ** (1 / 3)
    ghosts = (a + 0.8) ** 3 - a ** 3 if ranks > 1 else 0
    messages = alpha * (2 * min(ranks - 1, 14) + 4 * log2(ranks)) if ranks > 1 else 0
    return {"local": search * (n + ghosts) + own * n, "latency": messages, "bytes": beta * 32 * ghosts, "ghosts": ghosts / n}


def main():
    runs = [json.loads(line) for name in sys.argv[1:] for line in open(name) if line.startswith("{")]
    search, own = SEARCH, OWN
    for run in runs:
        if run["ranks"] == 1:
            search = (run["build_cpu_ns_per_body"] + run["find_cpu_ns_per_body"]) * 1e-9
            own = (run["migrate_ms"] + run["halo_ms"]) * 1e-3 / run["bodies"]
    print(f"search {search * 1e9:.1f} ns per body held, homes and reach {own * 1e9:.1f} ns per own body")
    for run in runs:
        n = run["bodies"] / run["ranks"]
        expected = step(n, run["ranks"], 0.5e-6, 1e-10, search, own)
        cpu = run["build_cpu_ns_per_body"] + run["find_cpu_ns_per_body"]
        model = search * 1e9 * (1 + expected["ghosts"])
        print(f"measured, {run['ranks']} ranks of {n:.0f}: local {cpu:.1f} ns per own body (model {model:.1f}), "
              f"ghosts {100 * run['ghost_share']:.2f} % (model {100 * expected['ghosts']:.2f}), wall {run['ms_per_step']:.1f} ms")
    print("\nassumed network: 2 us and 1 GB/s per rank; extrapolated")
    one = sum(step(125000, 1, 0, 0, search, own)[k] for k in ("local", "latency", "bytes"))
    for n, ranks in ((125000, 8), (125000, 512), (125000, 9120), (1.14e9 / 65536, 65536)):
        t = step(n, ranks, 2e-6, 1e-9, search, own)
        total = t["local"] + t["latency"] + t["bytes"]
        print(f"{n * ranks:.3g} bodies on {ranks} ranks: {1e3 * total:.2f} ms per step, local {1e3 * t['local']:.2f}, "
              f"latency {1e3 * t['latency']:.3f}, bytes {1e3 * t['bytes']:.3f}; efficiency {100 * one / 125000 * n / total:.0f} %")


if __name__ == "__main__":
    main()
