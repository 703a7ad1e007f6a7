"""The wheel that `make wheel` has built (QUADRAT_WHEEL names it), tried as a new user would: alone in an empty environment."""
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

WHEEL = os.environ.get("QUADRAT_WHEEL", "")
SOURCE = Path(os.environ.get("QUADRAT_SOURCE", Path(__file__).resolve().parents[3]))

pytestmark = pytest.mark.skipif(not WHEEL, reason="QUADRAT_WHEEL names no wheel")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(WHEEL) as file:
        file.extractall(folder)
    return folder / "quadrat"


def test_it_is_small_and_complete(unpacked):
    assert Path(WHEEL).stat().st_size <= 3_550_000
    there = {path.name for path in unpacked.iterdir()}
    written = (SOURCE / "bindings/python/quadrat").iterdir()
    assert {path.name for path in written if path.suffix in (".py", ".pyi") or path.name == "py.typed"} <= there
    assert not [name for name in there if name.endswith((".cpp", ".a", ".txt"))]


def test_the_module_shows_one_name_and_needs_no_other_library(unpacked):
    module = next(unpacked.glob("_quadrat*.so"))
    shown = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True).stdout.split("\n")
    names = [line.split()[-1] for line in shown if line]
    assert [name for name in names if "quadrat" in name.lower()] == ["PyInit__quadrat"], names[:20]
    assert "no symbols" in subprocess.run(["nm", module], capture_output=True, text=True).stderr
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", module], capture_output=True, text=True, check=True).stdout)
    assert set(needed) <= {"libhwy.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"}
    assert "libhwy.so.1" not in needed or (unpacked / "libhwy.so.1").is_file()


def test_a_new_user_gets_a_result(tmp_path):
    """The README's snippet in an environment that has NumPy and the wheel, and in a folder without anything of the project."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QUADRAT"))}
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "env"], check=True, env=environment)
    python = tmp_path / "env/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", WHEEL], check=True, env=environment, cwd=tmp_path)
    snippet = re.findall(r"^```python\n(.*?)^```", (SOURCE / "README.md").read_text(), flags=re.S | re.M)[0]
    (tmp_path / "first.py").write_text(snippet + "\nprint(quadrat.__file__, quadrat.__version__)\n")
    out = subprocess.run([python, "first.py"], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path).stdout
    assert str(tmp_path / "env") in out
    scene = {"domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]}, "spacing": 0.1, "blocks": [{"lo": [0, 0, 0], "hi": [1, 1, 0.5]}]}
    run = f"import quadrat; print(quadrat.Simulation({scene}), quadrat.pack([[0, 0]], [1]))"
    subprocess.run([python, "-c", run], check=True, env=environment, cwd=tmp_path)
