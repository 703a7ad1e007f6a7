#!/bin/bash
# Runs the validation of the simulator: CSV and one plot in OUT_DIR, verdicts on the terminal. Usage: run.sh BUILD_DIR OUT_DIR
set -euo pipefail
program=$1/bench/simulation/quadrat_validation
out=$2
here=$(dirname "$0")
mkdir -p "$out"
for across in 10 20 40; do
    for solver in weak incompressible; do
        echo "dam break, $solver, $across particles across the column" >&2
        "$program" dam $solver $across 2 >"$out/dam_${solver}_$across.csv"
        "$program" dam_low $solver $across 2 >"$out/dam_low_${solver}_$across.csv"
        "$program" dam_square $solver $across 2 >"$out/dam_square_${solver}_$across.csv"
    done
done
for solver in weak incompressible; do
    echo "hydrostatic pressure and swinging drop, $solver" >&2
    "$program" hydrostatic $solver >"$out/hydrostatic_$solver.csv"
    for across in 10 20 40; do "$program" swing $solver $across >"$out/swing_${solver}_$across.csv"; done
done
echo "viscous flows" >&2
"$1/bench/simulation/quadrat_flows" >"$out/flows.csv"
for part in drop energy layers; do
    echo "$part" >&2
    "$program" $part >"$out/$part.csv"
done
/usr/bin/python3 "$here/plot.py" "$out"
