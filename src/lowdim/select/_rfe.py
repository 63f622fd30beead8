"""Recursive feature elimination with cross-validation (Guyon, Weston, Barnhill and Vapnik 2002)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim.base.estimator import estimator
from lowdim.base.state import StateCheck
from lowdim.errors import BadInput, BadParameter
from lowdim.runtime.param import param
from lowdim.runtime.progress import report
from lowdim.select._selector import COUNT
from lowdim.select._wrapper import SelectionTask, Wrapper, estimator_errors, finite_scores

__all__ = ["RFE", "importances_of"]

Floats = NDArray[np.float64]


@estimator(title="recursive elimination by importance", summary="rows", supervised=True, sparse=True)
class RFE(Wrapper):
    """Drop the least important features, fit again, and so on; the number to keep is chosen by cross-validation.

    Every fold eliminates on its own training rows, so its scores are not biased by the elimination itself.

    {parameters}

    Attributes
    ----------
    subsets_ : array (m, d)
        The features left after each elimination on all rows, smallest first.
    cv_scores_ : array (m, folds)
        The score of that many features in every fold, which has eliminated by itself.
    ranking_ : array (d,)
        1 for the selected features; the others by when they were eliminated.
    support_ : array (d,)
        Whether a feature is selected.

    """

    step: int | float = param(1, COUNT, "Features dropped at a time, or a share of all features.")

    def fit(self, X: Any, y: Any = None) -> RFE:
        """Eliminate in every fold and on all rows, and select by k."""
        with self._fitting():
            task = self._read_task(X, y)
            n, d = task.X.shape
            step = self.step if isinstance(self.step, int) else max(1, int(self.step * d))
            log, everything = self._log(task, step), np.arange(n)

            scores = []
            work = partial(_fold_scores, task, step)
            for fold, found in log.compute(range(len(task.splits)), "fold {}".format, work, self._processes):
                scores.append(found)
                report("elimination in folds", fold + 1, len(task.splits))
            subsets = np.array([mask for mask, _ in _eliminate(task, everything, None, step)])
            self._keep_path(subsets, np.array(scores).T)
            self.ranking_ = _ranking(self.subsets_, self.support_)
        return self

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.indices("ranking_", "d", below=check.sizes["d"] + 1)


def _fold_scores(task: SelectionTask, step: int, fold: int) -> list[float]:
    return [score for _, score in _eliminate(task, *task.splits[fold], step)]


def _eliminate(
    task: SelectionTask, train: NDArray[np.intp], test: NDArray[np.intp] | None, step: int
) -> list[tuple[NDArray[np.bool_], float]]:
    """The features left at each stage, from all to one, and their scores on the test rows (0 without any)."""
    from sklearn.metrics import check_scoring

    d = task.X.shape[1]
    left = np.arange(d)
    path: list[tuple[NDArray[np.bool_], float]] = []
    while True:
        with estimator_errors(task.estimator):
            model = clone(task.estimator).fit(task.X[np.ix_(train, left)], task.y[train])
        score = 0.0
        if test is not None:
            scorer = check_scoring(model, scoring=task.scoring)
            scores = finite_scores(scorer(model, task.X[np.ix_(test, left)], task.y[test]))
            if scores.size != 1:
                raise BadInput(f"the metric gave {scores.size} numbers for a fold. Give a scoring of one number.")
            score = float(scores.ravel()[0])
        mask = np.zeros(d, dtype=bool)
        mask[left] = True
        path.append((mask, score))
        report("eliminating features", d - len(left) + 1, d)
        if len(left) == 1:
            return path
        # The least important go; of equal ones, those of the last columns.
        order = np.lexsort((-np.arange(len(left)), importances_of(model)))
        left = np.sort(left[order[min(step, len(left) - 1) :]])


def importances_of(model: Any) -> Floats:
    """The importance of each feature in a fitted estimator: its own, or the squares of its coefficients, (d,)."""
    model = model[-1] if hasattr(model, "named_steps") else model
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, dtype=np.float64)
    if not hasattr(model, "coef_"):
        raise BadParameter(
            f"estimator must have coef_ or feature_importances_ after fit; {type(model).__name__} has neither. Use a "
            "linear model, a forest, or SequentialSelection, which needs none."
        )
    coefficients = np.asarray(model.coef_, dtype=np.float64)
    return np.atleast_2d(coefficients**2).sum(axis=0)


def _ranking(subsets: NDArray[np.bool_], support: NDArray[np.bool_]) -> NDArray[np.int64]:
    """1 for what is selected; one more for every elimination before the last."""
    larger = subsets[subsets.sum(axis=1) > support.sum()]  # (m, d), smallest first
    stages = (~larger).sum(axis=0) + 2  # the smallest of them that has the feature
    return np.where(support, 1, stages).astype(np.int64)
