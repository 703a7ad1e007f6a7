#!/usr/bin/env python3
"""Plots the figures of HHG from the JSON that paper_hhg wrote. Usage: plot.py OUT_DIR"""
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

out = Path(sys.argv[1])


def rows(part):
    path = out / f"{part}.json"
    return json.loads(path.read_text()) if path.exists() else []


def lines(axes, data, series, x="objects"):
    for name, label in series:
        points = [(row[x], row[name]) for row in data if row[name] > 0]
        if points:
            axes.plot(*zip(*points), marker="o", markersize=4, label=label)


def finish(axes, title, xlabel="objects", ylabel="ms per step", log=True):
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)


def save(figure, name):
    figure.tight_layout()
    figure.savefig(out / name, dpi=130)
    plt.close(figure)
    print(out / name)


if data := rows("20"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    lines(left, data, [("all_pairs_ms", "all pairs"), ("grids_equal_ms", "hash grids, equal cubes"),
                       ("grids_1_12_ms", "hash grids, sizes 1 to 12"), ("quadrat_ms", "HashGridHierarchy")])
    finish(left, "Figure 20: all pairs are quadratic, grids linear")
    lines(right, rows("21"), [("grids_equal_ms", "hash grids, equal cubes"), ("grids_1_12_ms", "hash grids, sizes 1 to 12"),
                              ("quadrat_bulk_ms", "HashGridHierarchy, bulk")])
    finish(right, "Figure 21: setup", ylabel="ms")
    save(figure, "figure20-21.png")
if data := rows("22"):
    figure, axes = plt.subplots(figsize=(7, 5))
    lines(axes, data, [("equal_half_ms", "equal cubes, 0.5 pairs per object"), ("equal_2_ms", "equal cubes, 2 pairs"),
                       ("equal_8_ms", "equal cubes, 8 pairs"), ("mixed_2_ms", "sizes 1 to 12, 2 pairs"),
                       ("mixed_8_ms", "sizes 1 to 12, 8 pairs"), ("quadrat_equal_2_ms", "HashGridHierarchy, equal, 2 pairs"),
                       ("quadrat_mixed_2_ms", "HashGridHierarchy, 1 to 12, 2 pairs")])
    finish(axes, "Figure 22: up to a million objects")
    save(figure, "figure22.png")
if data := rows("23"):
    figure, both = plt.subplots(1, 2, figsize=(12, 4.6))
    for axes, largest, title in zip(both, (1, 12), ("Figure 23: equal cubes", "Figure 24: sizes 1 to 12 (number of grids beside the points)")):
        for n in sorted({row["objects"] for row in data}):
            chosen = [row for row in data if row["objects"] == n and row["largest"] == largest]
            axes.plot([row["factor"] for row in chosen], [1e6 * row["step_ms"] / n for row in chosen], marker="o", label=f"{n:,.0f} objects")
            if largest > 1 and n == 100000:
                for row in chosen:
                    axes.annotate(f"{row['grids']:.0f}", (row["factor"], 1e6 * row["step_ms"] / n), xytext=(4, 4), textcoords="offset points", fontsize=8)
        finish(axes, title, "hierarchy factor", "ns per object and step", log=False)
        axes.set_yscale("log")
        axes.axvline(2, color="grey", linewidth=0.8, linestyle=":")
    save(figure, "figure23-24.png")
if data := rows("25"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    lines(left, data, [("individual_20_ms", "each object by itself, 20 % movement"), ("individual_all_ms", "each by itself, all change cells"),
                       ("reinsert_ms", "clear and insert all")])
    finish(left, "Figure 25: the update alone (paper: reinserting takes 1.4 to 1.7 times as long)", ylabel="ms")
    worst = rows("26")
    lines(right, worst, [("cubes_ms", "cubes"), ("long_ms", "10 x 1 x 1"), ("flat_ms", "10 x 10 x 1"), ("x32_ms", "space 32 times longer"),
                         ("x1024_ms", "space 1024 times longer"), ("q_cubes_ms", "HashGridHierarchy, cubes"), ("q_long_ms", "HashGridHierarchy, 10 x 1 x 1"),
                         ("q_x1024_ms", "HashGridHierarchy, 1024 times longer")])
    finish(right, "Figure 26: worst cases")
    save(figure, "figure25-26.png")
if data := rows("27"):
    figure, grid = plt.subplots(2, 2, figsize=(12, 9))
    setup = [row for row in data if row["figure"] == 28]
    lines(grid[0][0], setup, [("grids_setup_ms", "hash grids"), ("sweep_setup_ms", "sweep and prune"), ("bullet_setup_ms", "Bullet's sweep and prune")])
    finish(grid[0][0], "Figure 27: setup, one object after the other", ylabel="ms")
    for axes, number, title in ((grid[0][1], 28, "Figure 28: movement up to 20 %"), (grid[1][0], 29, "Figure 29: movement up to 1 %"),
                                (grid[1][1], 30, "Figure 30: the same, objects 100,000 times smaller")):
        lines(axes, [row for row in data if row["figure"] == number],
              [("all_pairs_ms", "all pairs"), ("grids_ms", "hash grids"), ("sweep_ms", "sweep and prune"),
               ("bullet_sweep_ms", "Bullet's sweep and prune"), ("quadrat_ms", "HashGridHierarchy")])
        finish(axes, title)
    save(figure, "figure27-30.png")
if data := rows("ablation"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    for largest in sorted({row["largest"] for row in data}):
        chosen = [row for row in data if row["largest"] == largest]
        share = [row["edge"] / largest for row in chosen]
        line, = left.plot(share, [row["all_build_ms"] + row["all_detect_ms"] for row in chosen], marker="o", label=f"all overlapped cells, sizes 1 to {largest:g}")
        left.axhline(chosen[0]["one_setup_ms"] + chosen[0]["one_detect_ms"], color=line.get_color(), linestyle="--", linewidth=1,
                     label=f"one cell, hierarchy, sizes 1 to {largest:g}")
        right.plot(share, [row["repeated"] for row in chosen], marker="o", label=f"sizes 1 to {largest:g}")
    finish(left, "2.3: building and detection, 100,000 objects", "cell edge / largest object", "ms")
    finish(right, "2.3: hits met again in another cell, per object (one cell: none)", "cell edge / largest object", "repeated hits per object")
    save(figure, "ablation.png")
if data := rows("rotation"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    names = [f"{row['length']:g}x{row['width']:g}x{row['height']:g}" for row in data]
    places = range(len(names))
    left.bar([p - 0.2 for p in places], [row["cells/step_%"] for row in data], 0.4, label="change of cell")
    left.bar([p + 0.2 for p in places], [row["grids/step_%"] for row in data], 0.4, label="change of grid")
    right.bar([p - 0.2 for p in places], [row["scale_seen"] for row in data], 0.4, label="largest ratio seen")
    right.bar([p + 0.2 for p in places], [row["paper_scale"] for row in data], 0.4, label="diagonal / longest edge (the paper)")
    right.axhline(3 ** 0.5, color="grey", linestyle=":", label="sqrt(3)")
    for axes, title, label in ((left, "2.7: turning up to 0.1 rad per step", "% of objects per step"), (right, "2.7: change of the box size by turning", "factor")):
        finish(axes, title, "shape", label, log=False)
        axes.set_xticks(list(places))
        axes.set_xticklabels(names)
    save(figure, "rotation.png")
if data := rows("threshold"):
    figure, axes = plt.subplots(figsize=(7, 5))
    lines(axes, data, [("all_cubes_ms", "all pairs (vector code)"), ("grids_cubes_ms", "grids, equal cubes"), ("grids_mixed_ms", "grids, sizes 1 to 12"),
                       ("grids_long_ms", "grids, 10 x 1 x 1")])
    axes.axvline(512, color="grey", linewidth=0.8, linestyle=":", label="threshold")
    finish(axes, "3.7: where grids begin to win (HashGridHierarchy)")
    save(figure, "threshold.png")
