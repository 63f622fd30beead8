"""Sequential selection: forward, backward, and the floating searches SFFS and SBFS (Pudil et al. 1994)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, param
from lowdim.runtime.progress import report
from lowdim.select._checkpoint import ResultLog
from lowdim.select._selector import resolve_count
from lowdim.select._wrapper import SelectionTask, Wrapper

__all__ = ["SequentialSelection"]

Floats = NDArray[np.float64]
Subset = tuple[int, ...]  # columns, ascending


@estimator(title="greedy search by a cross-validated score", summary="rows", supervised=True, sparse=True)
class SequentialSelection(Wrapper):
    """Add (or drop) the feature that helps the score most, one at a time; floating searches also step back.

    Every subset is scored on the same folds. The best score of a path is optimistic, because it was chosen as the best:
    `select.compare` shows by how much, with nested cross-validation.

    {parameters}

    Attributes
    ----------
    subsets_ : array (m, d)
        The best subset of every size on the path, smallest first.
    cv_scores_ : array (m, folds)
        Its score in every fold.
    support_ : array (d,)
        Whether a feature is selected.

    """

    direction: str = param("forward", Choice("forward", "backward"), "Add to no features, or drop from all.")
    floating: bool = param(
        False, Flag(), "After each step, step back as long as that beats the same size (SFFS, SBFS)."
    )
    patience: int | None = param(
        None,
        Maybe(Integer(1)),
        "Stop early after so many steps without a better score; None goes to the end. A number k is always reached.",
    )
    tol: float = param(0.0, Real(0), "A score is better if it exceeds the best so far by more than this.")

    def fit(self, X: Any, y: Any = None) -> SequentialSelection:
        """Search the subsets, and select one by k."""
        with self._fitting():
            task = self._read_task(X, y)
            search = _Search(task, self._log(task), self._processes, self.direction == "forward")
            d = task.X.shape[1]
            count = None if isinstance(self.k, str) else resolve_count(self, self.k, d)
            patience = self.patience if count is None else None
            self._keep_path(*search.run(count, self.floating, patience, self.tol))
        return self


class _Search:
    """The state of a sequential search: the current subset, and the best one of every size."""

    def __init__(self, task: SelectionTask, log: ResultLog, processes: int, forward: bool) -> None:
        self._task, self._log, self._processes, self._forward = task, log, processes, forward
        self._d = task.X.shape[1]
        self._best: dict[int, tuple[Subset, Floats]] = {}

    def run(
        self, count: int | None, floating: bool, patience: int | None, tol: float
    ) -> tuple[NDArray[np.bool_], Floats]:
        """Masks of the best subset of every size, and their scores by fold."""
        current: Subset = () if self._forward else tuple(range(self._d))
        last = count or (self._d if self._forward else 1)
        if current:
            self._keep(*self._score([current])[0])
        record, waited = -np.inf, 0
        while len(current) != last:
            before = current
            current, scores = self._step(before, self._forward, frozenset())
            if len(current) not in self._best or scores.mean() > self._mean(len(current)):
                self._keep(current, scores)
            if floating:
                changed = frozenset(set(before) ^ set(current))
                current, scores = self._float(current, scores, changed)
            waited = 0 if scores.mean() > record + tol else waited + 1
            record = max(record, scores.mean())
            if patience is not None and waited >= patience:
                break
        masks = np.zeros((len(self._best), self._d), dtype=bool)
        for row, (subset, _) in enumerate(self._best.values()):
            masks[row, list(subset)] = True
        return masks, np.array([scores for _, scores in self._best.values()])

    def _float(self, current: Subset, scores: Floats, changed: frozenset[int]) -> tuple[Subset, Floats]:
        """Steps back, without the feature of the last step, while each beats the current score and its own size's."""
        while (len(current) if self._forward else self._d - len(current)) > 2:
            other, other_scores = self._step(current, not self._forward, changed)
            if other_scores.mean() <= max(scores.mean(), self._mean(len(other))):
                break
            current, scores = other, other_scores
            self._keep(current, scores)
        return current, scores

    def _step(self, current: Subset, forward: bool, fixed: frozenset[int]) -> tuple[Subset, Floats]:
        """The best subset with one feature more, or one less; of equal ones, the one with the first columns."""
        inside = set(current)
        if forward:
            candidates = [tuple(sorted((*current, j))) for j in range(self._d) if j not in inside and j not in fixed]
        else:
            candidates = [tuple(i for i in current if i != j) for j in reversed(current) if j not in fixed]
        scored = self._score(candidates)
        return scored[int(np.argmax([scores.mean() for _, scores in scored]))]

    def _score(self, candidates: list[Subset]) -> list[tuple[Subset, Floats]]:
        out: list[tuple[Subset, Floats]] = []
        found = self._log.compute(
            candidates, lambda subset: ",".join(map(str, subset)), self._task.scores, self._processes
        )
        for subset, scores in found:
            out.append((subset, np.array(scores)))
            report(f"subsets of {len(subset)} features", len(out), len(candidates), score=out[-1][1].mean())
        return out

    def _keep(self, subset: Subset, scores: Floats) -> None:
        self._best[len(subset)] = subset, scores

    def _mean(self, size: int) -> float:
        return float(self._best[size][1].mean())
