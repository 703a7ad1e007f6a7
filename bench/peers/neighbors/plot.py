"""Bars of neighbors.json. Usage: plot.py OUT_DIR"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

rows = [r for r in json.load(open(sys.argv[1] + "/neighbors.json")) if "nearest" not in r["method"]]
scenes = list(dict.fromkeys(r["scene"] for r in rows))
methods = list(dict.fromkeys(r["method"] for r in rows))
fig, ax = plt.subplots(figsize=(9, 4))
for k, method in enumerate(methods):
    at = [(scenes.index(r["scene"]) + 0.8 * k / len(methods), r["ms"]) for r in rows if r["method"] == method]
    ax.bar([a for a, _ in at], [b for _, b in at], 0.8 / len(methods), label=method)
ax.set_yscale("log")
ax.set_xticks([s + 0.3 for s in range(len(scenes))], scenes)
ax.set_ylabel("build + full list, ms, 1 thread")
ax.legend()
fig.tight_layout()
fig.savefig(sys.argv[1] + "/neighbors.png", dpi=120)
