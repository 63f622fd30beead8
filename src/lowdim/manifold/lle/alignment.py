"""How patches are laid side by side: one small positive semidefinite block a patch, for each of four ways.

    M = Σᵢ Sᵢ Bᵢ Sᵢᵀ,   Sᵢ picks the members of patch i: the row itself, then its k neighbours

tr(ZᵀMZ) says how far the map Z is from keeping what each patch holds. Every Bᵢ sends constants to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.linalg.components import by_component, pack_components, submatrix
from lowdim.linalg.sparse_eigen import EigenOptions, smallest_eigenpairs
from lowdim.manifold.lle.patches import NOISE, Patches, add_blocks

__all__ = ["ALIGNMENTS", "Aligned", "align", "hessian", "ltsa", "modified", "standard"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

DEPENDENT = 1e-6  # what is left of a column after the others, as a share of it, at which it says nothing new


@dataclass(frozen=True)
class Aligned:
    """The map (n, k), the eigenvalues of every piece (c, k), and how those of the largest were found."""

    Z: Floats
    values: Floats
    solver: str


def align(patches: Patches, labels: Array, d: int, method: str, reg: float, options: EigenOptions) -> Aligned:
    """The d smoothest coordinates of every connected piece, which `labels` (n,) names, after the constant one.

    A single piece has columns of length one. Several are laid side by side, sized by their share of the rows.
    """
    M = add_blocks(patches.members, ALIGNMENTS[method](patches, d, reg), patches.threads)
    root = patches.root(reg) if method == "standard" else None
    solvers: dict[int, str] = {}

    def solve(rows: Array, most: int) -> tuple[Array, Array]:
        part = None if root is None else submatrix(root, rows)
        found = smallest_eigenpairs(submatrix(M, rows), most, np.ones(len(rows)), options, factor=part)
        solvers.setdefault(len(rows), found.solver)
        return found.values, found.vectors

    Z, values = by_component(labels, d, solve)
    sizes = np.bincount(labels)
    if len(sizes) > 1:
        Z = pack_components(Z * np.sqrt(sizes[labels])[:, None], labels)[0] / np.sqrt(len(labels))
    return Aligned(Z, values, solvers[max(solvers)])


def standard(patches: Patches, d: int, reg: float) -> Floats:
    """A row is the weighted mean of its neighbours (Roweis and Saul 2000): B = v vᵀ, v = (1, -w)."""
    v = np.column_stack([np.ones(patches.n), -patches.weights(reg)])
    return np.asarray(v[:, :, None] * v[:, None, :])


def modified(patches: Patches, d: int, reg: float) -> Floats:
    """Many weights instead of one (Zhang and Wang 2007): s of them a patch, from the flat directions V of G.

    The weights are W = V H + (1 - α) w 1ᵀ, with the reflection H that takes v = Vᵀ1 to α1. Only W Wᵀ and W 1 enter,
    and as H is orthogonal and H 1 = v / α, neither needs H itself.
    """
    values, vectors = patches.spectra()
    s, flat = _flat_directions(np.maximum(values, 0), d)
    V = vectors * flat[:, None, :]  # (n, k, k), zero outside the flat directions
    v = V.sum(axis=1)  # Vᵀ1
    alpha = np.linalg.norm(v, axis=1) / np.sqrt(s)
    along = np.einsum("nab,nb->na", V, v)
    along /= np.where(alpha > 1e-12, alpha, np.inf)[:, None]  # V H 1; without a direction none is preferred
    w, rest = patches.weights(reg), (1 - alpha)[:, None]
    total = along + rest * s[:, None] * w  # W 1
    cross = rest[:, :, None] * (along[:, :, None] * w[:, None, :])
    B = np.empty((patches.n, patches.k + 1, patches.k + 1))
    B[:, 0, 0] = s
    B[:, 0, 1:] = B[:, 1:, 0] = -total
    B[:, 1:, 1:] = V @ V.transpose(0, 2, 1) + cross + cross.transpose(0, 2, 1)
    B[:, 1:, 1:] += (rest**2 * s[:, None])[:, :, None] * (w[:, :, None] * w[:, None, :])
    return B


def ltsa(patches: Patches, d: int, reg: float) -> Floats:
    """Every patch is its tangent plane (Zhang and Zha 2004): B takes constants and local coordinates U off.

    B = I - 11ᵀ/p - U Uᵀ. The row itself is a member, so that no row is left out of all patches.
    """
    U = patches.coordinates(d)
    p = patches.k + 1
    return np.asarray(np.eye(p) - 1 / p - U @ U.transpose(0, 2, 1))


def hessian(patches: Patches, d: int, reg: float) -> Floats:
    """No curvature (Donoho and Grimes 2003): B = H Hᵀ + reg R, where H takes second derivatives on the tangent plane.

    H is what the products of two local coordinates add to constants and the coordinates themselves. Second
    derivatives of smooth filters do not see what jumps from row to row; R, all that is left of the patch, does.
    """
    U = patches.coordinates(d)
    n, p = U.shape[:2]
    first, second = np.triu_indices(d)
    flat = np.concatenate([np.full((n, p, 1), p**-0.5), U], axis=2)
    H = _beyond(U[:, :, first] * U[:, :, second], flat)
    known = np.concatenate([flat, H], axis=2)
    rest = np.eye(p) - known @ known.transpose(0, 2, 1)
    return np.asarray(H @ H.transpose(0, 2, 1) + reg * rest)


ALIGNMENTS: dict[str, Callable[[Patches, int, float], Floats]] = {
    "standard": standard,
    "modified": modified,
    "hessian": hessian,
    "ltsa": ltsa,
}


def _beyond(columns: Floats, known: Floats) -> Floats:
    """Orthonormal columns for what `columns` (n, p, m) add to `known` (n, p, q) in every patch; 0 for what is old."""
    found = known
    for j in range(columns.shape[2]):
        column = columns[:, :, j : j + 1]
        size = np.linalg.norm(column, axis=1, keepdims=True)
        for _ in range(2):  # the second time takes off what rounding left
            column = column - found @ (found.transpose(0, 2, 1) @ column)
        left = np.linalg.norm(column, axis=1, keepdims=True)
        new = left > DEPENDENT * size
        found = np.concatenate([found, np.where(new, column / np.where(new, left, 1), 0)], axis=2)
    return found[:, :, known.shape[2] :]


def _flat_directions(values: Floats, d: int) -> tuple[Floats, NDArray[np.bool_]]:
    """How many of the smallest eigenvalues of each patch are flat, (n,), and which, (n, k).

    As many as are together below η times the others, at most k - d and at least one; η is the median over the
    patches of what lies outside the d widest directions.
    """
    k = values.shape[1]
    kept = np.cumsum(values, axis=1)[:, :-1]  # by the widest 1, 2, … k - 1 directions
    left = np.cumsum(values[:, ::-1], axis=1)[:, ::-1][:, 1:]
    ratio = left / np.where(kept > 0, kept, 1)  # (n, k - 1)
    enough = ratio[:, d - 1 :] <= max(float(np.median(ratio[:, d - 1])), NOISE)
    s = np.clip(enough.sum(axis=1), 1, k - d)
    return s.astype(np.float64), np.arange(k) >= k - s[:, None]
