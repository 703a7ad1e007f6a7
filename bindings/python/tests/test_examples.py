"""Every example runs, and what it says about its own result holds."""
import runpy
import sys
from pathlib import Path

import pytest

import quadrat

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    text = path.read_text()
    if "scipy" in text:
        pytest.importorskip("scipy")
    if "Simulation" in text and not hasattr(quadrat, "Simulation"):
        pytest.skip("built without the simulator")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_are_ten():
    assert len(EXAMPLES) >= 10
