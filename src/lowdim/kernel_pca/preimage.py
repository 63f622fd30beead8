"""Pre-images: rows whose images in feature space are nearest to the points that given scores stand for.

Fixed-point iteration (Mika et al. 1999) for Gaussian kernels, kernel ridge regression (Bakır et al. 2004) for any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.kernels import Kernel, rbf
from lowdim.kernels._row_blocks import PreparedRows, RowPairs
from lowdim.linalg.row_products import row_products
from lowdim.runtime.blas import single_blas
from lowdim.runtime.progress import report
from lowdim.runtime.threads import interruptible

__all__ = ["MAX_STEPS", "FeatureSpacePoints", "pre_images"]

Array = NDArray[np.float64]

MAX_STEPS = 1000
REL_TOL = 1e-9  # the iteration stops at steps below this fraction of the range of the rows
REPORTED_TOL = 1e-5  # a last step above this fraction of the range is reported as not converged
MIN_WEIGHT = 1e-3  # of the weights' absolute sum: a smaller denominator is mostly rounding error
BLOCK = 256  # scores at a time
RIDGE_ROWS = 2000  # rows that the regression is fitted to


@dataclass(frozen=True)
class FeatureSpacePoints:
    """Fitted rows, their scores, and the components as combinations of their images."""

    rows: Array  # (n, d)
    scores: Array  # (n, k)
    alphas: Array  # (n, k)
    mean_weights: Array  # (n,): the mean in feature space as a combination of images


def pre_images(Z: Array, fitted: FeatureSpacePoints, kernel: Kernel, method: str, alpha: float) -> tuple[Array, int]:
    """Pre-images of scores, and how many did not converge; "auto" takes the fixed point for Gaussian kernels."""
    if isinstance(kernel, rbf) and method != "ridge":
        return _fixed_point(Z, fitted, float(kernel.gamma))
    if method == "fixed_point":
        raise BadParameter(f"pre_image='fixed_point' needs the rbf kernel; got {kernel!r}. Use 'ridge'.")
    return _ridge_regression(Z, fitted, alpha), 0


def _fixed_point(Z: Array, fitted: FeatureSpacePoints, gamma: float) -> tuple[Array, int]:
    """Fixed-point iteration for a Gaussian kernel.

        x ← Σ cᵢ k(x, xᵢ) xᵢ / Σ cᵢ k(x, xᵢ)

    with the coefficients c of the point of feature space that the scores stand for. It starts from the fitted row of
    the nearest scores. A row whose denominator vanishes stays where it is.
    """
    rows, kernel = PreparedRows(fitted.rows), rbf(gamma)
    extent = np.ptp(fitted.rows, axis=0).max(initial=0.0)
    parts, unconverged = [], 0
    with single_blas():
        for start in range(0, len(Z), BLOCK):
            z = Z[start : start + BLOCK]
            coefficients = row_products(z, fitted.alphas.T) + fitted.mean_weights
            x = fitted.rows[_nearest(z, fitted.scores)]
            active, size = np.arange(len(z)), np.zeros(len(z))
            for _ in range(MAX_STEPS):
                new = PreparedRows(x[active], rows.origin)
                weights = coefficients[active] * kernel.evaluate(RowPairs(new, rows))
                total = weights.sum(axis=1, keepdims=True)
                stable = total > MIN_WEIGHT * np.abs(weights).sum(axis=1, keepdims=True)
                means = row_products(weights, fitted.rows) / np.where(stable, total, 1)
                step = np.where(stable, means - x[active], 0)
                x[active] += step
                size[active] = np.abs(step).max(axis=1, initial=0.0)
                active = active[size[active] > REL_TOL * extent]
                if not len(active):
                    break
            parts.append(x)
            unconverged += int((size > REPORTED_TOL * extent).sum())
            report("pre-images", min(start + BLOCK, len(Z)), len(Z))
    return np.concatenate(parts), unconverged


def _ridge_regression(Z: Array, fitted: FeatureSpacePoints, alpha: float) -> Array:
    """Kernel ridge regression of the fitted rows on their scores."""
    step = -(-len(fitted.rows) // RIDGE_ROWS)
    scores, targets = np.ascontiguousarray(fitted.scores[::step]), fitted.rows[::step]
    kernel = rbf("median").resolve(scores)
    inputs, mean = PreparedRows(scores), targets.mean(axis=0)
    K = kernel.evaluate(RowPairs(inputs, inputs))
    K[np.diag_indices(len(K))] += alpha
    try:
        factor = interruptible(lambda: scipy.linalg.cho_factor(K, check_finite=False))
    except scipy.linalg.LinAlgError as error:
        raise BadParameter(
            f"alpha={alpha:g} is too small a ridge for these scores, some of which are nearly equal. Raise alpha."
        ) from error
    with single_blas():
        weights = scipy.linalg.cho_solve(factor, targets - mean, check_finite=False)
        return row_products(kernel.evaluate(RowPairs(PreparedRows(Z, inputs.origin), inputs)), weights) + mean


def _nearest(z: Array, scores: Array) -> NDArray[np.int64]:
    """Index of the nearest fitted scores, (m,)."""
    fitted = PreparedRows(scores)
    return RowPairs(PreparedRows(z, fitted.origin), fitted).squared_distances.argmin(axis=1)
