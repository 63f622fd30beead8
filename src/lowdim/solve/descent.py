"""t-SNE's descent: one step from the state alone, and the divergence that it lowers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve.layout import State
from lowdim.solve.mesh import MeshRepulsion
from lowdim.summaries.affinities import Affinities

__all__ = ["Descent", "Recipe", "repulsion_for"]

Floats = NDArray[np.float32]

DIRECT_ROWS = 4000  # below, the sum over all pairs is as fast as the mesh
DIRECT_POWERS = 500  # the same where the kernel needs a power
SERIAL_ROWS = 1000  # below, waking threads takes longer than the sum
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

    def at(self, t: int, n: int) -> tuple[float, float]:
        """Exaggeration and rate of step t."""
        exaggeration = self.early_exaggeration if t < self.early else self.exaggeration
        rate = n / exaggeration if self.learning_rate is None else self.learning_rate
        return exaggeration, rate


class DirectRepulsion:
    """Repulsion by the sum over all pairs."""

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """Forces (n, k), and the sum of the kernel over all ordered pairs."""
        out = np.empty_like(Y)
        threads = self.threads if len(Y) > SERIAL_ROWS else 1
        total = _native.repel_directly(Y, self.dof, out, threads)
        return out, total


def repulsion_for(n: int, dof: float, threads: int) -> DirectRepulsion | MeshRepulsion:
    """The faster one for n rows."""
    few = DIRECT_ROWS if dof == 1 else DIRECT_POWERS
    return DirectRepulsion(dof, threads) if n <= few else MeshRepulsion(dof, threads)


class Descent:
    """Steps of t-SNE. The state: `map`, `velocity`, `gains` (n, k), rows in `order`, and the last `divergence`.

    The gradient is taken over four, as is the custom, so that a rate of n over the exaggeration is right.
    """

    def __init__(self, affinities: Affinities, recipe: Recipe, threads: int) -> None:
        self.affinities, self.recipe, self.threads = affinities, recipe, threads
        self.repulsion = repulsion_for(affinities.n, recipe.dof, threads)
        self._ordered = np.arange(affinities.n, dtype=np.int32), affinities

    def start(self, Y: Floats) -> State:
        """The state before the first step."""
        return {
            "map": np.array(Y, dtype=np.float32),
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
        forces, total = self.repulsion(Y)
        exaggeration, rate = recipe.at(t, len(Y))
        factor = (recipe.dof + 1) / (2 * recipe.dof)
        rule = (exaggeration, rate, MOMENTUM, LONGEST, 1 / max(total, 1e-12), 1 / recipe.dof, factor)
        moved, velocity, gains = np.empty_like(Y), state["velocity"].copy(), state["gains"].copy()
        P = self._in_order(state)
        _native.descend(P.starts, P.columns, P.values, Y, forces, rule, velocity, gains, moved, self.threads)
        return {**state, "map": moved, "velocity": velocity, "gains": gains}

    def divergence(self, state: State) -> float:
        """KL(P ‖ Q), with the normaliser that the repulsion finds."""
        P, dof, Y = self._in_order(state), self.recipe.dof, state["map"]
        lengths = _native.log_lengths(P.starts, P.columns, P.values, Y, dof, self.threads)
        total = max(self.repulsion(Y)[1], 1e-12)
        return self._negative_entropy + (dof + 1) / 2 * lengths + float(np.log(total))

    def settled(self, state: State, done: int, tol: float) -> bool:
        """Whether the divergence fell by less than tol of itself since it was last asked for; remembers it."""
        before, now = float(state["divergence"][0]), self.divergence(state)
        state["divergence"][0] = now
        return done > self.recipe.early and before - now < tol * abs(now)

    def positions(self, state: State) -> Floats:
        """The map with its rows as they were given."""
        out = np.empty_like(state["map"])
        out[state["order"]] = state["map"]
        return out

    @cached_property
    def _negative_entropy(self) -> float:
        return self.affinities.negative_entropy()

    def _in_order(self, state: State) -> Affinities:
        if not np.array_equal(self._ordered[0], state["order"]):
            order = np.asarray(state["order"], dtype=np.int32)
            self._ordered = order, self.affinities.reordered(order, self.threads)
        return self._ordered[1]


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
