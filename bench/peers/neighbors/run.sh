#!/bin/sh
# Neighbour lists of quadrat, nanoflann, CGAL and scipy side by side: run.sh BUILD_DIR OUT_DIR [points] [rounds]
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CXX:-g++} -std=c++20 -O3 -march=native -ffp-contract=off -DNDEBUG -I"$root/include" -I"$root/src" "$here/rivals.cpp" \
    "$root/src/base/scenes.cpp" "$1/libquadrat.a" -lhwy -ltbb -lgmp -lmpfr -lpthread -o "$work/rivals"
"$work/rivals" "$2/neighbors.json" "$work/" "${3:-1000000}" "${4:-3}" | tee "$2/neighbors.md"
python3 "$here/scipy_rival.py" "$2/neighbors.json" "$work/" | tee -a "$2/neighbors.md" || echo "no scipy" >&2
python3 "$here/plot.py" "$2" || echo "no plot: matplotlib is missing" >&2
