"""Inputs of t-SNE: affinities from rows, distances, a Graph or Affinities, and the rows that the model keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.duplicates import distinct_rows
from lowdim.data.ownership import compact_table, owned
from lowdim.data.rows import Rows
from lowdim.distance.metrics import Metric
from lowdim.knn.fitted import FittedNeighbors, NeighborSpec, is_comparable, read_source
from lowdim.knn.fitted_rows import finite_block
from lowdim.knn.graph import Graph
from lowdim.neighbor_embedding.tsne.affinities import Affinities, Perplexity, feasible_perplexity, neighbor_count
from lowdim.runtime.memory import require_memory

__all__ = ["TsneInput", "tsne_inputs"]

SINGLE = np.dtype(np.float32)


@dataclass(frozen=True)
class TsneInput:
    """Affinities of the rows, which rows are equal, and what the model keeps of them."""

    affinities: Affinities
    perplexity: tuple[float, ...] = ()  # those used; none for given Affinities
    rows: Rows | None = None  # None unless rows that have principal axes were given, or known to a graph
    X_fit: Any = None  # the rows that the model keeps
    inverse: NDArray[np.int64] | None = None  # the distinct row that each row is; None: all are distinct
    dtype: np.dtype[Any] = SINGLE


def tsne_inputs(owner: Any, X: Any, perplexity: Perplexity, seed: int, threads: int) -> TsneInput:
    """From rows, distances (metric='precomputed'; rows at distance 0 are equal), a Graph or Affinities.

    A Graph, and the Affinities of one, may know the rows that they were made of.
    """
    if isinstance(X, Affinities):
        require_memory(16 * len(X.columns), "a copy of the affinities, and a reordered one", "Use fewer rows.")
        own = X.copy()  # a callback, or another thread, may change those that were given
        if not X.perplexity or not is_comparable(X, owner):
            owner._fit_metric(None)
            return TsneInput(own)
        rows = read_source(owner, X.rows).rows
        return _with_rows(own, X.perplexity, rows, owner._fitted_metric, threads)
    source = read_source(owner, X)
    metric = owner._fitted_metric
    if source.graph is not None:
        affinities = _affinities(source.graph, perplexity, threads)
        if source.rows is not None:
            return _with_rows(*affinities, source.rows, metric, threads)
        return TsneInput(*affinities, inverse=source.graph.coincident() if metric.precomputed else None)
    rows = source.rows
    assert rows is not None
    k = min(rows.count - 1, neighbor_count(feasible_perplexity(perplexity, rows.count)))
    _require_memory(rows.count, k)
    fitted = FittedNeighbors.of(source, NeighborSpec(k, metric, seed, threads), compact=True)
    affinities = _affinities(fitted.graph, perplexity, threads)
    if metric.precomputed:
        return TsneInput(*affinities, inverse=fitted.graph.coincident(), dtype=rows.dtype)
    return _with_rows(*affinities, rows, metric, threads, fitted.rows.X)


def _with_rows(
    affinities: Affinities,
    perplexity: tuple[float, ...],
    rows: Rows | None,
    metric: Metric,
    threads: int,
    kept: Any = None,
) -> TsneInput:
    """Affinities of rows that are known, and these rows as the model keeps them."""
    assert rows is not None
    if kept is None:
        for chunk in rows.chunks():
            finite_block(rows, chunk, metric)
        kept = owned(compact_table(rows), rows)
    distinct = distinct_rows(kept, threads)
    distinct.warn_of_shared_positions()
    positions = None if metric.missing else rows  # no axes of rows with categories and gaps
    return TsneInput(affinities, perplexity, positions, kept, distinct.inverse, rows.dtype)


def _affinities(graph: Graph, perplexity: Perplexity, threads: int) -> tuple[Affinities, tuple[float, ...]]:
    """The affinities of a graph, and the perplexities that it allows."""
    used = feasible_perplexity(perplexity, graph.k + 1)
    _require_memory(graph.n, min(graph.k, neighbor_count(used)))
    return Affinities.from_graph(graph, perplexity, n_jobs=threads), used


def _require_memory(n: int, k: int) -> None:
    """For the neighbors, their weights, both directions of them, and a reordered copy."""
    require_memory(50 * n * k, "the affinities", "Use a smaller perplexity or fewer rows.")
