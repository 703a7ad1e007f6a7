"""The package as such: doctests, stubs, the command line, the README's snippet, the guide's code."""
import ast
import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quadrat
from quadrat import _quadrat

SOURCE = Path(os.environ.get("QUADRAT_SOURCE", Path(__file__).resolve().parents[3]))
OPTIONAL = {"quadrat.ase": "ase", "quadrat.scipy": "scipy"}
MODULES = sorted(f"quadrat.{module.name}" for module in pkgutil.iter_modules(quadrat.__path__) if module.name not in ("__main__", "_quadrat"))


@pytest.mark.parametrize("name", ["quadrat", *MODULES])
def test_examples_of_docstrings(name):
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_everything_public_has_an_example_or_a_word():
    missing = []
    for name in quadrat.__all__:
        thing = getattr(quadrat, name)
        if callable(thing):
            if not (thing.__doc__ or "").strip():
                missing.append(name)
            if isinstance(thing, type):
                missing += [f"{name}.{key}" for key, value in vars(thing).items()
                            if not key.startswith("_") and (callable(value) or isinstance(value, property)) and not value.__doc__]
            elif ">>>" not in thing.__doc__ and name != "find_candidates":
                missing.append(f"{name} has no example")
    assert not missing


def test_version():
    assert quadrat.__version__ == re.search(r'VERSION_STRING "(.*)"', (SOURCE / "include/quadrat/version.hpp").read_text())[1]


def python_blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), flags=re.S | re.M)


def test_the_reference_says_what_the_docstrings_say():
    import reference

    page = SOURCE / "docs/reference/python.md"
    assert page.read_text() == reference.page(), f"python3 bindings/python/tests/reference.py {page}"


@pytest.mark.parametrize("page", ["README.md", "docs/guides/python.md", "docs/guides/python_from_others.md"])
def test_code_of_the_pages(page, tmp_path, monkeypatch):
    blocks = python_blocks(SOURCE / page)
    assert blocks
    if page != "README.md":
        pytest.importorskip("ase")
        pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def signature(node):
    """The names of the arguments of a function of the stub."""
    return [argument.arg for argument in node.args.args if argument.arg != "self"]


def documented(function):
    """The same of a compiled function, from the line that pybind11 writes."""
    return [name for name in re.findall(r"(\w+): ", function.__doc__.split("->")[0].split("(", 1)[1]) if name != "self"]


def test_stubs_have_the_arguments_of_the_functions():
    tree = ast.parse((SOURCE / "bindings/python/quadrat/_quadrat.pyi").read_text())
    compared = 0
    for node in tree.body:
        functions = [(node, _quadrat)] if isinstance(node, ast.FunctionDef) else [
            (member, getattr(_quadrat, node.name)) for member in getattr(node, "body", []) if isinstance(member, ast.FunctionDef)]
        for function, owner in functions:
            assert signature(function) == documented(getattr(owner, function.name)), function.name
            compared += 1
    assert compared > 50
    for name, value in vars(_quadrat).items():
        if isinstance(value, type):
            stub = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
            there = {member.name for member in stub.body}
            assert not {key for key in vars(value) if not key.startswith("_")} - there


def test_stubs_say_what_is_there(tmp_path):
    if shutil.which("stubtest") is None or shutil.which("mypy") is None:
        pytest.skip("mypy is not installed")
    package = SOURCE / "bindings/python"
    environment = {**os.environ, "MYPYPATH": str(package), "PYTHONPATH": str(Path(quadrat.__file__).parents[1])}
    # What pybind11 adds to every class.
    classes = [name for name, value in vars(_quadrat).items() if isinstance(value, type)]
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"quadrat._quadrat.{name}\n" for name in classes) + "".join(f"quadrat._quadrat.{name}.__init__\n" for name in ("Voxels", "VoxelRays")))
    run = subprocess.run(["/usr/bin/stubtest", "--mypy-config-file", str(SOURCE / "pyproject.toml"), "--allowlist", str(allowed),
                          "--ignore-unused-allowlist", "quadrat._quadrat"], env=environment, capture_output=True, text=True, cwd=package)
    assert run.returncode == 0, run.stdout + run.stderr
    run = subprocess.run(["/usr/bin/mypy", "--config-file", str(SOURCE / "pyproject.toml"), "--cache-dir", os.devnull, "--no-error-summary"],
                         env=environment, capture_output=True, text=True, cwd=SOURCE)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_command_line(tmp_path):
    fake = tmp_path / "quadrat"
    fake.write_text("#!/bin/sh\necho called \"$@\"\n")
    fake.chmod(0o755)
    run = subprocess.run([sys.executable, "-m", "quadrat", "pairs", "a b"], capture_output=True, text=True, env={**os.environ, "QUADRAT": str(fake)})
    assert run.stdout == "called pairs a b\n"
