"""Eigenpairs of a centered Gram matrix: a dense solver for few rows, block Lanczos for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import column_ends
from lowdim.data.validation import underflow_error
from lowdim.decomposition.resolution import variance_floor
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_largest
from lowdim.linalg.dense_limits import GRAM_ROWS, dense_is_faster
from lowdim.linalg.spectral_sums import sum_of_positive_eigenvalues
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import interruptible
from lowdim.runtime.warning import warn
from lowdim.summaries.gram import Gram
from lowdim.summaries.kernel_sources import ComputedKernel

__all__ = [
    "KernelComponents",
    "check_kernel_underflow",
    "choose_gram_solver",
    "gram_scores",
    "kernel_components",
    "largest_of_gram",
    "positive_sum",
    "smallest_of_gram",
]

Array = NDArray[Any]

MAX_PASSES = 300
WIDTH = 16  # columns of a block: a pass over the matrix costs little more for them than for one


@dataclass(frozen=True)
class KernelComponents:
    """Principal components in feature space as combinations Σ αᵢ φ(xᵢ) of the images of m rows."""

    values: Array  # (k,) eigenvalues of the centered kernel matrix, descending, at least zero
    alphas: Array  # (m, k): rows with the kernel values g have the scores (g - means) alphas
    means: Array  # (m,) column means of the kernel matrix
    mean_weights: Array  # (m,): the mean in feature space is Σ mean_weightsᵢ φ(xᵢ)
    scores: Array  # (m, k) of the m rows
    total: float  # the sum of the positive eigenvalues of the centered kernel matrix
    n_iter: int = 1
    converged: bool = True
    error: float = 0.0  # of a Nyström approximation: relative trace of the residual


def choose_gram_solver(n: int, k: int, solver: str = "auto") -> str:
    """The given solver, or the faster one of 'dense' and 'lanczos' for k of n eigenpairs if it is "auto"."""
    if solver != "auto":
        return solver
    return "dense" if dense_is_faster(n, k, GRAM_ROWS) else "lanczos"


def largest_of_gram(gram: Gram, k: int, *, solver: str = "auto", tol: float | None = None, seed: int = 0) -> Eigenpairs:
    """The k largest eigenpairs of the centered matrix, descending; the dense solver may find negative values."""
    if choose_gram_solver(gram.n, k, solver) == "dense":
        require_memory(
            3 * 8 * gram.n**2,
            f"the dense eigensolver for {gram.n} rows",
            "Ask for few components, which need no dense solver, or use landmarks.",
        )
        return eigh_largest(gram.dense(), None if k == gram.n else k)
    tol = precision_limit(gram) if tol is None else tol
    gram.means  # noqa: B018  (the first pass computes and keeps the matrix)
    found = block_lanczos(gram.times, gram.n, k, tol=tol, max_iter=MAX_PASSES, seed=seed, width=WIDTH)
    if not found.converged:
        _warn(f"tol={tol:g}: the last components may be inaccurate, as is usual where eigenvalues are negative")
    return found


def kernel_components(
    gram: Gram, k: int | None, *, solver: str = "auto", tol: float | None = None, seed: int = 0
) -> KernelComponents:
    """The k first principal components, or all of positive variance; those without variance are zero."""
    if isinstance(gram.source, ComputedKernel):
        check_kernel_underflow(gram.trace, gram.n, gram.source.rows.rows)
    found = largest_of_gram(gram, gram.n if k is None else k, solver=solver, tol=tol, seed=seed)
    total = positive_sum(gram, found.values, seed)
    values = np.where(found.values > gram.rounding, found.values, 0.0)
    values = values[: max(1, np.count_nonzero(values))] if k is None else values
    scores, alphas = gram_scores(gram, values, found.vectors[:, : len(values)])
    return KernelComponents(values, alphas, gram.means, gram.shares, scores, total, found.n_iter, found.converged)


def positive_sum(gram: Gram, known: Array, seed: int = 0) -> float:
    """The sum of the positive eigenvalues of the centered matrix, which does not depend on how many are `known`.

    It is the trace if the kernel is positive semidefinite. Otherwise all eigenvalues give it, or, where these are too
    many, an estimate to about 2%.
    """
    if gram.psd:
        return gram.trace
    if len(known) == gram.n:
        return float(np.maximum(known, 0).sum())
    if gram.n > GRAM_ROWS:
        return sum_of_positive_eigenvalues(gram.times, gram.n, gram.trace, gram.rounding, seed)
    values = interruptible(lambda: np.linalg.eigvalsh(gram.dense()))
    return float(np.maximum(values, 0).sum())


def check_kernel_underflow(trace: float, n: int, rows: Any) -> None:
    """Refuse rows whose squares underflow, where that makes their kernel matrix vanish."""
    floor = variance_floor(rows.dtype)
    if abs(trace) < n * floor and 0 < float(np.subtract(*column_ends(rows)).max()) < floor**0.5:
        raise underflow_error()


def smallest_of_gram(gram: Gram, largest: float, seed: int = 0) -> float:
    """The smallest eigenvalue of the centered matrix, as the largest one of largest · I - G."""
    tol, width = precision_limit(gram), min(WIDTH, gram.n)
    found = block_lanczos(
        lambda V: largest * V - gram.times(V), gram.n, 1, tol=tol, max_iter=MAX_PASSES, seed=seed, width=width
    )
    if not found.converged:
        _warn(f"tol={tol:g} for the smallest eigenvalue, which may be lower than the one found")
    return largest - float(found.values[0])


def gram_scores(gram: Gram, values: Array, vectors: Array) -> tuple[Array, Array]:
    """Scores of the rows (n, k) from eigenpairs, and alphas (n, k): new rows have the scores (g - means) alphas.

    With weights w, the vectors u belong to √w G √w: scores are u √λ / √w and alphas √w u / √λ, which sum to zero. A
    row of weight zero is projected like a new one.
    """
    roots = np.sqrt(np.maximum(values, 0))
    weight_roots = 1.0 if gram.weights is None else np.sqrt(gram.weights)[:, None]
    alphas = np.divide(vectors * weight_roots, roots, out=np.zeros_like(vectors), where=roots > 0)
    alphas -= gram.shares[:, None] * alphas.sum(axis=0)  # zero but for rounding
    if gram.weights is None:
        return vectors * roots, alphas
    scores = np.divide(vectors * roots, weight_roots, out=np.zeros_like(vectors), where=weight_roots > 0)
    for i in np.flatnonzero(gram.weights == 0):
        scores[i] = (gram.rows(int(i), int(i) + 1)[0] - gram.means) @ alphas
    return scores, alphas


def precision_limit(gram: Gram) -> float:
    """The smallest residual, relative to the largest eigenvalue, that the precision of the entries allows."""
    return 1e-6 if gram.dtype == np.float32 else 1e-10


def _warn(target: str) -> None:
    warn(
        f"Lanczos did not converge within {MAX_PASSES} passes to {target}. Ask for fewer components, or use fewer "
        "rows.",
    )
