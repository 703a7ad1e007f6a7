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


@pytest.mark.parametrize("dimension", [2, 3])
def test_slices(rng, dimension):
    at = scattered(rng, 400, dimension, 6)
    values = rng.integers(1, 100, len(at))
    voxels = quadrat.pack(at, values)
    lo, hi = at.min(axis=0), at.max(axis=0)
    full = np.zeros(hi - lo + 1, int)
    full[tuple((at - lo).T)] = values

    def cut(*key):
        return full[tuple(slice(max(0, k.start - a), k.stop - a, k.step) if isinstance(k, slice) else k - a for k, a in zip(key, lo.tolist()))]

    everything = (slice(None),) * dimension
    assert np.array_equal(voxels[everything], full) and np.array_equal(voxels[(..., *everything[1:])], full)
    assert np.array_equal(voxels[(Ellipsis, 0)], cut(*[slice(a, b + 1) for a, b in zip(lo[:-1].tolist(), hi[:-1].tolist())], 0))
    inner = [slice(a + 1, b - 1) for a, b in zip(lo.tolist(), hi.tolist())]
    assert np.array_equal(voxels[tuple(inner)], cut(*inner))
    assert np.array_equal(voxels[(2, *inner[1:])], cut(2, *inner[1:])) and np.array_equal(voxels[(*inner[:-1], -1)], cut(*inner[:-1], -1))
    assert np.array_equal(voxels[tuple(slice(s.start, s.stop, 2) for s in inner)], cut(*[slice(s.start, s.stop, 2) for s in inner]))
    outside = voxels[tuple(slice(50, 53) for _ in range(dimension))]
    assert outside.shape == (3,) * dimension and not outside.any()
    for wrong in ((slice(0, 3),), (slice(0, 3),) * (dimension + 1), (slice(0, 3, -1),) * dimension, (slice(0.5, 3),) + (0,) * (dimension - 1)):
        with pytest.raises((IndexError, TypeError)):
            voxels[wrong]


def test_walking_over_positions(rng):
    at = scattered(rng, 100, 3)
    voxels = quadrat.pack(at, np.arange(len(at)))
    walked = list(voxels)
    assert walked == list(map(tuple, voxels.positions.tolist())) and set(walked) == set(map(tuple, at.tolist()))
    assert all(position in voxels for position in voxels) and sum(int(voxels[p]) for p in voxels) == len(at) * (len(at) - 1) // 2


def passed(origin, direction, length, positions):
    """(enter, row) of the cubes that a ray passes, in the order of entry."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (positions - 0.5 - origin) / direction, (positions + 0.5 - origin) / direction
    enter, leave = np.fmin(a, b).max(axis=1), np.fmax(a, b).min(axis=1)
    hit = (np.maximum(enter, 0) < np.minimum(leave, length) - 1e-9)
    return sorted((max(0.0, float(enter[k])), k) for k in np.nonzero(hit)[0])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_rays(rng, dimension, threads):
    at = scattered(rng, 500, dimension, 12)
    voxels = quadrat.pack(at, np.arange(len(at)))
    origins, directions = rng.uniform(-20, 20, (200, dimension)), rng.normal(size=(200, dimension))
    lengths = rng.uniform(0, 40, 200)
    first = voxels.first_hits(origins, directions, lengths, threads=threads)
    offsets, hits = voxels.all_hits(origins, directions, lengths, threads=threads)
    assert first.rows.dtype == np.int64 and first.positions.dtype == np.int32 and len(offsets) == 201
    for k in range(200):
        expected = passed(origins[k], directions[k], lengths[k], at)
        rows = hits.rows[offsets[k]:offsets[k + 1]]
        assert voxels.values[rows].tolist() == [row for _, row in expected]
        assert np.allclose(hits.enter[offsets[k]:offsets[k + 1]], [enter for enter, _ in expected])
        assert np.array_equal(hits.positions[offsets[k]:offsets[k + 1]], at[[row for _, row in expected]].reshape(-1, dimension))
        if expected:
            assert voxels.values[first.rows[k]] == expected[0][1] and np.array_equal(first.positions[k], at[expected[0][1]])
            assert first.leave[k] > first.enter[k] and np.isclose(first.enter[k], expected[0][0])
        else:
            assert first.rows[k] == -1 and np.isinf(first.enter[k])
    bad = directions.copy()
    bad[7, 1] = np.nan
    for call in (lambda: voxels.first_hits(origins, bad), lambda: voxels.first_hits(origins, directions * (np.arange(200) != 7)[:, None])):
        with pytest.raises(quadrat.QuadratError) as caught:
            call()
        assert caught.value.row == 7
    with pytest.raises(ValueError):
        voxels.first_hits(origins, directions[:5])
    with pytest.raises(quadrat.QuadratError) as caught:
        quadrat.pack(at, np.arange(len(at)), block=2).first_hits(origins, directions)
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype,shape", [(np.float32, ()), (np.int64, ()), (np.uint8, (3,))])
def test_edits(rng, dimension, dtype, shape):
    """Thousands of edits beside a dict, with packing in between."""
    voxels, known = quadrat.EditableVoxels(dimension=dimension, dtype=dtype, shape=shape), {}
    for step in range(30):
        at = rng.integers(-9, 9, (rng.integers(0, 200), dimension))
        if step % 3 == 2:
            gone = voxels.erase(at)
            assert gone == len({tuple(p) for p in at.tolist()} & known.keys())
            for p in at.tolist():
                known.pop(tuple(p), None)
        else:
            values = rng.integers(0, 255, (len(at), *shape)).astype(dtype)
            new = voxels.insert(at, values)
            assert new == len({tuple(p) for p in at.tolist()} - known.keys())
            known.update({tuple(p): v for p, v in zip(at.tolist(), values)})
        assert len(voxels) == len(known)
        asked = rng.integers(-12, 12, (50, dimension))
        found = voxels.get(asked, default=7)
        assert all(np.array_equal(found[k], known.get(tuple(p), np.full(shape, 7, dtype))) for k, p in enumerate(asked.tolist()))
    positions, values = voxels.items()
    assert np.array_equal(np.lexsort(positions.T), np.arange(len(positions))) and len(positions) == len(known)
    assert all(np.array_equal(known[tuple(p)], v) for p, v in zip(positions.tolist(), values)) and list(voxels) == list(map(tuple, positions.tolist()))
    packed = voxels.pack()
    assert np.array_equal(packed.get(positions), values)
    again = quadrat.EditableVoxels(packed)
    again[tuple(positions[0])] = values[-1]
    assert np.array_equal(packed[tuple(positions[0].tolist())], values[0])
    del again[tuple(positions[0].tolist())]
    assert tuple(positions[0].tolist()) not in again and len(again) == len(known) - 1
    for call in (lambda: again[tuple(positions[0].tolist())], lambda: again.__delitem__(tuple(positions[0].tolist()))):
        with pytest.raises(KeyError):
            call()


def test_edits_are_all_or_nothing():
    voxels = quadrat.EditableVoxels(dimension=2)
    voxels.insert([[0, 0]], [1.0])
    with pytest.raises(quadrat.QuadratError) as caught:
        voxels.insert([[1, 1], [5, 2**22]], 2.0)
    assert caught.value.row == 1 and list(voxels) == [(0, 0)] and voxels.insert([[1, 1]], 3.0) == 1 and voxels[1, 1] == 3.0
    with pytest.raises(ValueError):
        quadrat.EditableVoxels(dimension=4)
    with pytest.raises(TypeError):
        voxels.insert([[0.5, 0]], 1.0)


def test_memory_limits_of_packing(rng):
    at = scattered(rng, 1000, 3)
    needed = quadrat.pack(at, np.arange(1000.0)[:len(at)]).stats()
    whole = needed["index_bytes"] + needed["value_bytes"]
    assert len(quadrat.pack(at, np.arange(float(len(at))), max_bytes=whole)) == len(at)
    for limit in (whole - 1, 100):
        with pytest.raises(quadrat.TooLargeError, match=r"\d+ bytes"):
            quadrat.pack(at, np.arange(float(len(at))), max_bytes=limit)


def test_a_mesh_for_other_programs(rng, tmp_path):
    start, faces = rng.random((9, 3)), np.arange(9).reshape(-1, 3)
    mesh = quadrat.Mesh(start, faces)
    assert mesh.faces.dtype == np.int64 and np.array_equal(mesh.faces.reshape(-1, 4), np.hstack([np.full((3, 1), 3), faces]))
    assert quadrat.Mesh(start).faces.shape == (0,)
    try:
        import pyvista  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="faces"):
            mesh.as_pyvista()
    meshio = pytest.importorskip("meshio")
    path = tmp_path / "mesh.vtk"
    meshio.Mesh(mesh.start, [("triangle", mesh.triangles)]).write(path)
    again = meshio.read(path)
    assert np.allclose(again.points, start) and np.array_equal(again.cells_dict["triangle"], faces)
    contacts = quadrat.find_contacts(quadrat.Mesh(again.points, again.cells_dict["triangle"], again.points + 1.0))
    assert len(contacts) == len(quadrat.find_contacts(quadrat.Mesh(start, faces, start + 1.0)))
