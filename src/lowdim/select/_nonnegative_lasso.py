"""The path of the non-negative lasso by homotopy (LARS, Efron, Hastie, Johnstone and Tibshirani 2004).

    min over α ≥ 0 of ½ αᵀ G α - rᵀ α + λ Σ α_j, for λ from max r down.

The solution is linear in λ between the points where a variable enters or leaves. Only the columns of G of variables
that enter are ever needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.progress import report

__all__ = ["LassoPath", "nonnegative_lasso"]

Floats = NDArray[np.float64]

DEPENDENT = 1e-8  # a variable whose variance given the active ones is a smaller share is a combination of them
NEGLIGIBLE = 1e-10  # penalties below this share of the first one end the path
MOST_STEPS_PER_VARIABLE = 8


@dataclass(frozen=True, eq=False)
class LassoPath:
    """Where a path ended, and how it came there."""

    coefficients: Floats  # (d,) at the end
    entered: Floats  # (d,) the penalty at which each active variable entered; for others, what is left to explain
    penalty: float  # λ at the end: the next variable would enter here


class _ActiveSet:
    """The active variables, and the columns of G that belong to them."""

    def __init__(self, column: Callable[[int], Floats], d: int) -> None:
        self.column, self.columns = column, np.empty((0, d))
        self.members: list[int] = []
        self.known: dict[int, Floats] = {}

    def add(self, j: int) -> bool:
        """Whether variable j is active now: not if it depends on the active ones linearly."""
        if j not in self.known:
            self.known[j] = self.column(j)
        new = self.known[j]
        if self.members:
            cross = new[self.members]
            left = new[j] - cross @ np.linalg.solve(self.gram(), cross)
            if left <= DEPENDENT * new[j]:
                return False
        self.members.append(j)
        self.columns = np.vstack([self.columns, new])
        return True

    def drop(self, position: int) -> None:
        del self.members[position]
        self.columns = np.delete(self.columns, position, axis=0)

    def gram(self) -> Floats:
        return self.columns[:, self.members]


def nonnegative_lasso(r: Floats, column: Callable[[int], Floats], most: int) -> LassoPath:
    """The path until the variable after the `most`-th would enter, or to the end; `column(j)` is column j of G."""
    d = len(r)
    active, left = _ActiveSet(column, d), r.copy()  # left: r - G α
    alpha, entered, barred = np.zeros(d), np.zeros(d), np.zeros(d, dtype=bool)
    first = penalty = float(r.max())
    for _ in range(MOST_STEPS_PER_VARIABLE * (most + 1)):
        candidates = ~barred
        candidates[active.members] = False
        entering = int(np.argmax(np.where(candidates, left, -np.inf)))
        if candidates[entering] and left[entering] >= penalty * (1 - 1e-12) > 0:
            if len(active.members) == most:
                break
            if active.add(entering):
                entered[entering] = penalty
                report("HSIC-lasso: path", len(active.members), most)
            else:
                barred[entering] = True
                continue
        if not active.members or penalty <= NEGLIGIBLE * first:
            break
        direction: Floats = np.linalg.solve(active.gram(), np.ones(len(active.members))).astype(np.float64)
        rates = direction @ active.columns  # by which `left` falls as the penalty falls by 1
        candidates[active.members] = False
        step, leaving = _next_event(penalty, left, rates, candidates, alpha[active.members], direction)
        alpha[active.members] += step * direction
        left -= step * rates
        penalty -= step
        if leaving is not None:
            gone = active.members[leaving]
            alpha[gone], entered[gone] = 0.0, 0.0
            active.drop(leaving)
            barred[:] = False
            left[gone] = np.minimum(left[gone], penalty * (1 - 1e-9))  # it may enter again later, not at once
    inactive = np.ones(d, dtype=bool)
    inactive[active.members] = False
    entered[inactive] = np.clip(left[inactive], 0.0, penalty)
    return LassoPath(np.maximum(alpha, 0.0), entered, max(penalty, 0.0))


def _next_event(
    penalty: float, left: Floats, rates: Floats, candidates: NDArray[np.bool_], alpha: Floats, direction: Floats
) -> tuple[float, int | None]:
    """How far the penalty falls until a variable enters or leaves, or to 0, and which active one leaves."""
    slower = candidates & (rates < 1 - 1e-12)
    steps = (penalty - left[slower]) / (1 - rates[slower])
    step, leaving = min(penalty, float(steps.min(initial=np.inf))), None
    for position in np.flatnonzero(direction < 0):
        until = -alpha[position] / direction[position]
        if until < step:
            step, leaving = float(until), int(position)
    return max(step, 0.0), leaving
