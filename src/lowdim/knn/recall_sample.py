"""RecallSample: rows whose true neighbors are known, which measure the recall of an approximate search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.exact import NeighborLists
from lowdim.knn.search_space import SearchSpace

__all__ = ["SAMPLED", "SAMPLE_ROWS", "RecallSample", "stratified_sample", "true_neighbors"]

Array = NDArray[Any]

SAMPLE_ROWS = 256  # of a sample, whose recall is measured
SAMPLED = 1  # stream of random numbers


@dataclass(frozen=True)
class RecallSample:
    """Rows whose true neighbors are known."""

    rows: NDArray[np.int32]
    truth: NeighborLists  # sums over columns, as the search sees them
    projected: bool = False  # whether the lists that are measured have distances in a projection

    @classmethod
    def of(cls, space: SearchSpace, k: int, seed: int) -> RecallSample:
        """A sample spread over the rows."""
        rows = stratified_sample(space.n, min(space.n, SAMPLE_ROWS), seed, SAMPLED)
        return cls(rows, true_neighbors(space, rows, k))

    def recall(self, lists: NeighborLists) -> float:
        """The share of true neighbors found; an equally near row counts as one."""
        k = self.truth.k
        if self.projected:  # where distances say little about those of the rows, but all of the list will be measured
            return self.contained(lists.indices[self.rows])
        found, distances = lists.indices[self.rows, :k], lists.distances[self.rows, :k]
        right = (found[:, :, None] == self.truth.indices[:, None, :]).any(axis=2)
        return float((right | (distances <= self.truth.distances[:, -1:])).mean())

    def contained(self, indices: Array) -> float:
        """The share of true neighbors among these rows, (rows of the sample, any number)."""
        return float((self.truth.indices[:, :, None] == indices[:, None, :]).any(axis=2).mean())


def stratified_sample(n: int, count: int, seed: int, stream: int) -> NDArray[np.int32]:
    """`count` different rows of n, one from each of as many equal strata."""
    words = np.empty(-(-count // 4) * 4, dtype=np.uint32)
    _native.fill_words(words, seed, stream)
    edges = np.arange(count + 1, dtype=np.int64) * n // count
    return (edges[:-1] + words[:count] % (edges[1:] - edges[:-1])).astype(np.int32)


def true_neighbors(space: SearchSpace, rows: NDArray[np.int32], k: int) -> NeighborLists:
    """The k nearest neighbors of some of the rows, with sums over columns as distances."""
    out = NeighborLists.empty(len(rows), k)
    queries = np.ascontiguousarray(space.work[rows])
    params = space.kernel_params(np.float32)
    _native.exact_queries(
        queries, rows, space.work, space.shift, space.kernel, out.distances, out.indices, space.threads, params
    )
    return out
