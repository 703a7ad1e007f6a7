#!/usr/bin/env bash
# run.sh BUILD OUT: weak scaling at 125,000 bodies per rank on 1, 2, 4, 8 ranks, strong scaling of a million on 1 and 2, and the
# model from the constants of one rank. Beyond the number of processors only CPU per rank means anything.
set -euo pipefail
build=$1 out=$2 here=$(dirname "$0")
mkdir -p "$out"
: >"$out/weak.json"
for ranks in 1 2 4 8; do "$here/../../tests/distributed/ranks.sh" $ranks "$build/quadrat-mpi" bench --n 125000 --per-rank --steps 10 >>"$out/weak.json"; done
for ranks in 1 2; do "$here/../../tests/distributed/ranks.sh" $ranks "$build/quadrat-mpi" bench --n 1000000 --steps 5 >>"$out/strong.json"; done
cat "$out/strong.json"
python3 "$here/model.py" "$out/weak.json"
