"""Bits above the payload against nanoseconds per random hit, one panel per set, from the JSON files of run.sh."""
import glob
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = sys.argv[1]
files = sorted(glob.glob(f"{out}/voxels-D*.json"))
figure, axes = plt.subplots(2, len(files), figsize=(4 * len(files), 8), squeeze=False)
for column, name in enumerate(files):
    rows = json.load(open(name))
    for line, (key, label) in enumerate([("hit_ns", "random hits"), ("coherent_ns", "hits in the order of space")]):
        axis = axes[line][column]
        for row in rows:
            ours = row["name"].startswith("quadrat")
            axis.scatter(max(row["bits"], 1), row[key], color="tab:red" if ours else "tab:gray", zorder=3 if ours else 2)
            axis.annotate(row["name"].replace("quadrat ", ""), (max(row["bits"], 1), row[key]), fontsize=6,
                          xytext=(3, 3), textcoords="offset points", color="tab:red" if ours else "black")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("bits above the payload, per entry")
        axis.set_ylabel(f"ns per lookup, {label}")
        axis.grid(alpha=0.3)
    axes[0][column].set_title(f"{rows[0]['set']}: {rows[0]['entries']:,} entries")
figure.suptitle("Sparse grids: quadrat (red) and its rivals; left and down is better")
figure.tight_layout()
figure.savefig(f"{out}/voxels.png", dpi=110)
print(f"{out}/voxels.png")
