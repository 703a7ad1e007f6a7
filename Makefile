# The two commands of the README, and a few more. Each target does its own set-up: packages (from packages.txt), configuration
# and build, and is quick when nothing has changed.
.PHONY: help demo validate test test-dev test-clang test-asan test-tsan test-mpi build bench peers format format-check tidy house clean \
        packages packages-peers paper-hhg paper-hsh paper-ci paper-psh paper-gsh fuzz portable python test-python test-python-asan wheel sdist

SHELL := /bin/bash
BUILD := build/release
CTEST := ctest --output-on-failure --timeout 600 -j2 -LE '^mpi$$'
# What the sanitizers run. The longest tests of the simulator and the command line are left to the other presets.
SANITIZED := base|cells|broad_phase|neighbors|voxels|ccd|io|simulation|scene_io|cli
LONG_asan := -E 'Buoyancy|LightBallsInCoarse|ALightSheetStays|GivesNoMoreThanIts|Bodies.Float|APlateSqueezes|AWholeSceneStays|HeavyAboveLight'
FORMATTED = git ls-files -z '*.cpp' '*.hpp' | xargs -0 clang-format-14

help:
	@echo "make demo      see it work (sets everything up first)"
	@echo "make test      build and run all tests"
	@echo "make build     the command line at $(BUILD)/quadrat"
	@echo "make python    the Python package at $(BUILD)/python;  make test-python (-asan): its tests;  make wheel, make sdist"
	@echo "make bench     microbenchmarks;  make peers: the rivals side by side;  make paper-hhg (-hsh -ci -psh -gsh): a paper"
	@echo "make validate  the simulator against measurements, with a plot"
	@echo "make test-dev (assertions), test-clang, test-asan, test-tsan;  make fuzz, make portable"
	@echo "make test-mpi  what runs on several ranks (quadrat-mpi)"
	@echo "make format, make format-check, make tidy, make house (the sizes of files and functions), make clean"

packages:
	@cmake/install-packages.sh packages.txt

packages-peers: packages
	@cmake/install-packages.sh bench/peers/packages.txt

# Configured once; ninja configures again by itself when a CMake file changes.
build/%/build.ninja: | packages
	@cmake --preset $* $(OPTIONS)

build: packages $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target quadrat_cli

# ffmpeg makes the film; without it there are pictures only.
demo: build
	@command -v ffmpeg >/dev/null || cmake/install-packages.sh apps/packages-film.txt || true
	@$(BUILD)/quadrat demo

test: packages $(BUILD)/build.ninja
	@cmake --build $(BUILD)
	@mkdir -p $(BUILD)/Testing/Temporary && set -o pipefail && cd $(BUILD) && $(CTEST) | tee Testing/Temporary/summary.log

# The whole suite with assertions, and warnings as errors. OPTIONS is for the first configuration: .ci/run joins files.
test-dev: packages build/dev/build.ninja
	@cmake --build build/dev
	@cd build/dev && $(CTEST)

test-clang: packages build/clang/build.ninja
	@cmake --build build/clang
	@cd build/clang && $(CTEST)

test-asan test-tsan: test-%: packages build/%/build.ninja
	@cmake --build build/$* --target quadrat_sanitized_tests $(if $(findstring asan,$*),quadrat_test_simulation quadrat_test_scene_io quadrat_cli)
	@cd build/$* && $(CTEST) -L '^($(SANITIZED))$$' $(LONG_$*)

# On 1, 2, 3 and 7 ranks. MPI has a list of packages of its own: the rest of the project needs none of them.
test-mpi: packages
	@cmake/install-packages.sh src/distributed/packages.txt
	@cmake --preset release -DQUADRAT_WITH_MPI=ON >/dev/null
	@cmake --build $(BUILD) --target quadrat_mpi_tests
	@cd $(BUILD) && ctest --output-on-failure -L '^mpi$$'

# PYTHONPATH=$(BUILD)/python is then as good as an installed package. With Debian's own Python, whichever comes first in PATH.
python: packages $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target quadrat_python

# Everything: the stubs, ASE, Hypothesis, notebooks. make test runs what needs no more packages.
test-python: python
	@cmake/install-packages.sh bindings/python/packages.txt
	@PYTHONPATH=$(CURDIR)/$(BUILD)/python QUADRAT_SOURCE=$(CURDIR) /usr/bin/python3 -B -m pytest -q -p no:cacheprovider bindings/python/tests

# The compiled half with sanitizers, in an interpreter without them: the runtime comes first, and leaks of Python's own are not
# looked for. What takes long, or counts memory and time, is left out.
test-python-asan: packages build/asan/build.ninja
	@cmake/install-packages.sh bindings/python/packages.txt
	@cmake build/asan -DQUADRAT_WITH_PYTHON=ON >/dev/null
	@cmake --build build/asan --target quadrat_python
	@LD_PRELOAD="$$(clang++-16 -print-file-name=libclang_rt.asan-x86_64.so) $$(g++ -print-file-name=libstdc++.so.6)" \
	  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc PYTHONPATH=$(CURDIR)/build/asan/python QUADRAT_SOURCE=$(CURDIR) /usr/bin/python3 -B \
	  -m pytest -q -p no:cacheprovider bindings/python/tests \
	  -k 'not light and not ctrl_c and not leave_no_memory and not notebook and not stubs and not forked and not that_are_held'

# One file for pip, tried in an environment that has nothing else but NumPy.
wheel: packages
	@cmake/install-packages.sh bindings/python/packages.txt
	@rm -f out/wheels/quadrat-*.whl
	@/usr/bin/python3 -m pip wheel --no-build-isolation --no-deps -q -w out/wheels .
	@ls -l out/wheels
	@QUADRAT_WHEEL=$$(realpath out/wheels/quadrat-*.whl) QUADRAT_SOURCE=$(CURDIR) /usr/bin/python3 -B -m pytest -q -p no:cacheprovider \
	  bindings/python/tests/test_wheel.py

# The sources for pip, and a wheel from them in an empty folder: whatever the file forgot is missed there. Compiles everything.
sdist: packages
	@cmake/install-packages.sh bindings/python/packages.txt
	@rm -f out/wheels/quadrat-*.tar.gz
	@/usr/bin/python3 -m build --sdist --no-isolation -o out/wheels . >/dev/null
	@QUADRAT_SDIST=$$(realpath out/wheels/quadrat-*.tar.gz) QUADRAT_SOURCE=$(CURDIR) /usr/bin/python3 -B -m pytest -q -p no:cacheprovider \
	  bindings/python/tests/test_sdist.py

bench: packages $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target all bench/all
	@for b in $(BUILD)/bench/*/quadrat_bench_*; do [ -x $$b ] && [ -f $$b ] && $$b; done

peers: packages-peers
	@cmake --preset release && cmake --build $(BUILD) --target all bench/all
	@for run in bench/peers/*/run.sh; do echo "== $$run"; PATH=/usr/bin:$$PATH bash $$run $(BUILD) out/peers; done

paper-hhg paper-hsh paper-ci paper-psh paper-gsh: paper-%: packages-peers
	@cmake --preset release && cmake --build $(BUILD) --target all bench/all
	@for run in bench/papers/$**/run.sh; do echo "== $$run"; PATH=/usr/bin:$$PATH bash $$run $(BUILD) out/papers/$*; done

validate: packages-peers
	@cmake --preset release && cmake --build $(BUILD) --target quadrat_validation quadrat_flows
	@PATH=/usr/bin:$$PATH bash bench/validation/run.sh $(BUILD) out/validation

fuzz: packages build/fuzz/build.ninja
	@cmake --build build/fuzz
	@for f in build/fuzz/fuzz/quadrat_fuzz_*; do \
	  name=$${f##*quadrat_fuzz_}; [ -x $$f ] && mkdir -p build/fuzz/corpus/$$name && \
	  $$f -max_total_time=30 -max_len=4096 build/fuzz/corpus/$$name fuzz/corpus/$$name || exit 1; done

# Compiles for ARM and WebAssembly, makes nothing.
portable: packages
	@cmake/install-packages.sh cmake/packages-portable.txt
	@cmake/check-portability.sh

format: packages
	@$(FORMATTED) -i

format-check: packages
	@$(FORMATTED) --dry-run --Werror

# Of the modules that differ from origin/main or the commit before; MODULES="ccd voxels" or MODULES=all for others.
tidy: packages $(BUILD)/build.ninja
	@cmake $(BUILD) -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
	@cmake/tidy.sh $(BUILD) $(MODULES)

# make house OLD=../before: beside another tree.
house:
	@/usr/bin/python3 -B tests/package/house.py $(OLD) .

clean:
	@rm -rf build out
