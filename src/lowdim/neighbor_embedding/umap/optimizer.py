"""Stochastic gradient descent of UMAP: edges are sampled by weight, with negative samples, by blocks of rows.

In an epoch, blocks of rows take turns. In its turn, a row takes a few of the edges that are due, one after another: it
is attracted to the other endpoint, and repelled by negative samples. When all blocks have had theirs, each has a second
turn: the same edges attract once more, as those in the other direction would do. A row sees the rows of its own block
where they were before the turn, all others where they are: if all rows moved at once, trustworthiness would be lower,
and if a row took all of its edges in one turn, sheets would be torn. Negative samples are a hash of seed, epoch, draw
and a group of rows, which draws adjacent rows: each by itself is uniform, and they are loaded together. The state is
the embedding alone, so a run that is stopped and resumed, or has another number of threads, gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.optimizer_loop import OptimizerLoop
from lowdim.neighbor_embedding.umap.densmap import DensityTarget, first_density_epoch
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, rows_in_order
from lowdim.neighbor_embedding.umap.output_space import EUCLIDEAN, OutputSpace
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.checkpoint import Checkpoint, LoopState, fingerprint

__all__ = ["REPORTS", "DensityTerms", "EdgeSchedule", "UmapOptimizer", "UmapParams"]

Array = NDArray[Any]
Snapshot = Callable[[Array], Array]
DensityTerms = tuple[Array | None, Array | None]  # densMAP's gradient terms per row, and the inverse weights of edges

REPORTS = 20  # per run
SERIAL_EDGES = 100_000  # up to here, threads cost more than they gain: they synchronize after every turn


@dataclass(frozen=True)
class UmapParams:
    """Parameters of the forces, and of the descent along them."""

    a: float
    b: float
    repulsion_strength: float = 1.0
    negative_sample_rate: int = 5
    learning_rate: float = 1.0  # the initial one; it decreases linearly to 0
    seed: int = 0
    space: OutputSpace = field(default=EUCLIDEAN, repr=False)  # of the embedding

    def forces(self) -> NDArray[np.float32]:
        """The parameters of attraction and repulsion, as the kernel takes them."""
        return np.array([self.a, self.b, self.repulsion_strength], dtype=np.float32)


@dataclass(frozen=True)
class EdgeSchedule:
    """Edges in the order in which they are processed, and how often each is sampled."""

    order: NDArray[np.int64]  # rows, those with the most samples first: rows with equally many are moved together
    starts: NDArray[np.int64]  # the edges of row order[i] are starts[i] … starts[i + 1]
    tails: NDArray[np.int32]  # the other endpoint: its index in `order`, or a row of the fixed embedding
    frequencies: NDArray[np.uint32]  # samples per epoch, as a fraction of 2^32: the weight over the largest weight
    edges: NDArray[np.int64]  # the index of each edge in the graph

    @classmethod
    def of(
        cls, starts: Array, columns: Array, weights: Array, epochs: int, max_weight: float = 0.0, fixed: bool = False
    ) -> Self:
        """The schedule of a graph in compressed sparse rows, whose columns are moving rows or rows that are `fixed`.

        Edges too light to be sampled in so many epochs are left out.
        """
        max_weight = max_weight or float(weights.max(initial=0.0)) or 1.0
        scaled = np.rint(weights.astype(np.float64) * (2.0**32 / max_weight))
        frequencies = np.minimum(scaled, 2.0**32 - 1).astype(np.uint32)
        n = len(starts) - 1
        rows = np.repeat(np.arange(n), np.diff(starts))
        load = np.bincount(rows, frequencies, minlength=n)
        order = np.argsort(-load, kind="stable")
        offsets, edges = rows_in_order(starts, order)
        sampled = frequencies[edges].astype(np.uint64) * np.uint64(epochs) >= np.uint64(2**32)
        kept = np.concatenate([[0], np.cumsum(sampled)])[offsets]
        edges = edges[sampled]
        rank = np.empty(n, dtype=np.int32)
        rank[order] = np.arange(n, dtype=np.int32)
        tails = columns[edges] if fixed else rank[columns[edges]]
        return cls(order, kept.astype(np.int64), tails, frequencies[edges], edges)

    def run(
        self,
        positions: Array,
        fixed: Array | None,
        epochs: tuple[int, int, int],
        params: UmapParams,
        density: DensityTerms,
        threads: int,
    ) -> None:
        """Move the positions through epochs first … last - 1 of a total, in place."""
        terms, inverse_weights = density
        if terms is not None:
            terms = np.ascontiguousarray(terms.reshape(-1, 2)[self.order]).ravel()
        edges = self.starts, self.tails, self.frequencies
        rule = params.learning_rate * params.space.step_size, params.forces(), params.negative_sample_rate, params.seed
        step: tuple[Any, ...] = (*edges, *epochs, *rule, terms, inverse_weights, threads, params.space.number)
        ordered = np.ascontiguousarray(positions[self.order])  # rows that are moved together lie side by side
        _native.umap_epochs(ordered, fixed, *step)
        positions[self.order] = ordered


@dataclass(frozen=True)
class UmapOptimizer:
    """All epochs of an embedding of a fuzzy graph."""

    graph: FuzzyGraph
    params: UmapParams
    n_epochs: int
    threads: int
    density: DensityTarget | None = None

    def loop(self, start: Array, snapshot: Snapshot | None = None, path: Any = None) -> OptimizerLoop:
        """All epochs, as a loop that can be run, watched and, with the path of a checkpoint, resumed."""
        state = {"embedding": np.array(start, dtype=np.float32, order="C")}
        return OptimizerLoop(
            state,
            self.advance,
            self.n_epochs,
            stride=max(1, self.n_epochs // REPORTS),
            task="UMAP epochs",
            snapshot=None if snapshot is None else lambda state: snapshot(state["embedding"]),
            checkpoint=None if path is None else Checkpoint(path, self._fingerprint(state["embedding"])),
        )

    def run(self, start: Array, snapshot: Snapshot | None = None, path: Any = None) -> NDArray[np.float32]:
        """The positions after all epochs."""
        positions = np.asarray(self.loop(start, snapshot, path).resume().run().state["embedding"])
        if not np.isfinite(positions).all():
            raise BadParameter("the optimization diverged; lower learning_rate or repulsion_strength.")
        return positions

    def _fingerprint(self, start: Array) -> str:
        graph, density = self.graph, self.density
        target = () if density is None else (density.radii, density.strength)
        space = () if self.params.space.metric == "euclidean" else (self.params.space,)
        parts = graph.starts, graph.columns, graph.weights, start, self.params, self.n_epochs
        return fingerprint(*parts, *target, *space)

    def advance(self, state: LoopState, first: int, last: int) -> LoopState:
        """The state after epochs first … last - 1."""
        positions = state["embedding"].copy()  # watchers may hold the old state
        switch = last if self.density is None else min(last, max(first, first_density_epoch(self.n_epochs)))
        for start, stop in self._uninterrupted(first, switch):
            self._run(positions, start, stop, (None, None))
            positions = self.params.space.recentered(positions)
        for epoch in range(switch, last):  # the radii change with every epoch
            assert self.density is not None
            terms = self.density.gradient_terms(positions, self.graph, self.params.a, self.params.b, self._threads)
            self._run(positions, epoch, epoch + 1, (terms, self._inverse_weights))
        return {"embedding": positions}

    def _uninterrupted(self, first: int, last: int) -> list[tuple[int, int]]:
        """Epochs first … last - 1 as runs; after each epoch of a hyperbolic embedding, it is recentered."""
        if self.params.space.metric != "hyperboloid":
            return [(first, last)] if first < last else []
        return [(epoch, epoch + 1) for epoch in range(first, last)]

    def _run(self, positions: Array, first: int, last: int, density: DensityTerms) -> None:
        epochs = first, last, self.n_epochs
        self._schedule.run(positions, None, epochs, self.params, density, self._threads)

    @property
    def _threads(self) -> int:
        return self.threads if len(self._schedule.tails) > SERIAL_EDGES else 1

    @cached_property
    def _schedule(self) -> EdgeSchedule:
        return EdgeSchedule.of(self.graph.starts, self.graph.columns, self.graph.weights, self.n_epochs)

    @cached_property
    def _inverse_weights(self) -> NDArray[np.float32]:
        return (1 / self.graph.weights[self._schedule.edges]).astype(np.float32)
