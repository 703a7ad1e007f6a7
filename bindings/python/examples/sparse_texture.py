"""A sparse 3D texture on disk: the skin of a rippled ball, written with compression, opened and cut."""
import os

import numpy as np

import quadrat

n = 128
grid = np.indices((n, n, n)).reshape(3, -1).T
p = (grid - n / 2) / (n / 2)
r = np.linalg.norm(p, axis=1)
skin = np.abs(r - 0.8 - 0.05 * np.sin(12 * p[:, 0]) * np.sin(12 * p[:, 1])) < 0.02
color = (np.clip(p[skin] * 0.5 + 0.5, 0, 1) * 255).astype(np.uint8)
texture = quadrat.pack(grid[skin], {"color": color, "density": r[skin].astype(np.float32)})
texture.save("texture.qvox", compression=6)

again = quadrat.open("texture.qvox")
plane = again.dense([0, 0, n // 2], [n - 1, n - 1, n // 2], channel="density")[:, :, 0]
size = os.path.getsize("texture.qvox")
print(f"{len(again)} of {n ** 3} voxels in {size / 1e6:.2f} MB; a full array would take {n ** 3 * 7 / 1e6:.1f} MB; {np.count_nonzero(plane)} in the middle plane")
assert np.array_equal(again.get(grid[skin]), color) and np.count_nonzero(plane) > 200
