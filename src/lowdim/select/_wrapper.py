"""What the wrappers share: an estimator, its cross-validation, and the path of subsets with their scores."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim.base.state import StateCheck
from lowdim.data.target import class_labels
from lowdim.errors import BadInput, BadParameter, LowdimError, NotEnoughData
from lowdim.runtime.checkpoint import CHECKPOINT_PATH
from lowdim.runtime.display import count
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Such, param
from lowdim.runtime.threads import thread_count
from lowdim.select._checkpoint import ResultLog
from lowdim.select._selector import COUNT, Selector, resolve_count
from lowdim.select._target import Target, TaskMixin, read_labeled_table

__all__ = [
    "ESTIMATOR",
    "SelectionTask",
    "Wrapper",
    "choose_size",
    "default_estimator",
    "estimator_errors",
    "finite_scores",
    "folds_of",
    "standard_errors",
]

Floats = NDArray[np.float64]

ESTIMATOR = Maybe(
    Such("a scikit-learn estimator", lambda value: hasattr(value, "fit") and hasattr(value, "get_params"))
)
SPLITTER = Such("a cross-validation splitter", lambda value: hasattr(value, "split"))
SCORING = Maybe(Such("the name of a metric, or a scorer", lambda value: isinstance(value, str) or callable(value)))


@dataclasses.dataclass(frozen=True)
class SelectionTask:
    """A table, its target as scikit-learn takes it, an estimator, and folds that are the same for every subset."""

    X: NDArray[Any]  # (n, d)
    y: NDArray[Any]  # (n,)
    estimator: Any
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    scoring: Any

    def scores(self, columns: Sequence[int] | NDArray[np.intp]) -> Floats:
        """The score of the estimator in every fold on these columns, (folds,)."""
        from sklearn.model_selection import cross_val_score

        options: dict[str, Any] = {"cv": self.splits, "scoring": self.scoring, "error_score": "raise"}
        with estimator_errors(self.estimator):
            return finite_scores(
                cross_val_score(clone(self.estimator), self.X[:, np.asarray(columns)], self.y, **options)
            )


@dataclasses.dataclass(eq=False, repr=False)
class Wrapper(TaskMixin, Selector):
    """Base of selectors that search subsets by the cross-validated score of an estimator."""

    k: int | float | str = param(
        "best",
        Either(COUNT, Choice("best", "parsimonious")),
        "Number of features, or a share of all; 'best': the number with the best score; 'parsimonious': the smallest "
        "whose score is within one standard error of it.",
        kw_only=False,
    )
    estimator: Any = param(
        None,
        ESTIMATOR,
        "The estimator whose score counts; None: logistic regression, or ridge regression for a measurement, on "
        "standardized columns.",
    )
    cv: Any = param(5, Either(Integer(2), SPLITTER), "Number of folds, or a splitter of scikit-learn.")
    scoring: Any = param(None, SCORING, "Metric by name, or a scorer; None: the estimator's own score.")
    checkpoint: str | os.PathLike[str] | None = param(
        None, CHECKPOINT_PATH, "File that keeps every score; a search that was stopped resumes from it."
    )
    n_jobs: int | None = param(
        None, Maybe(Integer()), "Processes, by joblib; None is 1. The result has the same bits for any number."
    )

    @property
    def _processes(self) -> int:
        return 1 if self.n_jobs is None else thread_count(self.n_jobs)

    def _read_task(self, X: Any, y: Any) -> SelectionTask:
        _require_known_scoring(self.scoring)
        table, target = read_labeled_table(self, X, y, self.task)
        values = target.values if target.classes is None else target.classes[target.codes]
        splits = folds_of(table, values, target, self.cv)
        model = default_estimator(target.is_discrete) if self.estimator is None else self.estimator
        return SelectionTask(table, values, model, splits, self.scoring)

    def _log(self, task: SelectionTask, *settings: Any) -> ResultLog:
        """The log of results for this data, estimator and folds."""
        y = class_labels(task.y, None).codes if task.y.dtype.kind in "OU" else task.y
        folds = [index for split in task.splits for index in split]
        scoring = self.scoring if isinstance(self.scoring, str | None) else repr(self.scoring)
        return ResultLog(
            self.checkpoint, type(self).__name__, task.X, y, repr(task.estimator), scoring, *folds, *settings
        )

    def _keep_path(self, subsets: NDArray[np.bool_], scores: Floats) -> None:
        """Set the path, from the smallest subset to the largest, and the support by k."""
        order = np.argsort(subsets.sum(axis=1), kind="stable")
        self.subsets_, self.cv_scores_ = subsets[order], scores[order]
        sizes = self.subsets_.sum(axis=1)
        if isinstance(self.k, str):
            chosen = choose_size(self.cv_scores_, self.k)
        else:
            chosen = int(np.argmin(np.abs(sizes - resolve_count(self, self.k, subsets.shape[1]))))
        self.support_ = self.subsets_[chosen].copy()

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        found, d = check.value("subsets_"), check.sizes["d"]
        masks = isinstance(found, np.ndarray) and found.dtype == np.bool_ and found.ndim == 2 and found.shape[1] == d
        check.require(masks and len(found) > 0 and found.any(axis=1).all(), f"subsets_ must be masks of {d} features")
        check.floats("cv_scores_", len(found), "folds")


def folds_of(X: NDArray[Any], y: NDArray[Any], target: Target, cv: Any) -> list[Any]:
    """The folds, drawn once: training and test rows of each; classes keep their shares if cv is a number."""
    from sklearn.model_selection import check_cv

    if target.is_discrete and Integer().accepts(cv):
        _require_members(np.bincount(target.values), int(cv))
    try:
        return list(check_cv(cv, y, classifier=target.is_discrete).split(X, y))
    except ValueError as error:
        raise NotEnoughData(f"cross-validation is not possible: {error}") from error


def default_estimator(classification: bool) -> Any:
    """A linear model on standardized columns."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000) if classification else Ridge())


def standard_errors(scores: Floats) -> Floats:
    """Standard errors of the mean scores over the folds, (m,)."""
    folds = scores.shape[1]
    return scores.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros(len(scores))


def choose_size(scores: Floats, rule: str) -> int:
    """The row of the best mean score, the first of equal ones; or the first within one standard error of it."""
    means = scores.mean(axis=1)
    best = int(np.argmax(means))
    if rule == "best":
        return best
    return int(np.argmax(means >= means[best] - standard_errors(scores)[best]))


@contextmanager
def estimator_errors(model: Any) -> Iterator[None]:
    """Turn an estimator's complaint about the data into an error of lowdim's own, which names the estimator."""
    try:
        yield
    except LowdimError:
        raise
    except ValueError as error:
        raise BadInput(f"the estimator {type(model).__name__} refuses the data: {error}") from error


def finite_scores(found: Any) -> Floats:
    """Scores as numbers, which must be finite to be compared."""
    scores = np.asarray(found, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise BadInput(
            f"the metric gave {scores[~np.isfinite(scores)][0]} in a fold. Choose another scoring, or fewer folds."
        )
    return scores


def _require_members(counts: NDArray[Any], folds: int) -> None:
    if counts.min() < folds:
        raise NotEnoughData(
            f"the smallest class has {count(counts.min(), 'row')}, and cv={folds} needs {folds}. "
            "Use fewer folds, or leave the class out."
        )


def _require_known_scoring(scoring: Any) -> None:
    if not isinstance(scoring, str):
        return
    from sklearn.metrics import get_scorer_names

    if scoring not in get_scorer_names():
        raise BadParameter(
            f"scoring={str(scoring)!r:.60} is none of scikit-learn's metrics, such as 'accuracy', 'f1_macro' or 'r2'. "
            "sklearn.metrics.get_scorer_names() lists them."
        )
