"""Exact k-NN search: no neighbor is missing, and equal distances (in float32) are ordered by index.

A search in float32 finds a few more candidates than asked for; their distances are then measured in double precision.
Where a rounding error of the search could have hidden a neighbor, it is repeated with longer lists, and in the end with
all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.search_space import SearchSpace
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = [
    "EMPTY",
    "NeighborLists",
    "all_pairs",
    "euclidean_distances",
    "exact_query",
    "neighbors_in_double",
    "refine",
    "reported",
]

Array = NDArray[Any]
Floats = NDArray[np.float64]

EMPTY = 2**31 - 1  # the index in a place that is not filled
SLACK = 8  # places beyond the k-th, so that rounding errors of the search can't push a true neighbor out
LONGER_SLACK = (56, 448)  # places where that was not enough, before all rows are measured in double precision
QUERY_ROWS = 1 << 14  # queries between two reports of progress
DOUBLE_SLACK = 4  # the same in a search in double precision
BLOCK_BYTES = 64 << 20  # of its distances, and of the differences between rows and candidates
LARGE_BYTES = 1 << 26  # smaller lists are made without a check of the free memory


@dataclass(frozen=True)
class NeighborLists:
    """The nearest rows so far, by distance and then by index: distances and indices, (n, k), in the native layout."""

    distances: NDArray[np.float32]
    indices: NDArray[np.int32]

    @classmethod
    def empty(cls, n: int, k: int) -> NeighborLists:
        """Lists with every place empty."""
        if 8 * n * k > LARGE_BYTES:
            require_memory(8 * n * k, f"lists of {k} neighbors for {n} rows", "Ask for fewer neighbors.")
        return cls(np.full((n, k), np.inf, dtype=np.float32), np.full((n, k), EMPTY, dtype=np.int32))

    @property
    def k(self) -> int:
        """Places per list."""
        return int(self.indices.shape[1])

    def __getitem__(self, rows: slice) -> NeighborLists:
        return NeighborLists(self.distances[rows], self.indices[rows])


def all_pairs(space: SearchSpace, k: int) -> NeighborLists:
    """The k nearest other rows of every row, by comparing all pairs."""
    n = space.n
    found = NeighborLists.empty(n, _with_slack(space, k, n - 1))
    params = space.kernel_params(np.float32)
    rounds = _native.all_pairs_round_count(n, space.work.shape[1], found.k)
    for turn in range(rounds):
        _native.all_pairs_round(
            space.work, space.shift, space.kernel, turn, found.distances, found.indices, space.threads, params
        )
        report("comparing all pairs", turn + 1, rounds)
    return _verified(space, space.work, space.source, found, k, np.arange(n, dtype=np.int32))


def exact_query(space: SearchSpace, work: Array, source: Array, k: int, own: Array | None = None) -> NeighborLists:
    """The k nearest rows of the space to every query; the row of number own[i], if given, is left out for query i."""
    most = space.n - (0 if own is None else 1)
    found = NeighborLists.empty(len(work), _with_slack(space, k, most))
    _scan(space, work, own, found, "comparing queries")
    return _verified(space, work, source, found, k, own)


def refine(
    space: SearchSpace,
    source: Array,
    candidates: Array | None,
    k: int,
    own: Array | None,
    order: NDArray[np.int32] | None = None,
) -> NeighborLists:
    """The k nearest among the candidates of each query (all rows if None), measured in double precision.

    An order that keeps close queries together makes it faster.
    """
    out = NeighborLists.empty(len(source), k)
    _native.refine_candidates(
        source,
        space.source,
        candidates,
        own,
        space.kernel,
        space.metric.root,
        space.scale,
        out.distances,
        out.indices,
        space.threads,
        space.kernel_params(source.dtype),
        order,
    )
    return out


def reported(
    space: SearchSpace,
    source: Array,
    found: NeighborLists,
    k: int,
    own: Array | None,
    order: NDArray[np.int32] | None = None,
) -> NeighborLists:
    """The k nearest of the lists of a search, with distances as they are reported; those of sets are exact already."""
    if not space.metric.bits:
        return refine(space, source, found.indices, k, own, order)
    return NeighborLists(np.float32(space.scale) * found.distances[:, :k], np.ascontiguousarray(found.indices[:, :k]))


def neighbors_in_double(X: Floats, k: int, threads: int) -> tuple[NDArray[np.intp], Floats]:
    """Indices and Euclidean distances of the k nearest other rows of every row, (n, k) each, in double precision.

    For a sample of a few thousand rows whose distances need more digits than float32 has. Equal distances are ordered
    by index; where more rows are equally near than there are places, any of them may be left out.
    """
    n, d = X.shape
    wide = min(n - 1, k + DOUBLE_SLACK)
    size = max(1, min(256, BLOCK_BYTES // (8 * (d * wide + n))))

    def search(start: int) -> tuple[NDArray[np.intp], Floats]:
        queries = X[start : start + size]
        rough = _squared_distances(queries, X)
        rough[np.arange(len(queries)), np.arange(start, start + len(queries))] = np.inf
        candidates = np.sort(np.argpartition(rough, wide - 1, axis=1)[:, :wide], axis=1)
        # Differences keep the digits of small distances that products lose.
        apart = queries[:, None, :] - X[candidates]
        distances = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(distances, order, axis=1)

    parts = list(ordered_map(search, range(0, n, size), threads))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def euclidean_distances(A: Floats, B: Floats) -> Floats:
    """Euclidean distances, (len(A), len(B)), by products: good to about 1e-8 of the rows' lengths."""
    return np.sqrt(_squared_distances(A, B))


def _squared_distances(A: Floats, B: Floats) -> Floats:
    lengths = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    squares: Floats = np.maximum(lengths - 2 * (A @ B.T), 0)
    return squares


def _scan(space: SearchSpace, work: Array, own: Array | None, found: NeighborLists, task: str) -> None:
    """The nearest rows of the space to every query, as sums over columns, into the lists."""
    m, params = len(work), space.kernel_params(np.float32)
    for start in range(0, m, QUERY_ROWS):
        cut = slice(start, min(start + QUERY_ROWS, m))
        part, left_out = found[cut], None if own is None else own[cut]
        _native.exact_queries(
            work[cut],
            left_out,
            space.work,
            space.shift,
            space.kernel,
            part.distances,
            part.indices,
            space.threads,
            params,
        )
        report(task, cut.stop, m)


def _verified(
    space: SearchSpace, work: Array, source: Array, found: NeighborLists, k: int, own: Array | None
) -> NeighborLists:
    """The k nearest of longer lists; where a rounding error may have hidden one, the search is repeated."""
    out = reported(space, source, found, k, own)
    if space.metric.bits:
        return out
    most = space.n - (0 if own is None else 1)
    doubtful = np.flatnonzero(_doubtful(space, work, out, found, most))
    for slack in LONGER_SLACK:
        if len(doubtful) == 0 or k + slack >= most:
            break
        some_work, some_source = np.ascontiguousarray(work[doubtful]), np.ascontiguousarray(source[doubtful])
        some_own = None if own is None else own[doubtful]
        longer = NeighborLists.empty(len(doubtful), k + slack)
        _scan(space, some_work, some_own, longer, "resolving near ties")
        better = refine(space, some_source, longer.indices, k, some_own)
        out.distances[doubtful], out.indices[doubtful] = better.distances, better.indices
        doubtful = doubtful[_doubtful(space, some_work, better, longer, most)]
    for start in range(0, len(doubtful), 64):
        some = doubtful[start : start + 64]
        again = refine(space, source[some], None, k, None if own is None else own[some])
        out.distances[some], out.indices[some] = again.distances, again.indices
        report("resolving near ties", start + len(some), len(doubtful))
    return out


def _doubtful(
    space: SearchSpace, work: Array, out: NeighborLists, found: NeighborLists, most: int
) -> NDArray[np.bool_]:
    """Whether the k-th distance is so near to the last candidate's that a nearer row may have been missed, (m,)."""
    if found.k == most or space.exact_sums:
        return np.zeros(len(work), dtype=bool)
    kth = out.distances[:, -1]
    sums = space.sums(kth)
    return ~((kth == 0) | (sums + space.rounding_error(work, sums) < found.distances[:, -1].astype(np.float64)))


def _with_slack(space: SearchSpace, k: int, most: int) -> int:
    return k if space.metric.bits else min(k + SLACK, most)
