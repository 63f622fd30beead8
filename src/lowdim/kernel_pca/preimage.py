"""From scores of kernel PCA back to rows: a row whose image is nearest to a point of the kernel's space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.kernels import Kernel, rbf
from lowdim.kernels._row_blocks import PreparedRows, RowPairs
from lowdim.runtime.progress import report
from lowdim.runtime.threads import single_blas, uninterrupted

__all__ = ["MAX_STEPS", "Images", "pre_images"]

Array = NDArray[np.float64]

MAX_STEPS = 1000
REST, SEEN = 1e-9, 1e-5  # of the extent of the rows: a shorter step is rest; a longer one, at the end, is told of
BLOCK = 256  # scores at a time
RIDGE_ROWS = 2000  # a regression on more rows costs more than it tells


@dataclass(frozen=True)
class Images:
    """Fitted rows, their scores, and the components as combinations of the rows' images."""

    rows: Array  # (n, d)
    scores: Array  # (n, k)
    alphas: Array  # (n, k)
    mean_weights: Array  # (n,): the mean in the kernel's space as a combination of images


def pre_images(Z: Array, images: Images, kernel: Kernel, how: str, alpha: float) -> tuple[Array, int]:
    """Rows for scores, and how many still moved: by fixed point for Gaussian kernels unless a ridge is wished for."""
    if isinstance(kernel, rbf) and how != "ridge":
        return _by_fixed_point(Z, images, float(kernel.gamma))
    if how == "fixed_point":
        raise BadParameter(f"pre_image='fixed_point' needs the rbf kernel; got {kernel!r}. Use 'ridge'.")
    return _by_ridge(Z, images, alpha), 0


def _by_fixed_point(Z: Array, images: Images, gamma: float) -> tuple[Array, int]:
    """Rows for scores under a Gaussian kernel, by the fixed point of Mika and others, and how many still moved.

        x ← Σ cᵢ k(x, xᵢ) xᵢ / Σ cᵢ k(x, xᵢ)

    with c the combination of images that the scores stand for. It starts from the fitted row of the nearest
    score, and a row whose next step would leave the fitted rows' neighbourhood stays where it is.
    """
    points, kernel = PreparedRows(images.rows), rbf(gamma)
    extent = np.ptp(images.rows, axis=0).max(initial=0.0)
    parts, restless = [], 0
    with single_blas():
        for start in range(0, len(Z), BLOCK):
            z = Z[start : start + BLOCK]
            combination = z @ images.alphas.T + images.mean_weights
            x = images.rows[_nearest(z, images.scores)]
            moving, size = np.arange(len(z)), np.zeros(len(z))
            for _ in range(MAX_STEPS):
                pull = combination[moving] * kernel.evaluate(RowPairs(PreparedRows(x[moving], points.origin), points))
                weight = pull.sum(axis=1, keepdims=True)
                sound = weight > 1e-3 * np.abs(pull).sum(axis=1, keepdims=True)  # else rounding is divided by
                step = np.where(sound, pull @ images.rows / np.where(sound, weight, 1) - x[moving], 0)
                x[moving] += step
                size[moving] = np.abs(step).max(axis=1, initial=0.0)
                moving = moving[size[moving] > REST * extent]
                if not len(moving):
                    break
            parts.append(x)
            restless += int((size > SEEN * extent).sum())
            report("pre-images", min(start + BLOCK, len(Z)), len(Z))
    return np.concatenate(parts), restless


def _by_ridge(Z: Array, images: Images, alpha: float) -> Array:
    """Rows for scores by kernel ridge regression of the fitted rows on their scores (Bakır and others)."""
    step = -(-len(images.rows) // RIDGE_ROWS)
    scores, rows = np.ascontiguousarray(images.scores[::step]), images.rows[::step]
    kernel = rbf("median").resolve(scores)
    points, mean = PreparedRows(scores), rows.mean(axis=0)
    K = kernel.evaluate(RowPairs(points, points))
    K[np.diag_indices(len(K))] += alpha
    try:
        factor = uninterrupted(lambda: scipy.linalg.cho_factor(K, check_finite=False))
    except scipy.linalg.LinAlgError as error:
        raise BadParameter(
            f"alpha={alpha:g} is too small a ridge for these scores, some of which are all but equal. Raise alpha."
        ) from error
    with single_blas():
        weights = scipy.linalg.cho_solve(factor, rows - mean, check_finite=False)
        return kernel.evaluate(RowPairs(PreparedRows(Z, points.origin), points)) @ weights + mean


def _nearest(z: Array, scores: Array) -> NDArray[np.int64]:
    points = PreparedRows(scores)
    return RowPairs(PreparedRows(z, points.origin), points).squared_distances.argmin(axis=1)
