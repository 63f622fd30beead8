"""The smallest eigenpairs of a large sparse positive semidefinite matrix of a connected graph.

One vector that it sends to zero is known, and left out. Three ways, by size and shape:

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
from scipy.sparse.csgraph import breadth_first_order

from lowdim.errors import NotConverged
from lowdim.linalg.chebyshev import Polynomial
from lowdim.linalg.dense_eigen import Eigen, _orthonormal, bottom, fix_signs
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import uninterrupted

__all__ = ["SOLVERS", "Smoothest", "Way", "smoothest"]

Array = NDArray[Any]

FEW_ROWS = 500  # up to here LAPACK is done before anything else has started
DENSE_ROWS = 2500  # and up to here before a polynomial of high degree
THIN = 4.0  # levels of at most so many times √n rows keep a factor sparse; a sheet has 1 to 3
SHIFT = 1e-13  # keeps a singular matrix from breaking its factor; a share of its largest row sum
BLOCK = 8  # a block has a multiple of it: what the native product keeps in registers
BASIS = 3  # blocks in the basis
STEEPNESS = 4.0  # a polynomial is at most about cosh(2 · STEEPNESS) times larger at zero than beyond its edge
MARGIN = 10.0  # by which a filter may do more than is missing
MOST_PRODUCTS = 24_000  # with the matrix; beyond, a factor is tried
PRODUCTS_FOR_DENSE = 0.02  # of n³ / entries: so many products cost about half of what LAPACK does
FACTOR_ROUNDS = 240  # of inverse iteration
NEARLY, STALLED = 1e3, 4  # below so many times the allowed residual, so many rounds without gain are the end
ROUNDING = 2e-15  # residuals below this share of the largest value are rounding errors


@dataclass(frozen=True)
class Way:
    """How eigenpairs are looked for; residuals are to be below tol times their value."""

    solver: str
    tol: float
    seed: int
    threads: int


@dataclass(frozen=True)
class Smoothest:
    """Ascending values (k,), vectors (n, k) of length one, and how they were found."""

    values: Array
    vectors: Array
    solver: str


@dataclass(frozen=True)
class _Problem:
    M: sp.csr_array
    polynomial: Polynomial
    k: int
    null: Array  # (n, 1), of length one
    high: float | None  # a bound for the largest value, if one is known
    way: Way

    @property
    def n(self) -> int:
        return len(self.null)

    def off_null(self, V: Array) -> Array:
        return np.asarray(V - self.null @ (self.null.T @ V))


@dataclass(frozen=True)
class _Aim:
    """What a filter takes away: values above `edge`. So many times too large are residuals up to the `last` wanted."""

    edge: float
    last: float
    missing: float


def smoothest(
    M: sp.csr_array, k: int, null: Array, way: Way, *, high: float | None = None, root: sp.csr_array | None = None
) -> Smoothest:
    """The k smallest eigenpairs of M beyond `null` (n,), which M sends to zero.

    `high` is a bound for the largest value that is known to be nearly reached; `root` is A, where M = AᵀA.
    """
    unit = (null / np.linalg.norm(null))[:, None]
    problem = _Problem(M, Polynomial(M, root, way.threads), k, unit, high, way)
    for name, products in _ways(problem):
        found = SOLVERS[name](problem, products)
        if found is not None:
            return Smoothest(found.values, found.vectors, name)
    raise NotConverged(
        f"solver={way.solver!r} did not reach tol={way.tol:g} for the smallest eigenvalues. Use solver='auto' or "
        "'factor', raise tol, or give more neighbours."
    )


def _ways(problem: _Problem) -> tuple[tuple[str, int], ...]:
    """Which solvers to try, one after another, and with how many products at most."""
    n, solver = problem.n, problem.way.solver
    if 2 * (problem.k + BLOCK) * BASIS > n:  # no room for a basis
        return (("dense", 0),)
    if solver != "auto":
        return ((solver, MOST_PRODUCTS),)
    if n <= FEW_ROWS:
        return (("dense", 0),)
    if widest_level(problem.M) <= THIN * np.sqrt(n):
        return (("factor", MOST_PRODUCTS),)
    if n <= DENSE_ROWS:
        return ("chebyshev", int(PRODUCTS_FOR_DENSE * n**3 / problem.M.nnz)), ("dense", 0)
    return ("chebyshev", MOST_PRODUCTS), ("factor", MOST_PRODUCTS)


def widest_level(M: sp.csr_array) -> int:
    """The most rows at one number of steps from a row at the edge of a connected graph.

    Each level separates what lies before it from what lies behind, so this bounds the fronts of a factor.
    """
    pattern = sp.csr_array((np.ones(M.nnz, dtype=np.float32), M.indices, M.indptr), shape=M.shape)
    edge = breadth_first_order(pattern, 0)[0][-1]
    order, parents = breadth_first_order(pattern, edge)
    place = np.empty(M.shape[0], dtype=np.int64)
    place[order] = np.arange(len(order))
    asked_by = place[parents[order[1:]]]  # ascending: who was reached first asks first
    bounds = [0, 1]
    while bounds[-1] < len(order):
        bounds.append(1 + int(np.searchsorted(asked_by, bounds[-1])))
    return int(np.diff(bounds).max())


def _dense(problem: _Problem, products: int) -> Eigen | None:
    n = problem.n
    require_memory(3 * 8 * n * n, f"a dense {n} x {n} matrix", "Use solver='chebyshev' or 'factor'.")
    found = bottom(problem.M.toarray(), problem.k, problem.null)
    return Eigen(np.maximum(found.values, 0), found.vectors)


def _by_factor(problem: _Problem, products: int) -> Eigen | None:
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
    cost = products // FACTOR_ROUNDS
    return _sharpened(problem, lambda V, aim: (factor.solve(V), cost), _row_sum(M), products)


def _by_chebyshev(problem: _Problem, products: int) -> Eigen | None:
    """A polynomial that is small between `edge` and the largest value, and steep below `edge`."""
    high = _largest(problem) if problem.high is None else problem.high

    def filtered(V: Array, aim: _Aim) -> tuple[Array, int]:
        edge = aim.edge
        degree = STEEPNESS * np.sqrt(high / edge)
        outside = (high + edge - 2 * aim.last) / (high - edge)  # of the last wanted value, if [edge, high] is [-1, 1]
        if outside > 1:  # near the end less is enough
            degree = min(degree, np.arccosh(MARGIN * aim.missing) / np.arccosh(outside))
        degree = max(int(np.ceil(degree)), 2)
        return problem.polynomial.chebyshev(V, (edge, high), degree), degree

    return _sharpened(problem, filtered, high, products)


SOLVERS: dict[str, Callable[[_Problem, int], Eigen | None]] = {
    "dense": _dense,
    "factor": _by_factor,
    "chebyshev": _by_chebyshev,
}


def _sharpened(
    problem: _Problem, sharpen: Callable[[Array, _Aim], tuple[Array, int]], high: float, products: int
) -> Eigen | None:
    """Blocks of the best vectors so far, sharpened, widen a basis (Zhou and Saad 2007) until the wanted pairs hold.

    `sharpen(V, aim)` makes what belongs to values below an edge stand out, and tells what that cost.
    """
    k, times, tol = problem.k, problem.polynomial.times, problem.way.tol
    width = BLOCK * -(-(k + BLOCK // 2) // BLOCK)
    best, basis = normal((problem.n, width), problem.way.seed), np.empty((problem.n, 0))
    image = times(basis)  # M times the basis goes along with it
    spent, aim, errors = 0, _Aim(high / 64, 0.0, np.inf), list[float]()
    while spent < products:
        block, cost = sharpen(best, aim)
        spent += cost
        block = _orthonormal(problem.off_null(block), np.hstack([problem.null, basis]))[0]
        basis, image = np.hstack([basis, block]), np.hstack([image, times(block)])
        values, inner = np.linalg.eigh(basis.T @ image)
        inner = inner[:, : width * (BASIS - 1)]
        basis, image, values = basis @ inner, image @ inner, np.maximum(values[: inner.shape[1]], 0)
        best = np.ascontiguousarray(basis[:, :width])
        image[:, :width] = times(best)  # afresh, because rounding errors add up
        residuals = np.linalg.norm(image[:, :k] - best[:, :k] * values[:k], axis=0)
        error = float((residuals / np.maximum(tol * values[:k], ROUNDING * high)).max())
        report("sharpening", spent, products, error=error)
        errors.append(error)
        if error <= 1 or (error < NEARLY and min(errors[-STALLED:]) > min(errors[:-STALLED], default=np.inf) / 2):
            return Eigen(values[:k], fix_signs(best[:, :k]), spent)
        beyond = float(values[min(width, len(values) - 1)])  # never below a value that is wanted
        aim = _Aim(min(max(beyond, ROUNDING * high), 0.9 * high), float(values[k - 1]), error)
    return None


def _largest(problem: _Problem) -> float:
    """A bound for the largest eigenvalue that is nearly attained; Gershgorin's can be far above it."""
    M = problem.M
    start = normal((problem.n,), problem.way.seed, stream=1)
    found = scipy.sparse.linalg.eigsh(M, k=1, which="LA", tol=1e-2, v0=start, return_eigenvectors=False)
    return min(1.05 * float(found[0]), _row_sum(M))


def _row_sum(M: sp.csr_array) -> float:
    return float(abs(M).sum(axis=1).max())
