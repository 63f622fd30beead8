"""The co-ranking matrix: how often a neighbor of rank ρ in the original space has rank r in the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.metrics import MetricSpec
from lowdim.errors import BadParameter
from lowdim.knn.graph import Graph
from lowdim.quality._distance_source import embedding_source, read_embedding, read_source
from lowdim.quality._intervals import sample_rows
from lowdim.quality._rank_comparison import rank_rows
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.param import Integer, Maybe
from lowdim.runtime.progress import report
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["CoRanking", "co_ranking"]

Array = NDArray[Any]

FULL_RANKS = 300  # up to so many, every rank has a row of its own
BINS = 100  # of ranks beyond
BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class CoRanking(SummaryDisplay):
    """The co-ranking matrix of a map, by single ranks or by bins of them.

    Entry (a, b) counts the pairs of a row and another whose true rank is in bin a, and whose rank in the map is in
    bin b: ranks edges[a] … edges[a + 1] - 1. Every row and every column adds up to rows × the width of the bin.
    """

    matrix: NDArray[np.int64]  # (m, m)
    edges: NDArray[np.int64]  # (m + 1,) from 1 to n
    n: int
    rows: int  # that were compared with all

    @property
    def full(self) -> bool:
        """Whether every rank has a row and a column of its own."""
        return len(self.matrix) == self.n - 1

    def q_nx(self) -> NDArray[np.float64]:
        """Q_NX at the upper ends of the bins (edges[1:] - 1), (m,): the share of K nearest that both spaces share."""
        blocks = np.cumsum(np.cumsum(self.matrix, axis=0), axis=1).diagonal()
        return np.asarray(blocks / (self.rows * (self.edges[1:] - 1)))

    def r_nx(self) -> NDArray[np.float64]:
        """R_NX at the upper ends of the bins but the last, where every map has all neighbors, (m - 1,)."""
        K = self.edges[1:-1] - 1
        return np.asarray(((self.n - 1) * self.q_nx()[:-1] - K) / (self.n - 1 - K))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {"matrix": self.matrix.tolist(), "edges": self.edges.tolist(), "n": self.n, "rows": self.rows}

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The matrix as a picture."""
        from importlib import import_module

        return import_module("lowdim.plot").co_ranking(self, ax=ax, **options)

    def _summary(self) -> str:
        bins = "every rank" if self.full else count(len(self.matrix), "bin of ranks", "bins of ranks")
        return f"{count(self.rows, 'row')} of {self.n:,}, {bins}"


def co_ranking(  # noqa: PLR0913
    X: Any,
    Z: Any,
    *,
    bins: int | None = None,
    metric: MetricSpec = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    graph: Graph | None = None,
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> CoRanking:
    """The co-ranking matrix of a map (Lee and Verleysen 2009).

    Parameters
    ----------
    X, Z, metric, metric_params, graph, sample, random_state, n_jobs
        As in `measure`.
    bins : int, optional
        Bins of ranks. None takes every rank up to 300 of them, and then 100 bins of nearly equal width.

    """
    if not Maybe(Integer(1)).accepts(bins):
        raise BadParameter(f"bins must be {Maybe(Integer(1)).text}; got {bins!r:.60}.")
    threads, seed = thread_count(n_jobs), seed_of(random_state)
    with single_blas():
        original = read_source(X, metric, metric_params, graph, threads)
        n = original.n
        drawn = embedding_source(read_embedding(Z, n, "Z"), threads)
        chosen = sample_rows(n, sample, 0, seed)
        number = min(n - 1, bins or (n - 1 if n - 1 <= FULL_RANKS else BINS))
        edges = np.unique(np.linspace(1, n, number + 1).round().astype(np.int64))
        bin_of = np.searchsorted(edges, np.arange(n), side="right") - 1  # by rank; -1 of rank 0, the row itself
        matrix = np.zeros((len(edges) - 1) ** 2, dtype=np.int64)
        blocks = original.blocks(chosen.rows), drawn.blocks(chosen.rows)
        size = max(1, min(1024, BLOCK_VALUES // n))
        for start in range(0, len(chosen.rows), size):
            stop = min(start + size, len(chosen.rows))
            own = chosen.rows[start:stop]
            true, flat = (bin_of[rank_rows(part(start, stop), own, 0, threads)[0]] for part in blocks)
            there = true >= 0
            matrix += np.bincount(true[there] * (len(edges) - 1) + flat[there], minlength=len(matrix))
            report("co-ranking", stop, len(chosen.rows))
    return CoRanking(matrix.reshape(len(edges) - 1, -1), edges, n, len(chosen.rows))
