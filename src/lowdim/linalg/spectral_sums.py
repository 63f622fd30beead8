"""The sum of the positive eigenvalues of a large symmetric operator that is only applied.

Its trace is known; the sum of absolute values (the nuclear norm) is estimated: large eigenvalues of either sign by a
block Krylov space, the bulk of small ones by stochastic Lanczos quadrature off it (Ubaru, Chen and Saad 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.linalg.block_lanczos import orthonormal_block
from lowdim.linalg.dense_eigen import eigh, symmetrized
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal

__all__ = ["sum_of_positive_eigenvalues"]

Array = NDArray[Any]

WIDTH = 16  # columns of a block, and random vectors of the quadrature
BLOCKS = 6  # of the Krylov space
STEPS = 16  # of the quadrature
REL_TOL = 1e-1  # of the residual of an eigenpair
STREAM = 11  # of the random draws


def sum_of_positive_eigenvalues(
    apply: Callable[[Array], Array], n: int, trace: float, rounding: float, seed: int
) -> float:
    """The sum of the positive eigenvalues, to about 2%; the trace itself if no negative eigenvalue is found.

    `apply(V)` is the operator times a block (n, 16) of vectors; eigenvalues above -rounding count as nonnegative.
    """
    large, basis = _large_eigenpairs(apply, n, seed)
    small, weights = _quadrature(apply, n, basis, seed)
    if large.min(initial=0.0) >= -rounding and small.min(initial=0.0) >= -rounding:
        return trace
    nuclear = float(np.abs(large).sum() + (np.abs(small) * weights).sum())
    return (trace + nuclear) / 2


def _large_eigenpairs(apply: Callable[[Array], Array], n: int, seed: int) -> tuple[Array, Array]:
    """Eigenvalues (q,) of either sign and vectors (n, q): the Ritz pairs of a block Krylov space that have converged.

    The others stay with the bulk: cut off from it, they would lose what the operator couples them by.
    """
    basis, images = np.empty((n, 0)), np.empty((n, 0))
    block = orthonormal_block(normal((n, min(n, WIDTH)), seed, stream=STREAM), basis)[0]
    for step in range(BLOCKS):
        if not block.shape[1]:
            break
        image = apply(block)
        basis, images = np.hstack([basis, block]), np.hstack([images, image])
        report("sum of eigenvalues", step + 1, BLOCKS + STEPS)
        block = orthonormal_block(image, basis)[0]
    values, inner = eigh(symmetrized(basis.T @ images))
    vectors = basis @ inner
    residuals = np.linalg.norm(images @ inner - vectors * values, axis=0)
    converged = residuals <= REL_TOL * np.abs(values)
    return values[converged], vectors[:, converged]


def _quadrature(apply: Callable[[Array], Array], n: int, basis: Array, seed: int) -> tuple[Array, Array]:
    """Nodes and weights, (STEPS, WIDTH) each: Σ w f(θ) estimates the trace of f of the operator off the basis."""
    free = n - basis.shape[1]
    diagonal, above = np.zeros((STEPS, WIDTH)), np.zeros((STEPS, WIDTH))
    if free == 0:
        return diagonal, above

    def off_basis(V: Array) -> Array:
        return V - basis @ (basis.T @ V)

    last, block = np.zeros((n, WIDTH)), off_basis(off_basis(normal((n, WIDTH), seed, stream=STREAM + 1)))
    block /= np.linalg.norm(block, axis=0)
    for step in range(STEPS):  # the Lanczos recurrence of every column by itself
        image = off_basis(apply(block)) - last * above[step - 1]
        diagonal[step] = np.einsum("ij,ij->j", block, image)
        image -= block * diagonal[step]
        length = np.linalg.norm(image, axis=0)
        scale = np.abs(diagonal[: step + 1]).max() + above.max()
        above[step] = np.where(length > 1e-10 * scale, length, 0.0)
        last, block = block, np.where(above[step] > 0, image / np.where(length > 0, length, 1.0), 0.0)
        report("sum of eigenvalues", BLOCKS + step + 1, BLOCKS + STEPS)
    found = [scipy.linalg.eigh_tridiagonal(diagonal[:, j], above[:-1, j]) for j in range(WIDTH)]
    nodes, weights = np.column_stack([v for v, _ in found]), np.column_stack([u[0] ** 2 for _, u in found])
    return nodes, weights * (free / WIDTH)
