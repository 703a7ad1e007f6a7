#!/bin/sh
# Reproduces CI Table I, the search alone and whole steps, and the H sweep: run.sh BUILD_DIR OUT_DIR
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
"$1/bench/papers/ci/paper_ci_search" "$2"
"$1/bench/papers/ci/paper_ci_whole_step" "$2/whole_step.csv" "$2/whole_step.md"
cat "$2/whole_step.md"
/usr/bin/python3 "$here/plot.py" "$2" || echo "no plot: matplotlib is missing" >&2
