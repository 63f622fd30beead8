"""The fold over partitions: workers summarize whole blocks, and merge them along the tree of `data/fold.py`.

A partition summarizes the blocks that lie inside it, up to the largest nodes of the tree, and hands on its two ragged
ends as rows; a block that several partitions share is put together from those. So only ragged ends and summaries move,
and the client gets one summary. Every node of the tree is merged from the same two nodes whoever finishes first, and
a partition that is computed again, after its worker died, gives the same bits.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from uuid import uuid4

import numpy as np

from lowdim.data.fold import BinaryCounter
from lowdim.data.rows import Block, Chunk, Rows, joined_blocks
from lowdim.data.rows.base import DerivedRows
from lowdim.data.rows.dask import DaskRows, compute, partition_block
from lowdim.errors import BadInput
from lowdim.runtime.blas import single_blas
from lowdim.runtime.progress import report

__all__ = ["partition_fold"]

Node = tuple[int, int]  # level and number: the blocks number·2^level … (number + 1)·2^level - 1


def partition_fold(
    rows: Rows, summarize: Callable[[Chunk, Block], Any], merge: Callable[[Any, Any], Any], task: str
) -> Any:
    """`fold` over rows, or rows derived from them, that lie in the partitions of a Dask collection."""
    source, derivations = rows, []
    while isinstance(source, DerivedRows):
        derivations.append(source)
        source = source.source
    assert isinstance(source, DaskRows)
    if not source.n:
        raise BadInput("the table has no rows. Give at least one row.")
    report(task, 0, source.n)
    work = BlockWork(source, derivations[::-1], summarize, merge, rows.chunk_rows)
    (total,) = compute(_tree(source, work))
    report(task, source.n, source.n)
    return total


class BlockWork:
    """What workers do with blocks of rows; it is sent to each of them once, without any rows."""

    def __init__(
        self,
        rows: DaskRows,
        derivations: list[DerivedRows],
        summarize: Callable[[Chunk, Block], Any],
        merge: Callable[[Any, Any], Any],
        size: int,
    ) -> None:
        self.rows, self.derivations, self.size = rows, derivations, size
        self._summarize, self._merge = summarize, merge
        self.blocks = -(-rows.count // size)

    def summary(self, number: int, block: Block) -> Any:
        """The summary of block `number`."""
        start = number * self.size
        chunk = Chunk(start, start + block.shape[0], lambda: block)
        for derived in self.derivations:
            chunk = derived.derived(chunk)
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            return self._summarize(chunk, chunk.load())

    def merged(self, a: Any, b: Any) -> Any:
        """The sum of two summaries, copied: what a scheduler keeps is never changed, and lies anywhere in a message."""
        a, b = (list(one) if isinstance(one, list) else copy.deepcopy(one) for one in (a, b))
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            return self._merge(a, b)

    def node(self, node: Node, load: Callable[[int, int], Block]) -> Any:
        """The summary of a node of the tree, whose rows are all here."""
        counter = BinaryCounter(self._merge)
        for number in self.span(node):
            start = number * self.size
            counter.add(self.summary(number, load(start, min(start + self.size, self.rows.count))))
        return counter.total()

    def span(self, node: Node) -> range:
        """The numbers of the blocks of a node."""
        level, number = node
        return range(number << level, min((number + 1) << level, self.blocks))

    def nodes(self, first: int, last: int) -> list[Node]:
        """The largest nodes that cover the blocks first … last - 1."""
        out = []
        while first < last:
            level = (first & -first).bit_length() - 1 if first else (self.blocks - 1).bit_length()
            while min(first + (1 << level), self.blocks) > last:
                level -= 1
            out.append((level, first >> level))
            first = self.span(out[-1]).stop
        return out

    def whole_blocks(self, start: int, stop: int) -> tuple[int, int]:
        """First and last (excluded) of the blocks that lie inside rows start…stop."""
        return -(-start // self.size), self.blocks if stop == self.rows.count else stop // self.size


def _tree(source: DaskRows, work: BlockWork) -> Any:
    """The delayed summary of all rows."""
    from dask.delayed import delayed

    shared = delayed(work, name=f"lowdim-fold-{uuid4().hex}", pure=False, traverse=False)
    summarized = delayed(_summarize_partition, pure=False)
    joined, merged = delayed(_summarize_pieces, pure=False), delayed(BlockWork.merged, pure=False)
    found: dict[Node, Any] = {}
    pieces: dict[int, list[Any]] = {}  # of blocks that partitions share
    for i, part in enumerate(source.parts):
        start, stop = int(source.bounds[i]), int(source.bounds[i + 1])
        if start == stop:
            continue
        nodes, cuts = _plan(work, start, stop)
        result = summarized(shared, part, start, nodes, cuts)
        found |= {node: result[node] for node in nodes}
        for number, *_ in cuts:
            pieces.setdefault(number, []).append(result[number])

    def delayed_node(level: int, number: int) -> Any:
        if (level, number) in found:
            return found[level, number]
        if level == 0:
            return joined(shared, number, pieces[number])
        left = delayed_node(level - 1, 2 * number)
        if (2 * number + 1) << (level - 1) >= work.blocks:
            return left
        return merged(shared, left, delayed_node(level - 1, 2 * number + 1))

    return delayed_node((work.blocks - 1).bit_length(), 0)


def _plan(work: BlockWork, start: int, stop: int) -> tuple[list[Node], list[tuple[int, int, int]]]:
    """The nodes inside rows start…stop, and the ragged ends: block, first and last row (excluded)."""
    first, last = work.whole_blocks(start, stop)
    inside = range(first, max(first, last))
    edges = [start, *(number * work.size for number in range(start // work.size + 1, -(-stop // work.size))), stop]
    cuts = [(low // work.size, low, high) for low, high in pairwise(edges)]
    return work.nodes(inside.start, inside.stop), [cut for cut in cuts if cut[0] not in inside]


def _summarize_partition(
    work: BlockWork, part: Any, offset: int, nodes: list[Node], cuts: list[tuple[int, int, int]]
) -> dict[Any, Any]:
    """The summaries of the nodes inside a partition, and rows of the blocks that it shares with others."""

    def load(start: int, stop: int) -> Block:
        return partition_block(part, start, stop, offset, work.rows)

    found: dict[Any, Any] = {tuple(node): work.node((node[0], node[1]), load) for node in nodes}
    return found | {number: load(low, high) for number, low, high in cuts}


def _summarize_pieces(work: BlockWork, number: int, pieces: list[Block]) -> Any:
    return work.summary(number, joined_blocks(pieces))
