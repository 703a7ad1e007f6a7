"""A graph for a network on atoms or particles: edge_index and edge_attr as PyTorch Geometric has them."""
import numpy as np

import quadrat

rng = np.random.default_rng(6)
box = np.array([20.0, 20.0, 20.0], np.float32)
position = rng.random((5000, 3), np.float32) * box
near = quadrat.find_neighbors(position, 2.0, box=box, distances=True, vectors=True)
target, source = near.to_coo(np.int64)  # messages go from the neighbour to the row
edge_index = np.stack([source, target])
edge_attr = np.hstack([near.vectors, near.distances[:, None]])
# torch.from_numpy(edge_index) and torch.from_numpy(edge_attr) share this memory.
print(f"{len(position)} nodes, {edge_index.shape[1]} edges, edge_attr {edge_attr.shape} {edge_attr.dtype}")
assert edge_index.dtype == np.int64 and edge_attr.dtype == np.float32 and np.allclose(np.linalg.norm(edge_attr[:, :3], axis=1), edge_attr[:, 3], atol=1e-5)
