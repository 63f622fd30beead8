"""k-NN search among the rows of a Dask collection: workers compare pairs of blocks, or search overlapping cells.

The exact search compares every block of partitions with every other, and merges by distance and then by row number:
the bits of a search in memory. The approximate one assigns every row to the cells of its nearest sampled centers, so
that cells overlap; workers search inside the cells, and rounds with other centers follow until a sample of rows, whose
neighbors are known exactly, has the recall asked for. Rows move between workers, never to the client, which gets the
lists: 8 · n · k bytes for each round and overlapping cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Block, joined_blocks
from lowdim.data.rows.dask import DaskRows, compute, joined_partitions
from lowdim.distance.metrics import Metric
from lowdim.knn.exact import EMPTY, NeighborLists
from lowdim.knn.index import NeighborIndex
from lowdim.knn.recall_sample import SAMPLE_ROWS, stratified_sample
from lowdim.runtime.progress import report
from lowdim.runtime.warning import warn

__all__ = ["partitioned_neighbors"]

Array = NDArray[Any]
Rows = NDArray[np.int64]  # numbers of rows

EXACT_ROWS = 50_000  # up to so many, all pairs are compared
BLOCK_ROWS = 20_000  # partitions are joined up to so many rows, which a worker then compares at once
CELL_ROWS = 50_000  # per cell, on average
OVERLAP = 2  # cells of every row, in one round
ROUNDS = 5  # with other centers each
CENTERS, SAMPLED = 11, 12  # streams of random numbers, beside those of `approximate.py`


@dataclass(frozen=True)
class WorkerSearch:
    """What workers are told of a search."""

    metric: Metric
    k: int
    seed: int


def partitioned_neighbors(
    rows: DaskRows, metric: Metric, k: int, algorithm: str, target: float, seed: int
) -> tuple[NeighborLists, str, float]:
    """The k nearest other rows of every row, how they were found, and the recall: 1, or an estimate of it."""
    search = WorkerSearch(metric, k, seed)
    if algorithm == "exact" or (algorithm == "auto" and rows.count <= EXACT_ROWS):
        return _exact(rows, search), "exact", 1.0
    lists, recall = _approximate(rows, search, target)
    if recall < target:
        warn(
            f"the approximate neighbor search of the partitions has an estimated recall of {recall:.1%}, below the "
            f"{target:.1%} asked for. algorithm='exact' compares all pairs."
        )
    return lists, "approximate", recall


def _exact(rows: DaskRows, search: WorkerSearch) -> NeighborLists:
    blocks = _blocks(rows)
    report("comparing partitions", 0, len(blocks))
    found = [_nearest_anywhere(block, np.arange(start, stop), blocks, search) for block, start, stop in blocks]
    parts = compute(*found)
    report("comparing partitions", len(blocks), len(blocks))
    return NeighborLists(np.concatenate([p.distances for p in parts]), np.concatenate([p.indices for p in parts]))


def _nearest_anywhere(queries: Any, numbers: Rows, blocks: list[tuple[Any, int, int]], search: WorkerSearch) -> Any:
    """The delayed lists of queries, which are rows `numbers`, in all blocks: merged two by two."""
    from dask.delayed import delayed

    nearest, merged = delayed(_nearest_in_block, pure=False), delayed(_merged, pure=False)
    level = [nearest(queries, numbers, block, start, search) for block, start, _ in blocks]
    while len(level) > 1:
        paired = [merged(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = paired + level[2 * len(paired) :]
    return level[0]


def _blocks(rows: DaskRows) -> list[tuple[Any, int, int]]:
    """Neighboring partitions joined to delayed blocks, with their first and last row (excluded)."""
    from dask.delayed import delayed

    join, out, first = delayed(joined_partitions, pure=False), [], 0
    for i in range(len(rows.parts)):
        start, stop = int(rows.bounds[first]), int(rows.bounds[i + 1])
        if stop - start >= BLOCK_ROWS or (i == len(rows.parts) - 1 and stop > start):
            out.append((join(rows.parts[first : i + 1], rows.bounds[first : i + 2], rows), start, stop))
            first = i + 1
    return out


def _nearest_in_block(queries: Block, numbers: Rows, block: Block, start: int, search: WorkerSearch) -> NeighborLists:
    """The nearest rows of a block, whose first is number `start`; a row is not its own neighbor."""
    m, k = block.shape[0], search.k
    found = NeighborIndex(block, metric=search.metric, algorithm="exact", n_jobs=1).query(queries, min(k + 1, m))
    indices, distances = found.indices + np.int32(start), found.distances
    own = indices == numbers[:, None]
    own[:, -1] |= ~own.any(axis=1) & (indices.shape[1] > k)  # a row that is not in its own list: its last place goes
    out = NeighborLists.empty(queries.shape[0], k)
    order = np.argsort(own, axis=1, kind="stable")[:, :k]
    kept = ~np.take_along_axis(own, order, axis=1)
    width = order.shape[1]
    out.indices[:, :width] = np.where(kept, np.take_along_axis(indices, order, axis=1), EMPTY)
    out.distances[:, :width] = np.where(kept, np.take_along_axis(distances, order, axis=1), np.inf)
    return out


def _merged(a: NeighborLists, b: NeighborLists) -> NeighborLists:
    """The nearest of both lists, by distance and then by row; a row that both have counts once."""
    indices, distances = np.hstack([a.indices, b.indices]), np.hstack([a.distances, b.distances])
    order = np.argsort(indices, axis=1, kind="stable")
    indices, distances = np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)
    twice = np.zeros(indices.shape, dtype=bool)
    twice[:, 1:] = indices[:, 1:] == indices[:, :-1]
    indices[twice], distances[twice] = EMPTY, np.inf
    order = np.lexsort((indices, distances), axis=1)[:, : a.k]
    return NeighborLists(np.take_along_axis(distances, order, axis=1), np.take_along_axis(indices, order, axis=1))


def _approximate(rows: DaskRows, search: WorkerSearch, target: float) -> tuple[NeighborLists, float]:
    """Lists of rounds of overlapping cells, and their recall on a sample of rows."""
    n = rows.count
    sample = stratified_sample(n, min(n, SAMPLE_ROWS), search.seed, SAMPLED).astype(np.int64)
    blocks = _blocks(rows)
    (truth,) = compute(_nearest_anywhere(rows.take(sample), sample, blocks, search))
    lists, recall = NeighborLists.empty(n, search.k), 0.0
    for turn in range(ROUNDS):
        for members, found in _search_cells(rows, blocks, search, turn):
            better = _merged(NeighborLists(lists.distances[members], lists.indices[members]), found)
            lists.distances[members], lists.indices[members] = better.distances, better.indices
        right = (lists.indices[sample][:, :, None] == truth.indices[:, None, :]).any(axis=2)
        recall = float((right | (lists.distances[sample] <= truth.distances[:, -1:])).mean())
        report("searching overlapping cells", turn + 1, ROUNDS, recall=recall)
        if recall >= target:
            break
    short = np.flatnonzero(lists.indices[:, -1] == EMPTY)
    if len(short):
        (found,) = compute(_nearest_anywhere(rows.take(short), short, blocks, search))
        lists.distances[short], lists.indices[short] = found.distances, found.indices
    return lists, recall


def _search_cells(
    rows: DaskRows, blocks: list[tuple[Any, int, int]], search: WorkerSearch, turn: int
) -> list[tuple[Rows, NeighborLists]]:
    """The members of every cell and their neighbors in it, for the centers of this round."""
    from dask.delayed import delayed

    cells = max(2, -(-OVERLAP * rows.count // CELL_ROWS))
    stream = CENTERS + (turn << 8)
    centers = rows.take(stratified_sample(rows.count, min(cells, rows.count), search.seed, stream).astype(np.int64))
    shared = delayed(centers, pure=False, traverse=False)
    split, joined = delayed(_split_by_cell, pure=False), delayed(_search_cell, pure=False)
    parts = [split(block, start, shared, search) for block, start, _ in blocks]
    return list(compute(*(joined([part[c] for part in parts], search) for c in range(centers.shape[0]))))


def _split_by_cell(block: Block, start: int, centers: Block, search: WorkerSearch) -> list[tuple[Rows, Block]]:
    """The rows of a block, and their numbers, by the cells of their nearest centers."""
    index = NeighborIndex(centers, metric=search.metric, algorithm="exact", n_jobs=1)
    nearest = index.query(block, min(OVERLAP, centers.shape[0])).indices
    chosen = [np.flatnonzero((nearest == cell).any(axis=1)) for cell in range(centers.shape[0])]
    return [(members + start, block[members]) for members in chosen]


def _search_cell(pieces: list[tuple[Rows, Block]], search: WorkerSearch) -> tuple[Rows, NeighborLists]:
    members, cell = np.concatenate([numbers for numbers, _ in pieces]), joined_blocks([block for _, block in pieces])
    out = NeighborLists.empty(len(members), search.k)
    k = min(search.k, len(members) - 1)
    if k > 0:
        index = NeighborIndex(cell, metric=search.metric, random_state=search.seed, n_jobs=1)
        graph = index.graph(k)
        out.indices[:, :k], out.distances[:, :k] = members[graph.indices], graph.distances
    return members, out
