"""SUBCLU: density-connected subspace clustering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.data.ownership import owned
from lowdim.errors import SearchTooLarge
from lowdim.runtime.param import Integer, Real, param
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map, thread_count
from lowdim.subspace._base import StandardizeMixin, SubspaceClusterer
from lowdim.subspace._cluster import SubspaceCluster, make_cluster
from lowdim.subspace._density import DensitySet, density_connected_sets, near_any

__all__ = ["SUBCLU", "SubcluState"]

Array = NDArray[Any]
Subspace = tuple[int, ...]
Level = dict[Subspace, list[DensitySet]]


@dataclass(frozen=True, eq=False)
class SubcluState:
    """What memberships of new rows need."""

    X: Array  # (n, d) the fitted rows
    cores: tuple[NDArray[np.int32], ...]  # the core rows of each cluster
    scales: NDArray[np.float64]  # (d,) that columns are divided by


@estimator(title="density-connected sets in subspaces (SUBCLU)", summary="rows")
class SUBCLU(ThreadsMixin, StandardizeMixin, ClusterMixin, SubspaceClusterer):  # type: ignore[misc]
    """SUBCLU: DBSCAN's clusters in all subspaces that have any.

    A set that is density-connected in some columns is so in each subset of them. So the subspaces of k + 1 columns are
    sought among the joins of those of k (a-priori), and in each of them only the rows of the clusters of its smallest
    projection are searched.

        Kailing, Kriegel and Kröger 2004

    A cluster has all rows within `eps` of one of its core rows, so that neither the order of the rows nor what is
    beside a new row matters; a border row may be in several. The label of a row is the first of `clusters_` that holds
    it.
    Distances are in the units of the columns: use `standardize` where they differ.

    {parameters}

    Attributes
    ----------
    clusters_ : list of SubspaceCluster
        Rows and dimensions of each cluster: of most dimensions first, then the largest.
    labels_ : array (n,)
        The first cluster that holds each row; -1 for rows in none.

    """

    eps: float = param(0.5, Real(0, open=True), "Radius of a neighborhood (ε).", kw_only=False)
    min_samples: int = param(
        5, Integer(1), "Rows within eps, itself included, that make a core row (m).", kw_only=False
    )
    redundancy: float = param(
        0.5,
        Real(0, 1),
        "Leave out a cluster if more than this share of its rows is in reported clusters of subspaces that contain its "
        "own. 1 keeps all clusters, as the paper does.",
    )
    max_subspaces: int = param(10_000, Integer(1), "Refuse a search with more candidate subspaces at one level.")

    _state_classes = (SubcluState, SubspaceCluster)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the density-connected sets of all subspaces."""
        with self._fitting():
            rows = self._read(X, fitting=True, min_rows=2)
            table = self._whole(rows)
            names, scales = self._column_names(), self._scales(table)
            levels = list(self._levels(table.astype(np.float64, copy=False) / scales))
            found = [
                (make_cluster(one.rows, subspace, names), one.core.astype(np.int32))
                for subspace, one in self._reported(levels, len(table))
            ]
            cores = self._keep(found, len(table))
            self._state = SubcluState(owned(table, rows), tuple(cores), scales)
            return self

    def _levels(self, X: Array) -> Iterator[Level]:
        """The sets of all subspaces of 1, 2, … columns."""
        threads, everything = thread_count(self.n_jobs), [np.arange(len(X))]

        def search(task: tuple[Subspace, list[NDArray[np.intp]]]) -> tuple[Subspace, list[DensitySet]]:
            subspace, parts = task
            return subspace, [one for part in parts for one in self._sets(X, subspace, part)]

        tasks: list[tuple[Subspace, list[NDArray[np.intp]]]] = [((j,), everything) for j in range(X.shape[1])]
        while tasks:
            level: Level = {}
            for done, (subspace, sets) in enumerate(ordered_map(search, tasks, threads)):
                report("SUBCLU: subspaces", done + 1, len(tasks), dimensions=len(subspace))
                if sets:
                    level[subspace] = sets
            if not level:
                return
            yield level
            candidates = join_subspaces(sorted(level))
            if len(candidates) > self.max_subspaces:
                raise SearchTooLarge(
                    f"there are {len(candidates)} candidate subspaces of {len(candidates[0])} columns, more than "
                    f"max_subspaces={self.max_subspaces}. Lower eps, raise min_samples, or raise max_subspaces."
                )
            tasks = [(subspace, self._smallest_projection(subspace, level)) for subspace in candidates]

    def _sets(self, X: Array, subspace: Subspace, part: NDArray[np.intp]) -> Iterator[DensitySet]:
        values = np.ascontiguousarray(X[np.ix_(part, np.array(subspace))])
        for one in density_connected_sets(values, self.eps, self.min_samples):
            yield DensitySet(part[one.rows], part[one.core])

    def _smallest_projection(self, subspace: Subspace, level: Level) -> list[NDArray[np.intp]]:
        """The clusters, as rows, of the projection onto one column less whose clusters have the fewest rows."""
        projections = combinations(subspace, len(subspace) - 1)
        smallest = min(projections, key=lambda lower: sum(len(one.rows) for one in level[lower]))
        return [one.rows for one in level[smallest]]

    def _reported(self, levels: list[Level], n: int) -> Iterator[tuple[Subspace, DensitySet]]:
        """The sets that are not redundant, from the subspaces of most columns down."""
        reported: list[tuple[Subspace, DensitySet]] = []
        for level in reversed(levels):
            for subspace, sets in level.items():
                explained = np.zeros(n, dtype=bool)
                for larger, other in reported:
                    if len(larger) > len(subspace) and set(subspace) <= set(larger):
                        explained[other.rows] = True
                for one in sets:
                    if explained[one.rows].sum() <= self.redundancy * len(one.rows):
                        reported.append((subspace, one))
        yield from reported

    def _memberships(self, block: Array) -> NDArray[np.bool_]:
        fitted, scales = self._state.X, self._state.scales
        values = block.astype(np.float64, copy=False) / scales
        out = np.zeros((len(block), len(self.clusters_)), dtype=bool)
        for c, (cluster, core) in enumerate(zip(self.clusters_, self._state.cores, strict=True)):
            own = cluster.dimensions
            points = fitted[np.ix_(core, own)].astype(np.float64) / scales[own]
            out[:, c] = near_any(points, np.ascontiguousarray(values[:, own]), self.eps)
        return out

    def _check_details(self, check: StateCheck) -> None:
        check.floats("state.X", len(self.labels_), "d")
        scales = check.floats("state.scales", "d")
        check.require(scales is not None and (scales > 0).all(), "scales must be positive")
        cores = check.value("state.cores")
        check.require(
            isinstance(cores, tuple) and len(cores) == len(self.clusters_), "every cluster must have core rows"
        )
        for cluster, core in zip(self.clusters_, cores, strict=True):
            whole = isinstance(core, np.ndarray) and core.dtype == np.int32 and core.ndim == 1 and len(core) > 0
            check.require(whole and np.isin(core, cluster.rows).all(), "core rows must be rows of their cluster")


def join_subspaces(subspaces: list[Subspace]) -> list[Subspace]:
    """Candidates of one more column: pairs that differ in the last one, all of whose projections are there."""
    known, candidates = set(subspaces), []
    for i, first in enumerate(subspaces):
        for second in subspaces[i + 1 :]:
            if first[:-1] != second[:-1]:
                break
            candidate = (*first, second[-1])
            if all(projection in known for projection in combinations(candidate, len(first))):
                candidates.append(candidate)
    return candidates
