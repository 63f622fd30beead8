"""Likeness: the affinities that t-SNE reads, of whatever it is given, and the rows that new ones are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.duplicates import distinct_rows
from lowdim.data.rows import Rows
from lowdim.knn.fitted import FittedNeighbors, NeighborSpec, read_source
from lowdim.knn.graph import Graph
from lowdim.knn.index import Distance
from lowdim.neighbor_embedding.tsne.affinities import Affinities, Perplexity, feasible, neighbor_count
from lowdim.runtime.memory import require_memory

__all__ = ["Likeness", "likeness_of"]

SINGLE = np.dtype(np.float32)


@dataclass(frozen=True)
class Likeness:
    """Which rows belong together, how strongly, and which are equal."""

    affinities: Affinities
    perplexity: tuple[float, ...] = ()  # those used; none for Affinities that were given
    rows: Rows | None = None  # None unless a table was given
    table: Any = None  # the rows to be kept
    which: NDArray[np.int64] | None = None  # the number of each row among the distinct ones; None: all differ
    dtype: np.dtype[Any] = SINGLE


def likeness_of(owner: Any, X: Any, perplexity: Perplexity, metric: Distance, seed: int, threads: int) -> Likeness:
    """Of a table, of distances (metric="precomputed", rows at distance 0 are equal), of a Graph or of Affinities."""
    if isinstance(X, Affinities):
        require_memory(8 * len(X.columns), "the affinities in the order of the map", "Use fewer rows.")
        return Likeness(X)
    given = metric == "precomputed"
    rows = read_source(owner, X)
    if isinstance(rows, Graph):
        return Likeness(*_joint(rows, perplexity, threads), which=rows.coincident() if given else None)
    k = min(rows.count - 1, neighbor_count(feasible(perplexity, rows.count)))
    _require_room(rows.count, k)
    near = FittedNeighbors.of(rows, NeighborSpec(k, metric, seed, threads), sparse=True)
    joint = _joint(near.graph, perplexity, threads)
    if given:
        return Likeness(*joint, which=near.graph.coincident(), dtype=rows.dtype)
    return Likeness(*joint, rows, near.rows.X, distinct_rows(near.rows.X, threads).inverse, rows.dtype)


def _joint(graph: Graph, perplexity: Perplexity, threads: int) -> tuple[Affinities, tuple[float, ...]]:
    wanted = feasible(perplexity, graph.k + 1)
    _require_room(graph.n, min(graph.k, neighbor_count(wanted)))
    return Affinities.from_graph(graph, perplexity, n_jobs=threads), wanted


def _require_room(n: int, k: int) -> None:
    """Room for the neighbours, their weights, both sides of them, and a copy in the order of the map."""
    require_memory(50 * n * k, "the affinities", "Use a smaller perplexity or fewer rows.")
