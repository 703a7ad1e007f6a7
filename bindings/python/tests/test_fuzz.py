"""Random sets by Hypothesis, where Debian's package is there: coordinates of all sizes against brute force."""
import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

import quadrat  # noqa: E402
from oracle import as_set, entries, matrix_entries, near, pairs_of  # noqa: E402

KINDS = st.sampled_from([(2, np.float32), (3, np.float32), (2, np.float64), (3, np.float64)])
VALUES = st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 1e6]), st.floats(-1e6, 1e6, width=32))


@st.composite
def points(draw):
    dimension, dtype = draw(KINDS)
    return draw(hnp.arrays(np.float64, (draw(st.integers(0, 30)), dimension), elements=VALUES)).astype(dtype)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(points(), st.sampled_from([1e-3, 0.5, 1.0, 7.0, 1e5]))
def test_neighbors(x, radius):
    expected = near(x, x, radius) & ~np.eye(len(x), dtype=bool)
    assert entries(quadrat.find_neighbors(x, radius)) == matrix_entries(expected)
    assert quadrat.count_neighbors(x, radius).tolist() == expected.sum(axis=1).tolist()


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(points(), st.lists(st.floats(0, 1e5, width=32), min_size=30, max_size=30))
def test_pairs(x, sizes):
    boxes = np.hstack([x, x + np.array(sizes, x.dtype)[:len(x), None]])
    assert as_set(quadrat.find_pairs(boxes)) == pairs_of(boxes)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(st.dictionaries(st.tuples(*[st.integers(-50, 50)] * 3), st.integers(-(2**31), 2**31 - 1), max_size=40), st.tuples(*[st.integers(-60, 60)] * 3))
def test_voxels(known, asked):
    voxels = quadrat.pack(np.array(list(known), np.int64).reshape(-1, 3), np.array(list(known.values()), np.int64))
    assert [voxels[p] for p in known] == list(known.values())
    assert (asked in voxels) == (asked in known)


JUNK = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3), st.lists(st.floats(), max_size=3),
                 hnp.arrays(st.sampled_from([np.float64, np.float32, np.int32, np.complex128, "S3", np.bool_]), hnp.array_shapes(max_dims=4, max_side=4)))


@settings(max_examples=150, deadline=None, database=None, derandomize=True)
@given(st.sampled_from(["find_pairs", "find_neighbors", "find_nearest", "count_neighbors", "pack", "find_contacts", "BroadPhase", "z_order"]), JUNK, JUNK, JUNK)
def test_junk_gives_exceptions(name, first, second, third):
    """Anything may be refused; nothing may end the process or hang."""
    call = getattr(quadrat, name)
    arguments = [first] if name in ("find_contacts", "BroadPhase") else [first, second]
    options = {"box": third} if name in ("find_neighbors", "find_nearest", "count_neighbors") else {}
    if isinstance(second, int) and not isinstance(second, bool) and second > 1000:
        return
    try:
        call(*arguments, **options)
    except (ValueError, TypeError, IndexError, MemoryError, OverflowError):
        pass
