"""The Python package beside the same steps in C++, scipy's cKDTree and ASE's neighbour list, each pair interleaved in one run:
medians and ratios, as a table in Markdown.

rivals.py [--n 1000000] [--rounds 5] [--threads 1] [--steps PROGRAM] [--only WORD] [--vesin FOLDER]: float64, about 30 neighbours
each, open and periodic. --steps is quadrat_peers_python_steps; --only takes the rows whose name holds the word; --cpu counts
processor time, which says more on a machine with other work, for one thread. --vesin: where the Python package vesin was built or
installed, if it is not importable anyway; without it its rows are left out."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import quadrat

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=1_000_000)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--steps", default="")
parser.add_argument("--only", default="")
parser.add_argument("--cpu", action="store_true")
parser.add_argument("--vesin", default="")
parser.add_argument("--peak-of", default="", help=argparse.SUPPRESS)
options = parser.parse_args()


def radius_for(count):
    return (30 / (4 / 3 * np.pi * count)) ** (1 / 3)


clock = time.process_time if options.cpu else time.perf_counter
n, threads = options.n, options.threads
radius = radius_for(n)
points = np.random.default_rng(11).random((n, 3))


def milliseconds(call):
    begin = clock()
    result = call()
    return 1e3 * (clock() - begin), result


def wanted(name):
    return options.only in name


def row(name, ours, other, unit="ms", share=None):
    print(f"| {name} | {ours:.4g} {unit} | {other:.4g} {unit} | {share or f'{other / ours:.3g}x'} |", flush=True)


def compare(name, ours, theirs, same, rounds=options.rounds):
    """Rounds of both, one after the other; the results of the last round are compared."""
    if not wanted(name):
        return
    times = ([], [])
    for _ in range(rounds):
        for kept, call in zip(times, (ours, theirs)):
            spent, result = milliseconds(call)
            kept.append(spent)
            if kept is times[0]:
                mine = result
    assert same(mine, result), name
    row(name, *map(statistics.median, times))


def peak_above(pid, run):
    """Kilobytes that a process takes at most while run() goes on, above what it has before."""
    def status(key):
        with open(f"/proc/{pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key))

    with open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")  # the peak begins at what there is now
    before = status("VmRSS:")
    run()
    return status("VmHWM:") - before


class OwnSteps:
    """The steps of steps.cpp, from Python."""

    def __init__(self, count):
        self.index = {None: quadrat.CellIndex(radius, threads=count), 1: quadrat.CellIndex(radius, threads=count, box=[1, 1, 1])}
        self.boxes = np.hstack([points - radius / 4, points + radius / 4])
        self.set = quadrat.BroadPhase(threads=count)
        self.near = None

    def built(self, box=None):
        if len(self.index[box]) == 0:
            self.index[box].build(points)
        return self.index[box]

    def list(self, box=None, **more):
        index = self.built(box)
        index.update(points)
        self.near = index.find_neighbors(out=self.near, **more)
        return self.near

    def nearest(self):
        index = self.built()
        index.update(points)
        self.near = index.find_nearest(16, out=self.near)
        return self.near

    def pairs(self):
        if len(self.set) == 0:
            self.set.insert(self.boxes)
        self.set.update(self.boxes)
        return self.set.find_pairs()


    def calls(self):
        """By the words of steps.cpp."""
        return {"list": self.list, "half": lambda: self.list(half=True), "distances": lambda: self.list(distances=True),
                "periodic": lambda: self.list(1), "everything": lambda: self.list(1, distances=True, vectors=True, shifts=True),
                "nearest": self.nearest, "pairs": self.pairs}


WORDS = ("list", "half", "distances", "periodic", "everything", "nearest", "pairs")


def peaks_beside_cpp():
    """Memory of three steps of each kind, each in a process of its own: a share of 1.01 is 1 % more than C++."""
    if not options.steps:
        return
    with tempfile.NamedTemporaryFile() as file:
        points.tofile(file.name)
        for word in WORDS:
            if not wanted(f"peak memory: {word}"):
                continue
            mine = float(subprocess.run([sys.executable, "-B", __file__, "--peak-of", word, "--n", str(n), "--threads", str(threads)],
                                        capture_output=True, text=True, check=True).stdout)
            with subprocess.Popen([options.steps, file.name, str(n), repr(float(radius)), str(threads)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, bufsize=1) as other:
                def ask(asked):
                    other.stdin.write(asked + "\n")
                    other.stdin.flush()
                    return other.stdout.readline()

                ask("peak")  # its points are read
                its = peak_above(other.pid, lambda: [ask(word) for _ in range(3)])
                other.stdin.close()
            row(f"peak memory: {word}", mine / 1024, its / 1024, "MiB", f"{mine / its:.3f} of C++")


def steps_in_cpp(own):
    """The same steps by a program; a share of 1.03 is an overhead of 3 %."""
    if not options.steps:
        return
    with tempfile.NamedTemporaryFile() as file:
        points.tofile(file.name)
        other = subprocess.Popen([options.steps, file.name, str(n), repr(float(radius)), str(threads)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True, bufsize=1)

        def ask(word):
            other.stdin.write(word + "\n")
            other.stdin.flush()
            return float(other.stdout.readline().split()[options.cpu])

        for word, call in own.calls().items():
            name = f"C++: {word}"
            if not wanted(name):
                continue
            ask(word), call()  # both have their memory now
            times = ([], [])
            for _ in range(2 * options.rounds):
                times[0].append(milliseconds(call)[0])
                times[1].append(ask(word))
            mine, its = map(statistics.median, times)
            row(name, mine, its, share=f"{mine / its:.3f} of C++")
        other.stdin.close()
        other.wait()


def with_scipy(own):
    try:
        from scipy.spatial import cKDTree
    except ImportError:
        return
    for word, box, boxsize in (("open", None, None), ("periodic", 1, 1.0)):
        def tree():
            return cKDTree(points, boxsize=boxsize)

        compare(f"scipy: query_pairs, {word}", lambda: own.list(box, half=True).to_coo(), lambda: tree().query_pairs(radius, output_type="ndarray"),
                lambda a, b: len(a[0]) == len(b))
        compare(f"scipy: sparse_distance_matrix, {word}", lambda: own.list(box, distances=True, include_self=True),
                lambda: (t := tree()).sparse_distance_matrix(t, radius, output_type="ndarray"), lambda a, b: a.entries == len(b))
        compare(f"scipy: query_ball_point, {word}", lambda: own.list(box, include_self=True),
                lambda: (t := tree()).query_ball_point(points, radius, workers=threads), lambda a, b: a.entries == sum(map(len, b)))
    compare("scipy: query, k = 16, open", own.nearest, lambda: cKDTree(points).query(points, 17, workers=threads),
            lambda a, b: np.allclose(a.to_dense()[1], b[0][:, 1:]))


def with_ase():
    try:
        import ase
        from ase.neighborlist import neighbor_list

        import quadrat.ase
    except ImportError:
        return
    count = min(n, 100_000)
    scale = 5 / radius_for(count)  # ASE's bins are at least 3 wide: with a smaller cutoff it takes tens of gigabytes
    for word in ("open", "periodic"):
        atoms = ase.Atoms(numbers=np.ones(count), positions=points[:count] * scale, cell=[scale] * 3, pbc=word == "periodic")
        compare(f"ASE: ijdDS of {count} atoms, {word}", lambda: quadrat.ase.neighbor_list("ijdDS", atoms, 5.0, threads=threads),
                lambda: neighbor_list("ijdDS", atoms, 5.0), lambda a, b: len(a[0]) == len(b[0]), rounds=min(options.rounds, 3))


def with_vesin(own):
    if options.vesin:
        sys.path.insert(0, options.vesin)
    try:
        from vesin import NeighborList
    except ImportError:
        return
    theirs = NeighborList(cutoff=float(radius), full_list=True)
    for word, box in (("open", None), ("periodic", 1)):
        compare(f"vesin: ij, {word}", lambda: own.list(box).to_coo(), lambda: theirs.compute(points, np.eye(3), bool(box), "ij"),
                lambda a, b: len(a[0]) == len(b[0]))
        compare(f"vesin: ijdDS, {word}", lambda: own.list(box, distances=True, vectors=True, shifts=True).to_coo(),
                lambda: theirs.compute(points, np.eye(3), bool(box), "ijdDS"), lambda a, b: len(a[0]) == len(b[0]))


def with_two_threads():
    if not wanted("two threads") or len(os.sched_getaffinity(0)) < 2:
        return
    one, two = OwnSteps(1), OwnSteps(2)
    for name, first, second in (("list", one.list, two.list), ("nearest", one.nearest, two.nearest), ("pairs", one.pairs, two.pairs)):
        first(), second()
        compare(f"one thread against two threads: {name}", second, first, lambda a, b: len(a) == len(b))


def small_calls():
    if not wanted("100 points"):
        return
    x = points[:100]
    boxes = np.hstack([x, x + 0.1])
    index, kept = quadrat.CellIndex(0.2, points=x), quadrat.BroadPhase(boxes)
    calls = {
        "find_neighbors": lambda: quadrat.find_neighbors(x, 0.2), "find_pairs": lambda: quadrat.find_pairs(boxes),
        "find_nearest, k = 4": lambda: quadrat.find_nearest(x, 4), "count_neighbors": lambda: quadrat.count_neighbors(x, 0.2),
        "update and find_neighbors of an index": lambda: (index.update(x), index.find_neighbors()),
        "update and find_pairs of a set": lambda: (kept.update(boxes), kept.find_pairs()),
    }
    for name, call in calls.items():
        best = min(milliseconds(lambda: [call() for _ in range(200)])[0] for _ in range(20))
        print(f"| 100 points: {name} | {1e3 * best / 200:.3g} us | | |", flush=True)


def importing():
    if not wanted("import"):
        return
    code = "import time, numpy; t = time.perf_counter(); import quadrat; print(1e3 * (time.perf_counter() - t))"
    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache
        times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout)
                 for _ in range(11)]
    print(f"| import quadrat, beyond NumPy | {statistics.median(times[1:]):.3g} ms | | |", flush=True)


if options.peak_of:
    steps = OwnSteps(threads)


    def three():
        for _ in range(3):
            steps.calls()[options.peak_of]()  # a result goes before the next one comes

    print(peak_above("self", three))
    sys.exit()
print(f"{n} points, {threads} thread(s), {'processor time' if options.cpu else 'time'}, medians of {options.rounds} rounds\n")
print("| | quadrat | other | |\n|---|---|---|---|")
small_calls()
importing()
own_steps = OwnSteps(threads)
steps_in_cpp(own_steps)
with_two_threads()
with_scipy(own_steps)
with_vesin(own_steps)
del own_steps
peaks_beside_cpp()
with_ase()
