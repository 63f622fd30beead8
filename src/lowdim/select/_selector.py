"""What every selector is: scikit-learn's selector contract on lowdim's estimator, and the base of all filters."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.base.state import StateCheck
from lowdim.data.ownership import dense_table
from lowdim.data.rows import Chunk, Rows, is_stream
from lowdim.data.table import Table
from lowdim.data.validation import not_finite_error, read_rows
from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.runtime.param import Either, Integer, Maybe, Real, param

__all__ = ["COUNT", "Filter", "FilterScores", "Selector", "check_scores", "finite_table", "rank", "resolve_count"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

COUNT = Either(Integer(1), Real(0, 1, open=True))


class Selector(SelectorMixin, Estimator):  # type: ignore[misc]
    """Base of all selectors: a fitted one has `support_`, the mask of the selected features."""

    support_: NDArray[np.bool_]  # (d,)
    scores_: Floats  # (d,) of filters
    ranking_: NDArray[np.int64]  # (d,) of filters and of RFE; 1 is the best

    def transform(self, X: Any) -> Any:
        """The selected columns of X, in its own dtype."""
        check_is_fitted(self, "support_")
        if isinstance(X, str | os.PathLike | Table | Rows) or is_stream(X):
            X = read_rows(self, X, fitting=False).whole()
        try:
            return super().transform(X)
        except TypeError as error:
            raise BadInputType(str(error)) from error
        except ValueError as error:
            raise BadInput(str(error)) from error

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def _check_state(self, check: StateCheck) -> None:
        found = check.value("support_")
        mask = isinstance(found, np.ndarray) and found.dtype == np.bool_ and found.shape == (check.sizes["d"],)
        check.require(mask, f"support_ must be a mask of {check.sizes['d']} features")

    @property
    def _n_features_out(self) -> int:
        return int(np.count_nonzero(self.support_))


@dataclasses.dataclass(frozen=True)
class FilterScores:
    """What a filter finds: one score per feature, larger is better, and p-values where there is a test."""

    scores: Floats  # (d,)
    pvalues: Floats | None = None  # (d,)
    order: NDArray[np.intp] | None = None  # (d,) features from best to worst, if not by their scores


@dataclasses.dataclass(eq=False, repr=False)
class Filter(Selector):
    """Base of all filters: a subclass writes `_score`, and this selects by number, share or threshold."""

    _doc_parts: ClassVar[dict[str, str]] = {
        "ranking": """
            ranking_ : array (d,)
                1 for the largest score.
            support_ : array (d,)
                Whether a feature is selected.
            """
    }

    k: int | float | None = param(
        0.5,
        Maybe(COUNT),
        "Number of features to select, or a share of all features; None selects all that reach the threshold.",
        kw_only=False,
    )
    threshold: float | None = param(None, Maybe(Real()), "Least score of a selected feature; None sets no limit.")

    def fit(self, X: Any, y: Any = None) -> Any:
        """Score the features, and select the best."""
        with self._fitting():
            self._select(self._score(X, y))
        return self

    def _score(self, X: Any, y: Any) -> FilterScores:
        raise NotImplementedError

    def _select(self, found: FilterScores) -> None:
        """Set the scores, the ranking and the support."""
        d = len(found.scores)
        count = d if self.k is None else resolve_count(self, self.k, d)
        order = rank(found.scores) if found.order is None else found.order
        ranking = np.empty(d, dtype=np.int64)
        ranking[order] = np.arange(1, d + 1)
        support = ranking <= count
        if self.threshold is not None:
            support &= found.scores >= self.threshold
        if not support.any():
            raise NotEnoughData(
                f"{type(self).__name__}: no feature reaches threshold={self.threshold:g}; the largest score is "
                f"{found.scores.max():.6g}. Lower the threshold, or set it to None."
            )
        self.scores_, self.ranking_, self.support_ = found.scores, ranking, support
        if found.pvalues is not None:
            self.pvalues_ = found.pvalues

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        d = check.sizes["d"]
        check_scores(check, "scores_", d)
        check.indices("ranking_", d, below=d + 1)
        if "pvalues_" in vars(self):
            check_scores(check, "pvalues_", d)


def check_scores(check: StateCheck, name: str, d: int) -> None:
    """Scores in a state: numbers, of which some may be infinite (a feature that separates the classes perfectly)."""
    found = check.value(name)
    numbers = isinstance(found, np.ndarray) and found.dtype == np.float64 and found.shape == (d,)
    check.require(numbers and not np.isnan(found).any(), f"{name} must be {d} numbers in float64")


def rank(scores: Floats) -> NDArray[np.intp]:
    """Features from the largest score to the smallest; equal scores keep the order of the columns."""
    return np.argsort(-scores, kind="stable")


def resolve_count(owner: Any, k: int | float, d: int) -> int:
    """The number of features that k asks for: itself, or a share of d, which is at least 1."""
    if isinstance(k, float):
        return max(1, round(k * d))
    if k > d:
        raise NotEnoughData(f"{type(owner).__name__}: k must be at most {d}, the number of features; got {k}.")
    return k


def finite_table(rows: Rows) -> Array:
    """All rows as one dense array of finite numbers, which may be the caller's own: never write into it."""
    X = dense_table(rows)
    if not np.isfinite(X).all():
        raise not_finite_error(rows, Chunk(0, rows.count, rows.whole))
    return X
