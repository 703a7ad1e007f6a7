"""What is copied or pickled is a thing of its own, or is refused with a word; nothing shares a structure by accident."""
import copy
import pickle

import numpy as np
import pytest

import quadrat
import quadrat.scipy

WAYS = [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
IDS = ["copy", "deepcopy", "pickle"]


@pytest.mark.parametrize("again", WAYS, ids=IDS)
def test_structures_that_cannot_be_copied_say_so(rng, again):
    for thing in (quadrat.CellIndex(0.1, points=rng.random((10, 3))), quadrat.BroadPhase([[0, 0, 1, 1]]), quadrat.BroadPhase(box=[1, 1])):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            again(thing)


@pytest.mark.parametrize("again", WAYS, ids=IDS)
def test_an_index_without_points_is_its_options(rng, again):
    index = quadrat.CellIndex(0.3, box=[1, 1, 1], skin=0.05, threads=2)
    other = again(index)
    points = rng.random((200, 3))
    index.build(points), other.build(points)
    assert other.find_neighbors() == index.find_neighbors()
    other.build(points[:10])
    assert len(index) == 200


@pytest.mark.parametrize("again", WAYS, ids=IDS)
@pytest.mark.parametrize("boxsize", [None, 1.0])
def test_a_tree_after_its_queries(rng, again, boxsize):
    tree = quadrat.scipy.KDTree(rng.random((200, 3)), boxsize=boxsize)
    asked = rng.random((20, 3))
    before = tree.query(asked, k=3), tree.query_ball_point(asked, 0.2).tolist()
    other = again(tree)
    assert other._by_radius is not tree._by_radius
    after = other.query(asked, k=3), other.query_ball_point(asked, 0.2).tolist()
    assert np.array_equal(before[0][0], after[0][0]) and np.array_equal(before[0][1], after[0][1]) and before[1] == after[1]


@pytest.mark.parametrize("again", WAYS, ids=IDS)
def test_candidates_and_edits(rng, again):
    start = rng.random((30, 3))
    mesh = quadrat.Mesh(start, np.arange(30).reshape(-1, 3), start + rng.random((30, 3)))
    kept = quadrat.ContactCandidates(mesh)
    other = again(kept)
    assert all(np.array_equal(other.arrays[name], array) for name, array in kept.arrays.items())
    assert other.earliest_time(mesh) == kept.earliest_time(mesh) == quadrat.earliest_time(mesh)
    voxels = quadrat.EditableVoxels(quadrat.pack([[0, 0], [3, 4]], [1.0, 2.0]))
    second = again(voxels)
    second[3, 4] = 9.0
    assert voxels[3, 4] == 2.0 and second[3, 4] == 9.0


def test_meshes_are_compared(rng):
    start, faces = rng.random((6, 3)), np.arange(6).reshape(-1, 3)
    mesh = quadrat.Mesh(start, faces)
    assert mesh == quadrat.Mesh(start.tolist(), faces.copy()) and copy.deepcopy(mesh) == mesh
    for other in (quadrat.Mesh(start), quadrat.Mesh(start + 1, faces), quadrat.Mesh(start, faces, group=2), quadrat.Mesh(start, faces, start), 5):
        assert mesh != other
    with pytest.raises(TypeError):
        hash(mesh)
