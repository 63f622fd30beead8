"""Contrasts of ICA: expectations over whitened rows, from one native pass.

A contrast ρ measures how far a source is from Gaussian. ψ = ρ' is its score:

| fun     | ρ(y)          | ψ(y)            |
|---------|---------------|-----------------|
| logcosh | log cosh y    | tanh y          |
| exp     | -exp(-y² / 2) | y exp(-y² / 2)  |
| cube    | y⁴ / 4        | y³              |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.linalg import lapack
from lowdim.runtime.random import normal
from lowdim.runtime.threads import interruptible

__all__ = ["CONTRASTS", "ContrastMoments", "Unmixing", "WhitenedRows", "nearest_orthogonal", "random_rotation"]

Array = NDArray[np.float64]

CONTRASTS = ("logcosh", "exp", "cube")


@dataclass(frozen=True)
class ContrastMoments:
    """Expectations over the rows, for sources y = W z."""

    cross: Array  # (m, k) E[ψ(y) zᵀ]
    slope: Array  # (m,) E[ψ'(y)]
    curvature: Array  # (m,) E[ψ'(y) y²]
    value: Array  # (m,) E[ρ(y)]


@dataclass(frozen=True)
class WhitenedRows:
    """Rows of mean zero and covariance I."""

    Z: NDArray[Any]  # (n, k)
    weights: Array | None  # (n,)
    threads: int

    def contrast(self, W: Array, fun: str) -> ContrastMoments:
        """The moments of a contrast for the sources W z, W (m, k)."""
        m, k = W.shape
        cross, sums = np.empty((m, k)), np.empty((m, 3))
        unmixing = np.ascontiguousarray(W, dtype=self.Z.dtype)
        _native.ica_pass(self.Z, unmixing, self.weights, CONTRASTS.index(fun), cross, sums, self.threads)
        n = len(self.Z) if self.weights is None else float(self.weights.sum())
        sums /= n
        return ContrastMoments(cross / n, sums[:, 0], sums[:, 1], sums[:, 2])

    def excess_kurtosis(self, W: Array) -> Array:
        """E[y⁴] - 3 of sources of unit variance, (m,): y⁴ = ψ(y) y for the contrast "cube"."""
        return np.einsum("ij,ij->i", self.contrast(W, "cube").cross, W) - 3


@dataclass(frozen=True)
class Unmixing:
    """W (k, k) of y = W z, and how it was found."""

    W: Array
    n_iter: int
    converged: bool


def nearest_orthogonal(A: Array) -> Array:
    """(A Aᵀ)^(-1/2) A, the orthogonal matrix nearest to A: symmetric decorrelation."""
    U, _, V = interruptible(lambda: lapack.svd(A))
    return U @ V


def random_rotation(k: int, seed: int, stream: int = 0) -> Array:
    """A random orthogonal matrix (k, k)."""
    return nearest_orthogonal(normal((k, k), seed, stream))
