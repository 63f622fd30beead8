"""From scores of kernel PCA back to rows: a row whose image is nearest to a point of the kernel's space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.kernels import rbf
from lowdim.kernels.points import Pair, Points
from lowdim.progress import report
from lowdim.threads import single_blas, uninterrupted

__all__ = ["Images", "by_fixed_point", "by_ridge"]

Array = NDArray[np.float64]

MAX_STEPS = 200
BLOCK = 256  # scores at a time
RIDGE_ROWS = 2000  # a regression on more rows costs more than it tells


@dataclass(frozen=True)
class Images:
    """Fitted rows, their scores, and the components as combinations of the rows' images."""

    rows: Array  # (n, d)
    scores: Array  # (n, k)
    alphas: Array  # (n, k)
    mean_weights: Array  # (n,): the mean in the kernel's space as a combination of images


def by_fixed_point(Z: Array, images: Images, gamma: float) -> Array:
    """Rows for scores under a Gaussian kernel, by the fixed point of Mika and others.

        x ← Σ cᵢ k(x, xᵢ) xᵢ / Σ cᵢ k(x, xᵢ)

    with c the combination of images that the scores stand for. It starts from the fitted row of the nearest
    score, and a row whose next step would leave the fitted rows' neighbourhood stays where it is.
    """
    points, kernel = Points(images.rows), rbf(gamma)
    extent = np.ptp(images.rows, axis=0).max(initial=0.0)
    parts = []
    with single_blas():
        for start in range(0, len(Z), BLOCK):
            z = Z[start : start + BLOCK]
            combination = z @ images.alphas.T + images.mean_weights
            x = images.rows[_nearest(z, images.scores)]
            for _ in range(MAX_STEPS):
                pull = combination * kernel.of(Pair(Points(x, points.shift), points))
                weight = pull.sum(axis=1, keepdims=True)
                size = np.abs(pull).sum(axis=1, keepdims=True)
                sound = weight > 1e-3 * size  # else the step divides by what rounding left
                step = np.where(sound, pull @ images.rows / np.where(sound, weight, 1) - x, 0)
                x = x + step
                if np.abs(step).max(initial=0.0) <= 1e-9 * extent:
                    break
            parts.append(x)
            report("pre-images", min(start + BLOCK, len(Z)), len(Z))
    return np.concatenate(parts)


def by_ridge(Z: Array, images: Images, alpha: float) -> Array:
    """Rows for scores by kernel ridge regression of the fitted rows on their scores (Bakır and others)."""
    step = -(-len(images.rows) // RIDGE_ROWS)
    scores, rows = np.ascontiguousarray(images.scores[::step]), images.rows[::step]
    kernel = rbf("median").resolve(scores)
    points, mean = Points(scores), rows.mean(axis=0)
    K = kernel.of(Pair(points, points))
    K[np.diag_indices(len(K))] += alpha
    weights = uninterrupted(lambda: scipy.linalg.solve(K, rows - mean, assume_a="pos", check_finite=False))
    with single_blas():
        return kernel.of(Pair(Points(Z, points.shift), points)) @ weights + mean


def _nearest(z: Array, scores: Array) -> NDArray[np.int64]:
    points = Points(scores)
    return Pair(Points(z, points.shift), points).squares.argmin(axis=1)
