"""Likeness: the affinities that t-SNE reads, of whatever it is given, and the rows that new ones are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.duplicates import distinct_rows
from lowdim.data.rows import ArrayRows, Rows
from lowdim.data.validation import read_rows
from lowdim.knn.fitted import table_of
from lowdim.knn.graph import Graph
from lowdim.knn.index import Distance, neighbors
from lowdim.neighbor_embedding.tsne.affinities import Affinities, Perplexity, feasible_perplexity, neighbor_count
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
    if isinstance(X, Graph):
        return Likeness(*_joint(X, perplexity, threads), which=X.coincident() if given else None)
    rows = read_rows(owner, X, fitting=True, min_rows=2)
    if not given:
        require_memory(_copy_bytes(rows), "the table that new rows are compared with", "Fit a Graph of it.")
    k = min(rows.count - 1, neighbor_count(feasible_perplexity(perplexity, rows.count)))
    _require_room(rows.count, k)
    graph = neighbors(rows, k, metric=metric, random_state=seed, n_jobs=threads)
    joint = _joint(graph, perplexity, threads)
    if given:
        return Likeness(*joint, which=graph.coincident(), dtype=rows.dtype)
    table = table_of(rows)
    return Likeness(*joint, rows, table, distinct_rows(table, threads).which, rows.dtype)


def _joint(graph: Graph, perplexity: Perplexity, threads: int) -> tuple[Affinities, tuple[float, ...]]:
    wanted = feasible_perplexity(perplexity, graph.k + 1)
    _require_room(graph.n, min(graph.k, neighbor_count(wanted)))
    return Affinities.from_graph(graph, perplexity, n_jobs=threads), wanted


def _require_room(n: int, k: int) -> None:
    """Room for the neighbours, their weights, both sides of them, and a copy in the order of the map."""
    require_memory(50 * n * k, "the affinities", "Use a smaller perplexity or fewer rows.")


def _copy_bytes(rows: Rows) -> int:
    """What rows.whole() takes: nothing for an array that can stay where it is."""
    if isinstance(rows, ArrayRows):
        X = rows.X
        if not isinstance(X, np.memmap) and X.dtype == rows.dtype and X.flags.c_contiguous:
            return 0
    return 0 if rows.sparse else rows.count * rows.d * rows.dtype.itemsize
