"""Approximate k-NN search: an inverted file, then NN-descent (Dong, Charikar and Li 2011).

Rows are assigned to the nearest of sampled centers. Every row is compared with the members of its nearest cells, one
cell at a time; then iterations of NN-descent compare neighbors of neighbors. A sample of rows whose neighbors are known
exactly says when the recall asked for is reached. Wide rows are searched in a projection on their leading principal
axes first.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import ArrayRows
from lowdim.distance.metrics import SQUARES
from lowdim.knn.exact import EMPTY, NeighborLists
from lowdim.knn.search_space import SearchSpace
from lowdim.linalg.centered import Centered
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import interruptible

__all__ = ["InvertedFile", "RecallSample", "approximate", "nearest_centers"]

Array = NDArray[Any]

PROBES = 16  # cells that a row probes at first
MAX_CANDIDATES = 12  # per row and iteration of NN-descent: so many neighbors, and so many reverse neighbors
MIN_LIST = 12  # places per list during the search: NN-descent needs so many to converge
MAX_ITERATIONS = 12
DELTA = 0.002  # an iteration that changes a smaller share of the places is the last
SAMPLE_ROWS = 256  # whose recall is measured
CENTERS, SAMPLED, DESCENT, AXES = range(4)  # streams of random numbers
CELL_SKEW = 8  # a cell is split when it is so many times larger than the mean

PROJECTED_COLUMNS = 96  # rows of more than twice as many columns are searched in a projection first
PROJECTION_ROWS = 4096  # that the axes are found from
POWER_ITERATIONS = 3
OVERSAMPLING = 2  # lists are so many times longer in the projection, which blurs distances
PROJECTED_RECALL = 0.98  # the recall asked for there


@dataclass(frozen=True)
class InvertedFile:
    """The rows by their nearest center, as in an IVF index; very large cells are split into parts."""

    centers: NDArray[np.int32]  # (c,) rows
    parts: NDArray[np.int64]  # (c + 1,) the parts of the cell of center i are parts[i] … parts[i + 1]
    members: NDArray[np.int32]  # (n,) rows, part by part
    offsets: NDArray[np.int64]  # (parts + 1,)

    @classmethod
    def of(cls, space: SearchSpace, k: int, seed: int) -> tuple[InvertedFile, NDArray[np.int32]]:
        """The inverted file of sampled centers, and the nearest centers of every row.

        There are so many centers that finding a row's cells costs as much as probing them.
        """
        n = space.n
        count = max(1, min(round(float(np.sqrt(PROBES * n))), n // k))
        centers = stratified_sample(n, count, seed, CENTERS)
        nearest = nearest_centers(space, space.work, centers, min(PROBES, count)).indices
        cell = nearest[:, 0]
        sizes = np.bincount(cell, minlength=len(centers))
        largest = max(64, CELL_SKEW * n // len(centers))
        parts = np.concatenate([[0], np.cumsum(np.maximum(1, -(-sizes // largest)))])
        members = np.argsort(cell, kind="stable").astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rank = np.arange(n) - starts[cell[members]]
        count = (parts[1:] - parts[:-1])[cell[members]]
        part = parts[cell[members]] + rank * count // sizes[cell[members]]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=int(parts[-1])))])
        return cls(centers, parts, members, offsets), nearest

    def probe(
        self, space: SearchSpace, work: Array, lists: NeighborLists, cells: Array, hashes: Array | None = None
    ) -> None:
        """Compare row i with the members of cell cells[i] (of one part, where the cell is split).

        Rows of the table share out the parts; a query probes the part that its hash selects, so that what it finds
        does not depend on the other queries.
        """
        count = (self.parts[cells + 1] - self.parts[cells]).astype(np.uint64)
        turn = np.arange(len(cells), dtype=np.uint64) if hashes is None else hashes
        part = self.parts[cells] + (turn % count).astype(np.int64)
        queries = np.argsort(part, kind="stable").astype(np.int32)
        query_offsets = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=len(self.offsets) - 1))])
        _native.probe_cells(
            work,
            queries,
            query_offsets,
            space.work,
            self.members,
            self.offsets,
            hashes is None,
            space.shift,
            space.kernel,
            lists.distances,
            lists.indices,
            space.threads,
            space.kernel_params(np.float32),
        )


@dataclass(frozen=True)
class RecallSample:
    """Rows whose true neighbors are known."""

    rows: NDArray[np.int32]
    truth: NeighborLists  # sums over columns, as the search sees them

    @classmethod
    def of(cls, space: SearchSpace, k: int, seed: int) -> RecallSample:
        """A sample spread over the rows."""
        rows = stratified_sample(space.n, min(space.n, SAMPLE_ROWS), seed, SAMPLED)
        return cls(rows, _true_neighbors(space, rows, k))

    def recall(self, lists: NeighborLists) -> float:
        """The share of true neighbors found; an equally near row counts as one."""
        k = self.truth.k
        found, distances = lists.indices[self.rows, :k], lists.distances[self.rows, :k]
        right = (found[:, :, None] == self.truth.indices[:, None, :]).any(axis=2)
        return float((right | (distances <= self.truth.distances[:, -1:])).mean())


Goal = tuple[RecallSample, float, int]  # rows to measure the recall on, the recall wanted, and the seed


def approximate(space: SearchSpace, k: int, target: float, seed: int) -> tuple[NeighborLists, float, InvertedFile]:
    """Lists whose recall is about `target`, the recall estimated, and the inverted file.

    Wide rows are searched in a projection first, for longer lists, of which the true distances choose.
    """
    sample = stratified_sample(space.n, min(space.n, PROJECTION_ROWS), seed, SAMPLED)
    projection = _projected(space, sample, seed)
    if projection is None:
        return _search(space, k, target, seed)
    rough, _, cells = _search(projection, min(space.n - 1, OVERSAMPLING * k), min(target, PROJECTED_RECALL), seed)
    lists = NeighborLists.empty(space.n, min(space.n - 1, max(k, MIN_LIST)))
    _native.score_candidates(
        space.work, cells.members, rough.indices, space.kernel, lists.distances, lists.indices, space.threads
    )
    recall = _improve(space, cells, lists, 0, (RecallSample.of(space, k, seed), target, seed))
    return lists, recall, cells


def nearest_centers(space: SearchSpace, work: Array, centers: Array, count: int) -> NeighborLists:
    """For each row the numbers of its nearest centers, nearest first, and the sums to them, (m, count)."""
    found = NeighborLists.empty(len(work), count)
    base = np.ascontiguousarray(space.work[centers])
    params = space.kernel_params(np.float32)
    _native.exact_queries(
        work, None, base, space.shift, space.kernel, found.distances, found.indices, space.threads, params
    )
    return found


def stratified_sample(n: int, count: int, seed: int, stream: int) -> NDArray[np.int32]:
    """`count` different rows of n, one from each of as many equal strata."""
    words = np.empty(-(-count // 4) * 4, dtype=np.uint32)
    _native.fill_words(words, seed, stream)
    edges = np.arange(count + 1, dtype=np.int64) * n // count
    return (edges[:-1] + words[:count] % (edges[1:] - edges[:-1])).astype(np.int32)


def _search(space: SearchSpace, k: int, target: float, seed: int) -> tuple[NeighborLists, float, InvertedFile]:
    """Lists of rows as they are."""
    cells, nearest = InvertedFile.of(space, k, seed)
    lists = NeighborLists.empty(space.n, min(space.n - 1, max(k, MIN_LIST)))
    _probe_cells(space, cells, lists, nearest)
    _complete_short_lists(space, lists, k)
    recall = _improve(space, cells, lists, nearest.shape[1], (RecallSample.of(space, k, seed), target, seed))
    return lists, recall, cells


def _improve(space: SearchSpace, cells: InvertedFile, lists: NeighborLists, probes: int, goal: Goal) -> float:
    """NN-descent and probing more cells take turns until the recall is reached. Returns the recall.

    The cells that are probed double each time, up to a quarter of them.
    """
    new = np.ones(lists.indices.shape, dtype=np.uint8)  # entries that NN-descent has not seen yet
    recall = _nn_descent(space, cells, lists, new, MAX_CANDIDATES, goal)
    if recall < goal[1]:  # more candidates are cheaper than more cells
        new.fill(1)
        recall = _nn_descent(space, cells, lists, new, 2 * MAX_CANDIDATES, goal)
    most = len(cells.centers) // 4
    while recall < goal[1] and probes < most:
        probed, probes = probes, min(max(2 * probes, PROBES), most)
        nearest = nearest_centers(space, space.work, cells.centers, probes).indices
        before = lists.indices.copy()
        _probe_cells(space, cells, lists, nearest[:, probed:])
        np.bitwise_or(new, lists.indices != before, out=new)
        recall = _nn_descent(space, cells, lists, new, 2 * MAX_CANDIDATES, goal)
    return recall


def _probe_cells(space: SearchSpace, cells: InvertedFile, lists: NeighborLists, nearest: Array) -> None:
    """Compare every row with the members of its nearest cells, cell by cell."""
    for step in range(nearest.shape[1]):
        cells.probe(space, space.work, lists, nearest[:, step])
        report("probing cells", step + 1, nearest.shape[1])


def _nn_descent(
    space: SearchSpace, cells: InvertedFile, lists: NeighborLists, new: Array, max_candidates: int, goal: Goal
) -> float:
    """Iterations of NN-descent until the recall is reached or little changes. Returns the recall."""
    sample, target, seed = goal
    recall = sample.recall(lists)
    for iteration in range(MAX_ITERATIONS):
        if recall >= target:
            break
        changed = _native.nn_descent_round(
            space.work,
            cells.members,
            space.kernel,
            lists.distances,
            lists.indices,
            new,
            seed,
            (DESCENT << 32) + iteration,
            max_candidates,
            max_candidates,
            space.threads,
            space.kernel_params(np.float32),
        )
        recall = sample.recall(lists)
        report("NN-descent", iteration + 1, None, recall=recall)
        if changed < DELTA * lists.indices.size:
            break
    return recall


def _complete_short_lists(space: SearchSpace, lists: NeighborLists, k: int) -> None:
    """Rows that were compared with fewer than k others are compared with all."""
    short = np.flatnonzero(lists.indices[:, k - 1] == EMPTY).astype(np.int32)
    if len(short) == 0:
        return
    found = _true_neighbors(space, short, lists.k)
    lists.distances[short], lists.indices[short] = found.distances, found.indices


def _true_neighbors(space: SearchSpace, rows: NDArray[np.int32], k: int) -> NeighborLists:
    """The k nearest neighbors of some of the rows, with sums over columns as distances."""
    out = NeighborLists.empty(len(rows), k)
    queries = np.ascontiguousarray(space.work[rows])
    params = space.kernel_params(np.float32)
    _native.exact_queries(
        queries, rows, space.work, space.shift, space.kernel, out.distances, out.indices, space.threads, params
    )
    return out


def _projected(space: SearchSpace, rows: NDArray[np.int32], seed: int) -> SearchSpace | None:
    """The rows projected on the leading principal axes of a sample of them; None where that would save nothing."""
    d = space.work.shape[1]
    if space.kernel != SQUARES or d <= 2 * PROJECTED_COLUMNS:
        return None
    sample = np.ascontiguousarray(space.work[rows], dtype=np.float32)
    mean = sample.mean(axis=0, dtype=np.float64)
    sample -= mean.astype(np.float32)
    start = normal((d, PROJECTED_COLUMNS), seed, AXES, np.float32)
    axes = interruptible(lambda: _power_iteration(sample, start))
    work = Centered(ArrayRows(space.work), mean, None, None, space.threads).times(axes)
    return dataclasses.replace(space, work=work, source=work, shift=None)


def _power_iteration(P: NDArray[np.float32], V: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rough leading eigenvectors of PᵀP, from a start V."""
    for _ in range(POWER_ITERATIONS):
        V = np.linalg.qr(P.T @ (P @ V))[0]
    return V
