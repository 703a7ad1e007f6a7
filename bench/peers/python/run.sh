#!/bin/bash
# The Python package beside C++, scipy and ASE: a table on the terminal and in OUT_DIR. Usage: run.sh BUILD_DIR OUT_DIR [points]
set -euo pipefail
here=$(dirname "$0")
[ -d "$1/python" ] || { echo "the Python package was not built: packages are missing"; exit 0; }
mkdir -p "$2"
PYTHONPATH=$(realpath "$1")/python /usr/bin/python3 -B "$here/rivals.py" --n "${3:-1000000}" \
    --steps "$1/bench/peers/python/quadrat_peers_python_steps" | tee "$2/python.md"
