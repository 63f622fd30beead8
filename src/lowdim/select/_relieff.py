"""ReliefF and its kin SURF and MultiSURF, which differ in who is a neighbor."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.knn.index import neighbors
from lowdim.runtime.param import Integer, Real, param
from lowdim.runtime.threads import thread_count
from lowdim.select._mutual_information import discrete_columns
from lowdim.select._relief import Differences, Neighborhoods, differences, nearest_per_class, relief_scores, rows_within
from lowdim.select._selector import FilterScores
from lowdim.select._target import SupervisedFilter, Target, read_labeled_table

__all__ = ["SURF", "MultiSURF", "ReliefF"]

Floats = NDArray[np.float64]


@dataclasses.dataclass(eq=False, repr=False)
class ReliefFilter(ThreadsMixin, SupervisedFilter):
    """Base of the Relief filters: a subclass says who the neighbors of a row are."""

    _doc_parts: ClassVar[dict[str, str]] = {
        "relief": """
            scores_ : array (d,)
                Relief weights, from -1 to 1; about 0 for a feature without influence.
            {ranking}
            """
    }

    discrete_threshold: int = param(
        10, Integer(0), "Features with no more distinct values are discrete; 0 takes none to be."
    )

    def _score(self, X: Any, y: Any) -> FilterScores:
        X, target = read_labeled_table(self, X, y, self.task)
        table = differences(X, discrete_columns(X, self.discrete_threshold))
        found = self._neighborhoods(table, target)
        return FilterScores(relief_scores(table, target, found, self._rank_decay(), thread_count(self.n_jobs)))

    def _neighborhoods(self, table: Differences, target: Target) -> Neighborhoods:
        raise NotImplementedError

    def _rank_decay(self) -> float | None:
        return None


@estimator(title="near hits against near misses", summary="graph", supervised=True, sparse=True)
class ReliefF(ReliefFilter):
    """Select by ReliefF (Kononenko 1994): features that differ between a row and its nearest rows of other classes.

    A feature also counts if it matters only together with others, which no univariate filter sees. Each row is compared
    with its nearest rows of every class, misses weighted by the frequency of their class. For a measurement y it is
    RReliefF (Robnik-Šikonja and Kononenko 2003).

    {parameters}

    Attributes
    ----------
    {relief}

    """

    n_neighbors: int = param(10, Integer(1), "Nearest rows of each class; of all rows, for a measurement y.")
    sigma: float = param(20.0, Real(0, open=True), "RReliefF: by rank r, a neighbor counts exp(-(r / sigma)²).")

    def _neighborhoods(self, table: Differences, target: Target) -> Neighborhoods:
        if target.codes is not None:
            found: Any = nearest_per_class(table, target.codes, self.n_neighbors, self.n_jobs)
        else:
            k = min(self.n_neighbors, table.n - 1)
            found = neighbors(table.space, k, metric="manhattan", algorithm="exact", n_jobs=self.n_jobs).indices

        def cut(start: int, stop: int) -> Iterator[NDArray[np.intp]]:
            return iter(found[start:stop])

        return cut

    def _rank_decay(self) -> float | None:
        return self.sigma


@dataclasses.dataclass(eq=False, repr=False)
class RadiusRelief(ReliefFilter):
    """Base of Relief filters whose neighbors are all rows within a radius: a subclass gives the radius."""

    def _neighborhoods(self, table: Differences, target: Target) -> Neighborhoods:
        return rows_within(table, self._radius(table))

    def _radius(self, table: Differences) -> Callable[[Floats], Floats]:
        """The radius of each row, from its distances to all others."""
        raise NotImplementedError


@estimator(title="hits against misses within the mean distance", summary="graph", supervised=True, sparse=True)
class SURF(RadiusRelief):
    """Select by SURF (Greene et al. 2009): Relief with all rows nearer than the mean distance between two rows.

    {parameters}

    Attributes
    ----------
    {relief}

    """

    def _radius(self, table: Differences) -> Callable[[Floats], Floats]:
        mean = table.mean_distance()
        return lambda distances: np.full(len(distances), mean)


@estimator(title="hits against misses within a radius of each row's own", summary="graph", supervised=True, sparse=True)
class MultiSURF(RadiusRelief):
    """Select by MultiSURF (Urbanowicz et al. 2018): Relief with a radius of its own for each row.

    A neighbor is nearer than the mean of the row's distances less half their standard deviation. There is no number of
    neighbors to choose.

    {parameters}

    Attributes
    ----------
    {relief}

    """

    def _radius(self, table: Differences) -> Callable[[Floats], Floats]:
        return lambda distances: distances.mean(axis=1) - distances.std(axis=1) / 2
