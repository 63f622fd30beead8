"""Distances of some rows to all rows, block by block: by any metric, of any table, or precomputed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.categories import categorical_rows
from lowdim.data.ownership import dense_table
from lowdim.data.rows import ArrayRows, Rows, SparseRows, StreamRows
from lowdim.data.validation import FeatureRecord, read_matrix, read_rows
from lowdim.distance.matrix_checks import require_distances
from lowdim.distance.metrics import Metric, MetricSpec, metric_of
from lowdim.distance.pairwise import MetricRows, prepare_rows
from lowdim.errors import BadInput, NotEnoughData
from lowdim.knn.blockwise import Blocks, distance_blocks, is_wide, precomputed_blocks
from lowdim.knn.graph import Graph

__all__ = ["DistanceSource", "embedding_source", "read_embedding", "read_source"]

Array = NDArray[Any]

MAX_EXPONENT = {"float32": 50, "float64": 400}  # of coordinates whose squares, and sums of them, stay in range
FEWEST_ROWS = 4  # with three, every map has the same neighbors


@dataclass(frozen=True)
class DistanceSource:
    """Rows and their metric: what measures distances of some rows to all of them."""

    rows: Rows  # n rows of d columns, or n × n distances
    metric: Metric
    threads: int
    prepared: MetricRows | None  # as the native kernels read them; None where blocks come from another way

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.rows.count

    def blocks(self, which: NDArray[np.intp], among: NDArray[np.intp] | None = None) -> Blocks:
        """Distances of the rows of these numbers to all rows, or to some: a function of start and stop, (b, n)."""
        prepared = self.prepared
        if prepared is not None:
            base = prepared if among is None else replace(prepared, table=prepared.table[among])

            def measure(start: int, stop: int) -> Array:
                some = np.ascontiguousarray(prepared.table[which[start:stop]])
                return base.distances_from(replace(prepared, table=some))

            return measure
        if self.metric.precomputed:
            given = precomputed_blocks(dense_table(self.rows), which)
            return given if among is None else lambda start, stop: given(start, stop)[:, among]
        parts = self._part(which), self.rows if among is None else self._part(among)
        return distance_blocks(*parts, self.metric, self.threads)

    def _part(self, which: NDArray[np.intp]) -> Rows:
        chosen = self.rows.whole()[which]
        return SparseRows(chosen) if self.rows.sparse else ArrayRows(chosen)


def read_source(
    X: Any, metric: MetricSpec, metric_params: Mapping[str, Any] | None, graph: Graph | None, threads: int
) -> DistanceSource:
    """The original space: X by its metric, or the rows that a graph remembers."""
    found = metric_of(metric, metric_params)
    if X is None:
        X, found = _rows_of_graph(graph, found)
    if found.missing and not isinstance(X, Rows):
        X = categorical_rows(X, found.params.get("categories"), coded=True)
    rows = read_rows(FeatureRecord(), X, fitting=True)
    if isinstance(rows, StreamRows):
        raise BadInput("quality needs all rows at once; give an array, a memory map, a file or a dataframe.")
    if rows.count < FEWEST_ROWS:
        raise NotEnoughData(f"quality needs at least {FEWEST_ROWS} rows; got {rows.count}.")
    if graph is not None and graph.n != rows.count:
        raise BadInput(f"X has {rows.count} rows, but the graph has {graph.n}.")
    return _source(rows, found, threads)


def _source(rows: Rows, metric: Metric, threads: int) -> DistanceSource:
    if metric.precomputed:
        if rows.sparse:
            raise BadInput("quality needs the distances between all rows, and a sparse table holds some of them.")
        if rows.count != rows.d:
            shape = (rows.count, rows.d)
            raise BadInput(f"metric='precomputed' needs a square table of distances; got shape {shape}.")
        require_distances(dense_table(rows))
        return DistanceSource(rows, metric, threads, None)
    metric = metric.fitted(rows)
    if metric.function is not None or is_wide(rows):
        return DistanceSource(rows, metric, threads, None)
    return DistanceSource(rows, metric, threads, prepare_rows(rows, metric, threads))


def _rows_of_graph(graph: Graph | None, metric: Metric) -> tuple[Any, Metric]:
    if graph is None or graph.rows is None:
        raise BadInput(
            "quality needs the original rows: give X, or a graph that remembers them, as lowdim.neighbors(X, k) does."
        )
    return graph.rows, metric if graph.measure is None else graph.measure


def read_embedding(Z: Any, n: int, name: str) -> Array:
    """The coordinates of a map, (n, c), float32 or float64; raises unless there is one finite row per row of X.

    No measure depends on the unit of a map: huge or tiny coordinates, whose squares overflow or vanish, are rescaled.
    """
    if not hasattr(Z, "columns"):
        try:
            Z = np.asarray(Z)
        except ValueError as error:  # rows of different lengths
            raise BadInput(f"{name} must be an array of coordinates: {error}") from error
        Z = Z[:, None] if Z.ndim == 1 else Z
    points = read_matrix(Z, name)
    if len(points) != n:
        raise BadInput(f"{name} has {len(points)} rows, but X has {n}. Give one row of coordinates per row of X.")
    if (points == points[0]).all():
        raise BadInput(f"{name} is constant: all points are drawn in one place, and none is nearer than another.")
    exponent = int(np.frexp(np.abs(points).max())[1])
    return points if abs(exponent) < MAX_EXPONENT[points.dtype.name] else np.ldexp(points, -exponent)


def embedding_source(points: Array, threads: int) -> DistanceSource:
    """Euclidean distances in a map."""
    return _source(ArrayRows(points), metric_of("euclidean"), threads)
