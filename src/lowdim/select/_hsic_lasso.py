"""HSIC-lasso (Yamada et al. 2014): features that depend on y in any way, without those that repeat each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Integer, Real, param
from lowdim.runtime.threads import thread_count
from lowdim.select._kernel_factors import class_factor, gaussian_factor, kernel_factors
from lowdim.select._nonnegative_lasso import nonnegative_lasso
from lowdim.select._selector import FilterScores, check_scores, rank, resolve_count
from lowdim.select._target import SupervisedFilter, Target, read_labeled_table

__all__ = ["HSICLasso"]

TYPICAL_RANK = 20  # of the kernel of one column: for an estimate of the memory


@estimator(title="lasso over kernels of single features", summary="rows", supervised=True, sparse=True)
class HSICLasso(ThreadsMixin, SupervisedFilter):
    """Select by HSIC-lasso: the kernels of few features that together resemble the kernel of y.

        min over α ≥ 0 of ½ ‖L - Σ α_j K_j‖² + λ Σ α_j

    K_j is the Gaussian kernel of feature j in standard deviations, L that of y or, for classes, 1 / n_c for two rows of
    class c; all are centered and of norm 1, so that ⟨K_j, L⟩ is the normalized Hilbert–Schmidt independence criterion.
    Any dependence counts, and a feature that repeats a selected one does not. The path in λ is followed exactly (LARS)
    until `k` features are selected.

        Yamada et al. 2014; Climente-González, Azencott, Kaski and Yamada 2019

    Kernels are kept as thin factors (incomplete Cholesky decomposition), in about 15 n numbers per feature instead of
    n², exact to 1e-6 per entry unless `max_rank` is reached.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        The penalty λ at which a feature entered the path; for the others, ⟨K_j, L - Σ α K⟩ at its end, at least 0.
    coef_ : array (d,)
        The coefficients α at the end of the path.
    relevance_ : array (d,)
        Normalized HSIC with y, from 0 to 1.
    {ranking}

    """

    sigma: float = param(1.0, Real(0, open=True), "Width of the Gaussian kernels, in standard deviations.")
    max_rank: int = param(50, Integer(1), "Largest rank of a kernel's factor.")

    def _score(self, X: Any, y: Any) -> FilterScores:
        table, target = read_labeled_table(self, X, y, self.task)
        n, d = table.shape
        count = d if self.k is None else resolve_count(self, self.k, d)
        require_memory(8 * n * d * min(self.max_rank, TYPICAL_RANK, n), "kernels of all features", "Use fewer rows.")
        factors = kernel_factors(table, self.sigma, self.max_rank, thread_count(self.n_jobs))
        relevance = factors.inner_products(self._target_factor(target))
        path = nonnegative_lasso(relevance, lambda j: factors.inner_products(factors.factor(j)), count)
        self.relevance_, self.coef_ = relevance, path.coefficients
        return FilterScores(path.entered, order=_order(path.entered, relevance))

    def _target_factor(self, target: Target) -> NDArray[np.float64]:
        if target.codes is not None:
            return class_factor(target.codes)
        assert target.response is not None
        return gaussian_factor(target.response, self.sigma, self.max_rank)

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        for name in ("coef_", "relevance_"):
            check_scores(check, name, check.sizes["d"])


def _order(scores: NDArray[np.float64], relevance: NDArray[np.float64]) -> NDArray[np.intp]:
    """Features from the best, those of equal scores (as of 0) by their relevance."""
    by_relevance = rank(relevance)
    return by_relevance[rank(scores[by_relevance])]
