"""The slowest waves on a weighted graph: eigenvectors of its Laplacian, one component at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.solve.eigen import fix_signs
from lowdim.solve.smallest import smallest

__all__ = ["Waves", "extended", "side_by_side", "slowest_waves"]

Array = NDArray[Any]

TOL = 1e-8  # of the residuals, which eigenvalues feel squared
GAP = 0.5  # between components laid side by side, in units of a coordinate's spread


@dataclass(frozen=True)
class Waves:
    """Coordinates (n, k) of the rows, each component by itself, and eigenvalues (c, k) of every component."""

    Z: NDArray[np.float64]
    values: NDArray[np.float64]


def slowest_waves(W: sp.csr_array, labels: Array, form: str, k: int, seed: int, threads: int) -> Waves:
    """The k slowest waves of every component, without the constant one.

    They have mean square 1 over the rows of their component (for random walks, weighted by their degrees), so that the
    constant wave would be 1 everywhere. A component of fewer than k + 1 rows has fewer; the others are 0.
    """
    pieces = int(labels.max(initial=-1)) + 1
    Z, values = np.zeros((W.shape[0], k)), np.zeros((pieces, k))
    for c in range(pieces):
        rows = np.flatnonzero(labels == c) if pieces > 1 else np.arange(W.shape[0])
        most = min(k, len(rows) - 1)
        if most < 1:
            continue
        part = W[rows][:, rows] if pieces > 1 else W
        values[c, :most], Z[rows, :most] = _waves(part, form, most, seed, threads)
    return Waves(Z, values)


def side_by_side(Z: Array, labels: Array) -> tuple[Array, NDArray[np.float64]]:
    """Components laid out along the first axis, their size by their share of the rows; also where each begins (c,)."""
    pieces = int(labels.max(initial=-1)) + 1
    offsets = np.zeros(pieces)
    if pieces <= 1:
        return Z, offsets
    share = np.sqrt(np.bincount(labels) / len(labels))
    Z = Z * share[labels, None]
    edge = 0.0
    for c in range(pieces):
        first = Z[labels == c, 0]
        offsets[c] = edge - float(first.min())
        edge += float(first.max() - first.min()) + GAP * float(share[c])
    Z[:, 0] += offsets[labels]
    return Z, offsets


def extended(weights: Array, Z: Array, scale: Array, values: Array, form: str, least: float) -> NDArray[np.float64]:
    """Coordinates of new rows from those of their neighbours (Nyström), (m, k).

    weights (m, s) to neighbours whose coordinates are Z (m, s, k) and degrees `scale` (m, s); values (m, k).
    A row of the fit with its own weights is sent to itself, because W z = (1 - λ) D z, or W z = (D - λ) z. The
    divisor is held to `least` times the degree: a wave that nearly dies in one step can't be continued.
    """
    degrees = weights.sum(axis=1)[:, None]  # (m, 1)
    if form == "symmetric":
        weights = weights * np.sqrt(degrees / scale)
    sums = np.einsum("ms,msk->mk", weights, Z)
    divisor = degrees - values if form == "unnormalized" else degrees * (1 - values)
    floor = least * degrees
    return np.asarray(sums / np.where(np.abs(divisor) < floor, np.copysign(floor, divisor), divisor))


def _waves(W: sp.csr_array, form: str, k: int, seed: int, threads: int) -> tuple[Array, Array]:
    n = W.shape[0]
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if form == "unnormalized":
        null, upper = np.full((n, 1), n**-0.5), 2 * float(degrees.max())
        found = smallest(sp.csr_array(sp.diags_array(degrees) - W), k, null, upper, TOL, seed, threads)
        return np.maximum(found.values, 0), found.vectors * np.sqrt(n)
    roots = np.sqrt(degrees)
    inverse = sp.diags_array(1 / roots)
    A = sp.csr_array(sp.eye_array(n) - inverse @ W @ inverse)
    found = smallest(A, k, (roots / np.linalg.norm(roots))[:, None], 2.0, TOL, seed, threads)
    values = np.clip(found.values, 0, 2)
    if form == "symmetric":
        return values, found.vectors * np.sqrt(n)
    return values, fix_signs(found.vectors * (np.linalg.norm(roots) / roots)[:, None])
