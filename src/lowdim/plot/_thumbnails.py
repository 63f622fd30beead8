"""Thumbnails for tooltips: one inline PNG per row."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

from lowdim.errors import BadInput
from lowdim.runtime.progress import report

__all__ = ["MOST_IMAGES", "thumbnails"]

MOST_IMAGES = 5000
WIDTH = 84  # on the screen, in pixels


def thumbnails(images: Any, n: int) -> list[str]:
    """One <img> tag with inline data per image; all share one range of brightness."""
    array = np.asarray(images)
    gray, colors = array.ndim == 3, array.ndim == 4 and array.shape[3] == 3
    if not (gray or colors) or len(array) != n or 0 in array.shape or array.dtype.kind not in "fiub":
        raise BadInput(
            f"images must be numbers of shape ({n}, height, width) or ({n}, height, width, 3); "
            f"got {array.dtype} of shape {array.shape}."
        )
    if n > MOST_IMAGES:
        raise BadInput(f"images can go into a page of at most {MOST_IMAGES} rows; there are {n}. Draw a sample.")
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high - low)):
        raise BadInput("images have a value that is not finite. Impute it first.")
    out = []
    for i, image in enumerate(array):
        out.append(_tag(np.round(255 * ((image - low) / (high - low if high > low else 1.0))).astype(np.uint8)))
        report("thumbnails", i + 1, n)
    return out


def _tag(pixels: Any) -> str:
    data = base64.b64encode(_png(pixels)).decode()
    return f'<img src="data:image/png;base64,{data}" width="{WIDTH}" style="image-rendering: pixelated">'


def _png(pixels: Any) -> bytes:
    """A PNG file of 8-bit gray (height, width) or colors (height, width, 3); a general writer costs more per image."""
    height, width = pixels.shape[:2]
    lines = pixels.reshape(height, -1)
    unfiltered = np.zeros((height, 1), dtype=np.uint8)  # the filter of each line: none
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    body = zlib.compress(np.concatenate([unfiltered, lines], axis=1).tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
