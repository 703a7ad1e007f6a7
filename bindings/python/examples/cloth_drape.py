"""A sheet falls on a ball."""
import numpy as np

import quadrat

scene = {
    "domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]},
    "bodies": [{"shape": "sphere", "radius": 0.2, "position": [0.5, 0.5, 0.3], "motion": "fixed"}],
    "cloths": [{"sheet": {"cells": [20, 20], "size": [0.7, 0.7], "center": [0.5, 0.5, 0.55]}}],
}
run = quadrat.Simulation(scene)
run.advance_to(0.4)
triangles, positions = run.cloth()
gap = np.linalg.norm(positions - [0.5, 0.5, 0.3], axis=1) - 0.2
print(f"{len(triangles)} triangles hang from {positions[:, 2].max():.3f} m to {positions[:, 2].min():.3f} m; none is inside the ball ({gap.min():.4f} m)")
assert gap.min() > -1e-3 and positions[:, 2].min() < 0.45
