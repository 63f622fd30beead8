"""The largest eigenpairs of a Gram matrix: all of it when small, block Lanczos when large."""

from __future__ import annotations

import warnings

import numpy as np

from lowdim.errors import LowdimWarning
from lowdim.memory import require_memory
from lowdim.solve.eigen import Eigen, top, top_of_operator
from lowdim.summaries.gram import Gram

__all__ = ["choose_solver", "smallest_of_gram", "top_of_gram"]

DENSE_LIMIT = 1000  # rows up to which an n³ solver takes less than a few passes
MAX_PASSES = 300
WIDTH = 16  # columns that a pass over the matrix serves at the price of one


def choose_solver(n: int, k: int, wish: str = "auto") -> str:
    """'dense' or 'lanczos' for k of n eigenpairs, unless one is wished for."""
    if wish != "auto":
        return wish
    return "dense" if n <= DENSE_LIMIT or k > n // 10 else "lanczos"


def top_of_gram(gram: Gram, k: int, *, solver: str = "auto", tol: float | None = None, seed: int = 0) -> Eigen:
    """The k largest eigenpairs of the centred matrix, descending; values may be negative by the dense way."""
    if choose_solver(gram.n, k, solver) == "dense":
        require_memory(
            3 * 8 * gram.n**2,
            f"the dense solver for {gram.n} rows",
            "Use solver='lanczos', or landmarks.",
        )
        return top(gram.dense(), None if k == gram.n else k)
    tol = tolerance(gram) if tol is None else tol
    gram.means  # noqa: B018  (the first pass computes and keeps the matrix)
    found = top_of_operator(gram.times, gram.n, k, tol=tol, max_iter=MAX_PASSES, seed=seed, width=WIDTH)
    if not found.converged:
        warnings.warn(
            f"{MAX_PASSES} passes did not reach tol={tol:g}: the last components may be rough, as they are where "
            "the kernel is not positive semidefinite. Ask for fewer components, or use solver='dense'.",
            LowdimWarning,
            stacklevel=4,
        )
    return found


def smallest_of_gram(gram: Gram, largest: float, seed: int = 0) -> float:
    """The smallest eigenvalue of the centred matrix, as the largest of a shifted one."""
    found = top_of_operator(lambda V: largest * V - gram.times(V), gram.n, 1, tol=1e-9, max_iter=MAX_PASSES, seed=seed)
    return largest - float(found.values[0])


def tolerance(gram: Gram) -> float:
    """The residual, as a share of the largest value, that the entries' precision allows."""
    return 1e-6 if gram.dtype == np.float32 else 1e-10
