#!/bin/sh
# Reproduces figures 3 and 4 of GSH: run.sh BUILD_DIR OUT_DIR [DATA_DIR]
set -e
here=$(cd "$(dirname "$0")" && pwd)
data=${3:-$here/../../../../shared/data}
mkdir -p "$2"
"$1/bench/papers/gsh/paper_gsh" "$2" "$data"
python3 "$here/plot.py" "$2" || echo "no plots: matplotlib is missing" >&2
