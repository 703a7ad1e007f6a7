"""Table I (search alone and whole steps) and the H sweep as pictures. Usage: plot.py OUT_DIR"""
import csv
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

data = json.load(open(sys.argv[1] + "/ci.json"))
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
methods = ["all_pairs", "spatial_hashing", "extended", "cell_indexing"]
for k, state in enumerate(data["table"]):
    left.bar([m + 0.4 * k for m in range(len(methods))], [state[m] for m in methods], 0.4, label=state["state"])
left.set_xticks([m + 0.2 for m in range(len(methods))], [m.replace("_", " ") for m in methods], rotation=15)
left.set_ylabel("ms, 1600 particles")
left.legend()
sweep = data["sweep"]
right.plot([s["H"] for s in sweep], [s["cell_indexing"] for s in sweep], "o-", label="cell indexing")
right.plot([s["H"] for s in sweep], [s["extended"] for s in sweep], "s-", label="extended hashing")
right.set_xlabel("H, cells per radius")
right.set_ylabel("ms, 102400 particles")
right.set_ylim(bottom=0)
right.legend()
fig.tight_layout()
fig.savefig(sys.argv[1] + "/ci.png", dpi=120)

with open(sys.argv[1] + "/whole_step.csv") as file:
    cases = list(csv.DictReader(file))
fig, axis = plt.subplots(figsize=(7, 4))
for k, (method, color) in enumerate((("all_pairs", "#8a8f98"), ("spatial_hashing", "#c8452d"), ("cell_indexing", "#2f6690"))):
    at = [c + 0.27 * k for c in range(len(cases))]
    search = [float(case[method + "_ms"]) for case in cases]
    dynamics = [float(case["dynamics_ms"]) for case in cases]
    axis.bar(at, search, 0.25, color=color, label=method.replace("_", " "))
    axis.bar(at, dynamics, 0.25, bottom=search, color="#e3e1dc", label="dynamics" if k == 2 else None)
axis.set_xticks([c + 0.27 for c in range(len(cases))], ["case " + case["case"] for case in cases])
axis.set_ylabel("ms per step, 1600 particles")
axis.legend()
fig.tight_layout()
fig.savefig(sys.argv[1] + "/whole_step.png", dpi=120)
