"""t-SNE's descent: one step from the state alone, and the divergence that it lowers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.duplicates import TiedRows, average_tied
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.optimizer_loop import Checkpoint, Layout, State, fingerprint
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.tsne.repulsion import Repulsion, repulsion_for

__all__ = ["Descent", "Recipe"]

Floats = NDArray[np.float32]

LONGEST = 5.0  # no point moves further in a step
MOMENTUM = 0.8
SCATTERED = 20_000  # from so many rows on, neighbours in the map are kept near each other in memory
REORDER = 125  # every so many steps


@dataclass(frozen=True)
class Recipe:
    """How the descent goes: `early` steps with exaggerated attraction, then the others."""

    total: int = 750
    early: int = 250
    early_exaggeration: float = 12.0
    exaggeration: float = 1.0
    learning_rate: float | None = None  # None: the number of rows over the exaggeration
    dof: float = 1.0
    tol: float = 0.0  # share of the divergence by which 50 late steps must lower it; 0: all steps are taken

    def at(self, t: int, n: int) -> tuple[float, float]:
        """Exaggeration and rate of step t."""
        exaggeration = self.early_exaggeration if t < self.early else self.exaggeration
        rate = n / exaggeration if self.learning_rate is None else self.learning_rate
        return exaggeration, rate


class Descent:
    """Steps of t-SNE. The state: `map`, `velocity`, `gains` (n, k), rows in `order`, and the last `divergence`.

    The gradient is taken over four, as is the custom, so that a rate of n over the exaggeration is right. Rows with
    one number in `which` move as one: each step takes their mean, which is the descent with them at one place.
    """

    def __init__(
        self,
        affinities: Affinities,
        recipe: Recipe,
        threads: int,
        which: NDArray[np.int64] | None = None,
    ) -> None:
        self.affinities, self.recipe, self.threads = affinities, recipe, threads
        P = affinities
        _native.require_edges(P.starts, P.columns, P.values, P.n, threads)
        self.which = np.arange(affinities.n) if which is None else which
        self._ordered = np.arange(affinities.n, dtype=np.int32), affinities, TiedRows.of(self.which)
        self._repulsion: Repulsion | None = None

    def layout(self, start: Floats, path: Any = None) -> Layout:
        """All steps, as a layout that can be run, watched and, with a path to a checkpoint, resumed."""
        P, kept = self.affinities, None
        if path is not None:
            work = fingerprint(P.starts, P.columns, P.values, self.which, start, self.recipe)
            kept = Checkpoint(path, work)
        return Layout(
            self.start(start),
            self.advance,
            self.recipe.total,
            task="t-SNE",
            measure=lambda state: {"kl": self.divergence(state)},
            snapshot=self.positions,
            settled=self.settled if self.recipe.tol else None,
            checkpoint=kept,
        )

    def start(self, Y: Floats) -> State:
        """The state before the first step."""
        begun = np.array(Y, dtype=np.float32)
        average_tied(begun, self.which)
        return {
            "map": begun,
            "velocity": np.zeros(Y.shape, dtype=np.float32),
            "gains": np.ones(Y.shape, dtype=np.float32),
            "order": np.arange(len(Y), dtype=np.int32),
            "divergence": np.array([np.inf]),
        }

    def advance(self, state: State, first: int, last: int) -> State:
        """The state after steps first … last - 1."""
        for t in range(first, last):
            state = self.step(state, t)
        return state

    def step(self, state: State, t: int) -> State:
        """The state after step t."""
        if t % REORDER == 0 and self.affinities.n >= SCATTERED:
            state = _along_curve(state)
        recipe, Y = self.recipe, state["map"]
        forces, total = self.repel(Y)
        exaggeration, rate = recipe.at(t, len(Y))
        factor = (recipe.dof + 1) / (2 * recipe.dof)
        rule = (exaggeration, rate, MOMENTUM, LONGEST, 1 / max(total, 1e-12), 1 / recipe.dof, factor)
        moved, velocity, gains = np.empty_like(Y), state["velocity"].copy(), state["gains"].copy()
        P, twins = self._in_order(state)
        _native.descend(P.starts, P.columns, P.values, Y, forces, rule, velocity, gains, moved, self.threads)
        if twins is not None:
            for values in (moved, velocity, gains):
                twins.average(values)
        if not np.isfinite(moved.sum(dtype=np.float64)):
            raise BadParameter("the layout flew apart; lower learning_rate or the exaggerations.")
        return {**state, "map": moved, "velocity": velocity, "gains": gains}

    def divergence(self, state: State) -> float:
        """KL(P ‖ Q), with the normaliser that the repulsion finds."""
        P, dof, Y = self._in_order(state)[0], self.recipe.dof, state["map"]
        lengths = _native.log_lengths(P.starts, P.columns, P.values, Y, dof, self.threads)
        total = max(self.repel(Y)[1], 1e-12)
        return self._negative_entropy + (dof + 1) / 2 * lengths + float(np.log(total))

    def settled(self, state: State, done: int) -> bool:
        """Whether the divergence fell by less than tol of itself since it was last asked for; remembers it."""
        before, now = float(state["divergence"][0]), self.divergence(state)
        state["divergence"][0] = now
        return done > self.recipe.early and before - now < self.recipe.tol * abs(now)

    def positions(self, state: State) -> Floats:
        """The map with its rows as they were given."""
        out = np.empty_like(state["map"])
        out[state["order"]] = state["map"]
        return out

    def repel(self, Y: Floats) -> tuple[Floats, float]:
        """Forces of the repulsion (n, k) and the sum that normalises it, always in the same way."""
        if self._repulsion is None:
            self._repulsion = repulsion_for(len(Y), Y.shape[1], self.recipe.dof, self.threads)
        return self._repulsion(Y)

    @cached_property
    def _negative_entropy(self) -> float:
        return self.affinities.negative_entropy()

    def _in_order(self, state: State) -> tuple[Affinities, TiedRows | None]:
        if not np.array_equal(self._ordered[0], state["order"]):
            order = np.asarray(state["order"], dtype=np.int32)
            self._ordered = order, self.affinities.reordered(order, self.threads), TiedRows.of(self.which[order])
        return self._ordered[1:]


def _along_curve(state: State) -> State:
    """Rows along a Morton curve through the map: what is near in the map is near in memory."""
    Y = state["map"]
    low, span = Y.min(axis=0), np.ptp(Y, axis=0).max() or np.float32(1)
    places = ((Y - low) * np.float32(1023 / span)).astype(np.uint64)
    code = np.zeros(len(Y), dtype=np.uint64)
    for bit in range(10):
        for axis in range(Y.shape[1]):
            code |= ((places[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(bit * Y.shape[1] + axis)
    turn = np.argsort(code, kind="stable")
    rows = {name: np.ascontiguousarray(state[name][turn]) for name in ("map", "velocity", "gains", "order")}
    return {**state, **rows}
