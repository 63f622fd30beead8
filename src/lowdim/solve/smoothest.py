"""The smallest eigenpairs of a large sparse positive semidefinite matrix that sends constants to zero.

The known null vectors, one constant a connected component, are left out. Three ways, by size and shape:

- "dense": LAPACK, for few rows.
- "factor": inverse iteration with a sparse factor, where the graph is thin (a curve, a sheet), so that
  the factor stays sparse; the smallest values are then too small for any polynomial.
- "chebyshev": blocks of vectors, filtered by a polynomial of the matrix that is large near zero only. It needs
  products alone, and is the fast one where a factor would be nearly dense.
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
from lowdim.random import normal
from lowdim.solve.eigen import Eigen, _orthonormal, bottom, fix_signs
from lowdim.threads import uninterrupted

__all__ = ["SOLVERS", "Smoothest", "smoothest"]

Array = NDArray[Any]

FEW_ROWS = 500  # up to here LAPACK is done before anything else has started
DENSE_ROWS = 2500  # and up to here before a polynomial of high degree
THIN = 4.0  # levels of at most so many times √n rows keep a factor sparse; a sheet has 1 to 3
SHIFT = 1e-13  # keeps a singular matrix from breaking its factor; a share of its largest row sum
BLOCK = 16  # vectors in a block: what the native product keeps in registers
BASIS = 4  # blocks in the basis
STEEPNESS = 2.0  # a polynomial is about cosh(2 · STEEPNESS) times larger at zero than beyond its edge
MOST_PRODUCTS = 12_000  # with the matrix; beyond, a factor is tried
FACTOR_ROUNDS = 60
NEARLY, STALLED = 1e3, 4  # below so many times the allowed residual, so many rounds without gain are the end
ENTRIES_A_THREAD = 100_000  # threads meet after every product, which must be worth it
ROUNDING = 2e-15  # residuals below this share of the largest value are rounding errors


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
    if n <= FEW_ROWS or 2 * (problem.k + BLOCK) * BASIS > n or 10 * null > n:
        return ("dense",)
    if widest_level(problem.M, problem.labels) <= THIN * np.sqrt(n):
        return ("factor",)
    return ("dense",) if n <= DENSE_ROWS else ("chebyshev", "factor")


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
    found = bottom(problem.M.toarray(), problem.k, null)
    return Eigen(np.maximum(found.values, 0), found.vectors)


def _by_factor(problem: _Problem) -> Eigen | None:
    """Inverse iteration; the shift is far below every value that is not zero."""
    M = problem.M
    shifted = (M + SHIFT * _row_sum(M) * sp.eye_array(M.shape[0], format="csr")).tocsc()
    report("sparse factor", 0, 1)
    factor = uninterrupted(
        lambda: scipy.sparse.linalg.splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    )
    report("sparse factor", 1, 1)
    return _sharpened(problem, lambda V, edge: (factor.solve(V), MOST_PRODUCTS // FACTOR_ROUNDS), _row_sum(M))


def _by_chebyshev(problem: _Problem) -> Eigen | None:
    """A polynomial that is small between `edge` and the largest value, and steep below `edge`."""
    M, high = problem.M, _largest(problem)
    threads = min(problem.threads, 1 + M.nnz // ENTRIES_A_THREAD)

    def filtered(V: Array, edge: float) -> tuple[Array, int]:
        degree = int(np.ceil(STEEPNESS * np.sqrt(high / edge)))
        out = np.empty(V.shape)
        _native.chebyshev(M.indptr, M.indices, M.data, V, (edge, high), degree, out, threads)
        return out, degree

    return _sharpened(problem, filtered, high)


SOLVERS: dict[str, Callable[[_Problem], Eigen | None]] = {
    "dense": _dense,
    "factor": _by_factor,
    "chebyshev": _by_chebyshev,
}


def _sharpened(problem: _Problem, sharpen: Callable[[Array, float], tuple[Array, int]], high: float) -> Eigen | None:
    """Blocks of the best vectors so far, sharpened, widen a basis (Zhou and Saad 2007) until the wanted pairs hold.

    `sharpen(V, edge)` makes what belongs to values below `edge` stand out, and tells what that cost.
    """
    n, width = len(problem.labels), BLOCK * -(-(problem.k + BLOCK // 2) // BLOCK)
    best = basis = np.linalg.qr(problem.off_null(normal((n, width), problem.seed)))[0]
    image = problem.M @ basis  # M times the basis goes along with it
    spent, edge, errors = 0, high / 64, list[float]()
    while spent < MOST_PRODUCTS:
        block, cost = sharpen(np.ascontiguousarray(best), edge)
        spent += cost
        block = _orthonormal(problem.off_null(block), basis)[0]
        basis, image = np.hstack([basis, block]), np.hstack([image, problem.M @ block])
        values, inner = np.linalg.eigh(basis.T @ image)
        inner = inner[:, : width * (BASIS - 1)]
        basis, image, values = basis @ inner, image @ inner, np.maximum(values[: inner.shape[1]], 0)
        best = basis[:, :width]
        image[:, :width] = problem.M @ best  # afresh, because rounding errors add up
        residuals = np.linalg.norm(image[:, : problem.k] - best[:, : problem.k] * values[: problem.k], axis=0)
        error = float((residuals / np.maximum(problem.tol * values[: problem.k], ROUNDING * high)).max())
        report("sharpening", spent, MOST_PRODUCTS, error=error)
        errors.append(error)
        if error <= 1 or (error < NEARLY and min(errors[-STALLED:]) > min(errors[:-STALLED], default=np.inf) / 2):
            return Eigen(values[: problem.k], fix_signs(best[:, : problem.k]), spent)
        edge = max(float(values[min(width, len(values) - 1)]), ROUNDING * high)  # never below a value that is wanted
    return None


def _largest(problem: _Problem) -> float:
    """A bound for the largest eigenvalue that is nearly attained; Gershgorin's can be far above it."""
    M = problem.M
    start = normal((M.shape[0],), problem.seed, stream=1)
    found = scipy.sparse.linalg.eigsh(M, k=1, which="LA", tol=1e-2, v0=start, return_eigenvectors=False)
    return min(1.05 * float(found[0]), _row_sum(M))


def _row_sum(M: sp.csr_array) -> float:
    return float(abs(M).sum(axis=1).max())
