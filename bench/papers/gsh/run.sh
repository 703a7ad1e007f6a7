#!/bin/sh
# Reproduces figures 3 and 4 of GSH: run.sh BUILD_DIR OUT_DIR [DATA_DIR]
# The tori of figure 4 are those of scenes/contact/tori.json when the press has come down; simulating them takes a while.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
data=${3:-$root/../shared/data}
mkdir -p "$2"
[ -f "$2/tori_150.ply" ] || "$1/bench/ccd/bench_cloth_scene" "$root/scenes/contact/tori.json" "$data" "$2" 5.1 150 151
"$1/bench/papers/gsh/paper_gsh" "$2" "$data" "$2/tori_150.ply" "$2/tori_151.ply"
python3 "$here/plot.py" "$2" || echo "no plots: matplotlib is missing" >&2
