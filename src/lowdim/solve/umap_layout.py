"""UMAP's layout as explicit, resumable state: the positions and the number of epochs done.

Rows belong to blocks that become visible one after another; within an epoch each row is moved by its own edges alone,
against the positions before its block. Random rows are a hash of seed, epoch, row and draw. Nothing else is remembered,
so a run that is stopped and resumed, or has another number of threads, gives the same bits.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.atomic import draft_beside
from lowdim.errors import BadInput
from lowdim.progress import report
from lowdim.solve.crowding import Crowding
from lowdim.summaries.fuzzy import Fuzzy

__all__ = ["Forces", "Layout", "lay_out", "place_among", "resumed"]

Array = NDArray[Any]

LEAST_BLOCK = 256
BLOCKS = 8
REPORTS = 20  # a run
FEW_EDGES = 100_000  # below, threads cost more than they bring: they meet after every block


@dataclass(frozen=True)
class Forces:
    """What moves the rows of a map."""

    a: float
    b: float
    repulsion: float = 1.0
    negatives: int = 5  # random rows for every turn of an edge
    rate: float = 1.0  # how far, at first
    seed: int = 0

    def numbers(self) -> NDArray[np.float32]:
        """For the kernel."""
        return np.array([self.a, self.b, self.repulsion], dtype=np.float32)


@dataclass(frozen=True)
class Turns:
    """Edges in the order of the work: which rows, whose edges, and how often each has its turn."""

    order: NDArray[np.int32]  # rows; those with like numbers of turns together, since they are moved at once
    starts: NDArray[np.int64]  # the edges of row order[i] are starts[i] … starts[i + 1]
    tails: NDArray[np.int32]
    rates: NDArray[np.uint32]  # the weight, as a share of 2^32 for the heaviest edge
    edges: NDArray[np.int64]  # where they stood

    @classmethod
    def of(cls, starts: Array, columns: Array, weights: Array, epochs: int, block: int, heaviest: float = 0.0) -> Self:
        """Of a graph in compressed rows. Edges too light to have a turn in so many epochs are left out."""
        heaviest = heaviest or float(weights.max(initial=0.0)) or 1.0
        rates = np.minimum(np.rint(weights.astype(np.float64) * (2.0**32 / heaviest)), 2.0**32 - 1).astype(np.uint32)
        n = len(starts) - 1
        rows = np.repeat(np.arange(n), np.diff(starts))
        load = np.bincount(rows, rates, minlength=n)
        order = np.lexsort((-load, np.arange(n) // block))
        counts = np.diff(starts)[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        edges = np.repeat(starts[:-1][order] - offsets[:-1], counts) + np.arange(offsets[-1])
        alive = rates[edges].astype(np.uint64) * np.uint64(epochs) >= np.uint64(2**32)
        kept = np.concatenate([[0], np.cumsum(alive)])[offsets]
        edges = edges[alive]
        return cls(order.astype(np.int32), kept.astype(np.int64), columns[edges], rates[edges], edges)


@dataclass
class Layout:
    """A map that is being made: positions (n, k), and how many of `total` epochs are done."""

    positions: NDArray[np.float32]
    total: int
    epoch: int = 0


def lay_out(
    state: Layout,
    graph: Fuzzy,
    forces: Forces,
    threads: int,
    crowding: Crowding | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Layout:
    """Run the epochs that are left; the state is changed in place and returned."""
    block = max(LEAST_BLOCK, -(-graph.n // BLOCKS))
    turns = Turns.of(graph.starts, graph.columns, graph.weights, state.total, block)
    inverse = None if crowding is None else (1 / graph.weights[turns.edges]).astype(np.float32)
    threads = threads if len(turns.tails) > FEW_EDGES else 1
    stride = max(1, state.total // REPORTS)
    while state.epoch < state.total:
        dense = crowding is not None and crowding.active(state.epoch, state.total)
        stop = state.epoch + 1 if dense else min(state.total, (state.epoch // stride + 1) * stride)
        if crowding is not None and not dense:
            stop = min(stop, crowding.first(state.total))
        numbers = crowding.numbers(state.positions, graph, forces.a, forces.b, threads) if dense and crowding else None
        _native.umap_epochs(
            state.positions,
            None,
            turns.starts,
            turns.tails,
            turns.rates,
            turns.order,
            block,
            state.epoch,
            stop,
            state.total,
            forces.rate,
            forces.numbers(),
            2,  # an edge leaves its other end to the owner there, and moves its own twice
            forces.negatives,
            forces.seed,
            numbers,
            None if numbers is None else inverse,
            threads,
        )
        state.epoch = stop
        if stop % stride == 0 or stop == state.total:
            if checkpoint is not None and stop < state.total:
                _write(checkpoint, state, graph, forces)
            report("laying out", stop, state.total)
    return state


def place_among(
    start: Array, edges: tuple[Array, Array, Array], frozen: Array, forces: Forces, epochs: int, threads: int
) -> NDArray[np.float32]:
    """New rows (m, k) among a map that stays as it is; `edges` are starts, columns and weights, largest 1.

    What happens to a row does not depend on the rows beside it.
    """
    starts, columns, weights = edges
    positions = np.array(start, dtype=np.float32)
    turns = Turns.of(starts, columns, weights, epochs, max(1, len(positions)), heaviest=1.0)
    stride = max(1, epochs // REPORTS)
    for first in range(0, epochs, stride):
        last = min(epochs, first + stride)
        _native.umap_epochs(
            positions,
            frozen,
            turns.starts,
            turns.tails,
            turns.rates,
            turns.order,
            max(1, len(positions)),
            first,
            last,
            epochs,
            forces.rate,
            forces.numbers(),
            1,
            forces.negatives,
            forces.seed,
            None,
            None,
            threads,
        )
        report("placing new rows", last, epochs)
    return positions


def resumed(path: str | os.PathLike[str] | None, k: int, epochs: int, graph: Fuzzy, forces: Forces) -> Layout | None:
    """The state that a checkpoint of this very work holds; None without one."""
    if path is None or not Path(path).exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as archive:
            work, positions, epoch = str(archive["work"]), archive["positions"], int(archive["epoch"])
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise BadInput(
            f"{str(path)!r} is no checkpoint of a layout: {error}. Delete it, or give another path."
        ) from error
    state = Layout(np.ascontiguousarray(positions), epochs, epoch)
    sound = positions.shape == (graph.n, k) and positions.dtype == np.float32 and 0 <= epoch <= epochs
    if not sound or work != _work(state, graph, forces):
        raise BadInput(f"{str(path)!r} is the checkpoint of other data or parameters. Delete it, or give another path.")
    return state


def _write(path: str | os.PathLike[str], state: Layout, graph: Fuzzy, forces: Forces) -> None:
    with draft_beside(path) as draft, open(draft, "wb") as file:
        work = _work(state, graph, forces)
        np.savez(file, positions=state.positions, epoch=np.int64(state.epoch), work=np.array(work))


def _work(state: Layout, graph: Fuzzy, forces: Forces) -> str:
    """Tells one piece of work from another: the graph, the forces, and how long."""
    digest = hashlib.sha256(repr((forces, state.total, state.positions.shape)).encode())
    for part in (graph.starts, graph.columns, graph.weights):
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()
