#!/bin/sh
# Rivals of the mesh pipeline: run.sh BUILD_DIR OUT_DIR [DATA_DIR]
set -e
here=$(cd "$(dirname "$0")" && pwd)
data=${3:-$here/../../../../shared/data}
frames=$data/ccd/frames/cloth-ball
mkdir -p "$2"
for threads in 1 2; do
    "$1/bench/ccd/bench_ccd_meshes" "$frames/cloth_ball92.ply" "$frames/cloth_ball93.ply" $threads >"$2/embree_$threads.json"
done
peers=$(find "$1/bench" -name quadrat_peers_ccd -type f | head -1)
[ -z "$peers" ] || "$peers" "$frames/cloth_ball92.ply" "$frames/cloth_ball93.ply" "$data/meshes/spot.obj" >"$2/cgal_fcl.json"
python3 "$here/table.py" "$2"
