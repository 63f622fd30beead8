"""Inputs of t-SNE: affinities from rows, distances, a Graph or Affinities, and the rows that the model keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.duplicates import distinct_rows
from lowdim.data.rows import Rows
from lowdim.knn.fitted import FittedNeighbors, NeighborSpec, read_source
from lowdim.knn.graph import Graph
from lowdim.knn.index import MetricSpec
from lowdim.neighbor_embedding.tsne.affinities import Affinities, Perplexity, feasible_perplexity, neighbor_count
from lowdim.runtime.memory import require_memory

__all__ = ["TsneInput", "tsne_inputs"]

SINGLE = np.dtype(np.float32)


@dataclass(frozen=True)
class TsneInput:
    """Affinities of the rows, which rows are equal, and what the model keeps of them."""

    affinities: Affinities
    perplexity: tuple[float, ...] = ()  # those used; none for given Affinities
    rows: Rows | None = None  # None unless rows were given
    X_fit: Any = None  # the rows that the model keeps
    inverse: NDArray[np.int64] | None = None  # the distinct row that each row is; None: all are distinct
    dtype: np.dtype[Any] = SINGLE


def tsne_inputs(owner: Any, X: Any, perplexity: Perplexity, metric: MetricSpec, seed: int, threads: int) -> TsneInput:
    """From rows, distances (metric='precomputed'; rows at distance 0 are equal), a Graph or Affinities."""
    if isinstance(X, Affinities):
        require_memory(8 * len(X.columns), "the reordered affinities", "Use fewer rows.")
        return TsneInput(X)
    precomputed = isinstance(metric, str) and metric == "precomputed"
    source = read_source(owner, X)
    if isinstance(source, Graph):
        return TsneInput(
            *_affinities(source, perplexity, threads), inverse=source.coincident() if precomputed else None
        )
    k = min(source.count - 1, neighbor_count(feasible_perplexity(perplexity, source.count)))
    _require_memory(source.count, k)
    fitted = FittedNeighbors.of(source, NeighborSpec(k, metric, seed, threads), sparse=True)
    affinities = _affinities(fitted.graph, perplexity, threads)
    if precomputed:
        return TsneInput(*affinities, inverse=fitted.graph.coincident(), dtype=source.dtype)
    X_fit = fitted.rows.X
    return TsneInput(*affinities, source, X_fit, distinct_rows(X_fit, threads).inverse, source.dtype)


def _affinities(graph: Graph, perplexity: Perplexity, threads: int) -> tuple[Affinities, tuple[float, ...]]:
    """The affinities of a graph, and the perplexities that it allows."""
    used = feasible_perplexity(perplexity, graph.k + 1)
    _require_memory(graph.n, min(graph.k, neighbor_count(used)))
    return Affinities.from_graph(graph, perplexity, n_jobs=threads), used


def _require_memory(n: int, k: int) -> None:
    """For the neighbors, their weights, both directions of them, and a reordered copy."""
    require_memory(50 * n * k, "the affinities", "Use a smaller perplexity or fewer rows.")
