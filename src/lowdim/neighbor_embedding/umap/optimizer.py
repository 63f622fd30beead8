"""UMAP's epochs, as steps of a layout whose state is the map alone.

Every edge has its turns, and a turn two halves: its row is drawn to the other end and pushed by random rows, then drawn
once more, as the other end's own turn would. All rows take a half at the same time, against the positions before it.
Random rows are a hash of seed, epoch, row and draw. Nothing else is remembered, so a run that is stopped and resumed,
or has another number of threads, gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.optimizer_loop import Checkpoint, OptimizerLoop, State, fingerprint
from lowdim.neighbor_embedding.umap.densmap import DensityCorrelation, DensityTarget, embedding_radii, first_epoch
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, rows_in_order
from lowdim.runtime.progress import report

__all__ = ["EdgeSchedule", "NewRowOptimizer", "UmapOptimizer", "UmapParams"]

Array = NDArray[Any]
Picture = Callable[[State], Array]

REPORTS = 20  # a run
FEW_EDGES = 100_000  # below, threads cost more than they bring: they meet after every half


@dataclass(frozen=True)
class UmapParams:
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
class EdgeSchedule:
    """Edges in the order of the work: which rows, whose edges, and how often each has its turn."""

    order: NDArray[np.int64]  # rows; those with many turns first, since rows with as many are moved at once
    starts: NDArray[np.int64]  # the edges of row order[i] are starts[i] … starts[i + 1]
    tails: NDArray[np.int32]  # among moving rows their place in `order`, else the row of the map that stays
    rates: NDArray[np.uint32]  # the weight, as a share of 2^32 for the heaviest edge
    edges: NDArray[np.int64]  # where they stood

    @classmethod
    def of(
        cls, starts: Array, columns: Array, weights: Array, epochs: int, heaviest: float = 0.0, beside: bool = False
    ) -> Self:
        """Of a graph in compressed rows, among them or `beside` others.

        Edges too light to have a turn in so many epochs are left out.
        """
        heaviest = heaviest or float(weights.max(initial=0.0)) or 1.0
        rates = np.minimum(np.rint(weights.astype(np.float64) * (2.0**32 / heaviest)), 2.0**32 - 1).astype(np.uint32)
        n = len(starts) - 1
        rows = np.repeat(np.arange(n), np.diff(starts))
        load = np.bincount(rows, rates, minlength=n)
        order = np.argsort(-load, kind="stable")
        offsets, edges = rows_in_order(starts, order)
        alive = rates[edges].astype(np.uint64) * np.uint64(epochs) >= np.uint64(2**32)
        kept = np.concatenate([[0], np.cumsum(alive)])[offsets]
        edges = edges[alive]
        place = np.empty(n, dtype=np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        tails = columns[edges] if beside else place[columns[edges]]
        return cls(order, kept.astype(np.int64), tails, rates[edges], edges)

    def take(
        self,
        positions: Array,
        frozen: Array | None,
        epochs: tuple[int, int, int],
        forces: UmapParams,
        crowding: tuple[Array | None, Array | None],
        threads: int,
    ) -> None:
        """Move the positions through epochs first … last of so many, in place."""
        numbers, inverse = crowding
        if numbers is not None:
            numbers = np.ascontiguousarray(numbers.reshape(-1, 2)[self.order]).ravel()
        edges = self.starts, self.tails, self.rates
        rule = forces.rate, forces.numbers(), forces.negatives, forces.seed
        step: tuple[Any, ...] = (*edges, *epochs, *rule, numbers, inverse, threads)
        ordered = np.ascontiguousarray(positions[self.order])  # those that are moved at once lie side by side
        _native.umap_epochs(ordered, frozen, *step)
        positions[self.order] = ordered


@dataclass(frozen=True)
class UmapOptimizer:
    """The epochs of a layout: what moves which rows, and for how long."""

    graph: FuzzyGraph
    forces: UmapParams
    total: int
    threads: int
    crowding: DensityTarget | None = None

    def layout(self, start: Array, picture: Picture | None = None, path: Any = None) -> OptimizerLoop:
        """All of them, as a layout that can be run, watched and, with a path to a checkpoint, resumed."""
        state = {"map": np.array(start, dtype=np.float32, order="C")}
        kept = None if path is None else Checkpoint(path, self._work(state["map"]))
        stride = max(1, self.total // REPORTS)
        return OptimizerLoop(
            state, self.advance, self.total, stride=stride, task="UMAP", snapshot=picture, checkpoint=kept
        )

    def run(self, start: Array, picture: Picture | None = None, path: Any = None) -> NDArray[np.float32]:
        """The map after all of them."""
        positions = np.asarray(self.layout(start, picture, path).resume().run().state["map"])
        if not np.isfinite(positions).all():
            raise BadParameter("the layout flew apart; lower learning_rate or repulsion_strength.")
        return positions

    def _work(self, start: Array) -> str:
        """What this layout is, in one text."""
        graph, crowding = self.graph, self.crowding
        density = () if crowding is None else (crowding.radii, crowding.strength)
        return fingerprint(graph.starts, graph.columns, graph.weights, start, self.forces, self.total, *density)

    def advance(self, state: State, first: int, last: int) -> State:
        """The state after epochs first … last - 1."""
        positions = state["map"].copy()  # who looks at the state sees a whole one
        dense = last if self.crowding is None else min(last, max(first, first_epoch(self.total)))
        if first < dense:
            self._run(positions, first, dense, (None, None))
        for epoch in range(dense, last):  # the radii change with every epoch
            assert self.crowding is not None
            numbers = self.crowding.numbers(positions, self.graph, self.forces, self._threads)
            self._run(positions, epoch, epoch + 1, (numbers, self._inverse_weights))
        return {"map": positions}

    def _run(self, positions: Array, first: int, last: int, crowding: tuple[Array | None, Array | None]) -> None:
        epochs = first, last, self.total
        self._turns.take(positions, None, epochs, self.forces, crowding, self._threads)

    @property
    def _threads(self) -> int:
        return self.threads if len(self._turns.tails) > FEW_EDGES else 1

    @cached_property
    def _turns(self) -> EdgeSchedule:
        return EdgeSchedule.of(self.graph.starts, self.graph.columns, self.graph.weights, self.total)

    @cached_property
    def _inverse_weights(self) -> NDArray[np.float32]:
        return (1 / self.graph.weights[self._turns.edges]).astype(np.float32)


@dataclass(frozen=True)
class NewRowOptimizer:
    """Rows beside a map that stays as it is. What happens to one does not depend on the others."""

    starts: NDArray[np.int64]  # their edges to rows of the map, with weights of at most 1
    columns: NDArray[np.int32]
    weights: NDArray[np.float32]
    frozen: NDArray[np.float32]  # the map
    forces: UmapParams
    threads: int
    agreement: DensityCorrelation | None = None  # of densMAP's radii, and those of the new rows in the table
    radii: NDArray[np.float64] | None = None

    def move(self, start: Array, epochs: int) -> NDArray[np.float32]:
        """Their places, (m, k)."""
        positions = np.array(start, dtype=np.float32, order="C")
        turns = EdgeSchedule.of(self.starts, self.columns, self.weights, epochs, heaviest=1.0, beside=True)
        inverse = (1 / self.weights[turns.edges]).astype(np.float32)
        dense = epochs if self.agreement is None else first_epoch(epochs)
        steps = [*range(0, dense, max(1, epochs // REPORTS)), *range(dense, epochs + 1)]
        for first, last in pairwise(steps):
            crowding: tuple[Array | None, Array | None] = (None, None)
            if first >= dense:
                crowding = self._numbers(positions), inverse
            turns.take(positions, self.frozen, (first, last, epochs), self.forces, crowding, self.threads)
            report("placing new rows", last, epochs)
        return positions

    def _numbers(self, positions: Array) -> NDArray[np.float32]:
        assert self.agreement is not None and self.radii is not None
        shares, radii = embedding_radii(positions, self.frozen, self.starts, self.columns, self.forces, self.threads)
        return self.agreement.numbers(self.radii, shares, radii)
