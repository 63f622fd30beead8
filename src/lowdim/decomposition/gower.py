"""Classical scaling of a double-centered float32 matrix, and Gower's formula, which projects new rows onto it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import BadInput
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_largest, fix_signs
from lowdim.linalg.dense_limits import GEODESIC_GRAM_ROWS, dense_is_faster
from lowdim.runtime.warning import warn

__all__ = ["GowerProjection", "fit_gower_projection", "residual_variance"]

Array = NDArray[Any]

ROWS_AT_ONCE = 256  # of the residual variance
ROUNDING = 1e-6  # eigenvalues below this fraction of the largest are rounding errors of float32 distances
BLOCK_ENTRIES = 1 << 19  # distances that are converted to float64 at a time
TOL, MAX_STEPS = 1e-7, 300  # of block Lanczos: relative residual, steps


@dataclass(frozen=True)
class GowerProjection:
    """Classical scaling of m points, and the coefficients that project further points by their distances to them."""

    values: NDArray[np.float64]  # (k,) eigenvalues of the Gram matrix
    axes: NDArray[np.float64]  # (m, k): V Λ^-½ / 2
    means: NDArray[np.float64]  # (m,) mean squared distance of each point to all
    shift: NDArray[np.float64]  # (k,) subtracted at the end

    def __post_init__(self) -> None:
        (m, k), parts = np.shape(self.axes), (self.values, self.axes, self.means, self.shift)
        consistent = [np.shape(part) for part in parts] == [(k,), (m, k), (m,), (k,)]
        if not consistent or not all(np.isfinite(part).all() for part in parts) or (self.values < 0).any():
            raise BadInput("the parts of a Gower projection do not fit together; fit the model again.")

    def embedding(self) -> NDArray[np.float64]:
        """The m points themselves, V Λ^½, (m, k)."""
        return np.asarray(self.axes * (2 * self.values))

    def transform(self, distances: Array) -> NDArray[np.float64]:
        """Points at these distances (q, m) from the m points, by Gower's formula: Λ^-½ Vᵀ (means - d²) / 2, (q, k)."""
        out = np.empty((len(distances), len(self.values)))
        directions = np.ascontiguousarray(self.axes.T)
        size = max(1, BLOCK_ENTRIES // max(1, len(self.means)))
        for start in range(0, len(distances), size):
            part = np.ascontiguousarray(distances[start : start + size], dtype=np.float64)
            differences = self.means - np.square(part)
            # The axes sum to zero, so this changes only the rounding of what would cancel.
            differences -= differences.mean(axis=1, keepdims=True)
            # One product per point: the bits of a product with a whole block would depend on its size.
            out[start : start + size] = np.vecdot(differences[:, None, :], directions) - self.shift
        return out

    def rotated(self, Z: Array) -> tuple[GowerProjection, NDArray[np.float64]]:
        """The projection for which the projected points Z (n, k) are centered on their principal axes, and Z there."""
        center = Z.mean(axis=0)
        rotation = eigh_largest((Z - center).T @ (Z - center)).vectors  # (k, k)
        rotated = (Z - center) @ rotation
        rotation = rotation * np.where((fix_signs(rotated) == rotated).all(axis=0), 1.0, -1.0)
        projection = GowerProjection(self.values, self.axes @ rotation, self.means, center @ rotation)
        return projection, (Z - center) @ rotation


def fit_gower_projection(
    gram: NDArray[np.float32], means: NDArray[np.float64], k: int, seed: int, threads: int
) -> GowerProjection:
    """Classical scaling of a double-centered matrix; dimensions without positive variance have eigenvalue 0."""
    n = len(gram)
    if dense_is_faster(n, k, GEODESIC_GRAM_ROWS):
        wide = gram.astype(np.float64)
        found = eigh_largest((wide + wide.T) / 2, k)
    else:
        found = _lanczos(gram, k, seed, threads)
    values = np.where(found.values > ROUNDING * max(float(found.values[0]), 0.0), found.values, 0.0)
    if not found.converged and (values > 0).all():  # dimensions of eigenvalue 0 need not converge
        warn(
            f"block Lanczos did not converge within {MAX_STEPS} steps to a residual of {TOL:g}: the last components "
            "may be inaccurate. Ask for fewer components.",
        )
    vectors = found.vectors - found.vectors.mean(axis=0)
    axes = vectors / np.where(values > 0, 2 * np.sqrt(values), np.inf)
    return GowerProjection(values, axes, means, np.zeros(k))


def _lanczos(gram: NDArray[np.float32], k: int, seed: int, threads: int) -> Eigenpairs:
    def apply(block: Array) -> Array:
        out = np.empty(block.shape)
        _native.gram_times(gram, np.ascontiguousarray(block), out, threads)
        return out

    return block_lanczos(apply, len(gram), k, tol=TOL, max_iter=MAX_STEPS, seed=seed)


def residual_variance(
    table: Callable[[slice], Array], own: Array, other: Array, factor: float, at: Array, Z: Array, threads: int
) -> NDArray[np.float64]:
    """Residual variance 1 - R² between distances and those in the embedding, for 1, 2 … k components, (k,).

    The squared distance from row i to column j is own[i] + other[j] + factor · table[i, j]; in the embedding they
    are at at[i] and Z[j]. `table` gives float32 rows by slices.
    """
    k = Z.shape[1]
    sums = np.zeros(2 + 3 * k)
    columns = np.ascontiguousarray(Z.T, dtype=np.float64)
    size = max(1, min(ROWS_AT_ONCE, BLOCK_ENTRIES // len(other)))
    for start in range(0, len(own), size):
        part = slice(start, start + size)
        out = np.empty((len(own[part]), 2 + 3 * k))
        rows, points = np.ascontiguousarray(table(part)), np.ascontiguousarray(at[part], dtype=np.float64)
        _native.correlation_sums(rows, own[part], other, factor, points, columns, out, threads)
        sums += out.sum(axis=0)
    sums /= len(own) * len(other)
    e, ee, ge = sums[2:].reshape(k, 3).T
    variance, embedded_variance = sums[1] - sums[0] ** 2, ee - e**2
    both = variance * embedded_variance
    rounding = np.finfo(np.float64).eps * sums[1] * ee
    explained = np.where(both > rounding, (ge - sums[0] * e) ** 2 / np.where(both > rounding, both, 1.0), 0.0)
    return np.clip(1.0 - explained, 0.0, 1.0) if variance > 0 else np.zeros(k)
