"""Paint on the shell of a ball: colours are stored for the shell alone, and a brush writes them in place."""
import numpy as np

import quadrat

grid = np.indices((96, 96, 96)).reshape(3, -1).T - 48
distance = np.linalg.norm(grid, axis=1)
shell = grid[np.abs(distance - 40) < 1.0]
voxels = quadrat.pack(shell, np.full((len(shell), 3), 200, np.uint8))

# A stroke of the brush: all voxels of the shell within 5 of a path.
angle = np.linspace(0, 2 * np.pi, 200)
path = 40 * np.stack([np.cos(angle), np.sin(angle) * np.cos(3 * angle), np.sin(3 * angle) * np.sin(angle)], 1)
brush = quadrat.find_neighbors(shell.astype(np.float32), 5, queries=path.astype(np.float32))
painted = np.unique(brush.indices)
voxels[shell[painted]] = np.array([200, 30, 30], np.uint8)
red = (voxels.values == [200, 30, 30]).all(axis=1).sum()
stats = voxels.stats()
print(f"{len(voxels)} voxels of {96 ** 3}, {red} painted, {stats['overhead_bits_per_entry']:.1f} bits each beside the colour")
assert red == len(painted) > 100
