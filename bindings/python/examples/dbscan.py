"""DBSCAN: clusters of points by density (Ester et al. 1996). A million points: python dbscan.py 1000000"""
import sys

import numpy as np
from scipy.sparse.csgraph import connected_components

import quadrat

count = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
rng = np.random.default_rng(2)
centers = rng.random((12, 2))
points = np.vstack([centers[rng.integers(0, 12, count * 4 // 5)] + rng.normal(scale=0.01, size=(count * 4 // 5, 2)), rng.random((count // 5, 2))])
radius, least = 0.4 * count ** -0.5, 8

near = quadrat.find_neighbors(points, radius)
core = near.counts + 1 >= least
# Core points that are near are one cluster; other points join the cluster of a core point that is near, or are noise.
i, j = near.to_coo()
both = core[i] & core[j]
graph = quadrat.Neighbors(np.concatenate([[0], np.cumsum(np.bincount(i[both], minlength=len(points)))]), j[both], columns=len(points))
_, label = connected_components(graph.to_scipy(), directed=False)
label = np.where(core, label, -1)
border = near.max(label, empty=-1).astype(int)
label = np.where(core, label, border)
names, sizes = np.unique(label[label >= 0], return_counts=True)
print(f"{len(points)} points: {(sizes > count // 50).sum()} large clusters, {(label < 0).sum()} points of noise")
assert 5 <= (sizes > count // 50).sum() <= 12 and (label < 0).sum() > count // 20
