#!/usr/bin/env bash
# run.sh BUILD_DIR OUT_DIR: the table, the JSON and the plot of the broad phase beside its rivals.
set -euo pipefail
build=$1 out=$2
mkdir -p "$out"
program=$build/bench/peers/broad_phase/quadrat_peers_broad_phase
run() { "$program" "$1" "$2" "$3" "$4" --json "$out/broad_phase-$1-$2-$3.json"; }
run B1 10000 1 20
for scene in B1 B2 B3 B4 B5 B6; do run "$scene" 100000 1 8; done
run B1 100000 2 8
run B1 1000000 1 4
run B2 1000000 1 4
run B1 1000000 2 4
run B2 1000000 2 4
/usr/bin/python3 "$(dirname "$0")/plot.py" "$out"
