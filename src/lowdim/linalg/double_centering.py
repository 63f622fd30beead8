"""Double centering -½ H D² H (Torgerson): squared distances to inner products about the centroid, H = I - 11ᵀ/n.

Three forms: of a whole matrix, in place in single precision, and as an operator that is only applied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["double_center", "double_center_in_place", "double_centered_times"]

Array = NDArray[Any]


def double_center(squares: Array) -> Array:
    """-½ H S H of a symmetric matrix S of squared distances, (n, n)."""
    with np.errstate(over="ignore", invalid="ignore"):
        means = squares.mean(axis=0)
        return -0.5 * (squares - means - means[:, None] + means.mean())


def double_center_in_place(D: NDArray[np.float32], threads: int) -> tuple[NDArray[np.float64], float]:
    """Replace distances D (n, n) by -½ H D² H; returns the row means of D² and the result's squared Frobenius norm."""
    means, squares = np.empty(len(D)), np.empty(len(D))
    _native.square_distances(D, means, threads)
    _native.double_center(D, means, float(means.mean()), squares, threads)
    return means, float(squares.sum())


def double_centered_times(squares: Array, V: Array) -> NDArray[np.float64]:
    """-½ H S H V without forming the centered matrix; the product itself is taken in the dtype of S."""
    centered = (V - V.mean(axis=0)).astype(squares.dtype)
    image = (squares @ centered).astype(np.float64)
    return np.asarray(-0.5 * (image - image.mean(axis=0)))
