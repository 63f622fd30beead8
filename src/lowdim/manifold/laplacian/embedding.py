"""Spectral embedding: Laplacian eigenvectors with the smallest eigenvalues, and their Nyström extension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.linalg.components import by_component, submatrix
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.linalg.sparse_eigen import EigenOptions, smallest_eigenpairs

__all__ = ["LaplacianEmbedding", "laplacian_embedding", "nystrom_extension"]

Array = NDArray[Any]

TOL = 5e-7  # of the residuals, relative to the eigenvalue, whose error is their square


@dataclass(frozen=True)
class LaplacianEmbedding:
    """Coordinates (n, k) of the rows, each connected component by itself, and eigenvalues (c, k) per component."""

    Z: NDArray[np.float64]
    values: NDArray[np.float64]


def laplacian_embedding(
    W: sp.csr_array, labels: Array, form: str, k: int, seed: int, threads: int
) -> LaplacianEmbedding:
    """The k eigenvectors of every component with the smallest eigenvalues, without the constant one.

    They have mean square 1 over the rows of their component (for the random walk form, weighted by the degrees), so
    that the constant one would be 1 everywhere. A component of at most k rows has fewer; the others are 0.
    """
    options = EigenOptions("auto", TOL, seed, threads)
    return LaplacianEmbedding(
        *by_component(labels, k, lambda rows, most: _eigenvectors(submatrix(W, rows), form, most, options))
    )


def nystrom_extension(
    weights: Array, Z: Array, degrees: Array, values: Array, form: str, floor: float
) -> NDArray[np.float64]:
    """Coordinates of new rows from those of their neighbors by the Nyström formula, (m, k).

    weights (m, s) to neighbors with coordinates Z (m, s, k) and degrees (m, s); eigenvalues (m, k). A fitted row with
    its own weights is mapped to itself, because W z = (1 - λ) D z, or W z = (D - λ) z. The divisor is at least `floor`
    times the degree: an eigenvector with λ near 1 (or the degree) can't be extended.
    """
    own = weights.sum(axis=1)[:, None]  # (m, 1) degrees of the new rows
    if form == "symmetric":
        weights = weights * np.sqrt(own / degrees)
    sums = np.einsum("ms,msk->mk", weights, Z)
    divisor = own - values if form == "unnormalized" else own * (1 - values)
    least = floor * own
    return np.asarray(sums / np.where(np.abs(divisor) < least, np.copysign(least, divisor), divisor))


def _eigenvectors(W: sp.csr_array, form: str, k: int, options: EigenOptions) -> tuple[Array, Array]:
    """Eigenvalues (k,) and scaled eigenvectors (n, k) of the Laplacian of a connected graph, in one of its forms."""
    n = W.shape[0]
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if form == "unnormalized":
        found = smallest_eigenpairs(sp.csr_array(sp.diags_array(degrees) - W), k, np.ones(n), options)
        return found.values, found.vectors * np.sqrt(n)
    roots = np.sqrt(degrees)
    inverse = sp.diags_array(1 / roots)
    normalized = sp.csr_array(sp.eye_array(n) - inverse @ W @ inverse)
    found = smallest_eigenpairs(normalized, k, roots, options, high=2.0)
    values = np.minimum(found.values, 2)
    if form == "symmetric":
        return values, found.vectors * np.sqrt(n)
    return values, fix_signs(found.vectors * (np.linalg.norm(roots) / roots)[:, None])
