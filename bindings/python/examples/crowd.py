"""A crowd: people walk to the other side and step aside for those whom they would touch."""
import numpy as np

import quadrat

rng = np.random.default_rng(4)
count, radius, dt = 2000, 0.25, 0.05
place = rng.random((count, 2)) * 60
goal = 60 - place
everyone = quadrat.BroadPhase()
touched = 0
for step in range(100):
    way = goal - place
    place += dt * 1.4 * way / np.maximum(np.linalg.norm(way, axis=1), 1.4)[:, None]
    boxes = np.hstack([place - radius, place + radius])
    if step == 0:
        everyone.insert(boxes)
    everyone.update(boxes)
    i, j = everyone.find_pairs().T
    apart = place[i] - place[j]
    distance = np.linalg.norm(apart, axis=1)
    meet = (distance < 2 * radius) & (distance > 0)
    i, j, push = i[meet], j[meet], apart[meet] * ((2 * radius - distance[meet]) / distance[meet] / 2)[:, None]
    np.add.at(place, i, push)
    np.add.at(place, j, -push)
    touched += len(i)
print(f"{count} people met {touched} times in {100 * dt:.0f} s")
assert touched > 100
