"""A forked child: locks that a thread of the parent held are not there any more."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import quadrat
from oracle import random_boxes


def in_child(call, seconds=20):
    """What the child exits with; fails if it hangs."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = 0 if call() else 1
        except RuntimeError:
            code = 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


class While:
    """Runs a call on another thread, again and again, and is under way when the block begins."""

    def __init__(self, call):
        self.call, self.ended, self.begun = call, threading.Event(), threading.Event()

    def __enter__(self):
        def run():
            while not self.ended.is_set():
                self.begun.set()
                self.call()

        self.thread = threading.Thread(target=run)
        self.thread.start()
        self.begun.wait()
        time.sleep(0.05)

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_child_changes_an_index_that_was_being_read(rng, threads):
    x = rng.random((150_000, 3))
    index = quadrat.CellIndex(0.05, points=x, threads=threads)
    small = quadrat.find_neighbors(x[:1000], 0.05, threads=1)

    def change():
        index.update(x * 0.5)
        index.build(x[:1000])
        return index.find_neighbors() == small

    with While(index.find_neighbors):
        assert in_child(change) == 0
    assert len(index) == 150_000


@pytest.mark.parametrize("threads", [1, 2])
def test_a_child_changes_a_set_whose_pairs_were_being_found(rng, threads):
    boxes = random_boxes(rng, 60_000, 3, np.float64, 0.25)
    kept = quadrat.BroadPhase(boxes, threads=threads)
    far = np.arange(60_000.0)[:, None] * 10 + boxes * 1e-3

    def change():
        kept.update(far)
        return len(kept.find_pairs()) == 0 and len(kept.find_events().begun) == 0

    with While(kept.find_pairs):
        assert in_child(change) == 0


def test_a_child_is_told_of_what_was_being_changed(rng):
    x = rng.random((2_000_000, 3))
    index = quadrat.CellIndex(0.01, points=x, threads=1)
    codes = []
    with While(lambda: index.build(x)):
        for _ in range(5):
            codes.append(in_child(lambda: index.find_nearest(1, x[:1]).entries == 1))
            if 2 in codes:
                break
            time.sleep(0.03)
    assert set(codes) <= {0, 2} and 2 in codes
