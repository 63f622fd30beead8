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
from lowdim.data.fold import fold
from lowdim.data.rows import ArrayRows, Block, Chunk, Rows
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
    """Rows of mean zero and covariance I, and the passes over them: in memory, or made again in every pass."""

    Z: Rows  # (n, k)
    weights: Array | None  # (n,)
    threads: int

    def contrast(self, W: Array, fun: str) -> ContrastMoments:
        """The moments of a contrast for the sources W z, W (m, k)."""
        unmixing = np.ascontiguousarray(W, dtype=self.Z.dtype)
        n = self.Z.count if self.weights is None else float(self.weights.sum())
        found = self._sums(unmixing, CONTRASTS.index(fun)) / n
        cross, sums = _parts(found, unmixing.shape)
        return ContrastMoments(cross, sums[:, 0], sums[:, 1], sums[:, 2])

    def excess_kurtosis(self, W: Array) -> Array:
        """E[y⁴] - 3 of sources of unit variance, (m,): y⁴ = ψ(y) y for the contrast "cube"."""
        return np.einsum("ij,ij->i", self.contrast(W, "cube").cross, W) - 3

    def _sums(self, unmixing: NDArray[Any], contrast: int) -> Array:
        """One native pass over rows in memory; else a fold, which sums the same blocks along the same tree."""
        weights, size = self.weights, self.Z.chunk_rows

        def sums_of(Z: NDArray[Any], w: Array | None, threads: int) -> Array:
            out = np.empty(len(unmixing) * (unmixing.shape[1] + 3))
            _native.ica_pass(Z, unmixing, w, contrast, *_parts(out, unmixing.shape), size, threads)
            return out

        if isinstance(self.Z, ArrayRows):
            return sums_of(self.Z.X, weights, self.threads)

        def summarize(chunk: Chunk, block: Block) -> Array:
            return sums_of(block, None if weights is None else weights[chunk.start : chunk.stop], 1)

        return fold(self.Z, summarize, lambda a, b: np.add(a, b, out=a), self.threads, "ICA pass")


@dataclass(frozen=True)
class Unmixing:
    """W (k, k) of y = W z, and how it was found."""

    W: Array
    n_iter: int
    converged: bool


def _parts(sums: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Views of the sums of a pass: Σ w ψ(y) zᵀ (m, k), and Σ w ψ', Σ w ψ' y², Σ w ρ (m, 3)."""
    m, k = shape
    return sums[: m * k].reshape(m, k), sums[m * k :].reshape(m, 3)


def nearest_orthogonal(A: Array) -> Array:
    """(A Aᵀ)^(-1/2) A, the orthogonal matrix nearest to A: symmetric decorrelation."""
    U, _, V = interruptible(lambda: lapack.svd(A))
    return U @ V


def random_rotation(k: int, seed: int, stream: int = 0) -> Array:
    """A random orthogonal matrix (k, k)."""
    return nearest_orthogonal(normal((k, k), seed, stream))
