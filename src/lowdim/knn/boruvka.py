"""The nearest row of another group, for every row that is not of the largest group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.knn.blockwise import BLOCK_VALUES, Blocks, lengths
from lowdim.knn.exact import Lists, from_queries
from lowdim.knn.search_space import Space
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = ["Strangers", "askers", "strangers_in_blocks", "strangers_in_space"]

Array = NDArray[Any]

FEW = 512  # rows that are compared at once, whatever their groups


class Strangers(NamedTuple):
    """Rows, the nearest row to each that has another label, and how far that is, (m,) each."""

    rows: NDArray[np.int64]
    nearest: NDArray[np.int64]
    distances: NDArray[np.float32]


def askers(labels: Array) -> NDArray[np.int64]:
    """The rows of all groups but the largest: whoever is joined to it has found it."""
    return np.flatnonzero(labels != np.argmax(np.bincount(labels)))


def strangers_in_space(space: Space, labels: Array) -> Strangers:
    """By the kernels, exactly.

    The groups lie side by side, and halves of them meet: all groups on the left with all on the right, then within
    each half in the same way, until few rows are left. Nothing is copied but the table, once.
    """
    sizes = np.bincount(labels)
    ranks = np.argsort(np.argsort(sizes, kind="stable"))  # the largest comes last
    order = np.argsort(ranks[labels], kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.sort(sizes))])
    asking = int(bounds[-2])
    needed = order.size * space.work.shape[1] * (4 + (0 if space.source is space.work else space.source.itemsize))
    require_memory(needed, "the rows, group after group", "Take more neighbours, so that there are fewer groups.")
    work = space.work[order]
    source = work if space.source is space.work else space.source[order]
    group = ranks[labels][order]
    nearest, distances = np.full(asking, len(order), dtype=np.int64), np.full(asking, np.inf, dtype=np.float32)

    def ask(who: slice, whom: slice, k: int, names: Array | None = None) -> Lists:
        part = work[whom]
        side = replace(space, work=part, source=part if source is work else source[whom])
        return from_queries(side, work[who], work[who] if source is work else source[who], k, names)

    def offer(start: int, length: Array, place: Array) -> None:
        who, name = slice(start, start + len(length)), order[place]
        nearer = (length < distances[who]) | ((length == distances[who]) & (name < nearest[who]))
        distances[who][nearer], nearest[who][nearer] = length[nearer], name[nearer]

    def meet(who: slice, whom: slice) -> None:
        who = slice(who.start, min(who.stop, asking))
        if who.start < who.stop:
            found = ask(who, whom, 1)
            offer(who.start, found.distances[:, 0], whom.start + found.indices[:, 0])

    def mingle(all_of_them: slice) -> None:
        """Few rows at once: so many neighbours that a stranger must be among them."""
        groups = group[all_of_them]
        k = int(np.bincount(groups - groups[0]).max())
        found = ask(all_of_them, all_of_them, k, np.arange(len(groups), dtype=np.int32))
        first = (groups[found.indices] != groups[:, None]).argmax(axis=1)[:, None]
        length, place = (np.take_along_axis(part, first, axis=1)[:, 0] for part in (found.distances, found.indices))
        many = max(0, min(all_of_them.stop, asking) - all_of_them.start)
        offer(all_of_them.start, length[:many], all_of_them.start + place[:many])

    waiting = [(0, len(sizes))]
    while waiting:
        low, high = waiting.pop()
        middle = (low + high) // 2
        left, right = slice(int(bounds[low]), int(bounds[middle])), slice(int(bounds[middle]), int(bounds[high]))
        if left.start == left.stop:
            continue
        if right.stop - left.start <= FEW:
            mingle(slice(left.start, right.stop))
            continue
        meet(left, right)
        meet(right, left)
        waiting += [(low, middle), (middle, high)]
    return Strangers(order[:asking], nearest, distances)


def strangers_in_blocks(blocks: Blocks, labels: Array, threads: int) -> Strangers:
    """By blocks of distances from the asking rows to all."""
    rows = askers(labels)
    m, n = len(rows), len(labels)
    size = max(1, min(1024, BLOCK_VALUES // max(n, 1)))
    nearest, distances = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.float32)

    def work(start: int) -> int:
        stop = min(start + size, m)
        block = lengths(blocks(start, stop), rows[start:stop])
        block = np.where(labels[rows[start:stop], None] == labels, np.inf, block)  # own groups are crossed out
        nearest[start:stop] = block.argmin(axis=1)
        distances[start:stop] = block.min(axis=1)
        return stop

    for stop in ordered_map(work, range(0, m, size), threads):
        report("comparing groups", stop, m)
    return Strangers(rows, nearest, distances)
