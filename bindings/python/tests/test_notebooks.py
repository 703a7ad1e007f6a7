"""Every notebook runs from top to bottom and draws, where Debian's jupyter and matplotlib are."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import quadrat

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("ipykernel")
    if shutil.which("jupyter-nbconvert", path="/usr/bin") is None:
        pytest.skip("jupyter-nbconvert is not installed")
    kernels = tmp_path / "kernels/python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text(json.dumps({"argv": ["/usr/bin/python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                     "display_name": "Python 3", "language": "python"}))
    environment = {**os.environ, "PYTHONPATH": str(Path(quadrat.__file__).parents[1]), "JUPYTER_PATH": str(tmp_path), "HOME": str(tmp_path),
                   "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    run = subprocess.run(["/usr/bin/jupyter-nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "--output-dir", str(tmp_path), str(path)],
                         env=environment, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert run.returncode == 0, run.stderr
    outputs = [out for cell in json.loads((tmp_path / "done.ipynb").read_text())["cells"] for out in cell.get("outputs", [])]
    assert sum("image/png" in out.get("data", {}) for out in outputs) >= 1
    assert not [out for out in outputs if out["output_type"] == "error"]


def test_there_are_three():
    assert len(NOTEBOOKS) >= 3
