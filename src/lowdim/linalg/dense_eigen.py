"""Eigenpairs: largest, smallest, of a pencil, and of an operator that can only be applied.

One place sorts, one fixes signs, one falls back when LAPACK gives up. Matrices are symmetric;
vectors come in columns; values come in the order that the name promises.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import LowdimWarning, NotConverged
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import uninterrupted

__all__ = ["Eigen", "bottom", "fix_signs", "pencil", "top", "top_of_operator"]

Array = NDArray[Any]

# A vector's sign makes its first entry among the largest positive; entries within this share of
# the largest count as equal, so that rounding does not choose between them.
SIGN_TIE = 1e-6

MOST_TURNS = 6  # of taking a basis off a block; one or two are usual


@dataclass(frozen=True)
class Eigen:
    """Values (k,) and vectors (n, k), and how an iteration came by them."""

    values: Array
    vectors: Array
    n_iter: int = 0
    converged: bool = True


def fix_signs(V: Array) -> Array:
    """Columns with the shared sign rule applied: signs do not depend on the solver."""
    if V.size == 0:
        return V
    size = np.abs(V)
    first = np.argmax(size >= (1 - SIGN_TIE) * size.max(axis=0), axis=0)
    signs = np.sign(V[first, np.arange(V.shape[1])])
    return V * np.where(signs == 0, 1, signs).astype(V.dtype)


def top(A: Array, k: int | None = None, rough: bool = False) -> Eigen:
    """The k largest eigenvalues, descending, and their vectors; all of them if k is None.

    `rough` says that A was made of single-precision numbers: the vectors are then found in single
    precision, and one Rayleigh-Ritz step in double makes the values as good as A itself.
    """
    n = A.shape[0]
    if k is None or k > n // 2:
        values, vectors = _dense(A, None)
        keep = slice(k)
    elif rough and n > 64:
        padded = min(n, k + 8)  # a few more, so that the last wanted pair is refined as well as the first
        scale = float(np.abs(np.diagonal(A)).max()) or 1.0  # keeps tiny and huge numbers within float32
        _, guess = _dense((A / scale).astype(np.float32), (n - padded, n - 1))
        values, vectors = uninterrupted(lambda: _rayleigh_ritz(A, guess.astype(np.float64)))
        keep = slice(k)
    else:
        values, vectors = _dense(A, (n - k, n - 1))
        keep = slice(None)
    return Eigen(values[::-1][keep], fix_signs(vectors[:, ::-1][:, keep]))


def bottom(A: Array, k: int, null: Array | None = None) -> Eigen:
    """The k smallest eigenvalues, ascending, of a positive semidefinite A.

    `null` (n, m) holds orthonormal vectors that A is known to send to zero; they are left out.
    """
    n = A.shape[0]
    m = 0 if null is None else null.shape[1]
    if null is not None:
        A = A + np.linalg.norm(A) * (null @ null.T)  # lifts them above all others
    values, vectors = _dense(A, None if k > n // 2 else (0, min(n, k + m) - 1))
    if null is not None:
        vectors = vectors - null @ (null.T @ vectors)
        alive = np.linalg.norm(vectors, axis=0) > 0.5
        values, vectors = values[alive], vectors[:, alive]
    order = np.argsort(values, kind="stable")[:k]
    return Eigen(values[order], fix_signs(np.linalg.qr(vectors[:, order])[0]))


def pencil(A: Array, B: Array, k: int | None = None, tol: float | None = None) -> Eigen:
    """The k largest λ of A v = λ B v, with VᵀBV = I; directions in which B is zero are left out."""
    spread, axes = _dense(B, None)
    floor = (np.finfo(B.dtype).eps * len(B) if tol is None else tol) * max(float(spread[-1]), 0.0)
    kept = spread > floor
    root = axes[:, kept] / np.sqrt(spread[kept])  # (d, r): rootᵀ B root = I
    reduced = top(root.T @ A @ root, None if k is None else min(k, root.shape[1]))
    return Eigen(reduced.values, fix_signs(root @ reduced.vectors))


def top_of_operator(
    apply: Callable[[Array], Array], n: int, k: int, *, tol: float, max_iter: int, seed: int, width: int | None = None
) -> Eigen:
    """The k largest eigenpairs of a positive semidefinite operator: block Lanczos with thick restarts.

    `apply(V)` is the operator times a block (n, b) of at most `width` columns. Each pass adds one block to
    an orthonormal basis, and the wanted pairs are read off the small projected matrix, until every residual
    is below tol times the largest value. A full basis is cut back to its best directions, and goes on from there.
    A block finds at most `width` vectors of one value; where it found as many, a fresh one looks for more.
    """
    width = min(n, max(8, min(k, 16)) if width is None else width)
    most = min(n, max(3 * k, k + 6 * width))
    basis = np.empty((n, most), order="F")
    projected = np.zeros((most, most))  # basisᵀ A basis
    size, settled = 0, -np.inf
    block = _orthonormal(normal((n, width), seed), basis[:, :0])[0]
    for step in range(1, max_iter + 1):
        product = apply(block)
        last, size = size, size + block.shape[1]
        basis[:, last:size] = block
        found = basis[:, :size]
        coefficients = found.T @ product
        projected[:size, last:size] = coefficients
        projected[last:size, :size] = coefficients.T
        # A basis = basis projected + block rest, where `rest` concerns the last columns of the basis alone.
        block, rest = _orthonormal(product - found @ coefficients, found)
        full = size + block.shape[1] > most
        if size < min(n, k) or not (full or step % 2 == 0 or step == max_iter or not block.shape[1]):
            continue  # reading off the pairs costs about as much as a pass
        values, inner = _dense(_symmetric(projected[:size, :size]), None)
        values, inner = np.maximum(values[::-1], 0), inner[:, ::-1]
        residuals = np.linalg.norm(rest @ inner[last:, :k], axis=0)
        error = float(residuals.max(initial=0.0)) / max(float(values[0]), np.finfo(float).tiny)
        report("block Lanczos", step, max_iter, residual=error)
        converged = error <= tol or not block.shape[1]
        if converged and block.shape[1] and _crowded(values[:k], width, tol) and values[:k][-1] > settled:
            settled, converged = float(values[:k][-1] + tol * values[0]), False
            block = _orthonormal(normal((n, block.shape[1]), seed, stream=step), found)[0]
        if converged or step == max_iter:
            return Eigen(values[:k], fix_signs(found @ inner[:, :k]), step, converged)
        if full:
            size = k + (most - k) // 3
            basis[:, :size] = found @ inner[:, :size]
            projected[:size, :size] = np.diag(values[:size])
    raise NotConverged(f"{max_iter} steps of block Lanczos do not reach {k} components; raise max_iter.")


def _dense(A: Array, wanted: tuple[int, int] | None) -> tuple[Array, Array]:
    """Ascending eigenpairs number `wanted` (all if None) of a dense symmetric matrix."""
    drivers = ("evd", "evr", "ev") if wanted is None else ("evr", "evx")
    for driver in drivers:
        try:
            values, vectors = uninterrupted(
                lambda driver=driver: scipy.linalg.eigh(A, subset_by_index=wanted, driver=driver, check_finite=False)  # type: ignore[misc]
            )
            if wanted is None or len(values) == wanted[1] - wanted[0] + 1:
                return values, vectors  # among equal values, a range can come back empty without an error
        except scipy.linalg.LinAlgError as error:
            warnings.warn(f"LAPACK's {driver} gave up ({error}); trying another way.", LowdimWarning, stacklevel=3)
    try:  # for a symmetric matrix the singular vectors are eigenvectors up to sign
        U, _, _ = uninterrupted(lambda: scipy.linalg.svd(A, check_finite=False, lapack_driver="gesvd"))
    except scipy.linalg.LinAlgError as error:
        raise NotConverged("no eigensolver converged; are the values wildly out of scale? Rescale them.") from error
    values = np.einsum("ij,ij->j", U, A @ U)
    order = np.argsort(values, kind="stable")
    order = order if wanted is None else order[wanted[0] : wanted[1] + 1]
    return values[order], U[:, order]


def _rayleigh_ritz(A: Array, guess: Array) -> tuple[Array, Array]:
    """Ascending Ritz pairs of A on the range of A times a guess."""
    basis = np.linalg.qr(A @ guess)[0]
    values, inner = np.linalg.eigh(_symmetric(basis.T @ (A @ basis)))
    return values, basis @ inner


def _orthonormal(block: Array, basis: Array) -> tuple[Array, Array]:
    """An orthonormal block Q orthogonal to `basis`, and R with block = Q R up to what lies in the basis.

    Q has as many columns as the block, or as there is room for; where it is short of a direction, it has any one.
    """
    n, held = basis.shape
    tight = n - held < block.shape[1]  # then the directions that count must come first
    Q = scipy.linalg.qr(block, mode="economic", pivoting=tight, check_finite=False)[0][:, : n - held]
    left = np.zeros(Q.shape[1]) if held else np.ones(Q.shape[1])
    for turn in range(MOST_TURNS):
        if left.min(initial=1.0) > 0.5:  # little was taken off, so rounding errors of the rest are little too
            break
        Q, R = scipy.linalg.qr(Q - basis @ (basis.T @ Q), mode="economic", check_finite=False)
        left = np.abs(np.diagonal(R))
        lost = np.flatnonzero(left < 1e-15)  # the smallest of what is more than rounding may still be what counts
        if len(lost):
            Q[:, lost] = normal((n, len(lost)), seed=held, stream=turn) / np.sqrt(n)
    return Q, Q.T @ block


def _crowded(values: Array, width: int, tol: float) -> bool:
    """Whether `width` of the descending values are one and the same, and not zero; they feel residuals squared."""
    if len(values) <= width:
        return False
    first, last = values[: len(values) - width + 1], values[width - 1 :]
    floor = 10 * max(tol**2, 1e-13) * values[0]
    return bool(((first - last <= floor) & (last > tol * values[0])).any())


def _symmetric(A: Array) -> Array:
    return (A + A.T) / 2
