"""Eigenpairs of dense symmetric matrices: largest, smallest, generalized.

LAPACK's drivers are tried in turn, one place sorts, and one sign convention holds for every solver. Vectors come in
columns; values come in the order that the function's name promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import NotConverged
from lowdim.linalg import lapack
from lowdim.runtime.threads import interruptible
from lowdim.runtime.warning import warn

__all__ = [
    "Eigenpairs",
    "eigh",
    "eigh_largest",
    "eigh_smallest",
    "fix_signs",
    "generalized_eigh",
    "orthonormal",
    "symmetrized",
]

Array = NDArray[Any]

# Sign convention: the first of the entries of largest magnitude is positive. Magnitudes within this relative
# difference count as equal, so that rounding does not choose between them.
SIGN_TIE = 1e-6


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues (k,) and eigenvectors (n, k); for an iterative solver also its steps and whether it converged."""

    values: Array
    vectors: Array
    n_iter: int = 0
    converged: bool = True


def fix_signs(V: Array) -> Array:
    """Columns with the sign convention applied, so that signs do not depend on the solver."""
    if V.size == 0:
        return V
    size = np.abs(V)
    first = np.argmax(size >= (1 - SIGN_TIE) * size.max(axis=0), axis=0)
    signs = np.sign(V[first, np.arange(V.shape[1])])
    return V * np.where(signs == 0, 1, signs).astype(V.dtype)


def eigh_largest(A: Array, k: int | None = None, rough: bool = False) -> Eigenpairs:
    """The k largest eigenvalues, descending, and their vectors; all of them if k is None.

    `rough` says that A was computed from single-precision numbers: the vectors are then found in single precision,
    and one Rayleigh-Ritz step in double precision makes the values as accurate as A itself.
    """
    n = A.shape[0]
    if k is None or k > n // 2:
        values, vectors = eigh(A)
        keep = slice(k)
    elif rough and n > 64:
        padded = min(n, k + 8)  # a few more, so that the last wanted pair is refined as well as the first
        scale = float(np.abs(np.diagonal(A)).max()) or 1.0  # keeps tiny and huge numbers within float32
        _, guess = eigh((A / scale).astype(np.float32), (n - padded, n - 1))
        values, vectors = interruptible(lambda: _rayleigh_ritz(A, guess.astype(np.float64)))
        keep = slice(k)
    else:
        values, vectors = eigh(A, (n - k, n - 1))
        keep = slice(None)
    return Eigenpairs(values[::-1][keep], fix_signs(vectors[:, ::-1][:, keep]))


def eigh_smallest(A: Array, k: int, null: Array | None = None) -> Eigenpairs:
    """The k smallest eigenvalues, ascending, of a positive semidefinite A.

    `null` (n, m) holds orthonormal vectors of A's null space; they are deflated.
    """
    n = A.shape[0]
    m = 0 if null is None else null.shape[1]
    if null is not None:
        A = A + np.linalg.norm(A) * (null @ null.T)  # lifts them above all others
    values, vectors = eigh(A, None if k > n // 2 else (0, min(n, k + m) - 1))
    if null is not None:
        vectors = vectors - null @ (null.T @ vectors)
        kept = np.linalg.norm(vectors, axis=0) > 0.5
        values, vectors = values[kept], vectors[:, kept]
    order = np.argsort(values, kind="stable")[:k]
    return Eigenpairs(values[order], fix_signs(orthonormal(vectors[:, order])))


def generalized_eigh(A: Array, B: Array, k: int | None = None, tol: float | None = None) -> Eigenpairs:
    """The k largest λ of A v = λ B v with VᵀBV = I; the null space of a positive semidefinite B is left out."""
    spread, axes = eigh(B)
    floor = (np.finfo(B.dtype).eps * len(B) if tol is None else tol) * max(float(spread[-1]), 0.0)
    kept = spread > floor
    root = axes[:, kept] / np.sqrt(spread[kept])  # (d, r): rootᵀ B root = I
    reduced = eigh_largest(root.T @ A @ root, None if k is None else min(k, root.shape[1]))
    return Eigenpairs(reduced.values, fix_signs(root @ reduced.vectors))


def eigh(A: Array, wanted: tuple[int, int] | None = None) -> tuple[Array, Array]:
    """Ascending eigenpairs with indices `wanted[0]` to `wanted[1]` (all if None), by the first driver that succeeds."""
    drivers = ("evd", "evr", "ev") if wanted is None else ("evr", "evx")
    for driver in drivers:
        try:
            values, vectors = interruptible(
                lambda driver=driver: lapack.eigh(A, wanted, driver)  # type: ignore[misc]
            )
            if wanted is None or len(values) == wanted[1] - wanted[0] + 1:
                return values, vectors  # among equal values, a range can come back empty without an error
        except scipy.linalg.LinAlgError as error:
            warn(
                f"LAPACK's {driver} driver failed ({error}); trying another one.",
            )
    try:  # for a symmetric matrix the singular vectors are eigenvectors up to sign
        U, _, _ = interruptible(lambda: scipy.linalg.svd(A, check_finite=False, lapack_driver="gesvd"))
    except scipy.linalg.LinAlgError as error:
        raise NotConverged("no eigensolver converged; the values may span too many orders. Rescale them.") from error
    values = np.einsum("ij,ij->j", U, A @ U)
    order = np.argsort(values, kind="stable")
    order = order if wanted is None else order[wanted[0] : wanted[1] + 1]
    return values[order], U[:, order]


def orthonormal(A: Array) -> Array:
    """Q of A = QR with a nonnegative diagonal of R: the columns, each made orthogonal to those before it."""
    Q, R = interruptible(lambda: lapack.qr(A))
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0).astype(Q.dtype)


def symmetrized(A: Array) -> Array:
    """(A + Aᵀ) / 2."""
    return (A + A.T) / 2


def _rayleigh_ritz(A: Array, guess: Array) -> tuple[Array, Array]:
    """Ascending Ritz pairs of A on the range of A times a guess."""
    basis = np.linalg.qr(A @ guess)[0]
    values, inner = np.linalg.eigh(symmetrized(basis.T @ (A @ basis)))
    return values, basis @ inner
