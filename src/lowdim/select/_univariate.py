"""Univariate filters from the moments of single columns: variance, F test, χ² and Fisher score; they stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.data.rows import StreamRows
from lowdim.data.target import read_supervised
from lowdim.data.validation import check_weights, read_rows
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.runtime.param import Maybe, Real, param
from lowdim.runtime.threads import thread_count
from lowdim.select._column_moments import ColumnMoments, CrossMoments, column_moments, cross_moments
from lowdim.select._selector import COUNT, Filter, FilterScores
from lowdim.select._target import TaskMixin, read_target, require_classes

__all__ = ["ChiSquared", "FTest", "FisherScore", "VarianceThreshold", "f_scores", "response_f_scores"]

Floats = NDArray[np.float64]


@estimator(title="columns that vary", summary="moments", streaming=True, sparse=True, weights=True)
class VarianceThreshold(ThreadsMixin, Filter):
    """Select by variance (divisor n), without a target; by default only constant columns are dropped.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        Variances.
    {ranking}

    """

    k: int | float | None = param(
        None,
        Maybe(COUNT),
        "Number of features to select, or a share of all features; None selects all above the threshold.",
        kw_only=False,
    )
    threshold: float | None = param(0.0, Maybe(Real(0)), "A selected feature has a variance above it.")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> VarianceThreshold:
        """Measure the variances, and select."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True, min_rows=2)
            found = column_moments(rows, None, check_weights(sample_weight, rows.n), thread_count(self.n_jobs))
            variances = np.where(found.constant, 0.0, found.total / found.n)
            above = self.threshold is None or variances > self.threshold
            if not np.any(above):
                raise NotEnoughData(
                    f"no feature in X has a variance above threshold={self.threshold:g}; the largest is "
                    f"{variances.max():.6g}. Lower the threshold."
                )
            self._select(FilterScores(variances))
            self.support_ &= above
        return self


class MomentsFilter(ThreadsMixin, TaskMixin, Filter):
    """Base of supervised filters that one pass over the rows suffices for."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Score the features in one pass over the rows, and select the best; an iterator gives pairs (X, y)."""
        with self._fitting():
            rows, y = read_supervised(self, X, y)
            weights, threads = check_weights(sample_weight, rows.n), thread_count(self.n_jobs)
            if isinstance(rows, StreamRows) and rows.labeled:
                if self.task == "regression":
                    raise BadParameter("task='regression' needs y at once. Give an array, a memory map or a file.")
                found = column_moments(rows, None, None, threads)
                assert found.classes is not None
                require_classes(found.classes)
                self._select(self._of_classes(found))
                return self
            target = read_target(y, rows.n, self.task)
            if target.is_discrete:
                self._select(self._of_classes(column_moments(rows, target, weights, threads)))
            else:
                assert target.response is not None
                self._select(self._of_response(cross_moments(rows, target.response, weights, threads)))
        return self

    def _of_classes(self, found: ColumnMoments) -> FilterScores:
        raise NotImplementedError

    def _of_response(self, found: CrossMoments) -> FilterScores:
        name = type(self).__name__
        raise BadInput(
            f"{name} needs classes, and y is a measurement. Use FTest or MutualInformation, or task='classification'."
        )


@estimator(title="F test of the class means, or of the correlation", summary="moments", supervised=True,
           streaming=True, sparse=True, weights=True)  # fmt: skip
class FTest(MomentsFilter):
    """Select by the F statistic: one-way analysis of variance for classes, linear regression for a measurement.

    A constant feature scores 0, one that separates the classes (or predicts y) without error infinity.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        F statistics.
    pvalues_ : array (d,)
        Their p-values, each of a single test.
    {ranking}

    """

    def _of_classes(self, found: ColumnMoments) -> FilterScores:
        return f_scores(found)

    def _of_response(self, found: CrossMoments) -> FilterScores:
        return response_f_scores(found)


@estimator(title="between-class over within-class scatter", summary="moments", supervised=True,
           streaming=True, sparse=True, weights=True)  # fmt: skip
class FisherScore(MomentsFilter):
    """Select by the Fisher score Σ n_c (μ_c - μ)² / Σ n_c σ_c², from the moments of each class.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        Fisher scores; infinite for a feature that is constant in each class and separates them.
    {ranking}

    """

    def _of_classes(self, found: ColumnMoments) -> FilterScores:
        return FilterScores(_class_quotient(found))


@estimator(title="χ² test of counts against classes", summary="moments", supervised=True,
           streaming=True, sparse=True, weights=True)  # fmt: skip
class ChiSquared(MomentsFilter):
    """Select by the χ² statistic of independence between a feature of counts (or frequencies) and the classes.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        χ² statistics.
    pvalues_ : array (d,)
        Their p-values, each of a single test.
    {ranking}

    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _of_classes(self, found: ColumnMoments) -> FilterScores:
        if (found.low < 0).any():
            column = int(np.argmax(found.low < 0))
            raise BadInput(
                f"Negative values in data passed to X: χ² compares counts, and column {column} has the value "
                f"{found.low[column]:g}. Shift or bin the columns, or use FTest."
            )
        observed = found.counts[:, None] * found.means  # (C, d)
        expected = np.outer(found.counts / found.n, observed.sum(axis=0))
        scores = ((observed - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum(axis=0)
        return FilterScores(scores, chdtrc(len(found.counts) - 1.0, scores))


def f_scores(found: ColumnMoments) -> FilterScores:
    """F statistics of the class means, and their p-values."""
    numerator = float(np.count_nonzero(found.counts) - 1)
    denominator = _degrees(found.n - numerator - 1, "the scatter within classes")
    scores = _class_quotient(found) * (denominator / numerator)
    return FilterScores(scores, fdtrc(numerator, denominator, scores))


def response_f_scores(found: CrossMoments) -> FilterScores:
    """F = r² (n - 2) / (1 - r²) of the correlation with a measurement, and its p-values."""
    degrees = _degrees(found.columns.n - 2, "a regression line")
    total = np.where(found.columns.constant, 1.0, found.columns.total)
    r = found.products / np.sqrt(total) / np.sqrt(found.response.total[0])
    r2 = np.minimum(np.where(found.columns.constant, 0.0, r) ** 2, 1.0)
    scores = _quotient(r2 * degrees, 1.0 - r2)
    return FilterScores(scores, fdtrc(1.0, degrees, scores))


def _class_quotient(found: ColumnMoments) -> Floats:
    """Between-class over within-class squares; a within-class scatter below rounding is none."""
    rounding = found.n * (np.finfo(found.dtype).eps * np.abs(found.mean)) ** 2
    within = np.where(found.within <= rounding, 0.0, found.within)
    return _quotient(np.where(found.constant, 0.0, found.between), within)


def _quotient(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient of both, where 0 / 0 is 0 and a / 0 infinity."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=numerator > 0)


def _degrees(degrees: float, what: str) -> float:
    if degrees <= 0:
        raise NotEnoughData(
            f"{what} has {degrees:g} degrees of freedom, and a minimum of 1 is required. Give more samples."
        )
    return degrees
