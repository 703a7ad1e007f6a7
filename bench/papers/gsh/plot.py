"""Plots figure3.csv and loads.csv as figure3.png and figure4.png: plot.py OUT_DIR"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = sys.argv[1]
rows = list(csv.DictReader(open(f"{out}/figure3.csv")))
scenes = list(dict.fromkeys(r["scene"] for r in rows))
fig, axes = plt.subplots(1, len(scenes), figsize=(4 * len(scenes), 3))
for ax, scene in zip(axes, scenes):
    for order in ("mixed", "by_cell"):
        pick = [r for r in rows if r["scene"] == scene and r["group_size"] == "3" and r["order"] == order]
        ax.plot([100 * float(r["voxel_share"]) for r in pick], [float(r["ms"]) for r in pick], "o-", label=order)
    ax.set_title(f"{scene} ({pick[0]['triangles']})")
    ax.set_xlabel("voxels, % of triangles")
    ax.set_ylabel("ms")
    ax.set_ylim(bottom=0)
axes[0].legend()
fig.tight_layout()
fig.savefig(f"{out}/figure3.png", dpi=80)

rows = [r for r in csv.DictReader(open(f"{out}/loads.csv")) if r["scene"] == "14 tori"]
fig, ax = plt.subplots(figsize=(6, 3))
for group in ("1", "3", "4", "8"):
    pick = [r for r in rows if r["group_size"] == group]
    ax.plot([int(r["rank"]) for r in pick], [int(r["load"]) for r in pick], label=f"group size {group}")
ax.set_xlabel("voxel, fullest first (14 tori)")
ax.set_ylabel("triangles")
ax.legend()
fig.tight_layout()
fig.savefig(f"{out}/figure4.png", dpi=80)
