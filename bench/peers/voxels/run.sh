#!/bin/bash
# Sparse grids beside their rivals: tables on the terminal, JSON and a plot in OUT_DIR. Usage: run.sh BUILD_DIR OUT_DIR
set -euo pipefail
build=$1
out=$2
here=$(dirname "$0")
program=$build/bench/peers/voxels/quadrat_peers_voxels
[ -x "$program" ] || { echo "bench/peers/voxels was not built: packages are missing"; exit 0; }
mkdir -p "$out"
for set in D1 D2 D3 D5 D4; do
    "$program" $set "$out/voxels-$set.json"
done | tee "$out/voxels.txt"
python=/usr/bin/python3  # Debian's matplotlib belongs to it
[ -x $python ] || python=python3
$python "$here/plot.py" "$out"
