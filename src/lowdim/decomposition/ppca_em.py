"""Principal axes of rows with missing values: maximum likelihood by EM.

The model is probabilistic PCA, x ~ N(μ, W Wᵀ + σ²I) with W of k columns (Tipping and Bishop 1999).
What is missing is the only thing latent:

    E-step   x̂ = E[x | what is there], and the covariance of what is not there
    M-step   mean and covariance of x̂ plus those covariances; W and σ² from its axes, in closed form

so without gaps one step is ordinary PCA, and the likelihood never falls.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import ArrayRows, Block, Chunk, Rows, chunk_rows
from lowdim.decomposition.principal_axes import Axes, Plan, from_moments
from lowdim.errors import BadInput, LowdimWarning
from lowdim.runtime.progress import report
from lowdim.summaries.moments import Moments, merge, moments_of, spread_or_one

__all__ = ["LowRank", "axes_with_gaps", "fill_gaps"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LowRank:
    """N(mean, W Wᵀ + noise I)."""

    mean: Array  # (d,)
    W: Array  # (d, k)
    noise: float

    @classmethod
    def of(cls, axes: Axes) -> LowRank:
        """The most likely model with the given axes."""
        d, k = axes.vectors.shape
        rest = axes.total - float(axes.values[:k].sum())
        rounding = d * np.finfo(np.float64).eps * axes.total
        noise = rest / (d - k) if k < d and rest > rounding else 0.0
        return cls(axes.mean, axes.vectors * np.sqrt(np.maximum(axes.values[:k] - noise, 0.0)), noise)


def fill_gaps(X: Array, model: LowRank) -> tuple[Array, Array]:
    """E[x | what is there], (n, d), and factors F (n, k, k): cov[x | …] = noise (I + W F Fᵀ Wᵀ)."""
    there = ~np.isnan(X)
    k = model.W.shape[1]
    products = (model.W[:, :, None] * model.W[:, None, :]).reshape(len(model.W), k * k)
    floor = max(model.noise, 1e-12 * float((model.W**2).sum()), np.finfo(np.float64).tiny)
    inner = (there @ products).reshape(-1, k, k) + floor * np.eye(k)  # WₒᵀWₒ + σ²I, of what is there
    inverse = np.linalg.inv(inner)
    scores = np.einsum("nij,nj->ni", inverse, np.where(there, X - model.mean, 0.0) @ model.W)
    filled = np.where(there, X, model.mean + scores @ model.W.T)
    return filled, np.asarray(np.linalg.cholesky((inverse + inverse.transpose(0, 2, 1)) / 2), dtype=np.float64)


def axes_with_gaps(rows: Rows, weights: Array | None, plan: Plan) -> Axes:
    """Axes of rows with NaN; the route is "em"."""
    X = np.array(rows.whole(), dtype=np.float64)
    mean, deviation = _observed(X)
    scale = spread_or_one(deviation, mean, rows.dtype) if plan.standardize else np.ones_like(mean)
    X = (X - mean) / scale  # near zero, whatever the offsets
    inner = replace(plan, ddof=0, standardize=False)
    model = LowRank(np.zeros_like(mean), np.zeros((len(mean), 1)), float(((deviation / scale) ** 2).mean()))
    tol, change = plan.tol or 1e-6, np.inf
    for step in range(1, plan.max_iter + 1):
        axes = from_moments(_expected(X, weights, model, plan.threads), inner)
        renewed = LowRank.of(axes)
        inner = replace(inner, n_components=axes.vectors.shape[1])  # a share or rule decides once
        change, model = _change(model, renewed), renewed
        report("EM", step, plan.max_iter, change=change)
        if change <= tol:
            break
    else:
        warnings.warn(
            f"EM stopped after {step} steps with a relative change of {change:.1e}, above tol={tol:.0e}; "
            "raise max_iter.",
            LowdimWarning,
            stacklevel=2,
        )
    unbias = axes.n / (axes.n - plan.ddof)
    return replace(
        axes,
        mean=mean + scale * axes.mean,
        scale=scale if plan.standardize else None,
        values=axes.values * unbias,
        total=axes.total * unbias,
        log_det=axes.log_det + len(mean) * np.log(unbias),
        route="em",
        n_iter=step,
        converged=bool(change <= tol),
    )


def _expected(X: Array, weights: Array | None, model: LowRank, threads: int) -> Moments:
    """The moments of the rows as the model completes them."""
    k = model.W.shape[1]

    def summarise(chunk: Chunk, block: Block) -> Moments:
        weight = None if weights is None else weights[chunk.start : chunk.stop]
        filled, factors = fill_gaps(block, model)
        part = moments_of(ArrayRows(filled), None, weight, threads=1)
        gaps = np.isnan(block)
        holed = gaps.any(axis=1)
        counts = gaps[holed] if weight is None else gaps[holed] * weight[holed, None]
        part.within[np.diag_indices_from(part.within)] += model.noise * counts.sum(axis=0)
        for spread in _spreads(gaps[holed], factors[holed], model.W, None if weight is None else weight[holed]):
            part.within += model.noise * (spread.T @ spread)
        return part

    return fold(ArrayRows(X), summarise, merge, threads, f"EM, expectations of rank {k}")


def _spreads(gaps: NDArray[Any], factors: Array, W: Array, weights: Array | None) -> Iterator[Array]:
    """Blocks of rows of (gap mask) W F, whose squares add to the covariance of what is missing."""
    d, k = W.shape
    size = max(1, chunk_rows(d * k))
    for start in range(0, len(gaps), size):
        cut = slice(start, start + size)
        spread = np.matmul(factors[cut].transpose(0, 2, 1), W.T) * gaps[cut, None, :]  # (m, k, d)
        if weights is not None:
            spread *= np.sqrt(weights[cut])[:, None, None]
        yield spread.reshape(-1, d)


def _observed(X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column over what is there."""
    there = ~np.isnan(X)
    if np.isinf(X).any():
        raise BadInput("Input X contains infinity; missing='em' copes with NaN only. Drop or replace such values.")
    counts = there.sum(axis=0)
    if (counts == 0).any():
        columns = np.flatnonzero(counts == 0)[:5].tolist()
        raise BadInput(f"column(s) {columns} hold nothing but NaN; nothing can be learned of them. Drop them.")
    mean = np.where(there, X, 0.0).sum(axis=0) / counts
    spread = np.where(there, X - mean, 0.0)
    return mean, np.sqrt((spread**2).sum(axis=0) / counts)


def _change(old: LowRank, new: LowRank) -> float:
    """How far the model moved, relative to its size."""
    size = float(np.linalg.norm(new.W @ new.W.T)) + new.noise
    moved = float(np.linalg.norm(new.W @ new.W.T - old.W @ old.W.T)) + abs(new.noise - old.noise)
    shift = float(np.linalg.norm(new.mean - old.mean)) / max(np.sqrt(size), np.finfo(float).tiny)
    return moved / max(size, np.finfo(float).tiny) + shift
