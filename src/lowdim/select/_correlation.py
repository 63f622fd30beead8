"""Correlation pruning: of several features that say the same, keep one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.data.target import read_supervised
from lowdim.data.validation import check_weights, read_rows
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Real, param
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count
from lowdim.select._column_moments import column_moments, cross_moments
from lowdim.select._selector import Selector, rank
from lowdim.select._target import TaskMixin, read_target
from lowdim.summaries.moments import moments_of, scatter_bytes

__all__ = ["CorrelationPruning"]

Floats = NDArray[np.float64]


@estimator(title="one feature of each correlated group", summary="moments", streaming=True, sparse=True, weights=True)
class CorrelationPruning(ThreadsMixin, TaskMixin, Selector):
    """Drop features that are correlated with a better one: greedy, from the first in the order of `priority`.

    {parameters}

    Attributes
    ----------
    correlation_ : array (d,)
        Largest absolute Pearson correlation with a selected feature of higher priority; 0 if there is none.
    representative_ : array (d,)
        The selected feature that stands for each feature: itself, or the one it is most correlated with.
    ranking_ : array (d,)
        1 for the feature of highest priority.
    support_ : array (d,)
        Whether a feature is selected.

    """

    threshold: float = param(
        0.9,
        Real(0, 1),
        "A feature is dropped if its absolute correlation with a selected one is larger.",
        kw_only=False,
    )
    priority: str = param(
        "order",
        Choice("order", "variance", "target"),
        "Which of two correlated features stays: the first column, the one with the larger variance, or the one with "
        "the larger F statistic with y.",
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CorrelationPruning:
        """Find the correlations, and keep one feature of each group."""
        with self._fitting():
            supervised = self.priority == "target"
            least: Any = {"fitting": True, "min_rows": 2}
            rows, y = read_supervised(self, X, y, **least) if supervised else (read_rows(self, X, **least), y)
            weights, threads = check_weights(sample_weight, rows.n), thread_count(self.n_jobs)
            d = rows.d
            require_memory(
                scatter_bytes(d, threads, rows.n), f"correlations of {d} × {d} features", "Filter them first: FTest."
            )
            found = moments_of(rows, None, weights, threads)
            relevance = np.zeros(d)
            if self.priority == "variance":
                relevance = found.variances
            elif supervised:
                relevance = _relevance(rows, read_target(y, rows.n, self.task), weights, threads)
            self._prune(np.abs(found.correlation()), rank(relevance))
        return self

    def _prune(self, correlation: Floats, order: NDArray[np.intp]) -> None:
        d = len(order)
        support, nearest = np.zeros(d, dtype=bool), np.zeros(d)
        representative, waiting = np.arange(d), np.ones(d, dtype=bool)
        for step, j in enumerate(order):
            waiting[j] = False
            if nearest[j] <= self.threshold:
                support[j] = True
                later = waiting & (correlation[j] > nearest)  # a feature is represented by a better one
                nearest[later], representative[later] = correlation[j, later], j
            if step % 256 == 0:
                report("pruning correlated features", step + 1, d)
        self.support_, self.correlation_ = support, nearest
        self.representative_ = np.where(support, np.arange(d), representative)
        self.ranking_ = np.empty(d, dtype=np.int64)
        self.ranking_[order] = np.arange(1, d + 1)

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.floats("correlation_", "d", low=0)
        check.indices("representative_", "d", below="d")
        check.indices("ranking_", "d", below=check.sizes["d"] + 1)


def _relevance(rows: Any, target: Any, weights: Any, threads: int) -> Floats:
    """What the F statistic orders by: the share of the scatter that the target explains, (d,)."""
    if target.is_discrete:
        found = column_moments(rows, target, weights, threads)
        return np.where(found.constant, 0.0, found.between / np.where(found.constant, 1.0, found.total))
    crossed = cross_moments(rows, target.response, weights, threads)
    total = np.where(crossed.columns.constant, np.inf, crossed.columns.total)
    return crossed.products**2 / total
