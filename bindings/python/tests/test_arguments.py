"""What is given in place of arrays and numbers: everything is converted or refused with a word; nothing aborts."""
import numpy as np
import pytest

import quadrat


def same(a, b):
    return a == b if isinstance(a, quadrat.Neighbors) else np.array_equal(a, b)


@pytest.mark.parametrize("make", [
    np.asfortranarray, lambda x: x.astype(">f8"), lambda x: np.repeat(x, 3, axis=0)[::3], lambda x: x[::-1][::-1], lambda x: x.tolist(),
    lambda x: tuple(map(tuple, x)), lambda x: np.ma.masked_array(x), lambda x: x.view(type("Sub", (np.ndarray,), {})),
    lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(x.shape), lambda x: memoryview(x),
], ids=["fortran", "big endian", "strided", "reversed", "list", "tuple", "masked array", "subclass", "unaligned", "buffer"])
def test_any_array_of_doubles(rng, make):
    x = rng.random((200, 3))
    assert quadrat.find_neighbors(make(x), 0.2) == quadrat.find_neighbors(x, 0.2)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.longdouble])
def test_other_numbers_become_doubles(rng, dtype):
    x = (rng.random((100, 3)) * 10).astype(dtype)
    near = quadrat.find_neighbors(x, 3, distances=True)
    assert near == quadrat.find_neighbors(x.astype(np.float64), 3, distances=True) and near.distances.dtype == np.float64


def test_what_is_given_is_left_as_it_is(rng):
    x = rng.random((100, 3))
    before = x.copy()
    x.flags.writeable = False
    index = quadrat.CellIndex(0.2, points=x)
    index.update(x)
    index.find_nearest(3)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("points", [
    [], [[]], [1.0, 2.0], [[1.0]], np.zeros((3, 4)), np.zeros((2, 2, 2)), [[0, 0], [1]], 5.0, [[0, 0, 0], [0, 0]],
], ids=str)
def test_wrong_shapes(points):
    for call in (lambda: quadrat.find_neighbors(points, 1), lambda: quadrat.find_nearest(points, 1), lambda: quadrat.count_neighbors(points, 1),
                 lambda: quadrat.z_order(points, 1)):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.kind == "bad_shape" and caught.value.field == "points"


@pytest.mark.parametrize("boxes", [[], [[0, 0, 1]], np.zeros((3, 5)), np.zeros((3, 2, 4)), np.zeros((3, 3, 2)), 1.0], ids=str)
def test_wrong_shapes_of_boxes(boxes):
    for call in (lambda: quadrat.find_pairs(boxes), lambda: quadrat.BroadPhase(boxes), lambda: quadrat.find_pairs(np.zeros((1, 4)), boxes)):
        with pytest.raises(quadrat.QuadratError):
            call()


@pytest.mark.parametrize("points", [None, "text", b"bytes", {"a": 1}, [["a", "b"]], [[1j, 2]], [[None, 1]], np.array([["x", "y"]]),
                                    np.zeros((2, 2), "M8[s]"), np.zeros((2, 2), bool), object()], ids=lambda p: type(p).__name__)
def test_no_numbers(points):
    for call in (lambda: quadrat.find_neighbors(points, 1), lambda: quadrat.find_pairs(points), lambda: quadrat.pack(points)):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_a_masked_value_is_named():
    x = np.ma.masked_array(np.zeros((3, 2)), mask=[[0, 0], [0, 1], [0, 0]])
    with pytest.raises(quadrat.QuadratError) as caught:
        quadrat.find_neighbors(x, 1)
    assert (caught.value.row, caught.value.column) == (1, 1)


@pytest.mark.parametrize("radius", [0, -1, np.nan, np.inf, -np.inf, 1e-400])
def test_radii_that_are_none(radius):
    x = np.zeros((3, 2))
    for call in (lambda: quadrat.find_neighbors(x, radius), lambda: quadrat.CellIndex(radius), lambda: quadrat.count_neighbors(x, radius),
                 lambda: quadrat.find_neighbors(x, radii=[1, 1, radius]), lambda: quadrat.z_order(x, radius)):
        with pytest.raises(quadrat.QuadratError):
            call()
    for radius in ("1", None, [1.0], 1j, np.ones(3)):
        with pytest.raises((TypeError, ValueError)):
            quadrat.find_neighbors(x, radius)


def test_a_radius_that_vanishes_in_single_precision():
    with pytest.raises(quadrat.QuadratError):
        quadrat.find_neighbors(np.zeros((3, 2), np.float32), 1e-60)
    with pytest.raises(quadrat.QuadratError):
        quadrat.find_neighbors(np.zeros((3, 2), np.float32), 1e60)


def test_options_out_of_their_range():
    x = np.zeros((3, 2))
    index = quadrat.CellIndex(1, points=x)
    for call in (
        lambda: quadrat.find_neighbors(x, 1, rule="mean"), lambda: quadrat.find_neighbors(x, 1, distances="cubed"),
        lambda: quadrat.find_neighbors(x, 1, distances=2), lambda: quadrat.find_neighbors(x, 1, threads=0),
        lambda: quadrat.find_neighbors(x, 1, threads=-3), lambda: quadrat.find_neighbors(x, 1, threads=10**9),
        lambda: quadrat.find_neighbors(x, 1, threads=1.5), lambda: quadrat.find_neighbors(x, 1, max_bytes=-1),
        lambda: quadrat.find_neighbors(x, 1, box=[1]), lambda: quadrat.find_neighbors(x, 1, box=[1, -np.inf]),
        lambda: quadrat.find_neighbors(x, 1, box=np.ones((2, 2))), lambda: quadrat.find_neighbors(x, 1, box=[1, 1], origin=[1, 2, 3]),
        lambda: quadrat.find_neighbors(x, 1, groups=[0, 1]), lambda: quadrat.find_neighbors(x, 1, groups=[0, 1, 64]),
        lambda: quadrat.find_neighbors(x, 1, groups=[0, 1, 300]), lambda: quadrat.find_neighbors(x, 1, groups=[0, 1, -1]),
        lambda: quadrat.find_neighbors(x, 1, radii=[1, 2]), lambda: quadrat.find_neighbors(x, 1, radii=np.ones((3, 1))),
        lambda: quadrat.find_neighbors(x, 1, queries=np.zeros((3, 3))), lambda: index.find_nearest(0), lambda: index.find_nearest(-1),
        lambda: index.find_nearest(2**32), lambda: index.find_nearest(1, max_distance=0), lambda: index.find_nearest(1, max_distance=np.nan),
        lambda: index.update(np.zeros((4, 2))), lambda: index.update(np.zeros((3, 3))), lambda: index.erase([3]), lambda: index.erase([-1]),
        lambda: index.erase([0, 0]), lambda: index.insert(x, [1, 1, 1]), lambda: quadrat.CellIndex(1, skin=-1), lambda: quadrat.CellIndex(1, skin=-1, points=x),
        lambda: list(index.chunks(x, rows=0)),
    ):
        try:
            result = call()
        except (ValueError, IndexError):
            continue
        assert isinstance(result, quadrat.CellIndex), "an option out of its range was taken"  # looked at by build()
    for call in (lambda: index.find_nearest(1.5), lambda: index.find_nearest("1"), lambda: index.erase([0.5]),
                 lambda: quadrat.find_neighbors(x, 1, progress=3), lambda: quadrat.find_neighbors(x)):
        with pytest.raises(TypeError):
            call()
    assert len(index) == 3 and index.find_neighbors().entries == 6


def test_errors_can_be_pickled():
    import pickle

    with pytest.raises(quadrat.QuadratError) as caught:
        quadrat.find_neighbors([[0.0, np.nan]], 1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.kind, again.row, again.column, str(again)) == ("bad_value", 0, 1, str(caught.value))


def test_the_compiled_half_refuses_what_the_other_would_have_converted():
    from quadrat import _quadrat

    for array in (np.zeros((3, 4)), np.zeros((3, 6), np.int64), np.zeros((3, 6))[:, ::-1], np.zeros(6), np.zeros((3, 6), ">f8")):
        with pytest.raises(TypeError):
            _quadrat.find_pairs(array, 3, 1, 10**9, False, None)
