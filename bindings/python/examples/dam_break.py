"""A dam breaks: the front of the water over time, plotted where matplotlib is installed."""
import numpy as np

import quadrat

scene = {"domain": {"lo": [0, 0, 0], "hi": [1.6, 0.1, 0.8]}, "spacing": 0.02, "blocks": [{"lo": [0, 0, 0], "hi": [0.4, 0.1, 0.4]}]}
run = quadrat.Simulation(scene)
times, fronts = [], []
for frame in run.frames(0.05, end=0.4):
    times.append(frame.time)
    fronts.append(float(np.quantile(frame.positions[:, 0], 0.995)))
print(" ".join(f"{t:.2f} s: {x:.2f} m" for t, x in zip(times, fronts)))
assert fronts[0] < 0.41 < 0.8 < fronts[-1]
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.plot(times, fronts, "o-")
    plt.xlabel("time, s")
    plt.ylabel("front, m")
    plt.savefig("dam_break.png")
except ImportError:
    open("dam_break.png", "wb").write(run.picture())
