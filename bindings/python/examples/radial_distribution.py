"""The radial distribution functions of a box of water: how many atoms there are at a distance, compared with a gas of the same
density, for each pair of elements. The box is made here: rigid molecules at the density of water, whose oxygens have pushed each
other apart; what is inside a molecule is that of water, and around it spheres. Read your own trajectory in its place."""
import sys

import numpy as np

import quadrat

count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000  # molecules
rng = np.random.default_rng(1)
box = np.full(3, (count * 29.92) ** (1 / 3))  # angstroms
oxygens = rng.random((count, 3)) * box

index = quadrat.CellIndex(2.75, box=box)
near = None
for step in range(60):
    index.build(oxygens)
    near = index.find_neighbors(distances=True, vectors=True, out=near)
    push = (near.distances - 2.75) * 0.15 / np.maximum(near.distances, 1e-9)
    oxygens += near.reduce(np.add, near.vectors * push[:, None])

# Two hydrogens each, 0.9572 away and 104.52 degrees apart, turned at random.
turn, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
angle = np.radians(104.52) / 2
arms = 0.9572 * np.array([[np.cos(angle), np.sin(angle), 0], [np.cos(angle), -np.sin(angle), 0]])
hydrogens = (oxygens[:, None] + arms @ turn).reshape(-1, 3)
atoms = np.vstack([oxygens, hydrogens])
element = np.repeat(["O", "H"], [count, 2 * count])

cutoff = 8.0
near = quadrat.find_neighbors(atoms, cutoff, box=box, distances=True)
i, j = near.to_coo()
edges = np.linspace(0, cutoff, 161)
middle, shells = (edges[1:] + edges[:-1]) / 2, 4 / 3 * np.pi * np.diff(edges ** 3)
peaks = {}
for a, b in ("OO", "OH", "HH"):
    chosen = (element[i] == a) & (element[j] == b)
    found, _ = np.histogram(near.distances[chosen], edges)
    g = found / ((element == a).sum() * (element == b).sum() / box.prod() * shells)
    peaks[a + b] = middle[np.argmax(g)]
    print(f"g of {a} and {b}: peaks at {peaks[a + b]:.2f} angstroms with {g.max():.2f}, and is {g[-20:].mean():.3f} far away")
    assert abs(g[-20:].mean() - 1) < 0.05
assert 2.6 < peaks["OO"] < 3.0 and abs(peaks["OH"] - 0.957) < 0.05 and abs(peaks["HH"] - 1.514) < 0.05
