"""scipy's cKDTree on the points that rivals.cpp saved; appends to the JSON file. Usage: scipy_rival.py OUT.json PREFIX"""
import glob
import json
import sys
import time

import numpy as np
from scipy.spatial import cKDTree

path, prefix = sys.argv[1:3]
rows = json.load(open(path))
known = {r["scene"]: r for r in rows if r["method"] == "quadrat"}
for name in sorted(glob.glob(prefix + "*.f32")):
    scene, radius = name[len(prefix):-4].rsplit("_", 1)
    points = np.fromfile(name, np.float32).reshape(-1, 3)
    start = time.perf_counter()
    tree = cKDTree(points)
    lists = tree.query_ball_point(points, float(radius), workers=1, return_sorted=False)
    ms = 1000 * (time.perf_counter() - start)
    entries = sum(map(len, lists)) - len(points)
    rows.append({"scene": scene, "method": "scipy", "ms": ms, "entries": entries})
    print(f"| {scene} | scipy (float64) | {ms:.1f} | {entries} | {'equal' if entries == known[scene]['entries'] else 'rounded otherwise'} |")
json.dump(rows, open(path, "w"), indent=1)
