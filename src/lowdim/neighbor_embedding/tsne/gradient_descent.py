"""Gradient descent of t-SNE with momentum and adaptive gains, and the KL divergence that it minimizes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.duplicates import TiedRows, average_tied
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.optimizer_loop import OptimizerLoop
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.tsne.repulsion import Repulsion, choose_repulsion
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.checkpoint import Checkpoint, LoopState, fingerprint

__all__ = ["MAX_STEP_NORM", "MOMENTUM", "GradientDescent", "TsneOptions"]

Floats = NDArray[np.float32]

MAX_STEP_NORM = 5.0  # no point moves further in one step
MOMENTUM = 0.8
REORDER_ROWS = 20_000  # from here on, rows near each other in the embedding are kept near each other in memory
REORDER_EVERY = 125  # steps
MIN_SUM_Q = 1e-12  # a normalization of 0 would divide by it


@dataclass(frozen=True)
class TsneOptions:
    """Options of the descent: its stages, each with its steps and the exaggeration of the attraction in them."""

    stages: tuple[tuple[int, float], ...] = ((250, 12.0), (500, 1.0))
    learning_rate: float | None = None  # None: the number of rows over the exaggeration (Belkina et al. 2019)
    dof: float = 1.0
    tol: float = 0.0  # relative decrease of the divergence over 50 steps of the last stage that ends it; 0: never

    @property
    def max_iter(self) -> int:
        """The steps of all stages."""
        return sum(steps for steps, _ in self.stages)

    @property
    def last_stage(self) -> int:
        """The first step of the last stage."""
        return self.max_iter - self.stages[-1][0]

    def at(self, t: int, n: int) -> tuple[float, float]:
        """Exaggeration and learning rate of step t."""
        ends = accumulate(steps for steps, _ in self.stages)
        exaggeration = next(factor for end, (_, factor) in zip(ends, self.stages, strict=True) if t < end)
        rate = n / exaggeration if self.learning_rate is None else self.learning_rate
        return exaggeration, rate


class GradientDescent:
    """Steps of t-SNE on the state `embedding`, `velocity`, `gains` (n, k), `order` (n,) and `kl_divergence`.

    `order` is the permutation of the rows in memory. The gradient is divided by four, as in other implementations, so
    that a learning rate of n over the exaggeration is right. Rows that are the same distinct row, by `inverse`, are
    tied: each step gives them their mean, which is the descent with them at one position.
    """

    def __init__(
        self,
        affinities: Affinities,
        options: TsneOptions,
        threads: int,
        inverse: NDArray[np.int64] | None = None,
    ) -> None:
        self.affinities, self.options, self.threads = affinities, options, threads
        P = _native.AffinityMatrix(affinities.starts, affinities.columns, affinities.values, threads)
        self.inverse = np.arange(affinities.n) if inverse is None else inverse
        self._ordered = np.arange(affinities.n, dtype=np.int32), P, TiedRows.of(self.inverse)
        self._repulsion: Repulsion | None = None

    def loop(self, start: Floats, path: Any = None) -> OptimizerLoop:
        """All steps, as a loop that can be run, watched and, with the path of a checkpoint, resumed."""
        P, checkpoint = self.affinities, None
        if path is not None:
            work = fingerprint(P.starts, P.columns, P.values, self.inverse, start, self.options)
            checkpoint = Checkpoint(path, work)
        return OptimizerLoop(
            self.initial_state(start),
            self.advance,
            self.options.max_iter,
            task="t-SNE",
            measure=lambda state: {"kl": self.divergence(state)},
            snapshot=self.positions,
            converged=self.converged if self.options.tol else None,
            checkpoint=checkpoint,
        )

    def initial_state(self, Y: Floats) -> LoopState:
        """The state before the first step."""
        start = np.array(Y, dtype=np.float32)
        average_tied(start, self.inverse)
        return {
            "embedding": start,
            "velocity": np.zeros(Y.shape, dtype=np.float32),
            "gains": np.ones(Y.shape, dtype=np.float32),
            "order": np.arange(len(Y), dtype=np.int32),
            "kl_divergence": np.array([np.inf]),
        }

    def advance(self, state: LoopState, first: int, last: int) -> LoopState:
        """The state after steps first … last - 1."""
        for t in range(first, last):
            state = self.step(state, t)
        return state

    def step(self, state: LoopState, t: int) -> LoopState:
        """The state after step t."""
        if t % REORDER_EVERY == 0 and self.affinities.n >= REORDER_ROWS:
            state = _morton_order(state)
        options, Y = self.options, state["embedding"]
        forces, sum_q = self.repulsion(Y)
        exaggeration, rate = options.at(t, len(Y))
        factor = (options.dof + 1) / (2 * options.dof)
        rule = (exaggeration, rate, MOMENTUM, MAX_STEP_NORM, 1 / max(sum_q, MIN_SUM_Q), 1 / options.dof, factor)
        moved, velocity, gains = np.empty_like(Y), state["velocity"].copy(), state["gains"].copy()
        P, tied = self._in_order(state)
        _native.tsne_step(P, Y, forces, rule, velocity, gains, moved, self.threads)
        if tied is not None:
            for values in (moved, velocity, gains):
                tied.average(values)
        if not np.isfinite(moved.sum(dtype=np.float64)):
            raise BadParameter("the optimization diverged; lower learning_rate or the exaggerations.")
        return {**state, "embedding": moved, "velocity": velocity, "gains": gains}

    def divergence(self, state: LoopState) -> float:
        """KL(P ‖ Q), with the normalization that the repulsion gives."""
        P, dof, Y = self._in_order(state)[0], self.options.dof, state["embedding"]
        attraction = _native.attraction_loss(P, Y, dof, self.threads)
        sum_q = max(self.repulsion(Y)[1], MIN_SUM_Q)
        return self._negative_entropy + (dof + 1) / 2 * attraction + float(np.log(sum_q))

    def converged(self, state: LoopState, done: int) -> bool:
        """Whether the divergence fell by less than `tol` of itself since the last call, which the state remembers."""
        before, now = float(state["kl_divergence"][0]), self.divergence(state)
        state["kl_divergence"][0] = now
        return done > self.options.last_stage and before - now < self.options.tol * abs(now)

    def positions(self, state: LoopState) -> Floats:
        """The embedding with its rows in their original order."""
        out = np.empty_like(state["embedding"])
        out[state["order"]] = state["embedding"]
        return out

    def repulsion(self, Y: Floats) -> tuple[Floats, float]:
        """Repulsive forces, (n, k), and the normalization, always by the same algorithm."""
        if self._repulsion is None:
            self._repulsion = choose_repulsion(len(Y), Y.shape[1], self.options.dof, self.threads)
        return self._repulsion(Y)

    @cached_property
    def _negative_entropy(self) -> float:
        return self.affinities.negative_entropy()

    def _in_order(self, state: LoopState) -> tuple[_native.AffinityMatrix, TiedRows | None]:
        """Affinities and tied rows in the order of the state."""
        before, P, _ = self._ordered
        if not np.array_equal(before, state["order"]):
            order = np.asarray(state["order"], dtype=np.int32)
            place = np.empty_like(before)  # of every row in the order before
            place[before] = np.arange(len(before), dtype=np.int32)
            self._ordered = order, P.reordered(place[order], self.threads), TiedRows.of(self.inverse[order])
        return self._ordered[1:]


def _morton_order(state: LoopState) -> LoopState:
    """Rows along a Morton (Z-order) curve through the embedding: what is near there is near in memory."""
    Y = state["embedding"]
    low, span = Y.min(axis=0), np.ptp(Y, axis=0).max() or np.float32(1)
    cells = ((Y - low) * np.float32(1023 / span)).astype(np.uint64)
    code = np.zeros(len(Y), dtype=np.uint64)
    for bit in range(10):
        for axis in range(Y.shape[1]):
            code |= ((cells[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(bit * Y.shape[1] + axis)
    order = np.argsort(code, kind="stable")
    rows = {name: np.ascontiguousarray(state[name][order]) for name in ("embedding", "velocity", "gains", "order")}
    return {**state, **rows}
