"""The slowest waves on a weighted graph: eigenvectors of its Laplacian, one component at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.linalg.components import by_component, submatrix
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.linalg.sparse_eigen import EigenOptions, smallest_eigenpairs

__all__ = ["Waves", "extended", "slowest_waves"]

Array = NDArray[Any]

TOL = 5e-7  # of the residuals, relative to the eigenvalue, which feels them squared


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
    options = EigenOptions("auto", TOL, seed, threads)
    return Waves(*by_component(labels, k, lambda rows, most: _waves(submatrix(W, rows), form, most, options)))


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


def _waves(W: sp.csr_array, form: str, k: int, options: EigenOptions) -> tuple[Array, Array]:
    n = W.shape[0]
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if form == "unnormalized":
        found = smallest_eigenpairs(sp.csr_array(sp.diags_array(degrees) - W), k, np.ones(n), options)
        return found.values, found.vectors * np.sqrt(n)
    roots = np.sqrt(degrees)
    inverse = sp.diags_array(1 / roots)
    found = smallest_eigenpairs(sp.csr_array(sp.eye_array(n) - inverse @ W @ inverse), k, roots, options, high=2.0)
    values = np.minimum(found.values, 2)
    if form == "symmetric":
        return values, found.vectors * np.sqrt(n)
    return values, fix_signs(found.vectors * (np.linalg.norm(roots) / roots)[:, None])
