"""A picture of particles without any other package: drawn as small discs from back to front, and written as PNG. And the ray
traced one, by the command line."""
from __future__ import annotations

import struct
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import Optional

import numpy as np

from ._arrays import Array


def png(pixels: Array) -> bytes:
    """An (H, W, 3) array of uint8 as a file."""
    height, width, _ = pixels.shape
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = 0  # no filter
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")


def particles_as_png(positions: Array, color: Array, width: int, height: int, flat: bool = False) -> bytes:
    """Seen from the front and a little above; blue for the smallest colour and light for the largest."""
    pixels = np.full((height, width, 3), 250, np.uint8)
    if len(positions) == 0:
        return png(pixels)
    x, y, z = positions.astype(float).T
    if flat:
        across, up, depth = x, y, z
    else:
        tilt, turn = 0.35, 0.45
        across = np.cos(turn) * x - np.sin(turn) * y
        away = np.sin(turn) * x + np.cos(turn) * y
        up = np.cos(tilt) * z + np.sin(tilt) * away
        depth = np.cos(tilt) * away - np.sin(tilt) * z
    extent = max(np.ptp(across) / width, np.ptp(up) / height, 1e-12) * 1.15
    column = (across - (across.min() + across.max()) / 2) / extent + width / 2
    row = height / 2 - (up - (up.min() + up.max()) / 2) / extent
    radius = int(np.clip(0.5 * np.sqrt(width * height / (len(positions) ** (1 if flat else 2 / 3) * 4)), 1, 12))
    low, high = float(color.min()), float(color.max())
    share = (color - low) / (high - low) if high > low else np.zeros(len(color))
    paint = np.array([24, 86, 166]) + share[:, None] * np.array([196, 144, 80])
    order = np.argsort(-depth, kind="stable")
    zbuffer = np.full((height, width), -1, np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    # Of the discs that cover a pixel the nearest is the one with the largest rank; light falls from the upper left.
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dx * dx + dy * dy > radius * radius:
                continue
            c, r = np.rint(column).astype(int) + dx, np.rint(row).astype(int) + dy
            seen = (c >= 0) & (c < width) & (r >= 0) & (r < height)
            before = zbuffer[r[seen], c[seen]].copy()
            np.maximum.at(zbuffer, (r[seen], c[seen]), rank[seen])
            changed = zbuffer[r[seen], c[seen]] == rank[seen]
            changed &= rank[seen] > before
            light = 1.0 - 0.35 * (dx + dy + radius) / (2 * radius + 1)
            pixels[r[seen][changed], c[seen][changed]] = np.clip(paint[seen][changed] * light, 0, 255).astype(np.uint8)
    return png(pixels)


def traced(text: str, name: str, variant: str, checkpoint: bytes, width: Optional[int], samples: Optional[int]) -> bytes:
    """The picture that `quadrat simulate` makes of a checkpoint's first frame. text: of the scene, or else the name of its file."""
    from .__main__ import program

    found = program()
    if found is None:
        raise FileNotFoundError("render() needs the program quadrat: `make build` makes it; put it on the PATH")
    with tempfile.TemporaryDirectory(prefix="quadrat") as folder:
        scene = Path(name)
        if text:
            scene = Path(folder, "scene.json")
            scene.write_text(text)
        out = Path(folder, "out")
        out.mkdir()
        (out / "checkpoint.qsim").write_bytes(checkpoint)
        words = [found, "simulate", str(scene), "--out", str(out), "--resume", "--frames", "0", "--no-ply", "--no-film"]
        for option, value in (("--variant", variant or None), ("--width", width), ("--samples", samples)):
            if value is not None:
                words += [option, str(value)]
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        pictures = sorted((out / "pictures").glob("*.png"))
        if run.returncode != 0 or not pictures:
            raise RuntimeError(f"{found} drew nothing: {run.stderr.strip()}")
        return pictures[0].read_bytes()
