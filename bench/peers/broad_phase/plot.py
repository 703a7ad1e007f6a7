"""Bars of milliseconds per step, one group per workload, from the JSON files of run.sh."""
import glob
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = sys.argv[1]
rows = [row for name in sorted(glob.glob(f"{out}/broad_phase-*.json")) for row in json.load(open(name))]
groups = sorted({(r["scenario"], r["n"], r["threads"]) for r in rows}, key=lambda g: (g[1], g[2], g[0]))
names = list(dict.fromkeys(r["name"] for r in rows))
value = {(r["scenario"], r["n"], r["threads"], r["name"]): r["ms_per_step"] for r in rows}
fig, ax = plt.subplots(figsize=(13, 5))
width = 0.85 / len(names)
for k, name in enumerate(names):
    points = [(i + k * width, value[g + (name,)]) for i, g in enumerate(groups) if g + (name,) in value]
    ax.bar([p[0] for p in points], [p[1] for p in points], width, label=name)
ax.set_yscale("log")
ax.set_ylabel("ms per step (update and exact pairs)")
ax.set_xticks([i + 0.4 for i in range(len(groups))])
ax.set_xticklabels([f"{s}\n{n:,}\n{t} thr." for s, n, t in groups], fontsize=8)
ax.legend(fontsize=8, ncol=2)
ax.set_title("Broad phase: quadrat and its rivals, one interleaved run per workload")
fig.tight_layout()
fig.savefig(f"{out}/broad_phase.png", dpi=130)
print(f"{out}/broad_phase.png")
