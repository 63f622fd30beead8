"""Lanczos iterations: for operators that are only applied, never formed.

`block_lanczos` finds the largest eigenpairs of a positive semidefinite operator to a tolerance; `lanczos_extremes`
bounds both ends of the spectrum of an indefinite matrix by a few steps from one vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import NotConverged
from lowdim.linalg.dense_eigen import Eigenpairs, eigh, fix_signs, symmetrized
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal

__all__ = ["block_lanczos", "lanczos_extremes", "orthonormal_block"]

Array = NDArray[Any]

MAX_REORTHOGONALIZATIONS = 6  # one or two are usual
EXTREMES_STEPS = 40  # of lanczos_extremes


def block_lanczos(
    apply: Callable[[Array], Array], n: int, k: int, *, tol: float, max_iter: int, seed: int, width: int | None = None
) -> Eigenpairs:
    """The k largest eigenpairs of a positive semidefinite operator: block Lanczos with thick restarts.

    `apply(V)` is the operator times a block (n, b) of at most `width` columns. Each step adds one block to an
    orthonormal basis, and the Ritz pairs are read off the small projected matrix, until every residual is below tol
    times the largest value. A full basis is cut back to its best Ritz vectors (a thick restart). A block Krylov space
    holds at most `width` vectors of one eigenvalue; where it found as many, a new random block looks for more.
    """
    width = min(n, max(8, min(k, 16)) if width is None else width)
    most = min(n, max(3 * k, k + 6 * width))
    basis = np.empty((n, most), order="F")
    projected = np.zeros((most, most))  # basisᵀ A basis
    size, verified = 0, -np.inf  # verified: copies of eigenvalues above it have been looked for
    block = orthonormal_block(normal((n, width), seed), basis[:, :0])[0]
    for step in range(1, max_iter + 1):
        product = apply(block)
        last, size = size, size + block.shape[1]
        basis[:, last:size] = block
        found = basis[:, :size]
        coefficients = found.T @ product
        projected[:size, last:size] = coefficients
        projected[last:size, :size] = coefficients.T
        # A basis = basis projected + block rest, where `rest` concerns the last columns of the basis alone.
        block, rest = orthonormal_block(product - found @ coefficients, found)
        full = size + block.shape[1] > most
        if size < min(n, k) or not (full or step % 2 == 0 or step == max_iter or not block.shape[1]):
            continue  # Ritz pairs cost about as much as a step
        values, inner = eigh(symmetrized(projected[:size, :size]))
        values, inner = np.maximum(values[::-1], 0), inner[:, ::-1]
        residuals = np.linalg.norm(rest @ inner[last:, :k], axis=0)
        error = float(residuals.max(initial=0.0)) / max(float(values[0]), np.finfo(float).tiny)
        report("block Lanczos", step, max_iter, residual=error)
        converged = error <= tol or not block.shape[1]
        if converged and block.shape[1] and _is_multiple(values[:k], width, tol) and values[:k][-1] > verified:
            verified, converged = float(values[:k][-1] + tol * values[0]), False
            block = orthonormal_block(normal((n, block.shape[1]), seed, stream=step), found)[0]
        if converged or step == max_iter:
            return Eigenpairs(values[:k], fix_signs(found @ inner[:, :k]), step, converged)
        if full:
            size = k + (most - k) // 3
            basis[:, :size] = found @ inner[:, :size]
            projected[:size, :size] = np.diag(values[:size])
    raise NotConverged(f"{max_iter} steps of block Lanczos do not reach {k} components; raise max_iter.")


def lanczos_extremes(A: Array, seed: int) -> tuple[float, float]:
    """The smallest and the largest Ritz value of a symmetric matrix, after a few steps from a random vector.

    Ritz values lie within the spectrum, so a negative one proves that A has a negative eigenvalue. A may be
    indefinite, and both ends come from one Krylov space: `block_lanczos` would need a shift and two runs.
    """
    steps = min(len(A), EXTREMES_STEPS)
    basis = np.empty((len(A), steps))
    vector = normal((len(A),), seed)
    for step in range(steps):
        for _ in range(2):  # orthogonal to working precision
            vector = vector - basis[:, :step] @ (basis[:, :step].T @ vector)
        length = np.linalg.norm(vector)
        if length == 0:
            steps = step
            break
        basis[:, step] = vector / length
        vector = A @ basis[:, step]
    basis = basis[:, :steps]
    values = np.linalg.eigvalsh(symmetrized(basis.T @ (A @ basis)))
    return float(values[0]), float(values[-1])


def orthonormal_block(block: Array, basis: Array) -> tuple[Array, Array]:
    """An orthonormal block Q orthogonal to `basis`, and R with block = Q R up to what lies in the basis.

    Q has as many columns as the block, or as there is room for; where it lacks a direction, it has a random one.
    """
    n, held = basis.shape
    tight = n - held < block.shape[1]  # then pivoting keeps the directions that count
    Q = scipy.linalg.qr(block, mode="economic", pivoting=tight, check_finite=False)[0][:, : n - held]
    left = np.zeros(Q.shape[1]) if held else np.ones(Q.shape[1])
    for turn in range(MAX_REORTHOGONALIZATIONS):
        if left.min(initial=1.0) > 0.5:  # little was taken off, so rounding errors of the rest are small too
            break
        Q, R = scipy.linalg.qr(Q - basis @ (basis.T @ Q), mode="economic", check_finite=False)
        left = np.abs(np.diagonal(R))
        lost = np.flatnonzero(left < 1e-15)  # the smallest of what is more than rounding may still be what counts
        if len(lost):
            Q[:, lost] = normal((n, len(lost)), seed=held, stream=turn) / np.sqrt(n)
    return Q, Q.T @ block


def _is_multiple(values: Array, width: int, tol: float) -> bool:
    """Whether some nonzero value occurs `width` times among the descending ones; errors are residuals squared."""
    if len(values) <= width:
        return False
    first, last = values[: len(values) - width + 1], values[width - 1 :]
    floor = 10 * max(tol**2, 1e-13) * values[0]
    return bool(((first - last <= floor) & (last > tol * values[0])).any())
