"""Whitening by the within-class covariance S of standardized columns: a factor F with FᵀSF = I and FFᵀ = S⁺.

What the rows do not determine, the null space of S, is left out: F lies in the range of S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.linalg import lapack
from lowdim.linalg.dense_eigen import eigh, orthonormal
from lowdim.runtime.threads import interruptible

__all__ = ["CholeskyWhitening", "SpectralWhitening", "WithinWhitening", "cholesky_whitening", "whiten_covariance"]

Array = NDArray[np.float64]

MARGIN = 4.0  # the condition estimate of LAPACK is within a factor of three in practice


class WithinWhitening(Protocol):
    """The factor F (d, r) as two products."""

    @property
    def rank(self) -> int:
        """The rank of S."""

    def whiten(self, M: Array) -> Array:
        """M F, (K, r)."""

    def unwhiten(self, V: Array) -> Array:
        """F V, (d, k)."""

    def outside(self, M: Array) -> Array:
        """The part of M (K, d) in the null space of S, which whitening leaves out, (K, d)."""


@dataclass(frozen=True)
class CholeskyWhitening:
    """S = L Lᵀ on r columns that the others depend on: F = (I - NNᵀ) [L⁻ᵀ; 0], with N the null space of S."""

    L: Array  # (r, r) lower triangular
    columns: NDArray[np.int32]  # (r,)
    null: Array  # (d, d - r) orthonormal
    smallest: float  # a lower estimate of the smallest eigenvalue other than zero

    @property
    def rank(self) -> int:
        return len(self.L)

    def whiten(self, M: Array) -> Array:
        inside = (M - self.outside(M))[:, self.columns]
        return np.ascontiguousarray(scipy.linalg.solve_triangular(self.L, inside.T, lower=True).T)

    def unwhiten(self, V: Array) -> Array:
        out = np.zeros((len(self.null), V.shape[1]))
        out[self.columns] = scipy.linalg.solve_triangular(self.L, V, lower=True, trans="T")
        return out - self.null @ (self.null.T @ out)

    def outside(self, M: Array) -> Array:
        return (M @ self.null) @ self.null.T


@dataclass(frozen=True)
class SpectralWhitening:
    """S = V Λ Vᵀ + ρ (I - VVᵀ): F = V Λ^-½ for ρ = 0, else the symmetric inverse root of S."""

    vectors: Any  # (d, r) orthonormal: an array, or a linear operator
    values: Array  # (r,)
    rest: float = 0.0  # ρ, the eigenvalue of every other direction, which shrinkage lifts above zero

    @property
    def rank(self) -> int:
        return self.vectors.shape[1] if self.rest == 0 else self.vectors.shape[0]

    def whiten(self, M: Array) -> Array:
        coordinates = M @ self.vectors
        if self.rest == 0:
            return np.asarray(coordinates / np.sqrt(self.values))
        # V (Λ^-½ - ρ^-½) Vᵀ M + ρ^-½ M
        return coordinates * (1 / np.sqrt(self.values) - 1 / np.sqrt(self.rest)) @ self.vectors.T + M / np.sqrt(
            self.rest
        )

    def unwhiten(self, V: Array) -> Array:
        if self.rest == 0:
            return np.asarray(self.vectors @ (V / np.sqrt(self.values)[:, None]))
        return self.whiten(V.T).T

    def outside(self, M: Array) -> Array:
        return np.asarray(M - (M @ self.vectors) @ self.vectors.T) if self.rest == 0 else np.zeros_like(M)


def whiten_covariance(S: Array, tol: float, rounding: float) -> WithinWhitening:
    """Whitening by a matrix S (d, d); eigenvalues of at most `tol` count as zero.

    Pivoted Cholesky decomposition, unless an eigenvalue is so near to `tol` that only the eigenvalues tell on which
    side it is. Pivots of at most `rounding` can't be told from zero.
    """
    factor = _cholesky(S, max(tol, rounding), rounding)
    if factor is not None:
        return factor
    values, vectors = eigh(S)
    kept = values > max(tol, rounding * float(values[-1]))
    return SpectralWhitening(np.ascontiguousarray(vectors[:, kept]), values[kept])


def _cholesky(S: Array, tol: float, rounding: float) -> CholeskyWhitening | None:
    """The whitening by pivoted Cholesky decomposition; None if the rank is in doubt."""
    L, order, rank = interruptible(lambda: lapack.pivoted_cholesky(S, rounding))
    if rank == 0:
        return None
    top, below = np.ascontiguousarray(L[:rank]), L[rank:]
    norm = float(np.abs(S).sum(axis=0).max())
    reciprocal, _ = scipy.linalg.lapack.dpocon(top, norm, uplo="L")
    if reciprocal * norm <= MARGIN * tol:
        return None
    null = np.zeros((len(S), len(S) - rank))
    if len(below):  # S N = 0 for N = [-L⁻ᵀ belowᵀ; I]
        null[order[:rank]] = -scipy.linalg.solve_triangular(top, below.T, lower=True, trans="T")
        null[order[rank:]] = np.eye(len(below))
        null = orthonormal(null)
    return CholeskyWhitening(top, order[:rank], null, reciprocal * norm)


def cholesky_whitening(S: Array) -> CholeskyWhitening:
    """Whitening by a positive definite matrix, as shrinkage makes it."""
    d = len(S)
    L = interruptible(lambda: np.asarray(np.linalg.cholesky(S), dtype=np.float64))
    return CholeskyWhitening(L, np.arange(d, dtype=np.int32), np.zeros((d, 0)), float(np.diagonal(L).min()) ** 2)
