"""Calls as such: Ctrl-C, progress, threads of Python, fork, memory."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import quadrat
from oracle import pairs_of, as_set, random_boxes


def interrupted_after(seconds, call):
    """How long after a SIGINT the call ended in KeyboardInterrupt, in seconds."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, send)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            timer.join()
            time.sleep(0.01)
            pytest.fail("the call was over before the signal")
        return time.monotonic() - sent[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def soon_interrupted(call):
    """Half a second once in some tries: a tenth is what is wanted, but other tests run at the same time."""
    late = []
    while len(late) < 6 and (not late or min(late) >= 0.5):
        late.append(interrupted_after(0.1, call))
    assert min(late) < 0.5, f"{late} s"


@pytest.mark.parametrize("threads", [1, 2, None])
def test_ctrl_c_ends_a_search(rng, threads):
    x = rng.random((300_000, 3))
    index = quadrat.CellIndex(0.04, points=x, threads=threads)
    small = quadrat.CellIndex(0.01, points=x[:1000]).find_neighbors()
    soon_interrupted(lambda: index.find_neighbors(distances=True))
    assert quadrat.CellIndex(0.01, points=x[:1000]).find_neighbors() == small


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("box", [None, [1, 1, 1]], ids=["open", "periodic"])
def test_ctrl_c_ends_the_nearest_and_counts(rng, threads, box):
    x = rng.random((300_000, 3))
    index = quadrat.CellIndex(0.06, points=x, box=box, threads=threads)
    soon_interrupted(lambda: index.find_nearest(100))
    soon_interrupted(lambda: index.find_nearest(100, x))
    soon_interrupted(index.count_neighbors)
    soon_interrupted(index.count_pairs)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_questions(rng, threads):
    boxes = random_boxes(rng, 100_000, 3, np.float64, size=0.1)
    kept = quadrat.BroadPhase(boxes, threads=threads)
    points = np.tile(boxes[:, :3], (4, 1))
    soon_interrupted(lambda: kept.find(np.hstack([points - 0.03, points + 0.03])))
    soon_interrupted(lambda: kept.nearest(points, 40))
    soon_interrupted(lambda: kept.closest_hits(points, np.ones_like(points)) and kept.find_on_rays(points, np.ones_like(points)))


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_broad_phase(rng, threads):
    boxes = random_boxes(rng, 100_000, 3, np.float64, size=0.4)
    kept = quadrat.BroadPhase(boxes, threads=threads)
    for call in (kept.find_pairs, lambda: quadrat.find_pairs(boxes, threads=threads)):
        soon_interrupted(call)
    kept.update(boxes * 1e-3 + np.arange(100_000.0)[:, None])
    assert len(kept.find_pairs()) == 0


def test_progress_is_told_and_may_end_the_call(rng):
    x = rng.random((60_000, 3))
    index = quadrat.CellIndex(0.15, points=x)
    told = []
    for call in (index.find_neighbors, lambda **more: index.find_nearest(100, **more)):
        told.clear()
        call(progress=told.append)
        assert told and told == sorted(told) and 0 <= told[0] and told[-1] <= 1

    def enough(fraction):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        index.find_neighbors(progress=enough)
    with pytest.raises(LookupError, match="enough"):
        quadrat.BroadPhase(random_boxes(rng, 20_000, 3, np.float64, size=1.0)).find_pairs(progress=enough)
    index.find_neighbors(progress=False)


def test_a_callback_cannot_change_what_is_being_searched(rng):
    x = rng.random((60_000, 3))
    index = quadrat.CellIndex(0.15, points=x)
    with pytest.raises(RuntimeError, match="callback"):
        index.find_neighbors(progress=lambda fraction: index.update(x))
    other = quadrat.CellIndex(0.1, points=x[:100])
    index.find_neighbors(progress=lambda fraction: other.update(x[:100]))


def test_progress_on_a_terminal(rng, capsys):
    x = rng.random((60_000, 3))
    quadrat.CellIndex(0.15, points=x).find_neighbors(progress=True)
    assert "find_neighbors" in capsys.readouterr().err


def test_other_threads_of_python_run_meanwhile(rng):
    x = rng.random((60_000, 3))
    index = quadrat.CellIndex(0.2, points=x, threads=1)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    index.find_neighbors()
    done.set()
    thread.join()
    assert len(ticks) > 20


def test_many_threads_on_one_index(rng):
    """Readers and one who changes: every answer is that of one of the two sets."""
    a, b = rng.random((3000, 3)), rng.random((3000, 3))
    index = quadrat.CellIndex(0.08, points=a)
    expected = [quadrat.find_neighbors(points, 0.08) for points in (a, b)]
    nearest = [quadrat.find_nearest(points, 4) for points in (a, b)]
    failures = []

    def read():
        try:
            for _ in range(15):
                if index.find_neighbors() not in expected or index.find_nearest(4) not in nearest:
                    failures.append("a mixture")
        except BaseException as error:
            failures.append(repr(error))

    def change():
        for k in range(20):
            index.build(b if k % 2 == 0 else a)

    threads = [threading.Thread(target=read) for _ in range(4)] + [threading.Thread(target=change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_many_threads_on_one_set_of_boxes(rng):
    boxes = random_boxes(rng, 2000, 3, np.float32, 0.2)
    kept = quadrat.BroadPhase(boxes)
    expected = pairs_of(boxes)
    failures = []

    def read():
        for _ in range(10):
            if as_set(kept.find_pairs()) != expected:
                failures.append("other pairs")

    threads = [threading.Thread(target=read) for _ in range(4)] + [threading.Thread(target=lambda: [kept.update(boxes) for _ in range(20)])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_many_threads_on_one_result(rng):
    """Filling one result from several threads at once may be refused; it cannot mix two answers."""
    sets = [rng.random((3000, 3)), rng.random((2000, 3))]
    indices = [quadrat.CellIndex(0.1, points=points) for points in sets]
    shared = indices[0].find_neighbors()
    refused, failures = [], []

    def fill(index):
        for _ in range(40):
            try:
                index.find_neighbors(out=shared)
            except RuntimeError as error:
                refused.append(str(error))
            except BaseException as error:
                failures.append(repr(error))

    threads = [threading.Thread(target=fill, args=(indices[k % 2],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and all("filling" in word for word in refused)
    assert indices[0].find_neighbors(out=shared) == indices[0].find_neighbors()


def test_a_forked_child_can_call(rng):
    x = rng.random((20_000, 3))
    expected = quadrat.find_neighbors(x, 0.05, threads=2).entries
    child = os.fork()
    if child == 0:
        os._exit(0 if quadrat.find_neighbors(x, 0.05, threads=2).entries == expected else 1)
    for _ in range(300):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert status == 0
    assert quadrat.find_neighbors(x, 0.05, threads=2).entries == expected


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_ten_thousand_calls_leave_no_memory_behind(rng):
    x, boxes = rng.random((200, 3)), random_boxes(rng, 200, 3, np.float64)
    bad = np.full((3, 3), np.nan)
    index, kept = quadrat.CellIndex(0.2, points=x), quadrat.BroadPhase(boxes)

    def calls(count):
        for _ in range(count):
            quadrat.find_neighbors(x, 0.2, distances=True)
            quadrat.find_pairs(boxes)
            index.update(x)
            index.find_nearest(2)
            kept.find_pairs()
            try:
                quadrat.find_neighbors(bad, 1)
            except ValueError:
                pass

    calls(200)
    before = resident()
    calls(1700)
    assert resident() - before < 2 << 20


def test_import_is_light(tmp_path):
    """At most 15 ms beyond NumPy, with compiled modules, as pip leaves them. Of many tries the best: other tests run meanwhile."""
    code = ("import time, numpy\nt = time.perf_counter()\nimport quadrat, sys\nprint(time.perf_counter() - t)\n"
            "print([m for m in ('scipy', 'ase', 'tqdm', 'IPython', 'quadrat._contacts', 'quadrat._simulation', 'quadrat._voxels')\n"
            "       if m in sys.modules])")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    seconds = []
    while len(seconds) < 30 and (len(seconds) < 3 or min(seconds) >= 0.015):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout.splitlines()
        seconds.append(float(out[0]))
        assert out[1] == "[]"
    assert min(seconds) < 0.015, seconds


def test_what_is_imported_later_is_there():
    code = ("import quadrat\nassert set(quadrat.__all__) <= set(dir(quadrat)) and 'open' in dir(quadrat)\n"
            "for name in [*quadrat.__all__, 'open']: assert name == '__version__' or 'quadrat' in getattr(quadrat, name).__module__\n"
            "from quadrat import Mesh, Simulation, pack\nassert not hasattr(quadrat, 'nothing')")
    subprocess.run([sys.executable, "-c", code], check=True)
