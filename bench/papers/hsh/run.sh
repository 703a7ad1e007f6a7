#!/bin/bash
# Reproduces figures 4, 5 and 6 of HSH and sweeps the table length of 4.3, in about two minutes: tables on the terminal, JSON and PNG in OUT_DIR. Usage: run.sh BUILD_DIR OUT_DIR
set -euo pipefail
build=$1
out=$2
here=$(dirname "$0")
mkdir -p "$out"
echo "Figure 4: segments against objects (the paper: HSH at least 2x the multilevel hash, at most 10 % more memory)"
"$build/bench/papers/hsh/paper_hsh_figure4" "$out/figure4.json"
echo "Figure 5: neighbours in 2D (the paper: HSH competitive below 5 neighbours, 10-25 % more memory; KD-tree best above)"
"$build/bench/papers/hsh/paper_hsh_figure5" "$out/figure5.json"
echo "Figure 6: particles against spheres and walls, 1000 whole frames (the paper: HSH about 25 % faster, at most 20 % more memory)"
"$build/bench/papers/hsh/paper_hsh_figure6" "$out/figure6.json"
echo "4.3: tables of fixed length (the paper: n = 100 x objects)"
"$build/bench/papers/hsh/paper_hsh_table" "$out/table.json"
/usr/bin/python3 "$here/plot.py" "$out"
echo "Plots: $out/figure4.png $out/figure5.png $out/figure6.png $out/table.png"
