"""Simulation: what a scene gives, frames, views, checkpoints, errors."""
import json
import pickle

import numpy as np
import pytest

import quadrat

if not hasattr(quadrat, "Simulation"):
    pytest.skip("built without the simulator", allow_module_level=True)

SCENE = {"domain": {"lo": [0, 0, 0], "hi": [0.8, 0.3, 0.6]}, "spacing": 0.05, "blocks": [{"lo": [0, 0, 0], "hi": [0.3, 0.3, 0.4]}],
         "bodies": [{"shape": "sphere", "radius": 0.08, "position": [0.6, 0.15, 0.3], "density": 500, "motion": "dynamic"}], "end_time": 0.06}


def test_water_falls():
    run = quadrat.Simulation(SCENE)
    before = run.positions
    held = before.copy()
    assert run.time == 0 and before.dtype == np.float32 and before.shape == (len(run.ids), 3) and len(before) > 100
    assert run.positions is before, "one copy per step"
    run.advance_to(0.05)
    assert run.time == 0.05 and np.array_equal(before, held) and run.positions is not before
    assert run.positions[:, 2].mean() < held[:, 2].mean()
    assert run.velocities.shape == run.positions.shape and run.densities.shape == run.pressures.shape == run.phases.shape == (len(held),)
    assert sorted(run.ids.tolist()) == list(range(len(held)))
    bodies = run.bodies
    assert bodies.shape == (1,) and bodies["position"][0][2] < 0.3 and np.allclose(np.linalg.norm(bodies["orientation"], axis=1), 1)
    found = run.stats()
    assert found["particles"] == len(held) and found["kinetic"] > 0 and found["steps"] > 0
    assert run.preset()["spacing"] == pytest.approx(0.05)
    run.step()
    assert run.time > 0.05


def test_frames_and_threads():
    one = list(quadrat.Simulation(SCENE, threads=1).frames(0.02))
    two = list(quadrat.Simulation(SCENE, threads=2).frames(0.02))
    assert [round(frame.time, 12) for frame in one] == [0, 0.02, 0.04, 0.06]
    for a, b in zip(one, two):
        assert np.array_equal(a.positions, b.positions) and np.array_equal(a.velocities, b.velocities) and a.bodies.tobytes() == b.bodies.tobytes()


def test_files_and_variants(tmp_path):
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(SCENE | {"variants": {"empty": {"bodies": []}}}))
    assert len(quadrat.Simulation(path).bodies) == 1 and len(quadrat.Simulation(str(path), variant="empty").bodies) == 0
    with pytest.raises(quadrat.QuadratError):
        quadrat.Simulation(path, variant="none")
    with pytest.raises(FileNotFoundError):
        quadrat.Simulation(tmp_path / "missing.json")


@pytest.mark.parametrize("again", [lambda run: quadrat.Simulation.load(run.save()), lambda run: pickle.loads(pickle.dumps(run))], ids=["save", "pickle"])
def test_a_run_goes_on_where_it_was(again):
    run = quadrat.Simulation(SCENE)
    run.advance_to(0.02)
    other = again(run)
    run.advance_to(0.04)
    other.advance_to(0.04)
    assert np.array_equal(run.positions, other.positions) and run.time == other.time
    with pytest.raises(quadrat.QuadratError):
        quadrat.Simulation.load(b"nothing")


def test_two_dimensions_and_cloth():
    flat = quadrat.Simulation({"dimension": 2, "domain": {"lo": [0, 0], "hi": [1, 1]}, "spacing": 0.05, "blocks": [{"lo": [0, 0], "hi": np.array([0.5, 0.5])}]})
    flat.step()
    assert (flat.positions[:, 2] == 0).all()
    sheet = quadrat.Simulation({"domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]}, "cloths": [
        {"sheet": {"cells": [4, 4], "size": [0.5, 0.5], "center": [0.5, 0.5, 0.5]}, "pins": "corners"}]})
    triangles, positions = sheet.cloth()
    sheet.advance_to(0.02)
    assert triangles.shape[1] == 3 and triangles.max() < len(positions) and sheet.cloth()[1][:, 2].mean() < positions[:, 2].mean()
    with pytest.raises(IndexError):
        sheet.cloth(1)


@pytest.mark.parametrize("change,field", [({"spacing": -1}, "/spacing"), ({"spacings": 1}, "spacings"), ({"blocks": [{"lo": [0, 0, 0]}]}, "/blocks/0"),
                                          ({"bodies": [{"radius": "x", "position": [0, 0, 0]}]}, "/bodies/0/radius")])
def test_mistakes_are_named(change, field):
    with pytest.raises(quadrat.QuadratError) as caught:
        quadrat.Simulation(SCENE | change)
    assert field in str(caught.value)


def test_other_mistakes():
    for scene in (5, None, {"a": object()}):
        with pytest.raises((TypeError, ValueError)):
            quadrat.Simulation(scene)
    run = quadrat.Simulation(SCENE)
    with pytest.raises(quadrat.QuadratError):
        list(run.frames(0))
    with pytest.raises((TypeError, ValueError)):
        run.advance_to("1")


def test_ctrl_c_leaves_the_run_between_two_steps():
    from test_calls import interrupted_after

    run = quadrat.Simulation(SCENE | {"spacing": 0.02})
    late = interrupted_after(0.2, lambda: run.advance_to(100))
    assert late < 1 and 0 < run.time < 100
    run.step()


def test_pictures():
    run = quadrat.Simulation(SCENE)
    picture = run.picture(80, 60)
    assert picture.startswith(b"\x89PNG") and picture == run.picture(80, 60)
    import zlib

    data = picture[picture.index(b"IDAT") + 4:picture.index(b"IEND") - 8]
    pixels = np.frombuffer(zlib.decompress(data), np.uint8).reshape(60, 1 + 3 * 80)[:, 1:].reshape(60, 80, 3)
    water = (pixels[:, :, 2].astype(int) - pixels[:, :, 0]) > 20
    assert 0.1 < water.mean() < 0.9


def test_the_ray_traced_picture(tmp_path, monkeypatch):
    from quadrat.__main__ import program

    run = quadrat.Simulation(SCENE)
    if program() is None:
        with pytest.raises(FileNotFoundError):
            run.render()
        pytest.skip("the program quadrat is not there")
    first = run.render(64, samples=1)
    run.advance_to(0.05)
    second = run.render(64, samples=1)
    assert first.startswith(b"\x89PNG") and first != second and run.time == 0.05
    assert int.from_bytes(second[16:20], "big") == 64
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(SCENE | {"variants": {"empty": {"bodies": []}}}))
    assert quadrat.Simulation(path).render(64, samples=1) == first
    assert quadrat.Simulation(path, variant="empty").render(64, samples=1) != first
    with pytest.raises(quadrat.QuadratError):
        pickle.loads(pickle.dumps(run)).render(64)


def test_arrays_for_other_programs():
    sheet = quadrat.Simulation({"domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]}, "cloths": [
        {"sheet": {"cells": [4, 4], "size": [0.5, 0.5], "center": [0.5, 0.5, 0.5]}, "pins": "corners"}]})
    triangles, _ = sheet.cloth()
    assert np.array_equal(sheet.cloth_faces().reshape(-1, 4)[:, 1:], triangles) and (sheet.cloth_faces()[::4] == 3).all()


def test_show_without_the_program(monkeypatch):
    display = pytest.importorskip("IPython.display")
    import quadrat.__main__

    monkeypatch.setattr(quadrat.__main__, "program", lambda: None)
    run = quadrat.Simulation(SCENE)
    assert isinstance(run.show(80, 60), display.Image) and run.show(80, 60).data == run.picture(80, 60)
