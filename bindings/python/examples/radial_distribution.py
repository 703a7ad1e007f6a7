"""The radial distribution function of a liquid in a periodic box: how many particles there are at a distance, compared with a
gas of the same density. The liquid is made here: spheres that have pushed each other apart."""
import sys

import numpy as np

import quadrat

count = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
rng = np.random.default_rng(1)
box = np.full(3, (count / 0.9) ** (1 / 3))  # 0.9 spheres per unit of volume
points = rng.random((count, 3)) * box

index = quadrat.CellIndex(1.0, box=box)
near = None
for step in range(60):
    index.build(points)
    near = index.find_neighbors(distances=True, vectors=True, out=near)
    push = (near.distances - 1.0) * 0.15 / np.maximum(near.distances, 1e-9)
    points += near.reduce(np.add, near.vectors * push[:, None])

cutoff = 4.0
distances = quadrat.find_neighbors(points, cutoff, box=box, half=True, distances=True).distances
edges = np.linspace(0, cutoff, 81)
found, _ = np.histogram(distances, edges)
shells = 4 / 3 * np.pi * np.diff(edges ** 3)
g = 2 * found / (count * count / box.prod() * shells)
middle = (edges[1:] + edges[:-1]) / 2
peak = middle[np.argmax(g)]
print(f"{count} particles: g(r) peaks at r = {peak:.2f} with {g.max():.2f}, and is {g[-10:].mean():.3f} far away")
assert 0.9 < peak < 1.2 and abs(g[-10:].mean() - 1) < 0.05
