"""Approximate k-NN search: an inverted file, then NN-descent (Dong, Charikar and Li 2011).

Rows are assigned to the nearest of sampled centers. Every row is compared with the members of its nearest cells, one
cell at a time; then iterations of NN-descent compare neighbors of neighbors. A sample of rows whose neighbors are known
exactly says when the recall asked for is reached. Wide rows are searched in a projection on their leading principal
axes first, if the sample says that the neighbors are near there, too.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.exact import EMPTY, NeighborLists
from lowdim.knn.projection import principal_projection
from lowdim.knn.recall_sample import RecallSample, stratified_sample, true_neighbors
from lowdim.knn.search_space import SearchSpace
from lowdim.runtime.progress import report

__all__ = ["InvertedFile", "approximate", "nearest_centers"]

Array = NDArray[Any]

PROBES = 16  # cells that a row probes at first
CANDIDATES = (16, 24)  # per row and iteration of NN-descent: so many neighbors, and so many reverse neighbors; at last
MIN_LIST = 12  # places per list during the search: NN-descent needs so many to converge
MAX_ITERATIONS = 12
LEAST_GAIN = 0.5  # an iteration that closes a smaller part of the gap to the recall wanted than stays open is the last
DELTA = 0.002  # an iteration that changes a smaller share of the places is the last
CENTERS, DESCENT = 0, 2  # streams of random numbers
LEAST_COVERAGE = 0.3  # with fewer of the true neighbors in the first cells, all pairs are compared sooner
DOUBLING_LEAVES = 0.5  # of the missing neighbors, at best, when twice as many cells are probed
CELL_SKEW = 8  # a cell is split when it is so many times larger than the mean


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
        members, starts = _grouped(cell, len(centers))
        rank = np.arange(n) - starts[cell[members]]
        count = (parts[1:] - parts[:-1])[cell[members]]
        part = parts[cell[members]] + rank * count // sizes[cell[members]]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=int(parts[-1])))])
        return cls(centers, parts, members, offsets), nearest

    def coverage(self, sample: RecallSample, nearest: Array) -> float:
        """The share of the sample's true neighbors in the cells nearest to each row."""
        cell = nearest[:, 0]
        probed = nearest[sample.rows]
        return float((cell[sample.truth.indices][:, :, None] == probed[:, None, :]).any(axis=2).mean())

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
        queries, query_offsets = _grouped(part, len(self.offsets) - 1)
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


class Goal(NamedTuple):
    """When a search ends."""

    sample: RecallSample
    recall: float  # wanted
    seed: int
    or_exact: bool  # all pairs are compared if the recall is not reached: a search that will not reach it ends early


def approximate(
    space: SearchSpace, k: int, target: float, seed: int, *, or_exact: bool = False
) -> tuple[NeighborLists, float, InvertedFile]:
    """Lists whose recall is about `target`, the recall estimated, and the inverted file.

    Wide rows are searched in a projection first, for longer lists, of which the true distances choose: the caller
    measures them for every entry of a list, and only then are the distances those of the rows.
    """
    sample = RecallSample.of(space, k, seed)
    projection, length = principal_projection(space, sample, target, seed)
    if projection is None:
        return _search(space, k, Goal(sample, target, seed, or_exact))
    goal = Goal(dataclasses.replace(sample, projected=True), target, seed, False)
    rough, recall, cells = _search(projection, length, goal, most_cells=0)
    if recall >= target:
        return rough, recall, cells
    lists = NeighborLists.empty(space.n, min(space.n - 1, max(k, MIN_LIST)))
    _native.score_candidates(
        space.work, cells.members, rough.indices, space.kernel, lists.distances, lists.indices, space.threads
    )
    recall = _improve(space, cells, lists, 0, Goal(sample, target, seed, or_exact), len(cells.centers) // 4)
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


def _search(
    space: SearchSpace, k: int, goal: Goal, most_cells: int | None = None
) -> tuple[NeighborLists, float, InvertedFile]:
    """Lists of rows as they are, of at least k places; no more cells are probed than at first, or `most_cells`."""
    cells, nearest = InvertedFile.of(space, k, goal.seed)
    lists = NeighborLists.empty(space.n, min(space.n - 1, max(k, MIN_LIST)))
    if goal.or_exact and (coverage := cells.coverage(goal.sample, nearest)) < LEAST_COVERAGE:
        return lists, coverage, cells
    _probe_cells(space, cells, lists, nearest)
    _complete_short_lists(space, lists, k)
    most = len(cells.centers) // 4 if most_cells is None else most_cells
    recall = _improve(space, cells, lists, nearest.shape[1], goal, most)
    return lists, recall, cells


def _improve(
    space: SearchSpace, cells: InvertedFile, lists: NeighborLists, probes: int, goal: Goal, most_cells: int
) -> float:
    """NN-descent and probing more cells take turns until the recall is reached. Returns the recall.

    The cells that are probed double each time, up to `most_cells`.
    """
    new = np.ones(lists.indices.shape, dtype=np.uint8)  # entries that NN-descent has not seen yet
    recall = _nn_descent(space, cells, lists, new, CANDIDATES[0], goal)
    if recall < goal.recall:  # more candidates are cheaper than more cells
        new.fill(1)
        recall = _nn_descent(space, cells, lists, new, CANDIDATES[1], goal)
    left = DOUBLING_LEAVES
    while recall < goal.recall and probes < most_cells:
        if goal.or_exact and max(probes, PROBES) * _growth(1 - recall, 1 - goal.recall, left) > most_cells:
            break
        missing, probed, probes = 1 - recall, probes, min(max(2 * probes, PROBES), most_cells)
        nearest = nearest_centers(space, space.work, cells.centers, probes).indices
        before = lists.indices.copy()
        _probe_cells(space, cells, lists, nearest[:, probed:])
        np.bitwise_or(new, lists.indices != before, out=new)
        recall = _nn_descent(space, cells, lists, new, CANDIDATES[1], goal)
        left = max(DOUBLING_LEAVES, (1 - recall) / missing)
    return recall


def _growth(missing: float, allowed: float, left: float) -> float:
    """How many times as many cells leave no more missing than allowed, if a share `left` of them remains each time."""
    if left >= 1 or allowed <= 0:
        return np.inf
    return float((missing / allowed) ** (np.log(2) / -np.log(left)))


def _grouped(group: Array, count: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The rows in the order of their groups, and where each of `count` groups starts, (count + 1,)."""
    key = group.astype(np.uint16) if count <= 1 << 16 else group  # NumPy sorts 16 bits by radix, six times as fast
    starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=count))])
    return np.argsort(key, kind="stable").astype(np.int32), starts


def _probe_cells(space: SearchSpace, cells: InvertedFile, lists: NeighborLists, nearest: Array) -> None:
    """Compare every row with the members of its nearest cells, cell by cell."""
    for step in range(nearest.shape[1]):
        cells.probe(space, space.work, lists, nearest[:, step])
        report("probing cells", step + 1, nearest.shape[1])


def _nn_descent(
    space: SearchSpace, cells: InvertedFile, lists: NeighborLists, new: Array, max_candidates: int, goal: Goal
) -> float:
    """Iterations of NN-descent until the recall is reached or little changes. Returns the recall."""
    recall = goal.sample.recall(lists)
    for iteration in range(MAX_ITERATIONS):
        if recall >= goal.recall:
            break
        changed = _native.nn_descent_round(
            space.work,
            cells.members,
            space.kernel,
            lists.distances,
            lists.indices,
            new,
            goal.seed,
            (DESCENT << 32) + iteration,
            max_candidates,
            max_candidates,
            space.threads,
            space.kernel_params(np.float32),
        )
        before, recall = recall, goal.sample.recall(lists)
        report("NN-descent", iteration + 1, None, recall=recall)
        if changed < DELTA * lists.indices.size or recall - before < LEAST_GAIN * (goal.recall - recall):
            break
    return recall


def _complete_short_lists(space: SearchSpace, lists: NeighborLists, k: int) -> None:
    """Rows that were compared with fewer than k others are compared with all."""
    short = np.flatnonzero(lists.indices[:, k - 1] == EMPTY).astype(np.int32)
    if len(short) == 0:
        return
    found = true_neighbors(space, short, lists.k)
    lists.distances[short], lists.indices[short] = found.distances, found.indices
