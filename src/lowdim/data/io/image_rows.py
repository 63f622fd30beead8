"""Whether the rows of an array file are images: said by its shape or by `image_shape`, else told from its pixels."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["declared_shape", "image_shape_of"]

Array = NDArray[Any]

SMALLEST_SIDE = 8  # a questionnaire has fewer columns than such an image has pixels
SAMPLED = 500  # rows that are looked at
ALIKE = 0.85  # neighboring pixels differ at most by this share of what any two do; 0.2 to 0.75 in photos and digits
BALANCE = 0.4  # at least, of the differences in one direction, are those in the other: a series is smooth in one only


def image_shape_of(X: Array) -> tuple[int, int] | None:
    """The sides of square images of one byte per pixel, if every pixel is like the ones beside and below it.

    Bytes of other kinds (counts, bits of fingerprints, answers) have no such order of columns.
    """
    side = isqrt(X.shape[1])
    if X.dtype != np.uint8 or side < SMALLEST_SIDE or side * side != X.shape[1]:
        return None
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), SAMPLED)).round().astype(np.intp))
    pixels = np.asarray(X[rows], dtype=np.float32).reshape(-1, side, side)
    shuffled = pixels.reshape(len(pixels), -1)[:, np.random.default_rng(0).permutation(side * side)]
    usual = np.abs(np.diff(shuffled, axis=1)).mean()
    across, down = (np.abs(np.diff(pixels, axis=axis)).mean() for axis in (2, 1))
    smooth = 0 < max(across, down) <= ALIKE * usual
    return (side, side) if smooth and min(across, down) >= BALANCE * max(across, down) else None


def declared_shape(given: Array, d: int) -> tuple[int, ...] | None:
    """The shape that a file declares for its rows, (height, width) or with 1, 3 or 4 channels, if it fits d columns."""
    if given.dtype.kind not in "iu" or len(given) not in (2, 3):
        return None
    shape = tuple(int(length) for length in given)
    fits = min(shape) > 0 and int(np.prod(shape, dtype=object)) == d and (len(shape) == 2 or shape[2] in (1, 3, 4))
    return shape if fits else None
