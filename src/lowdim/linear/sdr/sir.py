"""Sliced inverse regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import estimator
from lowdim.errors import BadInput
from lowdim.linear.sdr.base import MOMENTS_TRAITS
from lowdim.linear.sdr.predictor_tests import mean_statistics
from lowdim.linear.sdr.regularized_whitening import RegularizedWhitening
from lowdim.linear.sdr.slice_moments import RowsOfMoments, without_empty_slices
from lowdim.linear.sdr.sliced import SlicedReduction
from lowdim.linear.sdr.solution import RowSum, Sample, Solution
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["SIR"]

Floats = NDArray[np.float64]


@estimator(
    title="directions along which the means of slices of the response differ",
    summary="moments",
    **MOMENTS_TRAITS,
)
class SIR(SlicedReduction):
    """Sliced inverse regression: directions that the mean of X given y moves along (Li 1991).

        B v = λ S v,   VᵀSV = I,   B = Σ_h p_h (m_h - μ)(m_h - μ)ᵀ,   S = Σ (x - μ)(x - μ)ᵀ / n

    over slices h of the response, with their shares p_h and means m_h. If y depends on X through a few linear
    combinations of its columns, and E[x | these] is linear in them, as for elliptical X, the directions estimate their
    span, the central subspace. λ is the share of the variance along v that lies between the slices. A dependence that
    is symmetric about the mean moves no slice mean and is missed: use SAVE, PHD or DirectionalRegression.

    The tests of the order read n Σ_{j>k} λ_j. With class labels SIR finds the axes of linear discriminant analysis.
    `fit` takes what PCA takes, and y: numbers or classes, one or several per row, or the name of a column if X is a
    file; or Moments by slice in place of both.

    {parameters}

    Attributes
    ----------
    {directions}
    eigenvalues_ : array (r,)
        All eigenvalues, descending, from 0 to 1.
    {order tests}
    {slices}

    """

    def direction_t_values(self) -> Floats:
        """Directions divided by the standard errors of Chen and Li (1998), (k, d), which need no rows.

        A direction is taken as the least-squares fit to an optimal transformation of y, whose R² is λ: its covariance
        is about (1 - λ) / (λ n) S⁻¹.
        """
        check_is_fitted(self, "components_")
        if self._state.precision is None:
            raise BadInput("standard errors need a fit without shrinkage and ridge, which bias the directions.")
        values = self.eigenvalues_[: len(self.components_), None].astype(np.float64)
        variances = (1 - values) / (values * self.slice_sizes_.sum()) * self._state.precision
        zero = np.zeros(self.components_.shape)
        return np.divide(self.components_, np.sqrt(variances), out=zero, where=variances > 0)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions. `sample_weight` is the multiplicity of each row.

        A stream of pairs (X, y) is given as a function, and read once for y alone, then for the moments. X may also be
        `lowdim.moments(X, slices)`.
        """
        if not isinstance(X, Moments):
            return super().fit(X, y, sample_weight)
        with self._fitting():
            if y is not None or sample_weight is not None or X.classes is None:
                raise BadInput("Moments include their slices and weights. Give y and sample_weight to lowdim.moments.")
            if np.count_nonzero(X.counts) < 2:
                raise BadInput("Moments of one slice tell nothing: at least 2 slices are needed.")
            self.n_features_in_ = X.d
            if X.feature_names is not None:
                self.feature_names_in_ = X.feature_names
            return self._fit_sample(Sample(RowsOfMoments(X), None, 1))

    def _summarize(self, sample: Sample) -> Moments:
        if isinstance(sample.rows, RowsOfMoments):
            return without_empty_slices(sample.rows.moments)
        return without_empty_slices(moments_of(sample.rows, None, sample.weights, sample.threads))

    def _kernel(self, sample: Sample, summary: Moments, white: RegularizedWhitening) -> Floats:
        means = (summary.means - summary.mean) @ white.root
        return np.asarray((means.T * (summary.counts / summary.n)) @ means)

    def _most(self, solution: Solution) -> int:
        return min(len(solution.values), len(solution.moments.counts) - 1)

    def _limit(self, solution: Solution) -> str:
        return f"{len(solution.moments.counts)} slices and {len(solution.values)} columns that vary"

    def _order_statistics(self, solution: Solution, most: int) -> tuple[Floats, Floats]:
        k, r = np.arange(most), len(solution.values)
        tails = np.cumsum(solution.values[::-1])[::-1]
        return solution.moments.n * tails[:most], (r - k) * (len(solution.moments.counts) - k - 1.0)

    def _null_influence(self, sample: Sample, solution: Solution, k: int) -> RowSum:
        """Null scores times the residuals of the slice indicators, off the first k directions: Γ₀ᵀ z rᵀ Ψ₀."""
        roots = np.sqrt(solution.shares)
        xi = solution.slice_scores * roots[:, None]  # (H, r)
        off = np.linalg.qr(np.column_stack([roots, xi[:, :k]]), mode="complete")[0][:, k + 1 :]  # (H, H - k - 1)

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            residuals = -Z @ xi.T - roots
            residuals[np.arange(len(Z)), codes] += 1 / roots[codes]
            return np.asarray((Z[:, k:, None] * (residuals @ off)[:, None, :]).reshape(len(Z), -1))

        return influence

    def _kernel_influence(self, sample: Sample, solution: Solution, columns: slice) -> RowSum:
        """δB = z mᵀ + m zᵀ - m mᵀ - B, with the mean score m of the row's slice."""
        means, B = solution.slice_scores, np.diag(solution.values)[:, columns]

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            m = means[codes]
            left, right = m[:, :, None], m[:, None, columns]
            return np.asarray(Z[:, :, None] * right + left * Z[:, None, columns] - left * right - B)

        return influence

    def _predictor_statistics(self, sample: Sample, solution: Solution) -> tuple[Floats, Floats]:
        B, slices = np.diag(solution.values), len(solution.moments.counts)
        return mean_statistics(solution.vectors, B, solution.moments.n, slices)
