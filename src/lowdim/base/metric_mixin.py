"""The parameters `metric` and `metric_params`, for every method that measures distances between rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from lowdim.base.state import StateCheck
from lowdim.data.categories import categorical_rows
from lowdim.data.rows import Rows
from lowdim.distance.metric_params import MetricParams
from lowdim.distance.metrics import Metric, MetricLike, metric_of
from lowdim.distance.row_maps import require_complete
from lowdim.errors import LowdimError
from lowdim.runtime.param import param

__all__ = ["MetricMixin"]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MetricMixin:
    """Adds `metric` and `metric_params`, and tells scikit-learn when X holds distances (the tag `pairwise`).

    What a metric takes from the fitted rows is kept in `metric_params_`, for new rows.
    """

    metric: str | Callable[[Any, Any], float] = param(
        "euclidean", MetricLike(), "Distance between two rows; 'precomputed' if X holds distances."
    )
    metric_params: Mapping[str, Any] | None = param(
        None,
        MetricParams(),
        "Parameters of the metric: p of 'minkowski', V of 'seuclidean', V or VI of 'mahalanobis'; weights, "
        "categorical, ordinal, asymmetric and range of 'gower'.",
    )

    @property
    def _precomputed(self) -> bool:
        """Whether X holds distances instead of rows."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _mixed(self) -> bool:
        """Whether rows may hold categories and missing values, which only distances between them can use."""
        return isinstance(self.metric, str) and self.metric == "gower"

    def _fit_metric(self, rows: Rows | None) -> None:
        """Find the parameters that depend on the rows; None if there are distances or a graph instead."""
        metric = metric_of(self.metric, self.metric_params)
        if rows is not None and not self._precomputed:
            metric = metric.fitted(rows)
        self.metric_params_ = dict(metric.params)

    @property
    def _fitted_metric(self) -> Metric:
        """The metric with the parameters of the fit."""
        return metric_of(self.metric, getattr(self, "metric_params_", None))

    def _encode_rows(self, X: Any, fitting: bool) -> Any:
        """Rows with codes in the place of text, if the metric compares categories; `read_rows` calls this."""
        if not self._mixed:
            return X
        return categorical_rows(X, None if fitting else self.metric_params_["categories"])

    def _check_metric(self, check: StateCheck) -> None:
        """Refuse a model file whose metric lacks parameters, or has others."""
        if not check.sizes["d"]:
            return
        try:
            metric = self._fitted_metric
            require_complete(metric.name, metric.params, check.sizes["d"])
        except LowdimError as error:
            check.require(False, str(error).rstrip("."))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.allow_nan = self._mixed
        return tags
