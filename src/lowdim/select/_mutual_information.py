"""Selection by mutual information with the target."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.errors import NotEnoughData
from lowdim.runtime.param import Choice, Integer, Maybe, param
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map, thread_count
from lowdim.select._mi_estimators import Column, MutualInformationEstimate, column_of
from lowdim.select._selector import FilterScores
from lowdim.select._target import SupervisedFilter, Target, read_labeled_table

__all__ = ["InformationMixin", "MutualInformation", "discrete_columns"]

Floats = NDArray[np.float64]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class InformationMixin:
    """Adds the parameters of an estimate of mutual information."""

    n_neighbors: int = param(3, Integer(1), "Neighbors of the k-NN estimate; more of them lower its variance.")
    bins: int | None = param(None, Maybe(Integer(2)), "Quantile bins of the histogram; None takes the cube root of n.")
    discrete_threshold: int = param(
        10, Integer(0), "Features with no more distinct values are discrete; 0 takes none to be."
    )

    def _estimate(self, estimator: str, n: int) -> MutualInformationEstimate:
        bins = self.bins or max(2, round(n ** (1 / 3)))
        return MutualInformationEstimate(estimator, self.n_neighbors, bins)

    def _columns(self, X: NDArray[Any], estimate: MutualInformationEstimate) -> list[Column]:
        discrete = discrete_columns(X, self.discrete_threshold)
        return [column_of(X[:, j], bool(discrete[j]), estimate, stream=j + 1) for j in range(X.shape[1])]


@estimator(title="k-NN or histogram estimate of dependence", summary="graph", supervised=True, sparse=True)
class MutualInformation(ThreadsMixin, InformationMixin, SupervisedFilter):
    """Select by mutual information with y, in nats: any dependence counts, not only a linear one.

    The k-NN estimate is that of Kraskov, Stögbauer and Grassberger (2004) between two measurements and of Ross (2014)
    between a measurement and classes. Ties are broken by the same tiny numbers always, so there is no seed.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        Mutual information in nats, at least 0.
    {ranking}

    """

    estimator: str = param("knn", Choice("knn", "histogram"), "Nearest neighbors, or quantile bins.")

    def _score(self, X: Any, y: Any) -> FilterScores:
        table, target = read_labeled_table(self, X, y, self.task)
        if len(table) < 3:
            raise NotEnoughData(f"mutual information needs a minimum of 3 samples; got n_samples = {len(table)}.")
        estimate = self._estimate(self.estimator, len(table))
        columns = self._columns(table, estimate)
        return FilterScores(information_with(columns, target_column(target, estimate), estimate, self.n_jobs))


def target_column(target: Target, estimate: MutualInformationEstimate) -> Column:
    """The target as a variable."""
    return column_of(target.values, target.is_discrete, estimate, stream=0)


def information_with(
    columns: list[Column], other: Column, estimate: MutualInformationEstimate, n_jobs: int | None
) -> Floats:
    """Mutual information of every column with another, (d,)."""
    scores = np.empty(len(columns))
    found = ordered_map(lambda column: estimate(column, other), columns, thread_count(n_jobs))
    for j, value in enumerate(found):
        scores[j] = value
        report("mutual information", j + 1, len(columns))
    return scores


def discrete_columns(X: NDArray[Any], most: int) -> NDArray[np.bool_]:
    """Which columns have at most so many distinct values, (d,)."""
    if most == 0:
        return np.zeros(X.shape[1], dtype=bool)
    head = X[: 8 * most + 8]  # most measurements show in a few rows that they are none
    suspects = [j for j in range(X.shape[1]) if len(np.unique(head[:, j])) <= most]
    out = np.zeros(X.shape[1], dtype=bool)
    out[suspects] = [len(np.unique(X[:, j])) <= most for j in suspects]
    return out
