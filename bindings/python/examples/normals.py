"""Normals of a point cloud: the direction in which the neighbours of a point vary least."""
import numpy as np

import quadrat

rng = np.random.default_rng(3)
truth = rng.normal(size=(20_000, 3))
truth /= np.linalg.norm(truth, axis=1)[:, None]
points = truth + rng.normal(scale=0.002, size=truth.shape)  # a sphere, measured with noise

near = quadrat.find_nearest(points, 16)
around = points[near.indices] - points[near.homes]
mean = near.reduce(np.add, around) / near.counts[:, None]
spread = near.reduce(np.add, around[:, :, None] * around[:, None, :]) / near.counts[:, None, None] - mean[:, :, None] * mean[:, None, :]
normals = np.linalg.eigh(spread)[1][:, :, 0]
normals *= np.sign((normals * points).sum(axis=1))[:, None]
angles = np.degrees(np.arccos(np.clip((normals * truth).sum(axis=1), -1, 1)))
print(f"{len(points)} normals, off by {np.median(angles):.1f} degrees at the median, {np.quantile(angles, 0.99):.1f} for 99 of 100")
assert np.median(angles) < 5
