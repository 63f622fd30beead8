"""Points from distances: double centring in place, the largest eigenpairs, and Gower's formula for further points."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import BadInput, LowdimWarning
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_largest, fix_signs
from lowdim.linalg.dense_limits import GEODESIC_GRAM_ROWS, dense_is_faster

__all__ = ["Scaling", "residual_variance", "scaling_of"]

Array = NDArray[Any]

NOISE = 1e-6  # eigenvalues below this share of the largest are rounding errors of float32 distances
PLACE_VALUES = 1 << 22  # distances that are made double at a time
TOL, STEPS = 1e-7, 300  # of the iteration: relative residual, and most steps


@dataclass(frozen=True)
class Scaling:
    """A map of m points: eigenvalues (k,) of their Gram matrix, and what places others by their distances to them."""

    values: NDArray[np.float64]
    axes: NDArray[np.float64]  # (m, k): V Λ^-½ / 2
    means: NDArray[np.float64]  # (m,) of the squared distances of each point
    shift: NDArray[np.float64]  # (k,) taken off at the end

    def __post_init__(self) -> None:
        (m, k), parts = np.shape(self.axes), (self.values, self.axes, self.means, self.shift)
        fits = [np.shape(part) for part in parts] == [(k,), (m, k), (m,), (k,)]
        if not fits or not all(np.isfinite(part).all() for part in parts) or (self.values < 0).any():
            raise BadInput("the parts of a map by distances do not fit together; fit the model again.")

    def embedding(self) -> NDArray[np.float64]:
        """The points themselves, V Λ^½, (m, k)."""
        return np.asarray(self.axes * (2 * self.values))

    def place(self, distances: Array) -> NDArray[np.float64]:
        """Points at these distances (q, m) from the fitted ones (Gower): z = Λ^-½ Vᵀ (means - d²) / 2, (q, k)."""
        out = np.empty((len(distances), len(self.values)))
        directions = np.ascontiguousarray(self.axes.T)
        size = max(1, PLACE_VALUES // max(1, len(self.means)))
        for start in range(0, len(distances), size):
            part = np.ascontiguousarray(distances[start : start + size], dtype=np.float64)
            pulls = self.means - np.square(part)
            # The axes sum to zero, so this changes nothing but the rounding of what would cancel.
            pulls -= pulls.mean(axis=1, keepdims=True)
            # A product of its own for each point: one with a whole block would depend on how many there are.
            out[start : start + size] = np.vecdot(pulls[:, None, :], directions) - self.shift
        return out

    def turned(self, Z: Array) -> tuple[Scaling, NDArray[np.float64]]:
        """The same map with the placed points Z (n, k) centred and turned to their principal axes, and Z so."""
        centre = Z.mean(axis=0)
        rotation = eigh_largest((Z - centre).T @ (Z - centre)).vectors  # (k, k)
        turned = (Z - centre) @ rotation
        rotation = rotation * np.where((fix_signs(turned) == turned).all(axis=0), 1.0, -1.0)
        better = Scaling(self.values, self.axes @ rotation, self.means, centre @ rotation)
        return better, (Z - centre) @ rotation


def scaling_of(gram: NDArray[np.float32], means: NDArray[np.float64], k: int, seed: int, threads: int) -> Scaling:
    """The best map in k dimensions; directions without positive variance have eigenvalue 0."""
    n = len(gram)
    if dense_is_faster(n, k, GEODESIC_GRAM_ROWS):
        wide = gram.astype(np.float64)
        found = eigh_largest((wide + wide.T) / 2, k)
    else:
        found = _iterated(gram, k, seed, threads)
    values = np.where(found.values > NOISE * max(float(found.values[0]), 0.0), found.values, 0.0)
    if not found.converged and (values > 0).all():  # of directions that are not there, none can be found
        warnings.warn(
            f"{STEPS} steps of block Lanczos did not reach a residual of {TOL:g}: the last components may be rough. "
            "Ask for fewer components.",
            LowdimWarning,
            stacklevel=4,
        )
    vectors = found.vectors - found.vectors.mean(axis=0)
    return Scaling(values, vectors / np.where(values > 0, 2 * np.sqrt(values), np.inf), means, np.zeros(k))


def _iterated(gram: NDArray[np.float32], k: int, seed: int, threads: int) -> Eigenpairs:
    def apply(block: Array) -> Array:
        out = np.empty(block.shape)
        _native.gram_times(gram, np.ascontiguousarray(block), out, threads)
        return out

    return block_lanczos(apply, len(gram), k, tol=TOL, max_iter=STEPS, seed=seed)


def residual_variance(
    table: Callable[[slice], Array], own: Array, other: Array, factor: float, at: Array, Z: Array, threads: int
) -> NDArray[np.float64]:
    """1 - R² between distances and those on a map, with 1, 2 … k components, (k,).

    The squared distance from row i to column j is own[i] + other[j] + factor · table[i, j]; on the map they
    stand at at[i] and Z[j]. `table` gives float32 rows by slices.
    """
    k = Z.shape[1]
    sums = np.zeros(2 + 3 * k)
    turned = np.ascontiguousarray(Z.T, dtype=np.float64)
    for start in range(0, len(own), 256):
        part = slice(start, start + 256)
        out = np.empty((len(own[part]), 2 + 3 * k))
        rows, points = np.ascontiguousarray(table(part)), np.ascontiguousarray(at[part], dtype=np.float64)
        _native.pair_sums(rows, own[part], other, factor, points, turned, out, threads)
        sums += out.sum(axis=0)
    sums /= len(own) * len(other)
    e, ee, ge = sums[2:].reshape(k, 3).T
    spread, spread_on_map = sums[1] - sums[0] ** 2, ee - e**2
    both = spread * spread_on_map
    none = np.finfo(np.float64).eps * sums[1] * ee
    explained = np.where(both > none, (ge - sums[0] * e) ** 2 / np.where(both > none, both, 1.0), 0.0)
    return np.clip(1.0 - explained, 0.0, 1.0) if spread > 0 else np.zeros(k)
