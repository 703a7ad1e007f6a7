#!/bin/sh
# Reproduces the searching part of CI Table I and the H sweep: run.sh BUILD_DIR OUT_DIR
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
"$1/bench/papers/ci/paper_ci_search" "$2"
"$1/bench/papers/ci/paper_ci_whole_step" "$2/table1.csv"
cat "$2/table1.csv"
/usr/bin/python3 "$here/plot.py" "$2" || echo "no plot: matplotlib is missing" >&2
