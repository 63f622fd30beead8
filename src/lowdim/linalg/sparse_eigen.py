"""The smallest eigenpairs of a large sparse positive semidefinite matrix, such as the Laplacian of a connected graph.

Its null vector is known, and deflated. Three solvers, chosen by size and shape:

- "dense": LAPACK, for few rows.
- "factor": inverse iteration with a sparse factorization, where the graph is thin (a curve, a sheet), so that the
  factor stays sparse; the smallest eigenvalues are then too small for any polynomial filter.
- "chebyshev": the block Chebyshev-Davidson method (Zhou and Saad 2007). It needs products alone, and is the fast one
  where a factor would be nearly dense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from lowdim.errors import NotConverged
from lowdim.linalg.block_lanczos import orthonormal_block
from lowdim.linalg.chebyshev import ChebyshevFilter
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_smallest, fix_signs
from lowdim.linalg.dense_limits import LAPLACIAN_FALLBACK_ROWS, LAPLACIAN_ROWS
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import interruptible

__all__ = ["SOLVERS", "EigenOptions", "SmallestEigenpairs", "smallest_eigenpairs"]

Array = NDArray[Any]

THIN = 4.0  # breadth-first levels of at most so many times √n rows keep a factor sparse; a sheet has 1 to 3
SHIFT = 1e-13  # makes a singular matrix factorizable; relative to its largest row sum
BLOCK = 8  # a block has a multiple of so many vectors: what the native product keeps in registers
BASIS = 3  # blocks in the basis
STEEPNESS = 4.0  # a polynomial is at most about cosh(2 · STEEPNESS) times larger at zero than beyond its cutoff
MARGIN = 10.0  # by which a filter may do more than is missing
MAX_PRODUCTS = 24_000  # with the matrix; beyond, a factorization is tried
PRODUCTS_FOR_DENSE = 0.02  # of n³ / entries: so many products cost about half of what LAPACK does
FACTOR_STEPS = 240  # of inverse iteration
NEARLY, STALLED = 1e3, 4  # within this factor of the tolerance, so many steps without progress end the iteration
ROUNDING = 2e-15  # residuals below this, relative to the largest eigenvalue, are rounding errors


@dataclass(frozen=True)
class EigenOptions:
    """How eigenpairs are computed: to residuals of at most tol times their eigenvalue."""

    solver: str
    tol: float
    seed: int
    threads: int


@dataclass(frozen=True)
class SmallestEigenpairs:
    """Ascending eigenvalues (k,), unit eigenvectors (n, k), and the solver that found them."""

    values: Array
    vectors: Array
    solver: str


@dataclass(frozen=True)
class _Problem:
    M: sp.csr_array
    polynomial: ChebyshevFilter
    k: int
    null: Array  # (n, 1), of norm one
    high: float | None  # a bound of the largest eigenvalue, if one is known
    options: EigenOptions

    @property
    def n(self) -> int:
        return len(self.null)

    def deflated(self, V: Array) -> Array:
        return np.asarray(V - self.null @ (self.null.T @ V))


@dataclass(frozen=True)
class _FilterTarget:
    """A filter damps eigenvalues above `cutoff`; residuals up to the `last` wanted are `excess` times too large."""

    cutoff: float
    last: float
    excess: float


def smallest_eigenpairs(
    M: sp.csr_array,
    k: int,
    null: Array,
    options: EigenOptions,
    *,
    high: float | None = None,
    factor: sp.csr_array | None = None,
) -> SmallestEigenpairs:
    """The k smallest eigenpairs of M beyond its null vector `null` (n,).

    `high` is a bound of the largest eigenvalue that is known to be nearly attained; `factor` is A, where M = AᵀA.
    """
    unit = (null / np.linalg.norm(null))[:, None]
    problem = _Problem(M, ChebyshevFilter(M, factor, options.threads), k, unit, high, options)
    for name, products in _solvers_to_try(problem):
        found = SOLVERS[name](problem, products)
        if found is not None:
            return SmallestEigenpairs(found.values, found.vectors, name)
    raise NotConverged(
        f"solver={options.solver!r} did not reach tol={options.tol:g} for the smallest eigenvalues. Use solver='auto' "
        "or 'factor', raise tol, or use more neighbors."
    )


def _solvers_to_try(problem: _Problem) -> tuple[tuple[str, int], ...]:
    """Solvers in order, each with the number of products that it may use."""
    n, solver = problem.n, problem.options.solver
    if 2 * (problem.k + BLOCK) * BASIS > n:  # no room for a basis
        return (("dense", 0),)
    if solver != "auto":
        return ((solver, MAX_PRODUCTS),)
    if n <= LAPLACIAN_ROWS:
        return (("dense", 0),)
    if widest_level(problem.M) <= THIN * np.sqrt(n):
        return (("factor", MAX_PRODUCTS),)
    if n <= LAPLACIAN_FALLBACK_ROWS:
        return ("chebyshev", int(PRODUCTS_FOR_DENSE * n**3 / problem.M.nnz)), ("dense", 0)
    return ("chebyshev", MAX_PRODUCTS), ("factor", MAX_PRODUCTS)


def widest_level(M: sp.csr_array) -> int:
    """The width of the level structure of a connected graph, from a pseudo-peripheral node.

    Each breadth-first level separates what lies before it from what lies behind, so this bounds the fronts of a factor.
    """
    pattern = sp.csr_array((np.ones(M.nnz, dtype=np.float32), M.indices, M.indptr), shape=M.shape)
    start = breadth_first_order(pattern, 0)[0][-1]
    order, parents = breadth_first_order(pattern, start)
    position = np.empty(M.shape[0], dtype=np.int64)
    position[order] = np.arange(len(order))
    parent_position = position[parents[order[1:]]]  # ascending: nodes are visited in the order of their parents
    bounds = [0, 1]
    while bounds[-1] < len(order):
        bounds.append(1 + int(np.searchsorted(parent_position, bounds[-1])))
    return int(np.diff(bounds).max())


def _dense(problem: _Problem, products: int) -> Eigenpairs | None:
    n = problem.n
    require_memory(3 * 8 * n * n, f"a dense {n} x {n} matrix", "Use solver='chebyshev' or 'factor'.")
    found = eigh_smallest(problem.M.toarray(), problem.k, problem.null)
    return Eigenpairs(np.maximum(found.values, 0), found.vectors)


def _inverse_iteration(problem: _Problem, products: int) -> Eigenpairs | None:
    """Inverse iteration; the shift is far below every nonzero eigenvalue."""
    M = problem.M
    shifted = (M + SHIFT * _largest_row_sum(M) * sp.eye_array(M.shape[0], format="csr")).tocsc()
    report("sparse factorization", 0, 1)
    factor = interruptible(
        lambda: scipy.sparse.linalg.splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    )
    report("sparse factorization", 1, 1)
    cost = products // FACTOR_STEPS
    return _davidson(problem, lambda V, target: (factor.solve(V), cost), _largest_row_sum(M), products)


def _chebyshev(problem: _Problem, products: int) -> Eigenpairs | None:
    """A polynomial that is small between a cutoff and the largest eigenvalue, and steep below the cutoff."""
    high = _largest_eigenvalue(problem) if problem.high is None else problem.high

    def filtered(V: Array, target: _FilterTarget) -> tuple[Array, int]:
        cutoff = target.cutoff
        degree = STEEPNESS * np.sqrt(high / cutoff)
        outside = (high + cutoff - 2 * target.last) / (high - cutoff)  # the last wanted, if [cutoff, high] is [-1, 1]
        if outside > 1:  # near the end less is enough
            degree = min(degree, np.arccosh(MARGIN * target.excess) / np.arccosh(outside))
        degree = max(int(np.ceil(degree)), 2)
        return problem.polynomial.filter(V, (cutoff, high), degree), degree

    return _davidson(problem, filtered, high, products)


SOLVERS: dict[str, Callable[[_Problem, int], Eigenpairs | None]] = {
    "dense": _dense,
    "factor": _inverse_iteration,
    "chebyshev": _chebyshev,
}


def _davidson(
    problem: _Problem, amplify: Callable[[Array, _FilterTarget], tuple[Array, int]], high: float, products: int
) -> Eigenpairs | None:
    """Block Davidson iteration: amplified blocks of the best Ritz vectors widen a basis until the pairs converge.

    `amplify(V, target)` makes the components below a cutoff stand out, and returns its cost in products.
    """
    k, times, tol = problem.k, problem.polynomial.times, problem.options.tol
    width = BLOCK * -(-(k + BLOCK // 2) // BLOCK)
    best, basis = normal((problem.n, width), problem.options.seed), np.empty((problem.n, 0))
    image = times(basis)  # M times the basis
    spent, target, errors = 0, _FilterTarget(high / 64, 0.0, np.inf), list[float]()
    while spent < products:
        block, cost = amplify(best, target)
        spent += cost
        block = orthonormal_block(problem.deflated(block), np.hstack([problem.null, basis]))[0]
        basis, image = np.hstack([basis, block]), np.hstack([image, times(block)])
        values, inner = np.linalg.eigh(basis.T @ image)
        inner = inner[:, : width * (BASIS - 1)]
        basis, image, values = basis @ inner, image @ inner, np.maximum(values[: inner.shape[1]], 0)
        best = np.ascontiguousarray(basis[:, :width])
        image[:, :width] = times(best)  # anew, because rounding errors add up
        residuals = np.linalg.norm(image[:, :k] - best[:, :k] * values[:k], axis=0)
        error = float((residuals / np.maximum(tol * values[:k], ROUNDING * high)).max())
        report("eigenvectors", spent, products, error=error)
        errors.append(error)
        if error <= 1 or (error < NEARLY and min(errors[-STALLED:]) > min(errors[:-STALLED], default=np.inf) / 2):
            return Eigenpairs(values[:k], fix_signs(best[:, :k]), spent)
        beyond = float(values[min(width, len(values) - 1)])  # never below an eigenvalue that is wanted
        target = _FilterTarget(min(max(beyond, ROUNDING * high), 0.9 * high), float(values[k - 1]), error)
    return None


def _largest_eigenvalue(problem: _Problem) -> float:
    """A bound of the largest eigenvalue that is nearly attained; Gershgorin's can be far above it."""
    M = problem.M
    start = normal((problem.n,), problem.options.seed, stream=1)
    found = scipy.sparse.linalg.eigsh(M, k=1, which="LA", tol=1e-2, v0=start, return_eigenvectors=False)
    return min(1.05 * float(found[0]), _largest_row_sum(M))


def _largest_row_sum(M: sp.csr_array) -> float:
    return float(abs(M).sum(axis=1).max())
