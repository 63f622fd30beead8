"""Projective clusters: the rows within a box of given width around a row, in some of the dimensions. What DOC and
MineClus share; they differ in how the dimensions around a row are found.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from lowdim.base.estimator import SeedMixin, ThreadsMixin
from lowdim.base.state import StateCheck
from lowdim.runtime.param import Integer, Maybe, Real, param
from lowdim.runtime.progress import report
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import ordered_map, thread_count
from lowdim.subspace._base import StandardizeMixin, SubspaceClusterer
from lowdim.subspace._cluster import SubspaceCluster, make_cluster
from lowdim.subspace._description import edge_texts
from lowdim.subspace._frequent_dimensions import DimensionSet, log_quality
from lowdim.subspace._significance import CHANCE, more_than_chance

__all__ = ["ProjectiveClusterer", "ProjectiveState"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

SHARE_OF_RANGE = 0.1  # of a column: its width if none is given


@dataclasses.dataclass(frozen=True, eq=False)
class ProjectiveState:
    """What memberships of new rows need."""

    lower: Floats  # (c, d) the boxes, in the order in which they were found; infinite in other dimensions
    upper: Floats  # (c, d)
    found: NDArray[np.int64]  # (c,) the index of each box in `clusters_`


@dataclasses.dataclass(frozen=True, eq=False)
class Box:
    """An interval per column."""

    lower: Floats  # (d,)
    upper: Floats  # (d,)

    @classmethod
    def around(cls, point: Array, widths: Floats) -> Box:
        """The box around a point."""
        middle = point.astype(np.float64)
        return cls(middle - widths, middle + widths)

    def near(self, values: Array) -> NDArray[np.bool_]:
        """Which values are inside, column by column, (n, d)."""
        return np.asarray((values >= self.lower) & (values <= self.upper))


@dataclasses.dataclass(frozen=True, eq=False)
class _Found:
    """A cluster around a medoid."""

    medoid: int  # a row
    rows: NDArray[np.bool_]  # (n,) among those left
    dimensions: tuple[int, ...]


@dataclasses.dataclass(eq=False, repr=False)
class ProjectiveClusterer(ThreadsMixin, SeedMixin, StandardizeMixin, ClusterMixin, SubspaceClusterer):  # type: ignore[misc]
    """Base of DOC and MineClus: greedy, one cluster after the other; a subclass writes `_dimensions`."""

    _doc_parts: ClassVar[dict[str, str]] = {
        "projective": """
            clusters_ : list of SubspaceCluster
                Rows, dimensions and the box in words of each cluster: of most dimensions first, then the largest.
            labels_ : array (n,)
                The cluster of each row; -1 for rows in none.
            medoid_indices_ : array (clusters,)
                The rows in the middle of the boxes.
            """
    }

    alpha: float = param(0.1, Real(0, 1, open=True), "Least share of the rows in a cluster (α).", kw_only=False)
    beta: float = param(
        0.25,
        Real(0, 0.5, open=True),
        "A dimension more is worth losing all rows of a cluster but this share (β).",
        kw_only=False,
    )
    width: float | None = param(
        None,
        Maybe(Real(0, open=True)),
        "Rows are near if they differ by at most this much (w); None for a tenth of each column's range.",
        kw_only=False,
    )
    n_clusters: int | None = param(None, Maybe(Integer(1)), "Most clusters to find; None for all that there are.")

    _state_classes = (ProjectiveState, SubspaceCluster)

    def _dimensions(self, near: NDArray[np.bool_], least: int, rng: np.random.Generator) -> DimensionSet | None:
        """The best set of dimensions in all of which at least `least` rows are near (n, d); None without any."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find cluster after cluster, each among the rows that are in none yet."""
        with self._fitting():
            rows = self._read(X, fitting=True, min_rows=2)
            table = self._whole(rows)
            widths = self._widths(table)
            boxes = self._search(table, widths, seed_of(self.random_state))
            return self._keep_boxes(table, widths, boxes)

    def _widths(self, table: Array) -> Floats:
        """How far from each other rows are near, by column."""
        if self.width is None:
            low, high = table.min(axis=0).astype(np.float64), table.max(axis=0).astype(np.float64)
            return SHARE_OF_RANGE * (high - low)
        return self.width * self._scales(table)

    def _search(self, table: Array, widths: Floats, seed: int) -> list[_Found]:
        n = len(table)
        least = max(2, int(np.ceil(self.alpha * n)))
        left, boxes = np.ones(n, dtype=bool), list[_Found]()
        while left.sum() >= least and len(boxes) < (self.n_clusters or n):
            box = self._best_box(table, widths, left, least, [seed, len(boxes)])
            if box is None:
                break
            boxes.append(box)
            left &= ~box.rows
            report(f"{type(self).__name__}: clusters", len(boxes), rows_left=int(left.sum()))
        return boxes

    def _best_box(
        self, table: Array, widths: Floats, left: NDArray[np.bool_], least: int, seed: list[int]
    ) -> _Found | None:
        """The cluster of largest quality around 2 / α random rows, among the rows that are left."""
        members = np.flatnonzero(left)
        values = table[members]
        tries = min(len(members), int(np.ceil(2 / self.alpha)))
        medoids = np.random.default_rng(seed).choice(len(members), tries, replace=False)

        def search(number: int) -> DimensionSet | None:
            report(f"{type(self).__name__}: medoids", number, tries)
            near = Box.around(values[medoids[number]], widths).near(values) & varying
            found = self._dimensions(near, least, np.random.default_rng([*seed, number + 1]))
            return None if found is None else dependent_dimensions(near, found, uniform, self.beta, CHANCE / tries)

        low, high = table.min(axis=0).astype(np.float64), table.max(axis=0).astype(np.float64)
        varying = low < high  # constant columns are in no subspace
        uniform = np.minimum(2 * widths / np.where(varying, high - low, 1.0), 1.0)
        best, best_medoid = None, 0
        for number, found in enumerate(ordered_map(search, range(tries), thread_count(self.n_jobs))):
            if found is not None and (best is None or found.quality > best.quality):
                best, best_medoid = found, int(medoids[number])
        if best is None:
            return None
        inside = np.zeros(len(table), dtype=bool)
        box = Box.around(values[best_medoid], widths)
        inside[members] = box.near(values)[:, list(best.dimensions)].all(axis=1)
        return _Found(int(members[best_medoid]), inside, best.dimensions)

    def _keep_boxes(self, table: Array, widths: Floats, clusters: list[_Found]) -> Self:
        names, found = self._column_names(), []
        lower, upper = (
            np.full((len(clusters), table.shape[1]), -np.inf),
            np.full((len(clusters), table.shape[1]), np.inf),
        )
        for i, cluster in enumerate(clusters):
            own, box = list(cluster.dimensions), Box.around(table[cluster.medoid], widths)
            lower[i, own], upper[i, own] = box.lower[own], box.upper[own]
            edges = [edge_texts(np.array([box.lower[j], box.upper[j]])) for j in own]
            words = " ∧ ".join(f"{low} ≤ {names[j]} ≤ {high}" for j, (low, high) in zip(own, edges, strict=True))
            found.append((make_cluster(np.flatnonzero(cluster.rows), own, names, words), i))
        order = np.array(self._keep(found, len(table)), dtype=np.intp)
        position = np.empty(len(clusters), dtype=np.int64)
        position[order] = np.arange(len(clusters))
        self.medoid_indices_ = np.array([clusters[i].medoid for i in order], dtype=np.int64)
        self._state = ProjectiveState(lower, upper, position)
        return self

    def _memberships(self, block: Array) -> NDArray[np.bool_]:
        """A row is in the first box that was found of those that hold it."""
        state, out = self._state, np.zeros((len(block), len(self.clusters_)), dtype=bool)
        free = np.ones(len(block), dtype=bool)
        for lower, upper, position in zip(state.lower, state.upper, state.found, strict=True):
            inside = Box(lower, upper).near(block).all(axis=1)
            out[:, position] = inside & free
            free &= ~inside
        return out

    def _check_details(self, check: StateCheck) -> None:
        count, d = len(self.clusters_), check.sizes["d"]
        check.indices("medoid_indices_", count, below=len(self.labels_))
        lower, upper, found = (check.value(f"state.{name}") for name in ("lower", "upper", "found"))
        for edges in (lower, upper):
            whole = isinstance(edges, np.ndarray) and edges.dtype == np.float64 and edges.shape == (count, d)
            check.require(whole and not np.isnan(edges).any(), "there must be a box per cluster")
        whole = isinstance(found, np.ndarray) and found.dtype == np.int64 and found.shape == (count,)
        check.require(whole and (np.sort(found) == np.arange(count)).all(), "every cluster must have one box")
        for box, position in enumerate(found):
            own = np.flatnonzero(np.isfinite(lower[box]) & np.isfinite(upper[box]))
            check.require(
                np.array_equal(own, self.clusters_[position].dimensions) and (lower[box] <= upper[box]).all(),
                "a box must have the dimensions of its cluster",
            )


def dependent_dimensions(
    near: NDArray[np.bool_], found: DimensionSet, uniform: Floats, beta: float, chance: float
) -> DimensionSet | None:
    """The dimensions without those that add nothing to the others; None if no two are left.

    A dimension adds something if clearly more rows are near in it than if it were independent of the others. A cluster
    with most of the rows makes the column itself dense: it is compared with a uniform one.
    """
    shares, own = near.mean(axis=0), list(found.dimensions)
    while len(own) > 1:
        inside = near[:, own]
        misses = inside.shape[1] - inside.sum(axis=1)
        size = int((misses == 0).sum())
        without = size + (~inside[misses == 1]).sum(axis=0)  # the rows, if one dimension is left out
        expected = uniform[own] if 2 * size > len(near) else shares[own]
        adds = more_than_chance(size, without[None], expected[None], chance)
        if adds.all():
            return DimensionSet(tuple(own), size, float(log_quality(size, len(own), beta)))
        del own[int(np.argmin(np.where(adds, np.inf, size / (without * expected))))]
    return None
