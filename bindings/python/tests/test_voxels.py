"""SparseVoxels against a dict."""
import copy
import pickle

import numpy as np
import pytest

import quadrat


def scattered(rng, count, dimension, spread=40):
    positions = np.unique(rng.integers(-spread, spread, (count, dimension)), axis=0)
    return rng.permutation(positions)


TYPES = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64, np.float16, np.bool_]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", TYPES)
def test_values_come_back(rng, dimension, dtype):
    at = scattered(rng, 500, dimension)
    values = (rng.random(len(at)) * 100).astype(dtype)
    voxels = quadrat.pack(at, values)
    assert len(voxels) == len(at) and voxels.dimension == dimension and voxels.values.dtype == dtype
    assert np.array_equal(voxels.get(at), values) and np.array_equal(voxels[at], values)
    known = {tuple(p): v for p, v in zip(at.tolist(), values)}
    asked = rng.integers(-45, 45, (1000, dimension))
    assert voxels.get(asked, default=7).tolist() == [known.get(tuple(p), dtype(7)) for p in asked.tolist()]
    for p in asked[:50].tolist():
        assert (p in voxels) == (tuple(p) in known)
        if tuple(p) in known:
            assert voxels[tuple(p)] == known[tuple(p)]
        else:
            with pytest.raises(KeyError):
                voxels[tuple(p)]
    positions, found = voxels.items()
    order = np.lexsort(positions.T)
    assert np.array_equal(order, np.arange(len(at))), "not by z, y, x"
    assert {tuple(p): v for p, v in zip(positions.tolist(), found)} == known
    assert np.array_equal(voxels.positions, positions)
    lo, hi = voxels.bounds
    assert np.array_equal(lo, at.min(axis=0)) and np.array_equal(hi, at.max(axis=0))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("layout,encoding", [("auto", "auto"), ("brick", "auto"), ("bits", "auto"), ("keys", "auto")] + [
    ("voxel", encoding) for encoding in ("auto", "domain-bit", "position-tag", "position-hash", "bucket-tag")])
@pytest.mark.parametrize("construction,coherence", [("fast", "none"), ("compact", "none"), ("fast", "defined"), ("fast", "domain")])
def test_every_way_to_pack(rng, dimension, layout, encoding, construction, coherence):
    at = scattered(rng, 300, dimension, 20)
    values = np.arange(len(at))
    try:
        voxels = quadrat.pack(at, values, layout=layout, encoding=encoding, construction=construction, coherence=coherence, seed=5, threads=2)
    except quadrat.QuadratError as refused:  # small tables of few sizes may have none that such tags need
        assert encoding == "bucket-tag" and construction == "compact" and "take position tags" in str(refused)
        return
    assert np.array_equal(voxels[at], values) and len(voxels) == len(at)
    absent = np.array(sorted({tuple(p) for p in rng.integers(-20, 20, (300, dimension)).tolist()} - {tuple(p) for p in at.tolist()}))
    assert (voxels.find(absent) == -1).all()
    assert layout in ("auto", voxels.stats()["layout"]) and voxels.stats()["exact"]


def test_constrained():
    voxels = quadrat.pack([[0, 0], [3, 5]], [1.0, 2.0], encoding="constrained")
    assert voxels[3, 5] == 2.0 and not voxels.stats()["exact"]
    with pytest.raises(quadrat.QuadratError) as caught:
        voxels.items()
    assert caught.value.kind == "unsupported"


def test_writing(rng):
    at = scattered(rng, 300, 3)
    voxels = quadrat.pack(at, np.zeros(len(at)))
    voxels[tuple(at[7])] = 5
    assert voxels[tuple(at[7])] == 5 and voxels.get(at).sum() == 5
    values = rng.random(len(at))
    voxels[at] = values
    assert np.array_equal(voxels.get(at), values)
    before = voxels.get(at)
    with pytest.raises(IndexError) as caught:
        voxels.set(np.vstack([at[:3], [[1000, 0, 0]]]), 9.0)
    assert caught.value.row == 3 and np.array_equal(voxels.get(at), before)
    with pytest.raises(KeyError):
        voxels[1000, 0, 0] = 1
    array = voxels.values
    array += 1
    assert np.array_equal(voxels.get(at), before + 1)
    del voxels
    assert np.isfinite(array).all()


def test_channels(rng):
    at = scattered(rng, 200, 3)
    color, height = rng.integers(0, 255, (len(at), 4)).astype(np.uint8), rng.random(len(at)).astype(np.float32)
    voxels = quadrat.pack(at, {"color": color, "height": height})
    assert list(voxels.channels) == ["color", "height"]
    assert np.array_equal(voxels[at], color) and np.array_equal(voxels.get(at, channel="height"), height)
    voxels.add_channel("weight", np.arange(5), at[:5])
    assert voxels.get(at, channel="weight").tolist() == [0, 1, 2, 3, 4] + [0] * (len(at) - 5)
    for call in (lambda: voxels.add_channel("weight", [1], at[:1]), lambda: voxels.add_channel("x" * 24, [1], at[:1]),
                 lambda: voxels.add_channel("new", [1, 2], at[:1]), lambda: voxels.add_channel("new", [1], [[999, 0, 0]])):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(KeyError):
        voxels.get(at, channel="none")
    assert len(voxels.channels) == 3


@pytest.mark.parametrize("block", [0, 2])
def test_shapes_of_values(rng, tmp_path, block):
    at = scattered(rng, 100, 3)
    values = rng.random((len(at), 2, 3)).astype(np.float32)
    voxels = quadrat.pack(at, {"tensor": values, "row": values[:, 0]}, block=block)
    voxels.save(tmp_path / "a.qvox")
    for other in (voxels, quadrat.open(tmp_path / "a.qvox"), copy.copy(voxels)):
        assert np.array_equal(other.get(at), values) and np.array_equal(other.get(at, channel="row"), values[:, 0])


def test_the_smallest(rng):
    at = scattered(rng, 1000, 3, 500)
    fast, small = quadrat.pack(at), quadrat.pack(at, optimize="size")
    assert small.stats()["index_bytes"] <= fast.stats()["index_bytes"] and (small.find(at) >= 0).all()


def test_membership_alone(rng):
    at = scattered(rng, 200, 2)
    voxels = quadrat.pack(at)
    assert (voxels.find(at) >= 0).all() and voxels.channels == {} and at[0] in voxels
    with pytest.raises(quadrat.QuadratError):
        voxels.values


def test_dense_and_slices(rng):
    at = scattered(rng, 2000, 3, 8)
    values = rng.integers(1, 100, len(at))
    voxels = quadrat.pack(at, values)
    full = np.zeros((16, 16, 16), int)
    full[tuple((at + 8).T)] = values
    assert np.array_equal(voxels.dense([-8] * 3, [7] * 3), full)
    assert np.array_equal(voxels.dense([-8, -8, 2], [7, 7, 2])[:, :, 0], full[:, :, 10])
    assert (voxels.dense([50] * 3, [52] * 3, default=-1) == -1).all()
    assert voxels.dense([5] * 3, [4] * 3).size == 0


@pytest.mark.parametrize("compression", [0, 3])
def test_files(rng, tmp_path, compression):
    at = scattered(rng, 1000, 3)
    voxels = quadrat.pack(at, {"a": rng.random(len(at)), "b": rng.integers(0, 9, (len(at), 3), np.uint8)})
    path = tmp_path / "voxels.qvox"
    voxels.save(path, compression=compression)
    again = quadrat.open(path, verify=True)
    assert np.array_equal(again[at], voxels[at]) and list(again.channels) == ["a", "b"]
    before = path.read_bytes()
    again.values[:] = 0
    assert (again.get(at) == 0).all() and path.read_bytes() == before, "the file was written"
    held = again.channels["b"]
    del again
    assert np.array_equal(held, voxels.channels["b"])


def test_files_that_are_none(tmp_path, rng):
    with pytest.raises(FileNotFoundError):
        quadrat.open(tmp_path / "missing.qvox")
    for content in (b"", b"QVOX", rng.bytes(1000)):
        (tmp_path / "bad.qvox").write_bytes(content)
        with pytest.raises(quadrat.QuadratError) as caught:
            quadrat.open(tmp_path / "bad.qvox")
        assert caught.value.kind == "bad_format" and "bad.qvox" in caught.value.file
    voxels = quadrat.pack([[0, 0]], [1])
    with pytest.raises(OSError):
        voxels.save(tmp_path / "no" / "folder.qvox")
    with pytest.raises(OSError):
        quadrat.open(tmp_path)


@pytest.mark.parametrize("again", [lambda v: pickle.loads(pickle.dumps(v)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_copies_are_their_own(rng, again):
    at = scattered(rng, 100, 2)
    voxels = quadrat.pack(at, np.arange(len(at)))
    other = again(voxels)
    assert np.array_equal(other[at], voxels[at])
    other.values[:] = -1
    assert np.array_equal(voxels[at], np.arange(len(at)))


def test_blocks(rng):
    at = scattered(rng, 500, 3, 10)
    values = rng.random(len(at))
    voxels = quadrat.pack(at, values, block=3)
    assert np.array_equal(voxels.get(at), values) and voxels.stats()["block"] == 3
    with pytest.raises(quadrat.QuadratError):
        voxels[tuple(at[0])] = 1.0


def test_nothing():
    voxels = quadrat.pack(np.empty((0, 3), int), np.empty(0))
    assert len(voxels) == 0 and voxels.get([[0, 0, 0]], default=3.0).tolist() == [3.0] and (0, 0, 0) not in voxels
    assert voxels.items()[0].shape == (0, 3)


@pytest.mark.parametrize("coordinates,values,kind", [
    ([[0, 0], [1, 1], [0, 0]], [1, 2, 3], "duplicate"), ([[0, 0], [2**30, 0]], [1, 2], "bad_value"), ([[0, 2**31]], [1], "bad_value"),
    ([[0, 0]], [1, 2], "bad_shape"), ([[0, 0, 0, 0]], [1], "bad_shape"), ([0, 0], [1], "bad_shape"), ([[0, 0]], np.ones((1, 5000)), None),
])
def test_what_is_refused(coordinates, values, kind):
    with pytest.raises(quadrat.QuadratError) as caught:
        quadrat.pack(coordinates, values)
    assert kind in (None, caught.value.kind)
    if kind == "duplicate":
        assert caught.value.row == 2


def test_types_that_are_refused():
    for coordinates, values in (([[0.5, 0]], [1]), ([[0, 0]], [1j]), ([[0, 0]], ["a"]), ([[0, 0]], np.zeros(1, np.longdouble)), ([["a", "b"]], [1])):
        with pytest.raises(TypeError):
            quadrat.pack(coordinates, values)
    for options in ({"layout": "none"}, {"optimize": "none"}, {"encoding": "none"}, {"construction": "slow"}, {"coherence": "all"}, {"offset_bits": 17}, {"layout": "brick", "encoding": "domain-bit"}):
        with pytest.raises(ValueError):
            quadrat.pack([[0, 0]], [1], **options)
    with pytest.raises(quadrat.QuadratError):
        quadrat.pack([[0, 0]], [1]).find([[0, 0, 0]])
