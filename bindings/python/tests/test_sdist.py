"""The source distribution that `make sdist` has built (QUADRAT_SDIST names it): everything that a wheel needs, and nothing else."""
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SDIST = os.environ.get("QUADRAT_SDIST", "")
SOURCE = Path(os.environ.get("QUADRAT_SOURCE", Path(__file__).resolve().parents[3]))

pytestmark = pytest.mark.skipif(not SDIST, reason="QUADRAT_SDIST names no source distribution")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(SDIST) as file:
        file.extractall(folder)
    return next(folder.iterdir())


def test_it_holds_the_sources(unpacked):
    tracked = subprocess.run(["git", "ls-files", "CMakeLists.txt", "include", "src", "cmake", "bindings/python"], cwd=SOURCE, capture_output=True,
                             text=True, check=True).stdout.split()
    assert not [name for name in tracked if not (unpacked / name).is_file()]
    assert not [top for top in ("tests", "bench", "apps", "fuzz", "build", ".git") if (unpacked / top).exists()]
    assert Path(SDIST).stat().st_size < 3_000_000


def test_a_wheel_is_built_from_it(unpacked, tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QUADRAT"))}
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-q", "-w", tmp_path / "wheels", str(unpacked)],
                   check=True, env=environment, cwd=tmp_path)
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "env"], check=True, env=environment)
    python = tmp_path / "env/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", next((tmp_path / "wheels").iterdir())], check=True, env=environment)
    run = "import quadrat; print(quadrat.find_neighbors([[0.0, 0], [1, 0]], 1).entries, quadrat.__file__)"
    out = subprocess.run([python, "-c", run], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path).stdout
    assert out.split()[0] == "2" and str(tmp_path) in out
