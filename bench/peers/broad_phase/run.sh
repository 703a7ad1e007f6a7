#!/usr/bin/env bash
# run.sh BUILD_DIR OUT_DIR: the table, the JSON and the plot of the broad phase beside its rivals. Each line is one process of less
# than a minute. Left out: FCL on B4, where it takes minutes per step; FCL and Bullet's tree above 200,000 boxes, Bullet's sweep
# above 10,000 and rivals without threads where there are two, all by the program itself.
set -euo pipefail
build=$1 out=$2
mkdir -p "$out"
program=$build/bench/peers/broad_phase/quadrat_peers_broad_phase
run() { "$program" "$1" "$2" "$3" "$4" --json "$out/broad_phase-$1-$2-$3.json"; }
run B1 10000 1 20
run B2 10000 1 20
for scene in B1 B2 B3 B6; do run "$scene" 100000 1 8; done
run B5 100000 1 32  # kept pairs find everything anew every ten steps or so
run B4 100000 1 4
echo "  (FCL is left out on B4: it takes minutes per step on boxes of such different sizes)"
run B1 100000 2 8
run B2 100000 2 8
run B1 1000000 1 4
run B2 1000000 1 4
run B1 1000000 2 4
run B2 1000000 2 4
"$build/bench/peers/broad_phase/quadrat_peers_edits" --json "$out/broad_phase_edits.json"
/usr/bin/python3 "$(dirname "$0")/plot.py" "$out"
