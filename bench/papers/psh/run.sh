#!/bin/bash
# Reproduces tables 1 and 2 of PSH: tables on the terminal, JSON and PNG in OUT_DIR. Usage: run.sh BUILD_DIR OUT_DIR
set -euo pipefail
build=$1
out=$2
here=$(dirname "$0")
meshes=$here/../../../../shared/data/meshes
mkdir -p "$out"
echo "Table 1: memory against block size (KB = 1000 bytes)"
"$build/bench/papers/psh/paper_psh_table1" "$out/table1.json"
echo "Table 2: constructions and lookups; the paper's figures (2006 hardware) in brackets"
for row in $("$build/bench/papers/psh/paper_psh_table2" list); do
    "$build/bench/papers/psh/paper_psh_table2" "$row" "$out/table2-$row.json" "$meshes"
done
python=/usr/bin/python3  # Debian's matplotlib belongs to it
[ -x $python ] || python=python3
$python "$here/plot.py" "$out"
