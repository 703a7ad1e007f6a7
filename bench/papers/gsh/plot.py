"""Tables on stdout (and tables.md) and plots of figure3.csv, figure4.csv and loads.csv: plot.py OUT_DIR"""
import csv
import sys

out = sys.argv[1]


def read(name):
    return list(csv.DictReader(open(f"{out}/{name}.csv")))


rows, loads, fullest = read("figure3"), read("figure4"), read("loads")
scenes = list(dict.fromkeys(r["scene"] for r in rows))
groups = ("1", "2", "3", "4", "8")


def table(title, head, lines):
    text = f"{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}\n"
    return text + "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines) + "\n"


def pick(scene, order, threads="1", **want):
    want["threads"] = threads
    found = [r for r in rows if r["scene"] == scene and r["order"] == order and all(r[k] == v for k, v in want.items())]
    return sorted(found, key=lambda r: (float(r["voxel_share"]), int(r["group_size"])))


def name(scene):
    return f"{scene}, {next(r['triangles'] for r in rows if r['scene'] == scene)}"


shares = [r["voxel_share"] for r in pick(scenes[0], "mixed", group_size="3")]
text = ""
for order in ("mixed", "by_cell"):
    for what in ("ms", "broad_ms"):
        title = "the whole process" if what == "ms" else "the broad phase alone"
        text += table(f"Figure 3: ms of {title} against voxels / triangles, groups of 3, order {order}",
                      ["scene", *shares],
                      [[name(s), *(r[what] for r in pick(s, order, group_size="3"))] for s in scenes])
for threads in ("2", "4"):
    text += table(f"Figure 3: the whole process on {threads} threads, order mixed", ["scene", *shares],
                  [[name(s), *(r["ms"] for r in pick(s, "mixed", threads, group_size="3"))] for s in scenes])
by_structure = {}
for r in read("pipeline"):
    by_structure.setdefault((r["scene"], r["structure"]), []).append(r)
text += table("The same step by other structures: ms on 1, 2, 4 threads",
              ["scene", "structure", "1", "2", "4", "contacts"],
              [[*key, *(r["ms"] for r in found), found[0]["contacts"]] for key, found in by_structure.items()])
text += table("Figure 3: thousands of pairs of entries compared, groups of 3, order mixed", ["scene", *shares],
              [[name(s), *(int(r["compared"]) // 1000 for r in pick(s, "mixed", group_size="3"))] for s in scenes])
text += table("Ablation: ms against group size, voxels = triangles / 5, order mixed", ["scene", *groups],
              [[name(s), *(r["ms"] for r in pick(s, "mixed", voxel_share="0.20"))] for s in scenes])
for what in ("max_load", "over_150", "deviation"):
    text += table(f"Figure 4: {what} of voxels against group size", ["scene", *groups],
                  [[name(s), *(r[what] for r in loads if r["scene"] == s)] for s in scenes])
print(text)
open(f"{out}/tables.md", "w").write(text)

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

fig, axes = plt.subplots(1, len(scenes), figsize=(4 * len(scenes), 3.2))
for ax, scene in zip(axes, scenes):
    for order in ("mixed", "by_cell"):
        line = pick(scene, order, group_size="3")
        ax.plot([100 * float(r["voxel_share"]) for r in line], [float(r["ms"]) for r in line], "o-", label=order)
    ax.axvline(20, color="grey", lw=0.8, ls=":")
    ax.set_title(f"{name(scene)} triangles", fontsize=10)
    ax.set_xlabel("voxels, % of triangles (dotted: the paper's optimum)", fontsize=8)
    ax.set_ylabel("ms")
    ax.set_ylim(bottom=0)
axes[0].legend()
fig.tight_layout()
fig.savefig(f"{out}/figure3.png", dpi=80)

tori = "squeezed tori" if "squeezed tori" in scenes else scenes[-1]
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.4))
for group in groups:
    line = [r for r in fullest if r["scene"] == tori and r["group_size"] == group]
    left.plot([int(r["rank"]) + 1 for r in line], [int(r["load"]) for r in line], label=f"group size {group}")
left.axhline(150, color="grey", lw=0.8, ls=":")
left.set_xlabel(f"voxel, fullest first ({tori}; dotted: 150)")
left.set_ylabel("triangles")
left.legend()
for scene in scenes:
    base = float(pick(scene, "mixed", voxel_share="0.20", group_size="1")[0]["ms"])
    right.plot(range(len(groups)), [float(r["ms"]) / base for r in pick(scene, "mixed", voxel_share="0.20")], "o-", label=scene)
right.set_xticks(range(len(groups)), groups)
right.set_xlabel("group size")
right.set_ylabel("time / time without groups (mixed order)")
right.set_ylim(bottom=0)
right.legend()
fig.tight_layout()
fig.savefig(f"{out}/figure4.png", dpi=80)
