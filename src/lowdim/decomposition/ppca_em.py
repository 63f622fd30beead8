"""Probabilistic PCA of rows with missing values: maximum likelihood by EM.

The model is x ~ N(μ, W Wᵀ + σ²I) with W of k columns (Tipping and Bishop 1999). Only missing values are latent:

    E-step   x̂ = E[x | observed values], and the conditional covariance of the missing ones
    M-step   mean and covariance of x̂ plus the conditional covariances; W and σ² from its axes, in closed form

Without missing values one step is ordinary PCA, and the likelihood never decreases.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import ArrayRows, Block, Chunk, Rows, chunk_rows
from lowdim.data.validation import underflow_error
from lowdim.decomposition.component_count import is_rule
from lowdim.decomposition.principal_axes import PCAOptions, PrincipalAxes, axes_from_moments
from lowdim.decomposition.resolution import variance_floor
from lowdim.errors import BadInput, LowdimWarning
from lowdim.linalg.centered import nonzero_scale
from lowdim.runtime.display import count
from lowdim.runtime.progress import report
from lowdim.runtime.warning import warn
from lowdim.summaries.moments import Moments, merge, moments_of

__all__ = ["PPCAModel", "axes_by_em", "impute", "impute_by_em"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PPCAModel:
    """The Gaussian N(mean, W Wᵀ + noise I)."""

    mean: Array  # (d,)
    W: Array  # (d, k)
    noise: float

    @classmethod
    def from_axes(cls, axes: PrincipalAxes) -> PPCAModel:
        """The maximum likelihood model for these principal axes."""
        d, k = axes.vectors.shape
        noise = axes.variance_left_out / (d - k) if k < d else 0.0
        return cls(axes.mean, axes.vectors * np.sqrt(np.maximum(axes.values[:k] - noise, 0.0)), noise)


def impute(X: Array, model: PPCAModel) -> Array:
    """E[x | observed values], (n, d)."""
    parts = []
    for block in _blocks(X, model):
        parts.append(_conditional_moments(X[block], model)[0])
        report("imputing rows", min(block.stop, len(X)), len(X))
    return np.concatenate(parts)


def impute_by_em(rows: Rows, share: float, threads: int) -> NDArray[Any]:
    """A copy of rows with NaN, (n, d), whose NaN are replaced by their expectation under probabilistic PCA.

    The model is fitted by EM to standardized columns, with as many components as explain this share of the variance.
    """
    options = PCAOptions(share, 0, True, None, 200, 0, threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)  # a rough fit is good enough to fill gaps
        axes = axes_by_em(rows, None, options)
    assert axes.scale is not None
    model = replace(PPCAModel.from_axes(axes), mean=np.zeros(rows.d))
    X = np.array(rows.whole(), dtype=np.float64)
    filled = impute((X - axes.mean) / axes.scale, model) * axes.scale + axes.mean
    return np.where(np.isnan(X), filled, X).astype(rows.dtype)


def _blocks(X: Array, model: PPCAModel) -> Iterator[slice]:
    """Slices of rows whose conditional moments fit into the cache."""
    d, k = model.W.shape
    size = chunk_rows(max(d, k * k), X.itemsize)
    return (slice(start, start + size) for start in range(0, len(X), size))


def _conditional_moments(X: Array, model: PPCAModel) -> tuple[Array, Array]:
    """E[x | observed values], (n, d), and factors F (n, k, k): cov[x | …] = noise (I + W F Fᵀ Wᵀ)."""
    observed = ~np.isnan(X)
    k = model.W.shape[1]
    products = (model.W[:, :, None] * model.W[:, None, :]).reshape(len(model.W), k * k)
    floor = max(model.noise, 1e-12 * float((model.W**2).sum()), np.finfo(np.float64).tiny)
    inner = (observed @ products).reshape(-1, k, k) + floor * np.eye(k)  # WₒᵀWₒ + σ²I, of the observed columns
    inverse = np.linalg.inv(inner)
    scores = np.einsum("nij,nj->ni", inverse, np.where(observed, X - model.mean, 0.0) @ model.W)
    imputed = np.where(observed, X, model.mean + scores @ model.W.T)
    return imputed, np.asarray(np.linalg.cholesky((inverse + inverse.transpose(0, 2, 1)) / 2), dtype=np.float64)


def axes_by_em(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Principal axes of rows with NaN; their solver is "em"."""
    X = np.array(rows.whole(), dtype=np.float64)
    mean, deviation = _observed_moments(X)
    varying = deviation > np.finfo(rows.dtype).eps * np.abs(mean)
    if not options.standardize and varying.any() and deviation.max() < variance_floor(rows.dtype) ** 0.5:
        raise underflow_error()
    scale = nonzero_scale(deviation, mean, rows.dtype) if options.standardize else np.ones_like(mean)
    X = (X - mean) / scale  # near zero, whatever the offsets
    inner = replace(options, n_components=_count(X, weights, options), ddof=0, standardize=False)
    model = PPCAModel(np.zeros_like(mean), np.zeros((len(mean), 1)), float(((deviation / scale) ** 2).mean()))
    tol, change = options.tol or 1e-6, np.inf
    for step in range(1, options.max_iter + 1):
        axes = axes_from_moments(_expected_moments(X, weights, model, options.threads), inner, rank=len(mean))
        updated = PPCAModel.from_axes(axes)
        inner = replace(inner, n_components=axes.vectors.shape[1])  # a ratio is applied once
        change, model = _relative_change(model, updated), updated
        report("EM", step, options.max_iter, change=change)
        if change <= tol:
            break
    else:
        warn(
            f"EM did not converge within max_iter={step} steps: the relative change is {change:.1e}, above "
            f"tol={tol:.0e}. Raise max_iter.",
        )
    unbias = axes.n / (axes.n - options.ddof)
    return replace(
        axes,
        mean=mean + scale * axes.mean,
        scale=scale if options.standardize else None,
        values=axes.values * unbias,
        total=axes.total * unbias,
        variances=None if axes.variances is None else axes.variances * unbias,
        log_det=axes.log_det + len(mean) * np.log(unbias),
        solver="em",
        n_iter=step,
        converged=bool(change <= tol),
    )


def _count(X: Array, weights: Array | None, options: PCAOptions) -> Any:
    """The number of components by a rule, which reads a table without gaps: means stand in for missing values."""
    if not is_rule(options.n_components):
        return options.n_components
    rows, plain = ArrayRows(np.where(np.isnan(X), 0.0, X)), replace(options, standardize=False)
    return axes_from_moments(moments_of(rows, None, weights, options.threads), plain, rows).vectors.shape[1]


def _expected_moments(X: Array, weights: Array | None, model: PPCAModel, threads: int) -> Moments:
    """The E-step: expected moments of the rows under the model."""
    k = model.W.shape[1]

    def summarize(chunk: Chunk, block: Block) -> Moments:
        weight = None if weights is None else weights[chunk.start : chunk.stop]
        cuts = _blocks(block, model)
        return reduce(merge, (_expected_part(block[c], None if weight is None else weight[c], model) for c in cuts))

    return fold(ArrayRows(X), summarize, merge, threads, f"E-step with {count(k, 'component')}")


def _expected_part(block: Array, weight: Array | None, model: PPCAModel) -> Moments:
    """Expected moments of a few rows."""
    imputed, factors = _conditional_moments(block, model)
    part = moments_of(ArrayRows(imputed), None, weight, threads=1)
    missing = np.isnan(block)
    incomplete = missing.any(axis=1)
    own = None if weight is None else weight[incomplete]
    counts = missing[incomplete] if own is None else missing[incomplete] * own[:, None]
    part.within[np.diag_indices_from(part.within)] += model.noise * counts.sum(axis=0)
    for root in _covariance_roots(missing[incomplete], factors[incomplete], model.W, own):
        part.within += model.noise * (root.T @ root)
    return part


def _covariance_roots(missing: NDArray[Any], factors: Array, W: Array, weights: Array | None) -> Iterator[Array]:
    """Blocks R of rows of (mask) W F: the sum of RᵀR is the conditional covariance of the missing values."""
    d, k = W.shape
    size = max(1, chunk_rows(d * k))
    for start in range(0, len(missing), size):
        cut = slice(start, start + size)
        root = np.matmul(factors[cut].transpose(0, 2, 1), W.T) * missing[cut, None, :]  # (m, k, d)
        if weights is not None:
            root *= np.sqrt(weights[cut])[:, None, None]
        yield root.reshape(-1, d)


def _observed_moments(X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the observed values of each column."""
    observed = ~np.isnan(X)
    if np.isinf(X).any():
        raise BadInput("Input X contains infinity; missing='em' handles NaN only. Drop or replace such values.")
    counts = observed.sum(axis=0)
    if (counts == 0).any():
        columns = np.flatnonzero(counts == 0)[:5].tolist()
        raise BadInput(f"columns without any value: {columns}. Drop them.")
    mean = np.where(observed, X, 0.0).sum(axis=0) / counts
    deviations = np.where(observed, X - mean, 0.0)
    units = np.ldexp(1.0, np.frexp(np.abs(deviations).max(axis=0))[1] - 1)  # powers of two: tiny squares do not vanish
    return mean, units * np.sqrt(((deviations / units) ** 2).sum(axis=0) / counts)


def _relative_change(old: PPCAModel, new: PPCAModel) -> float:
    """The change of the covariance and of the mean, relative to the size of the covariance."""
    size = float(np.linalg.norm(new.W @ new.W.T)) + new.noise
    moved = float(np.linalg.norm(new.W @ new.W.T - old.W @ old.W.T)) + abs(new.noise - old.noise)
    shift = float(np.linalg.norm(new.mean - old.mean)) / max(np.sqrt(size), np.finfo(float).tiny)
    return moved / max(size, np.finfo(float).tiny) + shift
