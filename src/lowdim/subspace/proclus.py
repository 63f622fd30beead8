"""PROCLUS: projected clustering around medoids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.errors import BadParameter
from lowdim.runtime.param import Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import ordered_map, thread_count
from lowdim.subspace._base import StandardizeMixin, SubspaceClusterer
from lowdim.subspace._cluster import SubspaceCluster, make_cluster
from lowdim.subspace._medoid_search import ProclusOptions, ProclusResult, assign_rows, proclus

__all__ = ["PROCLUS", "ProclusState"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ProclusState:
    """What memberships of new rows need: all k medoids, in the order in which ties are broken."""

    medoids: Array  # (k, d), scaled
    dimensions: NDArray[np.bool_]  # (k, d)
    spheres: NDArray[np.float64]  # (k,) of influence
    cluster_of: NDArray[np.int64]  # (k,) the cluster of each medoid; -1 if no row is nearest to it
    scales: NDArray[np.float64]  # (d,) that columns are divided by


@estimator(title="projected clusters around medoids (PROCLUS)", summary="rows")
class PROCLUS(ThreadsMixin, SeedMixin, StandardizeMixin, ClusterMixin, SubspaceClusterer):  # type: ignore[misc]
    """PROCLUS: a partition into clusters around medoids, each with its own dimensions, and outliers.

    Medoids are drawn from a pool of distant rows. For each set of them, the dimensions in which rows near a medoid are
    unusually close to it become its own, rows go to the medoid of least Manhattan segmental distance, and bad medoids
    are replaced until nothing improves. The best of `n_init` searches is refined once more.

        Aggarwal, Procopiuc, Wolf, Yu and Park 1999

    Distances are in the units of the columns: use `standardize` where they differ. In the paper, an outlier is farther
    from every medoid than the medoid's nearest other one. These spheres are wide, and noise within them joins a
    cluster; so by default, rows that are unusually far from their medoid for their cluster (`spread`) are outliers too.

    {parameters}

    Attributes
    ----------
    clusters_ : list of SubspaceCluster
        Rows and dimensions of each cluster: of most dimensions first, then the largest.
    labels_ : array (n,)
        The cluster of each row; -1 for outliers.
    medoids_ : array (clusters, d)
        The medoid of each cluster, a row of X.
    medoid_indices_ : array (clusters,)
        Which rows they are.
    objective_ : float
        Mean segmental distance of all rows to the centroids of their clusters, each row in its nearest cluster.
    n_iter_ : int
        Iterations of the best search.

    """

    n_clusters: int = param(8, Integer(1), "Number of clusters.", kw_only=False)
    n_dimensions: float | None = param(
        None,
        Maybe(Real(1)),
        "Average number of dimensions of a cluster; None for half of the columns. No cluster has fewer than two.",
        kw_only=False,
    )
    n_init: int = param(10, Integer(1), "Number of searches, each from its own seed; the best one counts.")
    sample_factor: int = param(30, Integer(1), "Rows sampled per cluster, from which the pool of medoids is taken.")
    pool_factor: int = param(5, Integer(1), "Medoids in the pool per cluster.")
    min_deviation: float = param(0.1, Real(0, 1), "A cluster below this share of n / n_clusters has a bad medoid.")
    max_stale: int = param(20, Integer(1), "Iterations without an improvement that end a search.")

    spread: float | None = param(
        3.0,
        Maybe(Real(0, open=True)),
        "A row is an outlier if its distance from the medoid exceeds the median of its cluster by more than this many "
        "robust standard deviations; None leaves it to the spheres of influence, as the paper does.",
    )

    _state_classes = (ProclusState, SubspaceCluster)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Search for the medoids, their dimensions and their clusters."""
        with self._fitting():
            rows = self._read(X, fitting=True, min_rows=max(2, self.n_clusters))
            table, seed = self._whole(rows), seed_of(self.random_state)
            options, scales = self._options(rows.d), self._scales(table)
            scaled = (table / scales).astype(table.dtype) if self.standardize else table

            def search(start: int) -> ProclusResult:
                return proclus(scaled, options, np.random.default_rng([seed, start]))

            found = list(ordered_map(search, range(self.n_init), thread_count(self.n_jobs)))
            best = min(found, key=lambda result: result.objective)  # the first of equals
            return self._keep_result(table, scaled, best, scales)

    def _options(self, d: int) -> ProclusOptions:
        if self.n_dimensions is not None and self.n_dimensions > d:
            raise BadParameter(
                f"PROCLUS: n_dimensions={self.n_dimensions:g} must be at most the number of columns, {d}. "
                "It is the average number of dimensions of a cluster."
            )
        average = max(2, d / 2) if self.n_dimensions is None else self.n_dimensions
        return ProclusOptions(
            self.n_clusters,
            average,
            self.sample_factor,
            self.pool_factor,
            self.min_deviation,
            self.max_stale,
            self.spread,
        )

    def _keep_result(self, table: Array, scaled: Array, best: ProclusResult, scales: Array) -> Self:
        names, found = self._column_names(), []
        for i, dimensions in enumerate(best.dimensions):
            members = np.flatnonzero(best.labels == i)
            if len(members):
                found.append((make_cluster(members, dimensions, names), i))
        order = self._keep(found, len(table))
        self.medoid_indices_ = best.medoids[order].astype(np.int64)
        self.medoids_ = np.array(table[self.medoid_indices_])
        self.objective_, self.n_iter_ = float(best.objective), best.n_iter
        cluster_of = np.full(len(best.medoids), -1, dtype=np.int64)
        cluster_of[order] = np.arange(len(order))
        chosen = np.zeros((len(best.medoids), table.shape[1]), dtype=bool)
        for i, dimensions in enumerate(best.dimensions):
            chosen[i, dimensions] = True
        self._state = ProclusState(np.array(scaled[best.medoids]), chosen, best.spheres, cluster_of, scales)
        return self

    def _memberships(self, block: Array) -> NDArray[np.bool_]:
        state = self._state
        dimensions = [np.flatnonzero(chosen) for chosen in state.dimensions]
        scaled = (block / state.scales).astype(state.medoids.dtype) if self.standardize else block
        nearest, distances = assign_rows(scaled.astype(state.medoids.dtype, copy=False), state.medoids, dimensions)
        cluster = np.where((distances > state.spheres).all(axis=1), -1, state.cluster_of[nearest])
        return np.asarray(cluster[:, None] == np.arange(len(self.clusters_)))

    def _check_details(self, check: StateCheck) -> None:
        count = len(self.clusters_)
        check.require(count > 0, "there must be a cluster")
        check.floats("medoids_", count, "d")
        check.indices("medoid_indices_", count, below=len(self.labels_))
        check.floats("state.medoids", "k", "d")
        check.floats("state.spheres", "k", low=0.0)
        scales = check.floats("state.scales", "d")
        check.require(scales is not None and (scales > 0).all(), "scales must be positive")
        chosen, clusters = check.value("state.dimensions"), check.value("state.cluster_of")
        whole = (
            isinstance(chosen, np.ndarray)
            and chosen.dtype == bool
            and chosen.shape == check.value("state.medoids").shape
        )
        check.require(whole and chosen.any(axis=1).all(), "every medoid must have dimensions")
        whole = (
            isinstance(clusters, np.ndarray) and clusters.dtype == np.int64 and clusters.shape == (check.sizes["k"],)
        )
        check.require(
            whole and clusters.min() >= -1 and clusters.max() < count, "a medoid has a cluster that is not there"
        )
        check.number("objective_", Real(0))
        check.number("n_iter_", Integer(1))
