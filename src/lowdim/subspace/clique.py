"""CLIQUE: clusters of dense grid units in all subspaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from lowdim import _native
from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.data.rows import Rows
from lowdim.data.validation import overflow_error
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Flag, Integer, Real, param
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count
from lowdim.subspace._base import SubspaceClusterer
from lowdim.subspace._cluster import SubspaceCluster, make_cluster
from lowdim.subspace._dense_units import Bitmaps, DenseUnits, connected_units, dense_units, projected_supports
from lowdim.subspace._description import cover_boxes, describe_boxes, edge_texts
from lowdim.subspace._grid import Grid, adaptive_grid, histogram_bins, uniform_grid
from lowdim.subspace._significance import CHANCE, more_than_chance

__all__ = ["CLIQUE", "CliqueState"]

Array = NDArray[Any]
Boxes = NDArray[np.int32]  # (b, k, 2)


@dataclass(frozen=True, eq=False)
class CliqueState:
    """What memberships of new rows need."""

    grid: Grid
    boxes: tuple[Boxes, ...]  # of each cluster: first and last intervals of the boxes that cover it


@estimator(title="connected dense grid units in subspaces (CLIQUE, MAFIA)", summary="rows")
class CLIQUE(ThreadsMixin, ClusterMixin, SubspaceClusterer):  # type: ignore[misc]
    """CLIQUE: clusters in all subspaces, as connected dense units of a grid, described by a minimal formula.

    Every column is divided into intervals. A unit, an intersection of intervals of k columns, is dense if it holds more
    than a share `tau` of the rows. Dense units of k + 1 columns are found among the joins of those of k (a-priori), and
    units that share a face form a cluster.

        Agrawal, Gehrke, Gunopulos and Raghavan 1998; grid="adaptive": Nagesh, Goil and Choudhary 2001 (MAFIA)

    Every projection of a cluster is dense too, and so is its extension along any column if it has many rows: the
    paper's list is long. By default (`redundancy`), a cluster is left out if most of its rows are, with most of its
    columns, in clusters of more columns or in larger ones, and if one of its columns adds nothing: if it has hardly
    more rows than expected with that column independent of the others.

    Clusters may overlap. The label of a row is the first of `clusters_` that holds it: the one of most dimensions, then
    the largest. Constant columns are in no subspace. A value outside the range of the fit is in no cluster.

    {parameters}

    Attributes
    ----------
    clusters_ : list of SubspaceCluster
        Rows, dimensions and description, such as "0.2 ≤ alcohol < 0.4 ∧ 1 ≤ ash < 3", of each cluster.
    labels_ : array (n,)
        The first cluster that holds each row; -1 for rows in none.
    n_dense_units_ : array (levels,)
        The number of dense units of 1, 2, … columns.

    """

    xi: int = param(10, Integer(1, 10_000), "Number of intervals per column (ξ).", kw_only=False)
    tau: float = param(
        0.02, Real(0, 1), "Share of the rows that a dense unit exceeds (τ), on the uniform grid.", kw_only=False
    )
    grid: str = param(
        "uniform",
        Choice("uniform", "adaptive"),
        "Intervals of equal width, or MAFIA's, which follow the histogram and have thresholds of their own.",
    )
    alpha: float = param(
        1.5, Real(0, open=True), "Adaptive grid: rows of a dense unit, relative to a uniform distribution."
    )
    beta: float = param(0.5, Real(0, 1), "Adaptive grid: neighbors of heights that differ by this share are merged.")
    mdl: bool = param(False, Flag(), "Drop subspaces of low coverage at every level, by minimum description length.")
    redundancy: float = param(
        0.5,
        Real(0, 1),
        "Leave out a cluster if more than this share of its pairs of row and column is in reported clusters, or if one "
        "of its columns adds nothing to the others. 1 keeps all clusters, as the paper does.",
    )
    max_units: int = param(5_000_000, Integer(1), "Refuse a search with more candidate units at one level.")

    _state_classes = (CliqueState, Grid, SubspaceCluster)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the dense units of all subspaces, and the clusters that they form."""
        with self._fitting():
            rows = self._read(X, fitting=True, min_rows=2)
            grid = self._make_grid(rows)
            bitmaps = self._bitmaps(rows, grid)
            levels = dense_units(grid, bitmaps, prune=self.mdl, max_units=self.max_units)
            boxes = self._keep(list(self._clusters(levels, grid, bitmaps)), rows.count)
            self.n_dense_units_ = np.array([len(level.units) for level in levels], dtype=np.int64)
            self._state = CliqueState(grid, tuple(boxes))
            return self

    def _make_grid(self, rows: Rows) -> Grid:
        low, high = np.full(rows.d, np.inf), np.full(rows.d, -np.inf)
        for _, block in self._finite_blocks(rows):
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        if not np.isfinite(high - low).all():
            raise overflow_error()
        if self.grid == "uniform":
            return uniform_grid(low, high, self.xi, self.tau, rows.count)
        bins = histogram_bins(rows.count)
        counts = np.zeros((rows.d, bins), dtype=np.int64)
        for _, block in self._finite_blocks(rows):
            for j in np.flatnonzero(low < high):
                place = (block[:, j] - low[j]) / (high[j] - low[j])
                counts[j] += np.bincount(np.minimum((place * bins).astype(np.intp), bins - 1), minlength=bins)
        return adaptive_grid(low, high, counts, self.xi, self.alpha, self.beta)

    def _bitmaps(self, rows: Rows, grid: Grid) -> Bitmaps:
        threads, shape = thread_count(self.n_jobs), (len(grid.least), -(-rows.count // 64))
        require_memory(8 * shape[0] * shape[1], "one bit per row and interval", "Use fewer intervals (xi).")
        words = np.zeros(shape, dtype=np.uint64)
        for start, block in self._finite_blocks(rows):
            report("CLIQUE: bitmaps", start, rows.count)
            _native.interval_bitmaps(grid.codes(block), grid.starts, start, words, threads)
        return Bitmaps(words, rows.count, threads)

    def _clusters(
        self, levels: list[DenseUnits], grid: Grid, bitmaps: Bitmaps
    ) -> Iterator[tuple[SubspaceCluster, Boxes]]:
        """Connected dense units of every subspace, with their rows and boxes; redundant ones are left out."""
        starts, names, texts = grid.starts, self._column_names(), [edge_texts(edges) for edges in grid.edges]
        reported = _Reported(bitmaps, len(grid.columns), self.redundancy)
        for k, level in reversed(list(enumerate(levels, 1))):
            supports, shares = projected_supports(levels, k, grid, bitmaps.n)
            largest_first = sorted(connected_units(level.units, grid.axis_of), key=lambda c: -level.supports[c].sum())
            for done, connected in enumerate(largest_first):
                report("CLIQUE: clusters", done, dimensions=k)
                units = np.ascontiguousarray(level.units[connected])
                axes = grid.axis_of[units[0]]
                cells, size = units - starts[axes], int(level.supports[connected].sum())
                chance = CHANCE / len(level.units)
                if (
                    self.redundancy < 1
                    and not more_than_chance(size, supports[connected], shares[connected], chance).all()
                ):
                    continue
                bitmap = bitmaps.union(units)
                if not reported.add(axes, bitmap):
                    continue
                boxes, columns = cover_boxes(cells), grid.columns[axes]
                words = describe_boxes(boxes, [names[j] for j in columns], [texts[axis] for axis in axes])
                yield make_cluster(bitmaps.rows(bitmap), columns, names, words), boxes

    def _memberships(self, block: Array) -> NDArray[np.bool_]:
        grid = self._state.grid
        codes, axis_of_column = grid.codes(block), {int(j): axis for axis, j in enumerate(grid.columns)}
        out = np.zeros((len(block), len(self.clusters_)), dtype=bool)
        for c, (cluster, boxes) in enumerate(zip(self.clusters_, self._state.boxes, strict=True)):
            own = codes[[axis_of_column[int(j)] for j in cluster.dimensions]]  # (k, m)
            for box in boxes:
                out[:, c] |= ((own >= box[:, :1]) & (own <= box[:, 1:])).all(axis=0)
        return out

    def _check_details(self, check: StateCheck) -> None:
        levels = check.value("n_dense_units_")
        check.require(isinstance(levels, np.ndarray) and levels.dtype == np.int64, "n_dense_units_ must hold counts")
        state = check.instance("state", CliqueState)
        grid = check.instance("state.grid", Grid)
        check.require(isinstance(state.boxes, tuple), "boxes must be a tuple")
        check.require(len(state.boxes) == len(self.clusters_), "there must be boxes for each cluster")
        check.require(
            len(grid.columns) == 0 or 0 <= grid.columns[-1] < self.n_features_in_, "the grid has more columns"
        )
        for cluster, boxes in zip(self.clusters_, state.boxes, strict=True):
            check.require(np.isin(cluster.dimensions, grid.columns).all(), "a cluster has columns without intervals")
            whole = isinstance(boxes, np.ndarray) and boxes.dtype == np.int32 and boxes.ndim == 3
            check.require(whole and boxes.shape[1:] == (len(cluster.dimensions), 2), "boxes must be of shape (b, k, 2)")


class _Reported:
    """The clusters that were reported, from the subspaces of most columns down: what they leave to say.

    A micro-object is a pair of a row and a column: a cluster says little if most of its own are in reported ones.
    """

    def __init__(self, bitmaps: Bitmaps, axes: int, redundancy: float) -> None:
        self.redundancy = redundancy
        self.rows = np.zeros((axes, bitmaps.words.shape[1]), dtype=np.uint64)  # of all clusters with each axis

    def add(self, axes: NDArray[np.int32], bitmap: NDArray[np.uint64]) -> bool:
        """Whether a cluster is to be reported: at most a share of its micro-objects is in clusters before it."""
        if self.redundancy < 1:
            explained = np.bitwise_count(self.rows[axes] & bitmap).sum()
            if explained > self.redundancy * len(axes) * np.bitwise_count(bitmap).sum():
                return False
            self.rows[axes] |= bitmap
        return True
