"""Principal Hessian directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk
from lowdim.data.target import numeric_responses
from lowdim.errors import BadInput, BadInputType
from lowdim.linalg.centered import Centered
from lowdim.linalg.dense_eigen import eigh, symmetrized
from lowdim.linear.sdr.base import MOMENTS_TRAITS, SufficientReduction
from lowdim.linear.sdr.predictor_tests import ratio
from lowdim.linear.sdr.regularized_whitening import RegularizedWhitening
from lowdim.linear.sdr.solution import RowSum, Sample, Solution, sum_over_scores
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, param
from lowdim.runtime.threads import interruptible_product
from lowdim.runtime.warning import warn
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["PHD"]

Floats = NDArray[np.float64]

NO_RESIDUALS = 1e-12  # a share of the variance of y below which the residuals are rounding errors


@dataclass(frozen=True)
class ResponseMoments:
    """Moments of the rows, and those of the centered response y, in units of its largest value."""

    moments: Moments
    response: Floats  # (n,) y
    unit: float
    variance: float  # of y
    cross: Floats  # (d,) E[y (x - μ)]

    def residual_variance(self, white_cross: Floats) -> float:
        """The variance that least squares leaves, from the cross moment in whitened coordinates."""
        left = self.variance - float(white_cross @ white_cross)
        return left if left > NO_RESIDUALS * self.variance else 0.0


@estimator(
    title="directions of greatest curvature of the regression of the response",
    summary="moments",
    **MOMENTS_TRAITS,
)
class PHD(SufficientReduction):
    """Principal Hessian directions: where the regression function bends most (Li 1992, Cook 1998).

        H v = λ S v,   VᵀSV = I,   H = Σ e (x - μ)(x - μ)ᵀ / n

    where e is y minus its mean, or the residual of the least-squares fit of y. For normal X, S⁻¹HS⁻¹ is the mean
    Hessian matrix of E[y | x] (Stein's lemma). Without slices it needs few rows, and finds what is symmetric about the
    mean, which SIR misses; a linear trend is no curvature and is missed. Eigenvalues have signs, and the largest |λ|
    come first.

    The tests of the order read n Σ_{j>k} λ_j² / (2 var e); their χ² law for response="y" holds only without a linear
    trend.

    y is one number per row; for classes and for several responses use SIR, SAVE or DirectionalRegression. A stream of
    pairs (X, y) is read five times.

    {parameters}

    Attributes
    ----------
    {directions}
    eigenvalues_ : array (r,)
        All eigenvalues, in units of y, by descending absolute value.
    {order tests}

    """

    response: str = param(
        "residuals",
        Choice("residuals", "y"),
        "What is averaged: residuals of the least-squares fit of y, or y itself.",
    )

    _definite = False

    def _target(self, y: Any, n: int, weights: Floats | None) -> dict[str, Any]:
        try:
            responses = numeric_responses(y, n)
        except BadInputType as error:
            raise BadInputType(f"{error} For classes use SIR, SAVE or DirectionalRegression.") from error
        if responses.shape[1] > 1:
            raise BadInput(
                f"PHD takes one response; got {responses.shape[1]}. Fit each by itself, or use SIR, SAVE or "
                "DirectionalRegression, which slice several."
            )
        return {"response": responses[:, 0]}

    def _summarize(self, sample: Sample) -> ResponseMoments:
        moments = moments_of(sample.rows, None, sample.weights, sample.threads)
        response, unit = _centered_response(sample)
        weights = np.ones(len(response)) if sample.weights is None else sample.weights
        variance = float(weights @ response**2) / moments.n
        cross = _product(sample, moments, lambda panel, e: panel.T @ e, lambda cut, panel: response[cut])
        return ResponseMoments(moments, response, unit, variance, cross / moments.n)

    def _kernel(self, sample: Sample, summary: ResponseMoments, white: RegularizedWhitening) -> Floats:
        slope = np.zeros(summary.moments.d)
        if self.response == "residuals":
            inside = white.root.T @ summary.cross
            slope = white.root @ inside
            if not white.regularized and summary.residual_variance(inside) == 0:
                warn(
                    "y is a linear function of the columns, so its residuals show no curvature and the directions mean "
                    "nothing. Use SIR.",
                )
                return np.zeros((white.root.shape[1],) * 2)

        H = _product(sample, summary.moments, _weighted_scatter, _errors(summary, slope))
        return white.matrix(H) * (summary.unit / summary.moments.n)

    def _order_statistics(self, solution: Solution, most: int) -> tuple[Floats, Floats]:
        m = np.arange(len(solution.values), len(solution.values) - most, -1)
        tails = np.cumsum((solution.values[::-1] / solution.summary.unit) ** 2)[::-1][:most]
        variance = self._variance(solution)
        return solution.moments.n * tails / (2 * variance) if variance > 0 else np.zeros(most), m * (m + 1) / 2.0

    def _tail(self, values: Floats, n: float, k: int) -> float:
        return n * float((values[k:] ** 2).sum())

    def _null_influence(self, sample: Sample, solution: Solution, k: int) -> RowSum:
        """The influence on the kernel between null directions, in units of the statistic."""
        kernel = self._kernel_influence(sample, solution, slice(k, None))
        unit = np.sqrt(2 * self._variance(solution)) * solution.summary.unit
        return lambda Z, codes, cut: kernel(Z, codes, cut)[:, k:].reshape(len(Z), -1) / unit

    def _kernel_influence(self, sample: Sample, solution: Solution, columns: slice) -> RowSum:
        """Influence of a row: e (z zᵀ - I) - c zᵀ - z cᵀ - H with c = E[e z] for response="y".

        For residuals it is e (z zᵀ - I - E[(z̃ᵀz) z̃ z̃ᵀ]) - H, since the least-squares fit also moves.
        """
        summary: ResponseMoments = solution.summary
        c = solution.vectors.T @ summary.cross * summary.unit
        H, identity = np.diag(solution.values)[:, columns], np.eye(len(c))[:, columns]
        third = _third_moments(sample, solution, columns) if self.response == "residuals" else None

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            e = (summary.response[cut] * summary.unit)[:, None, None]
            outer = Z[:, :, None] * Z[:, None, columns] - identity
            if third is None:
                return np.asarray(e * outer - c[:, None] * Z[:, None, columns] - Z[:, :, None] * c[columns] - H)
            e = e - (Z @ c)[:, None, None]
            return np.asarray(e * (outer - np.einsum("mi,ijk->mjk", Z, third)) - H)

        return influence

    def _predictor_statistics(self, sample: Sample, solution: Solution) -> tuple[Floats, Floats]:
        """N |Hα|² / var e, where α is a column's whitened unit vector; a sum of χ² for normal columns.

        Where a column does not matter, its score z is independent of e and of all other scores w. A row then moves Hα
        by e (z² - 1) along α and by z (e w - H w - E[e w]) across it: weights are 2 var e, and the eigenvalues of
        E[e² w wᵀ] - H² - E[e w] E[e w]ᵀ. α is an eigenvector of that matrix for all scores, with eigenvalue var e.
        """
        summary: ResponseMoments = solution.summary
        V, variance = solution.vectors, self._variance(solution)
        if variance == 0:  # y is linear, and nothing bends
            return np.zeros(len(V)), np.zeros(1)
        cross, H = V.T @ summary.cross, solution.values / summary.unit
        slope = V @ cross if self.response == "residuals" else np.zeros(len(V))
        errors = _errors(summary, slope)
        squared = _product(
            sample, summary.moments, _weighted_scatter, lambda cut, panel: errors(cut, panel) ** 2
        ) / summary.moments.n  # fmt: skip
        K = V.T @ squared @ V - np.diag(H**2) - (np.outer(cross, cross) if self.response == "y" else 0)
        weights = np.maximum(eigh(symmetrized(K))[0] / variance, 0.0)
        weights[np.argmin(np.abs(weights - 1))] += 1  # that of α: 2 var e in place of var e
        squares = V**2
        return solution.moments.n / variance * ratio(squares @ H**2, squares.sum(axis=1)), weights

    def _variance(self, solution: Solution) -> float:
        """The variance of the response that is averaged, in the square of its unit."""
        summary: ResponseMoments = solution.summary
        if self.response == "y":
            return summary.variance
        return summary.residual_variance(solution.vectors.T @ summary.cross)


def _centered_response(sample: Sample) -> tuple[Floats, float]:
    """The response about its mean, in units of its largest absolute value, and that value."""
    y = sample.response
    assert y is not None
    half = y / 2  # so that no difference overflows
    half = half - np.average(half - half[0], weights=sample.weights) - half[0]
    size = float(np.abs(half).max())
    if size <= 4 * np.finfo(np.float64).eps * float(np.abs(y).max()):
        raise BadInput("y is constant, so no direction can be found. Give a response that varies.")
    return half / size, 2 * size


def _errors(summary: ResponseMoments, slope: Floats) -> Any:
    """Responses less a linear function of the centered rows, of a chunk."""
    return lambda cut, panel: np.asarray(summary.response[cut] - panel.astype(np.float64) @ slope)


def _weighted_scatter(panel: Floats, weights: Floats) -> Floats:
    weighted = (panel * weights[:, None]).astype(panel.dtype)
    return interruptible_product(lambda: panel.T @ weighted, panel.size * panel.shape[1])


def _product(sample: Sample, moments: Moments, product: Any, errors: Any) -> Floats:
    """The sum over chunks of product(panel, weighted errors), where panels hold the centered rows."""
    centered = Centered(sample.rows, moments.mean, None, None, sample.threads)

    def summarize(chunk: Chunk, block: Block) -> Floats:
        cut, panel = slice(chunk.start, chunk.stop), centered.panel(chunk, block)
        e, weights = errors(cut, panel), sample.weights_of(cut)
        return np.asarray(product(panel, e if weights is None else e * weights), dtype=np.float64)

    return fold(sample.rows, summarize, lambda a, b: a + b, sample.threads)


def _third_moments(sample: Sample, solution: Solution, columns: slice) -> Floats:
    """E[z_i z_j z_k] of the scores for k in the columns, (r, r, columns)."""
    r = len(solution.values)
    width = len(range(*columns.indices(r)))
    require_memory(8 * r * r * width * (3 + sample.threads), "third moments of the scores", "Use response='y'.")

    def total(Z: Floats, codes: Any, cut: slice) -> Floats:
        weights, out = sample.weights_of(cut), np.empty((r, r, width))
        for i in range(r):
            left = Z[:, i] if weights is None else Z[:, i] * weights
            out[i] = (Z * left[:, None]).T @ Z[:, columns]
        return out

    return sum_over_scores(sample, solution, total, "third moments") / solution.moments.n
