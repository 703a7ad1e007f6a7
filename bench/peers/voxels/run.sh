#!/bin/sh
# run.sh BUILD_DIR OUT_DIR: the table of bytes, build seconds and nanoseconds per lookup.
set -e
cmake --build "$1" --target quadrat_peers_voxels
mkdir -p "$2"
for set in D1 D2 D3 D5 D4; do
    "$1/bench/peers/voxels/quadrat_peers_voxels" $set
done | tee "$2/voxels.txt"
