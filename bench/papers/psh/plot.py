#!/usr/bin/env python3
"""Plots tables 1 and 2 of PSH from the JSON that the programs wrote. Usage: plot.py OUT_DIR"""
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = Path(sys.argv[1])
order = ["teapot", "font", "tree", "text", "boy", "armadillo", "horse", "car", "gargoyle", "random2", "random3"]

if (path := out / "table1.json").exists():
    data = json.loads(path.read_text())
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
    for axis, dims in zip(axes, (2, 3)):
        rows = [r for r in data if r["dims"] == dims and r["block"] > 0]
        blocks = [r["block"] for r in rows]
        for key, label, style in [("indirection_kb", "indirection table", "o-C0"), ("hash_kb", "perfect hash", "o-C3"),
                                  ("paper_indirection_kb", "indirection table, PSH", ".:C0"),
                                  ("paper_hash_kb", "perfect hash, PSH", ".:C3")]:
            axis.plot(blocks, [r[key] for r in rows], style, label=label)
        plain = next(r for r in data if r["dims"] == dims and r["block"] == 0)
        axis.axhline(plain["hash_kb"], color="C2", label="unblocked hash")
        axis.set_yscale("log")
        axis.set_xlabel("block size")
        axis.set_ylabel("KB")
        axis.set_title(f"PSH table 1, {dims}D")
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(out / "table1.png", dpi=130)

rows = [json.loads((out / f"table2-{name}.json").read_text()) for name in order if (out / f"table2-{name}.json").exists()]
if rows:
    figure, axes = plt.subplots(1, 4, figsize=(18, 4.8))
    x = range(len(rows))

    def bars(axis, series, title, log=False):
        width = 0.85 / len(series)
        for k, (label, values, style) in enumerate(series):
            axis.bar([i + k * width for i in x], [max(v, 0) for v in values], width, label=label, color=style)
        axis.set_xticks([i + 0.4 for i in x])
        axis.set_xticklabels([r["row"] for r in rows], rotation=60, fontsize=8)
        axis.set_title(title)
        if log:
            axis.set_yscale("log")
        axis.legend(fontsize=7)

    bars(axes[0], [("fast", [r["bits_fast"] for r in rows], "C1"), ("compact", [r["bits_compact"] for r in rows], "C3"),
                   ("PSH, 8 bits", [r["paper_bits"] for r in rows], "C7")], "offset bits per entry")
    bars(axes[1], [("fast", [r["fast_seconds"] for r in rows], "C1"), ("compact", [r["compact_seconds"] for r in rows], "C3"),
                   ("PSH fast", [max(r["paper_fast"], 0.01) for r in rows], "C8"),
                   ("PSH compact", [max(r["paper_compact"], 0.01) for r in rows], "C7")], "seconds to construct", log=True)
    bars(axes[2], [("optimised", [r["coherence"] for r in rows], "C3"), ("not optimised", [r["coherence_none"] for r in rows], "C1"),
                   ("PSH optimised", [r["paper_coherence"] for r in rows], "C7")], "coherence N_H")
    bars(axes[3], [("random matrices", [r["ns_random"] for r in rows], "C7"), ("identity", [r["ns_identity"] for r in rows], "C1"),
                   ("optimised", [r["ns_optimised"] for r in rows], "C3"), ("octree", [r["ns_octree"] for r in rows], "C4"), ("OpenVDB", [r["ns_openvdb"] for r in rows], "C0")],
         "ns per lookup, order of space")
    figure.tight_layout()
    figure.savefig(out / "table2.png", dpi=120)
print(f"Plots: {out}/table1.png {out}/table2.png")
