"""Alignment of local neighborhoods: one small positive semidefinite block per neighborhood, in four variants.

    M = Σᵢ Sᵢ Bᵢ Sᵢᵀ,   Sᵢ selects the members of neighborhood i: the row itself, then its k neighbors

tr(ZᵀMZ) says how far the embedding Z is from preserving what each neighborhood holds. Every Bᵢ annihilates constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.linalg.components import by_component, pack_components, submatrix
from lowdim.linalg.sparse_eigen import EigenOptions, smallest_eigenpairs
from lowdim.manifold.lle.neighborhoods import ROUNDING, Neighborhoods, sum_of_blocks

__all__ = ["ALIGNMENTS", "AlignedEmbedding", "align", "hessian", "ltsa", "modified", "standard"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

DEPENDENT = 1e-6  # a column whose relative remainder after the others is below this is linearly dependent


@dataclass(frozen=True)
class AlignedEmbedding:
    """The embedding (n, d), the eigenvalues per connected component (c, d), and the solver of the largest one."""

    Z: Floats
    values: Floats
    solver: str


def align(
    neighborhoods: Neighborhoods, labels: Array, d: int, method: str, reg: float, options: EigenOptions
) -> AlignedEmbedding:
    """The d eigenvectors of M with the smallest eigenvalues after the constant one, per connected component.

    `labels` (n,) names the components. A single one has columns of norm one; several are packed side by side, scaled
    by √ of their share of the rows.
    """
    blocks = ALIGNMENTS[method](neighborhoods, d, reg)
    M = sum_of_blocks(neighborhoods.members, blocks, neighborhoods.threads)
    factor = neighborhoods.residual_operator(reg) if method == "standard" else None  # M = (I - W)ᵀ(I - W)
    solvers: dict[int, str] = {}

    def solve(rows: Array, most: int) -> tuple[Array, Array]:
        part = None if factor is None else submatrix(factor, rows)
        found = smallest_eigenpairs(submatrix(M, rows), most, np.ones(len(rows)), options, factor=part)
        solvers.setdefault(len(rows), found.solver)
        return found.values, found.vectors

    Z, values = by_component(labels, d, solve)
    sizes = np.bincount(labels)
    if len(sizes) > 1:
        Z = pack_components(Z * np.sqrt(sizes[labels])[:, None], labels)[0] / np.sqrt(len(labels))
    return AlignedEmbedding(Z, values, solvers[max(solvers)])


def standard(neighborhoods: Neighborhoods, d: int, reg: float) -> Floats:
    """Standard LLE (Roweis and Saul 2000): B = v vᵀ, v = (1, -w), w the reconstruction weights."""
    v = np.column_stack([np.ones(neighborhoods.n), -neighborhoods.weights(reg)])
    return np.asarray(v[:, :, None] * v[:, None, :])


def modified(neighborhoods: Neighborhoods, d: int, reg: float) -> Floats:
    """Modified LLE (Zhang and Wang 2007): s weight vectors per neighborhood, from the nearly null space V of G.

    The weights are W = V H + (1 - α) w 1ᵀ, with the Householder reflection H that takes v = Vᵀ1 to α1. Only W Wᵀ and
    W 1 enter, and as H is orthogonal and H 1 = v / α, neither needs H itself.
    """
    values, vectors = neighborhoods.eigenpairs()
    s, in_null_space = _nearly_null_space(np.maximum(values, 0), d)
    V = vectors * in_null_space[:, None, :]  # (n, k, k), zero outside the null space
    v = V.sum(axis=1)  # Vᵀ1
    alpha = np.linalg.norm(v, axis=1) / np.sqrt(s)
    along = np.einsum("nab,nb->na", V, v)
    along /= np.where(alpha > 1e-12, alpha, np.inf)[:, None]  # V H 1; without a direction none is preferred
    w, rest = neighborhoods.weights(reg), (1 - alpha)[:, None]
    total = along + rest * s[:, None] * w  # W 1
    cross = rest[:, :, None] * (along[:, :, None] * w[:, None, :])
    B = np.empty((neighborhoods.n, neighborhoods.k + 1, neighborhoods.k + 1))
    B[:, 0, 0] = s
    B[:, 0, 1:] = B[:, 1:, 0] = -total
    B[:, 1:, 1:] = V @ V.transpose(0, 2, 1) + cross + cross.transpose(0, 2, 1)
    B[:, 1:, 1:] += (rest**2 * s[:, None])[:, :, None] * (w[:, :, None] * w[:, None, :])
    return B


def ltsa(neighborhoods: Neighborhoods, d: int, reg: float) -> Floats:
    """Local tangent space alignment (Zhang and Zha 2004): B = I - 11ᵀ/p - U Uᵀ, U the tangent coordinates.

    The row itself is a member, so that every row belongs to some neighborhood.
    """
    U = neighborhoods.tangent_coordinates(d)
    p = neighborhoods.k + 1
    return np.asarray(np.eye(p) - 1 / p - U @ U.transpose(0, 2, 1))


def hessian(neighborhoods: Neighborhoods, d: int, reg: float) -> Floats:
    """Hessian LLE (Donoho and Grimes 2003): B = H Hᵀ + reg R, H the Hessian estimator on the tangent space.

    H spans what the products of two tangent coordinates add to constants and the coordinates themselves. It does not
    see functions that oscillate from row to row; R, the projector onto the rest of the neighborhood, does.
    """
    U = neighborhoods.tangent_coordinates(d)
    n, p = U.shape[:2]
    first, second = np.triu_indices(d)
    linear = np.concatenate([np.full((n, p, 1), p**-0.5), U], axis=2)
    H = _orthonormal_additions(U[:, :, first] * U[:, :, second], linear)
    quadratic = np.concatenate([linear, H], axis=2)
    rest = np.eye(p) - quadratic @ quadratic.transpose(0, 2, 1)
    return np.asarray(H @ H.transpose(0, 2, 1) + reg * rest)


ALIGNMENTS: dict[str, Callable[[Neighborhoods, int, float], Floats]] = {
    "standard": standard,
    "modified": modified,
    "hessian": hessian,
    "ltsa": ltsa,
}


def _orthonormal_additions(columns: Floats, known: Floats) -> Floats:
    """Gram-Schmidt of `columns` (n, p, m) against `known` (n, p, q) per neighborhood; 0 for dependent columns."""
    found = known
    for j in range(columns.shape[2]):
        column = columns[:, :, j : j + 1]
        size = np.linalg.norm(column, axis=1, keepdims=True)
        for _ in range(2):  # the second pass removes what rounding left
            column = column - found @ (found.transpose(0, 2, 1) @ column)
        left = np.linalg.norm(column, axis=1, keepdims=True)
        new = left > DEPENDENT * size
        found = np.concatenate([found, np.where(new, column / np.where(new, left, 1), 0)], axis=2)
    return found[:, :, known.shape[2] :]


def _nearly_null_space(values: Floats, d: int) -> tuple[Floats, NDArray[np.bool_]]:
    """The dimension s of the nearly null space of each Gram matrix, (n,), and which eigenvectors span it, (n, k).

    As many of the smallest eigenvalues as are together below η times the others, at most k - d and at least one; η is
    the median over the neighborhoods of that ratio for the d largest directions.
    """
    k = values.shape[1]
    kept = np.cumsum(values, axis=1)[:, :-1]  # of the largest 1, 2, … k - 1
    left = np.cumsum(values[:, ::-1], axis=1)[:, ::-1][:, 1:]
    ratio = left / np.where(kept > 0, kept, 1)  # (n, k - 1)
    enough = ratio[:, d - 1 :] <= max(float(np.median(ratio[:, d - 1])), ROUNDING)
    s = np.clip(enough.sum(axis=1), 1, k - d)
    return s.astype(np.float64), np.arange(k) >= k - s[:, None]
