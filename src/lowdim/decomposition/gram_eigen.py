"""The largest eigenpairs of a Gram matrix: all of it when small, block Lanczos when large."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import LowdimWarning
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_largest
from lowdim.linalg.dense_limits import GRAM_ROWS, dense_is_faster
from lowdim.runtime.memory import require_memory
from lowdim.summaries.gram import Gram

__all__ = ["Components", "choose_solver", "components_of_gram", "scores_of_gram", "smallest_of_gram", "top_of_gram"]

Array = NDArray[Any]

MAX_PASSES = 300
WIDTH = 16  # columns that a pass over the matrix serves at the price of one


@dataclass(frozen=True)
class Components:
    """Components of a kernel's space as combinations of the images of m rows."""

    values: Array  # (k,) eigenvalues of the centred matrix, descending, none below zero
    alphas: Array  # (m, k): rows with the kernel values g have the scores (g - means) alphas
    means: Array  # (m,)
    mean_weights: Array  # (m,): the mean of all images as a combination of these
    scores: Array  # (m, k) of the m rows
    trace: float  # of the centred matrix
    n_iter: int = 1
    converged: bool = True
    error: float = 0.0  # share of the trace before centring that the m images can't see


def choose_solver(n: int, k: int, wish: str = "auto") -> str:
    """'dense' or 'lanczos' for k of n eigenpairs, unless one is wished for."""
    if wish != "auto":
        return wish
    return "dense" if dense_is_faster(n, k, GRAM_ROWS) else "lanczos"


def top_of_gram(gram: Gram, k: int, *, solver: str = "auto", tol: float | None = None, seed: int = 0) -> Eigenpairs:
    """The k largest eigenpairs of the centred matrix, descending; values may be negative by the dense way."""
    if choose_solver(gram.n, k, solver) == "dense":
        require_memory(
            3 * 8 * gram.n**2,
            f"the dense solver for {gram.n} rows",
            "Ask for few components, which need no dense solver, or use landmarks.",
        )
        return eigh_largest(gram.dense(), None if k == gram.n else k)
    tol = tolerance(gram) if tol is None else tol
    gram.means  # noqa: B018  (the first pass computes and keeps the matrix)
    found = block_lanczos(gram.times, gram.n, k, tol=tol, max_iter=MAX_PASSES, seed=seed, width=WIDTH)
    if not found.converged:
        _warn(f"tol={tol:g}: the last components may be rough, as they are where the matrix has negative eigenvalues")
    return found


def components_of_gram(
    gram: Gram, k: int | None, *, solver: str = "auto", tol: float | None = None, seed: int = 0
) -> Components:
    """The k largest components, or all that vary; those that don't have nothing but zeros."""
    found = top_of_gram(gram, gram.n if k is None else k, solver=solver, tol=tol, seed=seed)
    values = np.where(found.values > gram.rounding, found.values, 0.0)
    values = values[: max(1, np.count_nonzero(values))] if k is None else values
    scores, alphas = scores_of_gram(gram, values, found.vectors[:, : len(values)])
    return Components(values, alphas, gram.means, gram.shares, scores, gram.trace, found.n_iter, found.converged)


def smallest_of_gram(gram: Gram, largest: float, seed: int = 0) -> float:
    """The smallest eigenvalue of the centred matrix, as the largest of a shifted one."""
    tol, width = tolerance(gram), min(WIDTH, gram.n)
    found = block_lanczos(
        lambda V: largest * V - gram.times(V), gram.n, 1, tol=tol, max_iter=MAX_PASSES, seed=seed, width=width
    )
    if not found.converged:
        _warn(f"tol={tol:g} for the smallest eigenvalue, which may be lower than what was found")
    return largest - float(found.values[0])


def scores_of_gram(gram: Gram, values: Array, vectors: Array) -> tuple[Array, Array]:
    """From eigenpairs to the rows' scores (n, k), and to alphas (n, k): new rows with g have (g - means) alphas.

    With weights w, vectors belong to √w G √w: scores are u √λ / √w and alphas √w u / √λ, which sum to zero. A row of
    no weight is placed like a new one.
    """
    roots = np.sqrt(np.maximum(values, 0))
    counted = 1.0 if gram.weights is None else np.sqrt(gram.weights)[:, None]
    alphas = np.divide(vectors * counted, roots, out=np.zeros_like(vectors), where=roots > 0)
    alphas -= gram.shares[:, None] * alphas.sum(axis=0)  # zero but for rounding
    if gram.weights is None:
        return vectors * roots, alphas
    scores = np.divide(vectors * roots, counted, out=np.zeros_like(vectors), where=counted > 0)
    for i in np.flatnonzero(gram.weights == 0):
        scores[i] = (gram.rows(int(i), int(i) + 1)[0] - gram.means) @ alphas
    return scores, alphas


def tolerance(gram: Gram) -> float:
    """The residual, as a share of the largest value, that the entries' precision allows."""
    return 1e-6 if gram.dtype == np.float32 else 1e-10


def _warn(missed: str) -> None:
    warnings.warn(
        f"{MAX_PASSES} passes did not reach {missed}. Ask for fewer components, or use fewer rows.",
        LowdimWarning,
        stacklevel=6,
    )
