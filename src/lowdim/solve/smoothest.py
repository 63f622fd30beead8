"""The smallest eigenpairs of a large sparse positive semidefinite matrix that sends constants to zero.

The known null vectors, one constant a connected component, are left out. Three ways, by size and shape:

- "dense": LAPACK, for few rows.
- "factor": a sparse factor and block Lanczos on the inverse, where the graph is thin (a curve, a sheet), so that
  the factor stays sparse; the smallest values are then too small for any polynomial.
- "chebyshev": block Lanczos on a polynomial of the matrix that is large near zero only. It needs products alone,
  and is the fast one where a factor would be nearly dense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import NotConverged
from lowdim.memory import require_memory
from lowdim.progress import report
from lowdim.solve.eigen import Eigen, bottom, fix_signs, top_of_operator
from lowdim.threads import uninterrupted

__all__ = ["SOLVERS", "Smoothest", "smoothest"]

Array = NDArray[Any]
Operator = Callable[[Array], Array]

DENSE_ROWS = 1000  # up to here LAPACK is done before anything else has started
THIN = 1400  # a separator of so many rows makes a factor of some 10¹⁰ products
SHIFT = 1e-13  # keeps a singular matrix from breaking its factor; a share of its largest row sum
GUARD = 4  # pairs found beyond the wanted ones, so that the last of these is as good as the first
DEGREES = (48, 192, 768)  # of the polynomial, one after another until it is enough
STEPS = 24  # of block Lanczos with each
EDGE = 2.0  # the polynomial is cosh(2 · EDGE) times larger at zero than anywhere beyond its edge


@dataclass(frozen=True)
class Smoothest:
    """Ascending values (k,), vectors (n, k) of length one, and how they were found."""

    values: Array
    vectors: Array
    solver: str


@dataclass(frozen=True)
class _Problem:
    M: sp.csr_array
    labels: Array  # the component of every row
    k: int
    tol: float
    seed: int
    threads: int

    def off_null(self, V: Array) -> Array:
        """V without its mean over every component."""
        sizes = np.bincount(self.labels)
        members = sp.csr_array((np.ones(len(V)), (self.labels, np.arange(len(V)))), shape=(len(sizes), len(V)))
        return np.asarray(V - ((members @ V) / sizes[:, None])[self.labels])


def smoothest(M: sp.csr_array, k: int, labels: Array, *, solver: str, tol: float, seed: int, threads: int) -> Smoothest:
    """The k smallest eigenpairs beyond the constants of the components that `labels` (n,) names."""
    problem = _Problem(M, labels, k, tol, seed, threads)
    for name in _order(problem) if solver == "auto" else (solver,):
        found = SOLVERS[name](problem)
        if found is not None:
            return Smoothest(found.values, found.vectors, name)
    raise NotConverged(
        f"solver={solver!r} did not reach tol={tol:g} for the smallest eigenvalues. Use solver='auto' or "
        "'factor', raise tol, or give more neighbours."
    )


def _order(problem: _Problem) -> tuple[str, ...]:
    """Which solvers to try, one after another."""
    n, null = len(problem.labels), int(problem.labels.max()) + 1
    if n <= DENSE_ROWS or 10 * (problem.k + GUARD + null) > n:
        return ("dense",)
    return ("factor",) if widest_level(problem.M, problem.labels) <= THIN else ("chebyshev", "factor")


def widest_level(M: sp.csr_array, labels: Array) -> int:
    """The most rows at one number of steps from a row at the edge of the largest component.

    Each level separates what lies before it from what lies behind, so this bounds the fronts of a factor.
    """
    start = int(np.argmax(labels == np.argmax(np.bincount(labels))))
    levels = _levels(M, start)
    return max(len(level) for level in _levels(M, int(levels[-1][0])))


def _levels(M: sp.csr_array, start: int) -> list[Array]:
    seen = np.zeros(M.shape[0], dtype=bool)
    seen[start] = True
    levels = [np.array([start])]
    while len(levels[-1]):
        reached = np.unique(M[levels[-1]].indices)
        levels.append(reached[~seen[reached]])
        seen[reached] = True
    return levels[:-1]


def _dense(problem: _Problem) -> Eigen | None:
    n = len(problem.labels)
    require_memory(3 * 8 * n * n, f"a dense {n} x {n} matrix", "Use solver='chebyshev' or 'factor'.")
    sizes = np.bincount(problem.labels)
    null = np.zeros((n, len(sizes)))
    null[np.arange(n), problem.labels] = 1 / np.sqrt(sizes[problem.labels])
    return bottom(problem.M.toarray(), problem.k, null)


def _by_factor(problem: _Problem) -> Eigen | None:
    """Block Lanczos on the inverse; the shift is far below every value that is not zero."""
    M = problem.M
    shift = SHIFT * float(abs(M).sum(axis=1).max())
    shifted = (M + shift * sp.eye_array(M.shape[0], format="csr")).tocsc()
    report("sparse factor", 0, 1)
    factor = uninterrupted(
        lambda: scipy.sparse.linalg.splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    )
    report("sparse factor", 1, 1)
    return _refined(problem, factor.solve, problem.tol, 200)


def _by_chebyshev(problem: _Problem) -> Eigen | None:
    """Block Lanczos on polynomials of rising degree, until one resolves the smallest values."""
    M = problem.M
    high = _largest(problem)
    for degree in DEGREES:
        edge = high * (EDGE / degree) ** 2

        def apply(V: Array, degree: int = degree, edge: float = edge) -> Array:
            out = np.empty(V.shape)
            pieces = (M.indptr, M.indices, M.data)
            _native.chebyshev(*pieces, np.ascontiguousarray(V), (edge, high), degree, out, problem.threads)
            return out / np.cosh(2 * EDGE)

        found = _refined(problem, apply, problem.tol, STEPS)
        if found is not None:
            return found
    return None


SOLVERS: dict[str, Callable[[_Problem], Eigen | None]] = {
    "dense": _dense,
    "factor": _by_factor,
    "chebyshev": _by_chebyshev,
}


def _refined(problem: _Problem, apply: Operator, tol: float, max_iter: int) -> Eigen | None:
    """The smallest pairs of M on the top subspace of an operator that reverses its order; None if not converged."""
    n = len(problem.labels)
    free = n - int(problem.labels.max()) - 1
    wanted = min(problem.k + GUARD, free)
    found = top_of_operator(
        lambda V: problem.off_null(apply(problem.off_null(V))), n, wanted, tol=tol, max_iter=max_iter, seed=problem.seed
    )
    if not found.converged:
        return None
    basis = np.linalg.qr(problem.off_null(found.vectors))[0]
    values, inner = np.linalg.eigh(basis.T @ (problem.M @ basis))
    return Eigen(np.maximum(values[: problem.k], 0), fix_signs(basis @ inner[:, : problem.k]), found.n_iter)


def _largest(problem: _Problem) -> float:
    """A bound for the largest eigenvalue that is nearly attained: Gershgorin's can be far above it."""
    M = problem.M
    found = top_of_operator(lambda V: M @ V, M.shape[0], 1, tol=1e-2, max_iter=12, seed=problem.seed)
    residual = float(np.linalg.norm(M @ found.vectors - found.vectors * found.values))
    return min(float(found.values[0]) + residual, float(abs(M).sum(axis=1).max())) * 1.02
