"""Molecular dynamics of a Lennard-Jones liquid: pairs are kept over several steps by a skin, and the energy stays."""
import numpy as np

import quadrat

rng = np.random.default_rng(7)
cells, density, cutoff, skin, dt = 8, 0.8, 2.5, 0.3, 0.004
count = cells ** 3
box = np.full(3, (count / density) ** (1 / 3))
x = (np.stack(np.meshgrid(*[np.arange(cells)] * 3), -1).reshape(-1, 3) + 0.5) * box / cells
v = rng.normal(scale=0.8, size=x.shape)
v -= v.mean(axis=0)

index = quadrat.CellIndex(cutoff, skin=skin, box=box, points=x)
near = index.find_neighbors(shifts=True)
lists = 1


def forces():
    """Of all atoms, and the potential energy; the potential is shifted to be 0 at the cutoff."""
    d = x[near.indices] + near.shifts * box - x[near.homes]
    inverse = 1 / (d * d).sum(axis=1)
    inside = inverse >= cutoff ** -2
    six = np.where(inside, inverse, 0) ** 3
    edge = cutoff ** -6.0
    energy = 0.5 * 4 * (six * six - six)[inside].sum() - 0.5 * 4 * inside.sum() * (edge * edge - edge)
    return near.reduce(np.add, d * (-24 * (2 * six * six - six) * inverse)[:, None]), energy


f, potential = forces()
start = potential + 0.5 * (v * v).sum()
for step in range(300):
    v += 0.5 * dt * f
    x += dt * v
    if index.update(x):
        near = index.find_neighbors(shifts=True, out=near)
        lists += 1
    f, potential = forces()
    v += 0.5 * dt * f
end = potential + 0.5 * (v * v).sum()
print(f"{count} atoms, 300 steps, {lists} lists: energy {start / count:.4f} to {end / count:.4f} per atom")
assert abs(end - start) / count < 0.02 and lists < 100
