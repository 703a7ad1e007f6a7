"""Medians of the rounds in neighbors.jsonl: table (neighbors.md), neighbors.json and bars (neighbors.png). Fails if two
methods found different neighbours. Usage: plot.py OUT_DIR"""
import json
import statistics
import sys

out = sys.argv[1]
rounds = [json.loads(line) for line in open(out + "/neighbors.jsonl")]
scenes = list(dict.fromkeys(r["scene"] for r in rounds))
methods = list(dict.fromkeys(r["method"] for r in rounds))
rows, different = [], []
for scene in scenes:
    for method in methods:
        of = [r for r in rounds if r["scene"] == scene and r["method"] == method]
        if not of:
            continue
        row = {"scene": scene, "method": method, "ms": statistics.median(r["ms"] for r in of), "rounds": len(of),
               "entries": of[0]["entries"], "checksum": of[0]["checksum"]}
        mine = rows and next((r for r in rows if r["scene"] == scene), None) or row
        row["times_quadrat"] = row["ms"] / mine["ms"]
        rows.append(row)
        if any(r["checksum"] != mine["checksum"] or r["entries"] != mine["entries"] for r in of):
            different.append(f"{scene} {method}")
lines = ["| scene | method | ms | / quadrat | entries | checksum |", "|---|---|---|---|---|---|"]
for r in rows:
    lines.append(f"| {r['scene']} | {r['method']} | {r['ms']:.1f} | {r['times_quadrat']:.1f} | {r['entries']} | {r['checksum']} |")
lines.append("\nBuild and full list (k16: the 16 nearest), one thread, medians of the rounds; " +
             ("different neighbours: " + ", ".join(different) if different else "all checksums agree"))
print("\n".join(lines))
open(out + "/neighbors.md", "w").write("\n".join(lines) + "\n")
json.dump(rows, open(out + "/neighbors.json", "w"), indent=1)
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(9, 4))
    for k, method in enumerate(methods):
        at = [(scenes.index(r["scene"]) + 0.8 * k / len(methods), r) for r in rows if r["method"] == method]
        ax.bar([a for a, _ in at], [r["ms"] for _, r in at], 0.8 / len(methods), label=method)
        for a, r in at:
            if method != "quadrat":
                ax.text(a, r["ms"], f"{r['times_quadrat']:.0f}x", ha="center", va="bottom", fontsize=7)
    ax.set_yscale("log")
    ax.set_xticks([s + 0.3 for s in range(len(scenes))], scenes)
    ax.set_ylabel("build + search, ms, 1 thread")
    ax.legend(ncol=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    fig.tight_layout()
    fig.savefig(out + "/neighbors.png", dpi=120)
except ImportError:
    print("no plot: matplotlib is missing", file=sys.stderr)
sys.exit(1 if different else 0)
