#!/bin/sh
# Neighbour lists of quadrat, nanoflann, CGAL and scipy side by side, in rounds: run.sh BUILD_DIR OUT_DIR [points] [rounds]
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CXX:-g++} -std=c++20 -O3 -march=native -ffp-contract=off -DNDEBUG -I"$root/include" -I"$root/src" "$here/rivals.cpp" \
    "$root/src/workloads/scenes.cpp" "$1/libquadrat.a" -lhwy -ltbb -lgmp -lmpfr -lpthread -o "$work/rivals"
rm -f "$2/neighbors.jsonl"
for round in $(seq "${4:-3}"); do
    "$work/rivals" "$2/neighbors.jsonl" "$work/" "${3:-1000000}"
    /usr/bin/python3 "$here/scipy_rival.py" "$2/neighbors.jsonl" "$work/" || echo "no scipy" >&2
done
/usr/bin/python3 "$here/plot.py" "$2"
