"""Probabilistic PCA: the Gaussian that principal axes and the variance left out define, and likelihoods under it.

x ~ N(μ, V (Λ - σ²I) Vᵀ + σ²I)     (Tipping and Bishop 1999)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.linear import LinearProjection
from lowdim.errors import NotEnoughData
from lowdim.runtime.threads import interruptible_product

__all__ = ["ProbabilisticPCAMixin"]

Array = NDArray[Any]


class ProbabilisticPCAMixin(LinearProjection):
    """Covariance, precision and log-likelihood of a linear projection with variances of its axes and of the rest."""

    explained_variance_: Array  # (k,)
    noise_variance_: float
    n_components_: int

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each row under probabilistic PCA, (n,)."""
        d, k = self.n_features_in_, self.n_components_
        norms, scores = self._norms_and_scores(X)
        variances, noise = self.explained_variance_.astype(np.float64), self.noise_variance_
        if variances[-1] <= 0 or (k < d and noise <= 0):
            raise NotEnoughData(
                "the fitted covariance is singular, so the likelihood is not defined. Ask for fewer components, or "
                "give more rows."
            )
        inside = (scores**2 / variances).sum(axis=1)
        outside = np.maximum(norms - (scores**2).sum(axis=1), 0) / noise if k < d else 0.0
        log_det = np.log(variances).sum() + ((d - k) * np.log(noise) if k < d else 0.0)
        if self.scale_ is not None:  # a density in the units of X
            log_det += 2 * np.log(self.scale_.astype(np.float64)).sum()
        return self._finite(-0.5 * (d * np.log(2 * np.pi) + log_det + inside + outside))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows under probabilistic PCA."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Array:
        """Covariance of probabilistic PCA in the units of X: V (Λ - σ²I) Vᵀ + σ²I, (d, d)."""
        check_is_fitted(self, "components_")
        V, noise = self.components_.astype(np.float64), self.noise_variance_
        C = (V.T * np.maximum(self.explained_variance_ - noise, 0)) @ V + noise * np.eye(V.shape[1])
        return C if self.scale_ is None else C * np.outer(self.scale_, self.scale_)

    def get_precision(self) -> Array:
        """Precision matrix: the inverse of `get_covariance()`, (d, d)."""
        C = self.get_covariance()
        try:
            return interruptible_product(lambda: np.linalg.inv(C), len(C) ** 3)
        except np.linalg.LinAlgError as error:
            raise NotEnoughData("the covariance is singular; ask for fewer components.") from error

    def _norms_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Squared norms of the centered rows, (n,), and their unwhitened scores, (n, k)."""
        check_is_fitted(self, "components_")
        centered = self._centered(self._imputed(X))
        scores = centered.times(self.components_.T).astype(np.float64)
        return centered.squared_norms(), scores

    def _imputed(self, X: Any) -> Any:
        """X with its missing values replaced, by a method that can do so."""
        return X
