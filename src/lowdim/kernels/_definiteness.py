"""Tests of definiteness: is a matrix a kernel matrix, are distances Euclidean?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.validation import overflow_error, read_matrix, read_table
from lowdim.distance.matrix_checks import checked_distances
from lowdim.errors import BadInput, BadParameter
from lowdim.linalg.block_lanczos import lanczos_extremes
from lowdim.linalg.dense_eigen import symmetrized
from lowdim.linalg.dense_limits import DEFINITENESS_ROWS
from lowdim.linalg.double_centering import double_center
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import TextDisplay
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Real
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import interruptible

__all__ = ["Definiteness", "is_conditionally_negative_definite", "is_euclidean", "is_psd"]

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Definiteness(TextDisplay):
    """The result of a test of definiteness: true or false in an `if`, with the eigenvalues that it rests on.

    `smallest` is the smallest eigenvalue found of the matrix that must be positive semidefinite. Lanczos
    (`exact` is False) finds an upper bound of it, so a "no" is certain and a "yes" is not.
    """

    holds: bool
    smallest: float
    largest: float
    tolerance: float  # eigenvalues above -tolerance count as zero
    exact: bool

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        """The result in one sentence."""
        which = "the smallest eigenvalue" if self.exact else "the smallest eigenvalue that Lanczos found"
        side = "not below" if self.holds else "below"
        doubt = "; another may be smaller" if self.holds and not self.exact else ""
        return f"{'yes' if self.holds else 'no'}: {which}, {self.smallest:.6g}, is {side} {-self.tolerance:.2g}{doubt}"


def is_psd(K: Any, *, tol: float | None = None, quick: bool | None = None, random_state: Seed = 0) -> Definiteness:
    """Whether a symmetric matrix is positive semidefinite.

    Parameters
    ----------
    K : array or sparse matrix (n, n)
        A kernel matrix, for instance.
    tol : float, optional
        Tolerance for negative eigenvalues, relative to the largest in absolute value; None for n times the machine
        epsilon of K's dtype.
    quick : bool, optional
        Use a few Lanczos steps from a random vector instead of all eigenvalues; None does so above 3,000 rows.
    random_state : seed
        Seed of the random vector.

    """
    K = _square(K, "K", sparse=True)
    return _definiteness(_symmetric(K, "K"), _tolerance(K, tol), quick, seed_of(random_state))


def is_conditionally_negative_definite(
    D: Any, *, tol: float | None = None, quick: bool | None = None, random_state: Seed = 0
) -> Definiteness:
    """Whether vᵀDv ≤ 0 for every v that sums to zero, which holds if and only if -½HDH is positive semidefinite.

    Parameters are those of `is_psd`.
    """
    D = _square(D, "D", sparse=True)
    return _definiteness(double_center(_symmetric(D, "D")), _tolerance(D, tol), quick, seed_of(random_state))


def is_euclidean(
    D: Any, *, squared: bool = False, tol: float | None = None, quick: bool | None = None, random_state: Seed = 0
) -> Definiteness:
    """Whether D holds distances (with `squared=True`, their squares) between points of a Euclidean space.

    They are Euclidean if and only if -½HD²H is positive semidefinite (Schoenberg 1935; Young and Householder 1938).
    The other parameters are those of `is_psd`.
    """
    D = _square(D, "D")
    distances = checked_distances(D).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        squares = symmetrized(distances if squared else distances**2)
    return _definiteness(double_center(squares), _tolerance(D, tol), quick, seed_of(random_state))


def _definiteness(A: Array, relative_tolerance: float, quick: bool | None, seed: int) -> Definiteness:
    n = len(A)
    if not np.isfinite(A).all():
        raise overflow_error()
    quick = n > DEFINITENESS_ROWS if quick is None else quick
    if quick:
        with single_blas():
            smallest, largest = lanczos_extremes(A, seed)
    else:
        values = interruptible(lambda: scipy.linalg.eigvalsh(A, check_finite=False))
        smallest, largest = float(values[0]), float(values[-1])
    tolerance = float(relative_tolerance * max(abs(smallest), abs(largest)))
    return Definiteness(smallest >= -tolerance, smallest, largest, tolerance, not quick)


def _tolerance(A: NDArray[Any], tol: float | None) -> float:
    """The relative tolerance: a matrix is no more precise than the dtype that it came in."""
    if tol is not None and not Real(0).accepts(tol):
        raise BadParameter(f"tol must be {Real(0).text}; got {tol!r}.")
    return len(A) * float(np.finfo(A.dtype).eps) if tol is None else tol


def _square(A: Any, name: str, *, sparse: bool = False) -> NDArray[Any]:
    """A square matrix as an array; of a `sparse` one, what is not stored is zero (and no distance)."""
    A = read_table(A, name) if sparse else read_matrix(A, name)
    n = A.shape[0]
    if n != A.shape[1]:
        raise BadInput(f"{name} must be square and symmetric; got shape {A.shape}.")
    require_memory(4 * 8 * n**2, f"the eigenvalues of {n} x {n} numbers", "Use fewer rows.")
    return np.asarray(A.toarray() if sp.issparse(A) else A)


def _symmetric(A: NDArray[Any], name: str) -> Array:
    wide = A.astype(np.float64)
    slack = max(1e-8, float(np.finfo(A.dtype).eps))
    if not np.allclose(wide, wide.T, rtol=100 * slack, atol=slack * np.abs(wide).max()):
        raise BadInput(f"{name} must be symmetric; it is not. Use ({name} + {name}.T) / 2 if that is meant.")
    return symmetrized(wide)
