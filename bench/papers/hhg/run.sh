#!/bin/bash
# Reproduces section 4 of HHG and the studies of 2.3, 2.7, 3.1 and 3.7: tables on the terminal, JSON and PNG in OUT_DIR. Some three
# minutes. Usage: run.sh BUILD_DIR OUT_DIR
set -euo pipefail
build=$1
out=$2
here=$(dirname "$0")
mkdir -p "$out"
part() {
    echo
    echo "$2"
    "$build/bench/papers/hhg/paper_hhg" "$1" "$out/$1.json"
}
part memory "3.1: memory of a grid (the paper: 96,776 outer cells and 67,183,564 bytes at 128^3)"
part ablation "2.3: all overlapped cells against one cell (the paper: all cells meet a pair several times, no cell size suits all)"
part rotation "2.7: turning cuboids (the paper: sizes change by at most sqrt(3), changes of the grid are unlikely)"
part threshold "3.7: all pairs against grids (the paper: all pairs win below some number of objects)"
part 20 "Figure 20: a step (the paper: grids linear, all pairs quadratic; several grids a little slower)"
part 21 "Figure 21: setup (the paper: slightly better than linear, several grids hardly noticeable)"
part 22 "Figure 22: to a million objects (the paper: linear on the right; more pairs and more grids cost more)"
part 23 "Figures 23 and 24: hierarchy factor (the paper: the smaller the better for equal cubes, 2.0 for sizes 1 to 12)"
part 25 "Figure 25: update (the paper: each object by itself is 40 % faster than clearing and inserting all)"
part 26 "Figure 26: worst cases (the paper: long objects up to 5 times slower; x1024 spread loses 50 %)"
part 27 "Figures 27 to 30: sweep and prune (the paper: quadratic setup; 28 far slower; 29 five times slower; 30 two to three times faster)"
/usr/bin/python3 "$here/plot.py" "$out"
