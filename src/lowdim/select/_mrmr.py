"""mRMR (Peng, Long and Ding 2005): relevance to the target against redundancy with what is selected already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.data.rows import ArrayRows
from lowdim.errors import NotEnoughData
from lowdim.runtime.param import Choice, param
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count
from lowdim.select._column_moments import column_moments, cross_moments
from lowdim.select._mutual_information import InformationMixin, information_with, target_column
from lowdim.select._selector import FilterScores, check_scores, rank, resolve_count
from lowdim.select._target import SupervisedFilter, Target, read_labeled_table
from lowdim.select._univariate import f_scores, response_f_scores

__all__ = ["MRMR"]

Floats = NDArray[np.float64]

FLOOR = 1e-3  # least redundancy of a quotient, which would be unbounded otherwise
Redundancy = Callable[[int], Floats]


@estimator(title="relevance against redundancy", summary="moments", supervised=True, sparse=True)
class MRMR(ThreadsMixin, InformationMixin, SupervisedFilter):
    """Minimum redundancy, maximum relevance: greedy, one feature at a time.

    Each step takes the feature whose relevance to y stands out most from its mean redundancy with the selected ones.
    `measure="f"` takes F statistics and absolute correlations (FCQ, FCD), `"mutual_information"` Peng's own form (MIQ,
    MID). A quotient counts redundancies below 0.001 as 0.001.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        Score of each feature when it was selected; of the others after the last step.
    relevance_ : array (d,)
        F statistic or mutual information with y.
    ranking_ : array (d,)
        The order of selection from 1; features that were not selected follow by their scores.
    support_ : array (d,)
        Whether a feature is selected.

    """

    measure: str = param("f", Choice("f", "mutual_information"), "F statistics and correlations, or information.")
    scheme: str = param("quotient", Choice("quotient", "difference"), "Relevance divided by redundancy, or minus it.")
    estimator: str = param("histogram", Choice("knn", "histogram"), "Estimate of mutual information.")

    def _score(self, X: Any, y: Any) -> FilterScores:
        table, target = read_labeled_table(self, X, y, self.task)
        d = table.shape[1]
        count = d if self.k is None else resolve_count(self, self.k, d)
        linear = self.measure == "f"
        relevance, redundancy = (self._linear if linear else self._information)(table, target)
        self.relevance_ = relevance
        return _greedy(relevance, redundancy, count, self.scheme)

    def _linear(self, X: NDArray[Any], target: Target) -> tuple[Floats, Redundancy]:
        """F statistics, and absolute correlations with one column at a time."""
        rows, threads = ArrayRows(X), thread_count(self.n_jobs)
        if target.response is None:
            found = column_moments(rows, target, None, threads)
            relevance = f_scores(found).scores
        else:
            crossed = cross_moments(rows, target.response, None, threads)
            found, relevance = crossed.columns, response_f_scores(crossed).scores
        Z = np.asfortranarray(X, dtype=np.float64) - found.mean
        Z /= np.where(found.constant, np.inf, np.sqrt(found.total))
        Z = np.ascontiguousarray(Z.T)  # (d, n)
        return relevance, lambda j: np.abs(Z @ Z[j])

    def _information(self, X: NDArray[Any], target: Target) -> tuple[Floats, Redundancy]:
        """Mutual information with y, and with one column at a time."""
        if len(X) < 3:
            raise NotEnoughData(f"mutual information needs a minimum of 3 samples; got n_samples = {len(X)}.")
        estimate = self._estimate(self.estimator, len(X))
        columns = self._columns(X, estimate)
        relevance = information_with(columns, target_column(target, estimate), estimate, self.n_jobs)
        return relevance, lambda j: information_with(columns, columns[j], estimate, self.n_jobs)

    def _check_state(self, check: Any) -> None:
        super()._check_state(check)
        check_scores(check, "relevance_", check.sizes["d"])


def _greedy(relevance: Floats, redundancy: Redundancy, count: int, scheme: str) -> FilterScores:
    """The features in the order of selection, and their scores when they were selected."""
    finite = np.minimum(relevance, np.finfo(np.float64).max)
    scores, total = finite.copy(), np.zeros_like(finite)
    left = np.ones(len(finite), dtype=bool)
    order: list[int] = []
    current = scores
    while True:
        best = int(np.argmax(np.where(left, current, -np.inf)))
        order.append(best)
        left[best] = False
        report("mRMR", len(order), count)
        if len(order) == count:
            break
        more = redundancy(best)
        total += np.maximum(more, FLOOR) if scheme == "quotient" else more
        mean = total / len(order)
        current = finite / mean if scheme == "quotient" else finite - mean
        scores[left] = current[left]
    rest = [j for j in rank(scores) if left[j]]
    return FilterScores(scores, order=np.array(order + rest, dtype=np.intp))
