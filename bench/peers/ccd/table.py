"""The results of run.sh as one table: table.py OUT_DIR reads embree_1.json, embree_2.json and cgal_fcl.json, writes ccd.md."""
import json
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
rows = [("candidates of cloth-ball, by boxes", "quadrat ms", "rival ms", "rival / quadrat")]


def row(what, quadrat, rival):
    rows.append((what, f"{quadrat:.1f}", f"{rival:.1f}", f"{rival / quadrat:.2f}"))


for threads in 1, 2:
    run = json.loads((out / f"embree_{threads}.json").read_text())
    row(f"Embree rtcCollide, threads: {threads}", run["broad_ms"], run["embree_ms"])
    print(f"threads {threads}: {run['narrow_millions_per_second']} million candidates/s through the narrow phase", file=sys.stderr)
peers = out / "cgal_fcl.json"
if peers.exists():
    run = json.loads(peers.read_text())
    assert run["candidates"] == run["cgal_candidates"], "CGAL and quadrat differ"
    row("CGAL box_intersection_d, one thread", run["quadrat_ms"], run["cgal_ms"])
    # A body that meets its copy within the step; FCL says 2 where it sees no contact.
    for solver, key in ("conservative advancement", "fcl"), ("naive", "fcl_naive"):
        rows.append((f"FCL {solver}, a rigid body (times {run['rigid_time']:.4f} v {run[key + '_time']:.4f})",
                     f"{run['rigid_ms']:.1f}", f"{run[key + '_ms']:.1f}", "" if run[key + "_time"] != run["rigid_time"] else "equal"))
rows.insert(1, tuple("---" for _ in rows[0]))
text = "\n".join("| " + " | ".join(r) + " |" for r in rows) + "\n"
(out / "ccd.md").write_text(text)
print(text, end="")
