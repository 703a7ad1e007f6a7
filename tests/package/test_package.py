"""Installs quadrat into a temporary prefix and builds consumers against it: with find_package, with pkg-config, and the README's
first program. Uses what is built already; nothing of the library is compiled again."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["QUADRAT_SOURCE"])
BUILD = os.environ["QUADRAT_BUILD"]
CMAKE = os.environ["CMAKE"]
CXX = os.environ["CXX"]

CONSUMER = """
#include <quadrat/cells.hpp>
#include <quadrat/quadrat.hpp>

#include <cstdio>
#include <vector>

int main() {
    const std::vector<quadrat::Box3f> boxes = {{{0, 0, 0}, {1, 1, 1}}, {{1, 1, 1}, {2, 2, 2}}, {{3, 3, 3}, {4, 4, 4}}};
    quadrat::BruteForce<3, float> brute;
    brute.build(boxes);
    std::vector<quadrat::Pair> pairs;
    brute.find_pairs(pairs);
    const auto pool = quadrat::make_executor(2);
    std::printf("%zu pairs on %u threads\\n", pairs.size(), pool->threads());
}
"""

CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
find_package(quadrat REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE quadrat::quadrat)
"""


def run(*words, **more):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if result.returncode != 0:
        raise AssertionError(f"{words}: {result.stdout}\n{result.stderr}")
    return result.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="quadrat-package-")
        cls.prefix = pathlib.Path(cls.folder.name, "prefix")
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def workspace(self, name, program):
        path = pathlib.Path(self.folder.name, name)
        path.mkdir()
        (path / "main.cpp").write_text(program)
        return path

    def flags(self):
        found = list(self.prefix.rglob("quadrat.pc"))
        self.assertEqual(len(found), 1)
        environment = dict(os.environ, PKG_CONFIG_PATH=str(found[0].parent))
        # A static library needs what it was built with, too.
        return run("pkg-config", "--cflags", "--libs", "--static", "quadrat",
                   env=environment).split()

    def test_find_package(self):
        path = self.workspace("cmake", CONSUMER)
        (path / "CMakeLists.txt").write_text(CMAKE_LISTS)
        run(CMAKE, "-S", path, "-B", path / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={CXX}")
        run(CMAKE, "--build", path / "build")
        self.assertEqual(run(path / "build" / "consumer"), "1 pairs on 2 threads\n")

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_pkg_config(self):
        path = self.workspace("pkg-config", CONSUMER)
        run(CXX, "-std=c++20", path / "main.cpp", "-o", path / "consumer", *self.flags())
        self.assertEqual(run(path / "consumer"), "1 pairs on 2 threads\n")

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_readme_program(self):
        readme = SOURCE / "README.md"
        if not readme.exists():
            self.skipTest("no README.md")
        program = re.search(r"```cpp\n(.*?)```", readme.read_text(), re.S)
        self.assertIsNotNone(program, "README.md has no C++ program")
        path = self.workspace("readme", program.group(1))
        run(CXX, "-std=c++20", path / "main.cpp", "-o", path / "program", *self.flags())
        run(path / "program", cwd=path)

    def test_only_public_headers_are_installed(self):
        installed = {path.relative_to(self.prefix / "include") for path in (self.prefix / "include").rglob("*.hpp")}
        public = {path.relative_to(SOURCE / "include") for path in (SOURCE / "include").rglob("*.hpp")}
        self.assertEqual(installed, public)


if __name__ == "__main__":
    unittest.main()
