#!/usr/bin/env python3
"""Plots figures 4, 5 and 6 of HSH from the JSON that the programs wrote. Usage: plot.py OUT_DIR"""
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = Path(sys.argv[1])


def rows(name):
    path = out / name
    return json.loads(path.read_text()) if path.exists() else []


def column(data, name):
    return [row[name] for row in data]


def draw(file, data, x, series, memory, title, xlabel, ylabel, xlog=False, ylog=False):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    for name, label in series:
        points = [(row[x], row[name]) for row in data if row[name] > 0]
        if points:
            left.plot(*zip(*points), marker="o", label=label)
    left.set_xlabel(xlabel)
    left.set_ylabel(ylabel)
    if ylog:
        left.set_yscale("log")
    else:
        left.set_ylim(bottom=0)
    left.legend()
    left.set_title(title)
    right.plot(column(data, x), [100 * (m - 1) for m in column(data, "memory_ratio")], marker="o", color="tab:green")
    right.set_xlabel(xlabel)
    right.set_ylabel("memory overhead of HSH, %")
    right.set_title(memory)
    low, high = right.get_ylim()
    right.set_ylim(min(0, low), max(0, high))
    if xlog:
        left.set_xscale("log")
        right.set_xscale("log")
    figure.tight_layout()
    figure.savefig(out / file, dpi=130)
    plt.close(figure)


if data := rows("figure4.json"):
    draw("figure4.png", data, "hit_ratio",
         [("hsh_ms", "hierarchical hash"), ("multilevel_ms", "multilevel hash"), ("rtree_ms", "R-tree (Boost)")],
         "against the multilevel hash (paper: at most 10 %)", "HSH figure 4: a million segments",
         "share of segments that meet an object", "ms", ylog=True)
if data := rows("figure5.json"):
    draw("figure5.png", data, "max_neighbors",
         [("hsh_ms", "hierarchical hash, on the fly"), ("uniform_ms", "uniform hash"), ("kdtree_ms", "KD-tree (nanoflann)"),
          ("cell_index_ms", "CellIndex")],
         "against the uniform hash (paper: 10-25 %)", "HSH figure 5: neighbours of a million points",
         "largest neighbour count", "ms", xlog=True)
if data := rows("figure6.json"):
    draw("figure6.png", data, "frame", [("hsh_frame_ms", "hierarchical hash"), ("multi_frame_ms", "multilevel hash"),
                                        ("move_ms", "of it, bouncing and moving")],
         "against the multilevel hash (paper: at most 20 %)", "HSH figure 6: whole frames, exact hits included", "frame", "ms")
if data := rows("table.json"):
    fixed = [row for row in data if row["length/objects"] > 0]
    grows = next(row for row in data if row["length/objects"] == 0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    left.plot(column(fixed, "length/objects"), column(fixed, "false/query"), marker="o")
    left.set_ylabel("false candidates per query")
    left.set_title("HSH 4.3: slots shared by several cells")
    right.plot(column(fixed, "length/objects"), column(fixed, "query_ms"), marker="o", label="fixed length")
    right.axhline(grows["query_ms"], color="tab:orange", linestyle="--", label="a table that grows")
    right.set_ylabel("ms for 200,000 queries")
    right.set_title("time")
    right.legend()
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.axvline(100, color="grey", linewidth=0.8, linestyle=":")
        axes.set_xlabel("n / number of objects (the paper: 100)")
    figure.tight_layout()
    figure.savefig(out / "table.png", dpi=130)
