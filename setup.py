"""Builds the compiled module of the Python package with CMake; pyproject.toml has everything else. CMAKE_ARGS goes to CMake."""
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r'VERSION_STRING "([^"]+)"', (ROOT / "include/quadrat/version.hpp").read_text())[1]
# What the module is made of; the tests, benchmarks and scenes of the project stay out of the source distribution.
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "bindings/python", "cmake", "include", "src")


class CMakeBuild(build_ext):
    """One build directory per interpreter, kept: a second installation compiles what has changed."""

    def build_extension(self, ext):
        build = Path(os.environ.get("QUADRAT_PYTHON_BUILD", ROOT / "build" / f"python-{sys.implementation.cache_tag}"))
        package = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        options = {
            "CMAKE_BUILD_TYPE": "Release", "Python_EXECUTABLE": sys.executable, "QUADRAT_WITH_PYTHON": "ON", "QUADRAT_WITH_TBB": "OFF",
            "QUADRAT_WITH_MPI": "OFF", "QUADRAT_BUILD_TESTS": "OFF", "QUADRAT_BUILD_BENCH": "OFF", "QUADRAT_BUILD_APPS": "OFF",
            "QUADRAT_PYTHON_WHEEL": "ON",
        }
        try:
            import pybind11

            options["pybind11_DIR"] = pybind11.get_cmake_dir()
        except ImportError:  # then CMake looks for the system's
            pass
        defines = [f"-D{name}={value}" for name, value in options.items()]
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *defines, *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "quadrat_python"], check=True)
        subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", package.parent], check=True)


class SourceDistribution(sdist):
    """With the C++ sources, which setuptools does not know."""

    def make_release_tree(self, base_dir, files):
        tracked = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True)
        names = tracked.stdout.split() if tracked.returncode == 0 and tracked.stdout else [
            str(path.relative_to(ROOT)) for top in SOURCES for path in ([ROOT / top] if (ROOT / top).is_file() else (ROOT / top).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts]
        super().make_release_tree(base_dir, sorted(set(files) | set(names)))


setup(version=VERSION, ext_modules=[Extension("quadrat._quadrat", [])],
      cmdclass={"build_ext": CMakeBuild, "sdist": SourceDistribution})
