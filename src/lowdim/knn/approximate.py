"""Approximate search: overlapping cells around sampled rows, then neighbours of neighbours.

Rows choose their nearest centres. In one step after another, every row is compared with the members of its
nearest cell, then of the second nearest, and so on; then rounds of descent introduce neighbours of neighbours
to each other. A sample of rows whose neighbours are known exactly says when the recall asked for is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.exact import NOBODY, Lists
from lowdim.knn.projection import sketched
from lowdim.knn.search_space import Space
from lowdim.runtime.progress import report

__all__ = ["Cells", "Sample", "approximate"]

Array = NDArray[Any]

PROBES = 16  # cells in which a row looks, at first
INTRODUCED = 12  # neighbours that a row introduces to each other: so many of its own, and of those that name it
SHORTEST = 12  # lists are at least so long while they are built: shorter ones don't lead anywhere
MOST_ROUNDS = 12
SETTLED = 0.002  # a round that changes a smaller share of the places is the last
SAMPLE = 256
SKETCHED_ROWS = 4096
LONGER = 2  # lists in a sketch are so many times longer, because it blurs distances
ROUGH = 0.98  # the recall there
CENTRES, SAMPLED, DESCENT, AXES = range(4)  # streams of random numbers
CELL_SKEW = 8  # a cell is split when it is so many times larger than the mean


@dataclass(frozen=True)
class Cells:
    """A partition of the rows by their nearest centre; very large cells are cut into pieces."""

    centres: NDArray[np.int32]  # (c,) rows
    pieces: NDArray[np.int64]  # (c + 1,) the pieces of centre i are pieces[i] … pieces[i + 1]
    members: NDArray[np.int32]  # (n,) rows, piece after piece
    offsets: NDArray[np.int64]  # (pieces + 1,)

    @classmethod
    def around(cls, space: Space, k: int, seed: int) -> tuple[Cells, NDArray[np.int32]]:
        """Cells around sampled rows, and the nearest of them to every row.

        There are so many that finding a row's cells costs as much as looking into them.
        """
        n = space.n
        count = max(1, min(round(float(np.sqrt(PROBES * n))), n // k))
        centres = spread_sample(n, count, seed, CENTRES)
        nearest = nearest_centres(space, space.work, centres, min(PROBES, count)).indices
        first = nearest[:, 0]
        sizes = np.bincount(first, minlength=len(centres))
        room = max(64, CELL_SKEW * n // len(centres))
        pieces = np.concatenate([[0], np.cumsum(np.maximum(1, -(-sizes // room)))])
        members = np.argsort(first, kind="stable").astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rank = np.arange(n) - starts[first[members]]
        count = (pieces[1:] - pieces[:-1])[first[members]]
        piece = pieces[first[members]] + rank * count // sizes[first[members]]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(piece, minlength=int(pieces[-1])))])
        return cls(centres, pieces, members, offsets), nearest

    def probe(self, space: Space, work: Array, lists: Lists, cells: Array, marks: Array | None = None) -> None:
        """Compare row i with the members of cell cells[i] (of one piece, where the cell is in pieces).

        Rows of the table share out the pieces; a query goes to the piece that its own mark says, so that what
        it finds does not depend on the rows that come with it.
        """
        count = (self.pieces[cells + 1] - self.pieces[cells]).astype(np.uint64)
        turn = np.arange(len(cells), dtype=np.uint64) if marks is None else marks
        piece = self.pieces[cells] + (turn % count).astype(np.int64)
        asking = np.argsort(piece, kind="stable").astype(np.int32)
        asking_offsets = np.concatenate([[0], np.cumsum(np.bincount(piece, minlength=len(self.offsets) - 1))])
        _native.probe_cells(
            work,
            asking,
            asking_offsets,
            space.work,
            self.members,
            self.offsets,
            marks is None,
            space.shift,
            space.kernel,
            lists.distances,
            lists.indices,
            space.threads,
        )


@dataclass(frozen=True)
class Sample:
    """Rows whose true neighbours are known."""

    rows: NDArray[np.int32]
    truth: Lists  # sums over columns, as the search sees them

    @classmethod
    def of(cls, space: Space, k: int, seed: int) -> Sample:
        """A sample spread over the rows."""
        rows = spread_sample(space.n, min(space.n, SAMPLE), seed, SAMPLED)
        return cls(rows, true_lists(space, rows, k))

    def recall(self, lists: Lists) -> float:
        """The share of true neighbours found; an equally near row counts as well."""
        k = self.truth.k
        found, distances = lists.indices[self.rows, :k], lists.distances[self.rows, :k]
        right = (found[:, :, None] == self.truth.indices[:, None, :]).any(axis=2)
        return float((right | (distances <= self.truth.distances[:, -1:])).mean())


Aim = tuple[Sample, float, int]  # rows to judge by, the recall wanted, and the seed


def approximate(space: Space, k: int, target: float, seed: int) -> tuple[Lists, float, Cells]:
    """Lists whose recall is about `target`, the recall estimated, and the cells.

    Wide rows are searched in a sketch first, for longer lists, of which the true distances choose.
    """
    axes = spread_sample(space.n, min(space.n, SKETCHED_ROWS), seed, SAMPLED)
    sketch = sketched(space, axes, seed, AXES)
    if sketch is None:
        return _search(space, k, target, seed)
    rough, _, cells = _search(sketch, min(space.n - 1, LONGER * k), min(target, ROUGH), seed)
    lists = Lists.empty(space.n, min(space.n - 1, max(k, SHORTEST)))
    _native.score_candidates(
        space.work, cells.members, rough.indices, space.kernel, lists.distances, lists.indices, space.threads
    )
    recall = _improve(space, cells, lists, 0, (Sample.of(space, k, seed), target, seed))
    return lists, recall, cells


def _search(space: Space, k: int, target: float, seed: int) -> tuple[Lists, float, Cells]:
    """Lists of rows as they are."""
    cells, nearest = Cells.around(space, k, seed)
    lists = Lists.empty(space.n, min(space.n - 1, max(k, SHORTEST)))
    _look(space, cells, lists, nearest)
    _complete(space, lists, k)
    recall = _improve(space, cells, lists, nearest.shape[1], (Sample.of(space, k, seed), target, seed))
    return lists, recall, cells


def _improve(space: Space, cells: Cells, lists: Lists, probes: int, aim: Aim) -> float:
    """Descending and looking into more cells take turns, until the sample is content. Returns the recall.

    The cells that are looked into double each time, up to a quarter of them.
    """
    fresh = np.ones(lists.indices.shape, dtype=np.uint8)
    recall = _descend(space, cells, lists, fresh, INTRODUCED, aim)
    if recall < aim[1]:  # larger parties are cheaper than more cells
        fresh.fill(1)
        recall = _descend(space, cells, lists, fresh, 2 * INTRODUCED, aim)
    most = len(cells.centres) // 4
    while recall < aim[1] and probes < most:
        seen, probes = probes, min(max(2 * probes, PROBES), most)
        nearest = nearest_centres(space, space.work, cells.centres, probes).indices
        before = lists.indices.copy()
        _look(space, cells, lists, nearest[:, seen:])
        np.bitwise_or(fresh, lists.indices != before, out=fresh)
        recall = _descend(space, cells, lists, fresh, 2 * INTRODUCED, aim)
    return recall


def _look(space: Space, cells: Cells, lists: Lists, nearest: Array) -> None:
    """Every row is compared with the members of its nearest cells, one after another."""
    for step in range(nearest.shape[1]):
        cells.probe(space, space.work, lists, nearest[:, step])
        report("looking into cells", step + 1, nearest.shape[1])


def _descend(space: Space, cells: Cells, lists: Lists, fresh: Array, party: int, aim: Aim) -> float:
    """Rounds of descent, until the recall is reached or little changes. Returns the recall."""
    sample, target, seed = aim
    recall = sample.recall(lists)
    for turn in range(MOST_ROUNDS):
        if recall >= target:
            break
        changed = _native.nn_descent_round(
            space.work,
            cells.members,
            space.kernel,
            lists.distances,
            lists.indices,
            fresh,
            seed,
            (DESCENT << 32) + turn,
            party,
            party,
            space.threads,
        )
        recall = sample.recall(lists)
        report("asking neighbours of neighbours", turn + 1, None, recall=recall)
        if changed < SETTLED * lists.indices.size:
            break
    return recall


def _complete(space: Space, lists: Lists, k: int) -> None:
    """Rows that met fewer than k others are compared with all."""
    short = np.flatnonzero(lists.indices[:, k - 1] == NOBODY).astype(np.int32)
    if len(short) == 0:
        return
    found = true_lists(space, short, lists.k)
    lists.distances[short], lists.indices[short] = found.distances, found.indices


def true_lists(space: Space, rows: NDArray[np.int32], k: int) -> Lists:
    """The k nearest to some of the rows, as sums over columns."""
    out = Lists.empty(len(rows), k)
    queries = np.ascontiguousarray(space.work[rows])
    _native.exact_queries(
        queries, rows, space.work, space.shift, space.kernel, out.distances, out.indices, space.threads
    )
    return out


def nearest_centres(space: Space, work: Array, centres: Array, count: int) -> Lists:
    """For each row the numbers of its nearest centres, nearest first, and the sums to them, (m, count)."""
    found = Lists.empty(len(work), count)
    base = np.ascontiguousarray(space.work[centres])
    _native.exact_queries(work, None, base, space.shift, space.kernel, found.distances, found.indices, space.threads)
    return found


def spread_sample(n: int, count: int, seed: int, stream: int) -> NDArray[np.int32]:
    """`count` different rows of n, one from each of as many equal stretches."""
    words = np.empty(-(-count // 4) * 4, dtype=np.uint32)
    _native.fill_words(words, seed, stream)
    edges = np.arange(count + 1, dtype=np.int64) * n // count
    return (edges[:-1] + words[:count] % (edges[1:] - edges[:-1])).astype(np.int32)
