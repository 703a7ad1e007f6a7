"""Everything again, in NumPy, all against all."""
import itertools

import numpy as np


def random_boxes(rng, count, dimension, dtype, size=0.3):
    lo = rng.uniform(-1, 1, (count, dimension))
    return np.hstack([lo, lo + size * rng.random((count, dimension))]).astype(dtype)


def overlapping(a, b):
    """(len(a), len(b)) of bool: which boxes touch."""
    d = a.shape[1] // 2
    return ((a[:, None, :d] <= b[None, :, d:]) & (b[None, :, :d] <= a[:, None, d:])).all(axis=2)


def pairs_of(boxes):
    i, j = np.nonzero(np.triu(overlapping(boxes, boxes), 1))
    return set(zip(i.tolist(), j.tolist()))


def as_set(pairs):
    rows = [tuple(row) for row in pairs.tolist()]
    assert len(set(rows)) == len(rows), "a pair was given twice"
    return set(rows)


def squares(a, b):
    """(len(a), len(b)): squared distances as the library forms them, each operation rounded in the type of the points."""
    out = (b[None, :, 0] - a[:, None, 0]) ** 2
    for k in range(1, a.shape[1]):
        out = out + (b[None, :, k] - a[:, None, k]) ** 2
    return out


def near(a, b, radius):
    """Who of b is within `radius` (a number, or one per pair) of whom of a: as bool."""
    r = np.asarray(radius, a.dtype)
    return squares(a, b) <= r * r


def rule_radii(radii, rule):
    own, other = radii[:, None], radii[None, :]
    return {"own": own + 0 * other, "max": np.maximum(own, other), "min": np.minimum(own, other), "sum": own + other}[rule]


def entries(result):
    """The rows of a result as a set of (i, j)."""
    i, j = result.to_coo()
    rows = list(zip(i.tolist(), j.tolist()))
    assert len(set(rows)) == len(rows), "an entry was given twice"
    return set(rows)


def matrix_entries(matrix):
    i, j = np.nonzero(matrix)
    return set(zip(i.tolist(), j.tolist()))


def shifted_entries(result):
    """(i, j, shift...) of a result with shifts."""
    i, j = result.to_coo()
    rows = [(a, b, *s) for a, b, s in zip(i.tolist(), j.tolist(), result.shifts.tolist())]
    assert len(set(rows)) == len(rows)
    return set(rows)


def periodic(a, b, radius, vectors, reach=3, slack=1e-6):
    """(sure, perhaps): (i, j, shift...) of all images of b within the radius of a, in double; `perhaps` holds those within
    `slack` of the border, too, where rounding decides."""
    dimension = a.shape[1]
    a, b, vectors = a.astype(float), b.astype(float), np.asarray(vectors, float)
    sure, perhaps = set(), set()
    axes = [range(-reach, reach + 1) if vectors[k].any() else (0,) for k in range(dimension)]
    for shift in itertools.product(*axes):
        distance = np.sqrt(squares(a, b + np.array(shift) @ vectors))
        key = shift + (0,) * (3 - dimension)
        sure |= {(i, j, *key) for i, j in zip(*(x.tolist() for x in np.nonzero(distance <= radius * (1 - slack))))}
        perhaps |= {(i, j, *key) for i, j in zip(*(x.tolist() for x in np.nonzero(distance <= radius * (1 + slack))))}
    return sure, perhaps


def without_self(found):
    """Without the point itself, which is its image without a shift."""
    return {row for row in found if row[0] != row[1] or any(row[2:])}
