"""Standardized columns: by the method where it has the parameter, else by `Standardized` around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowdim.base.estimator import Method
from lowdim.base.standardized import Standardized
from lowdim.data.table import Table
from lowdim.errors import BadParameter
from lowdim.runtime.param import parameters

__all__ = ["build_estimator", "inner_estimator", "should_standardize"]

# Metrics that compare columns in their units; the others compare directions or sets, or scale columns themselves.
UNIT_METRICS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "l1", "l2", "cityblock", "linf")


def should_standardize(
    settings: Mapping[str, Any], table: Table, requested: bool | None, method: Method | None = None
) -> bool | None:
    """Whether to standardize: as requested, else unless columns are pixels or the metric ignores their units.

    None says that there are no columns, but distances, or that the method weighs its columns itself.
    """
    if method is not None and method.own_scale:
        if requested:
            raise BadParameter(f"{method.name} weighs its columns itself. Omit standardize=True.")
        return None
    if table.kind == "distances":
        if requested:
            raise BadParameter(f"{table.source} holds distances, which can't be standardized. Omit standardize=True.")
        return None
    if requested and settings.get("metric") == "gower":
        raise BadParameter("Gower's distance scales columns by their ranges already. Omit standardize=True.")
    if requested is not None:
        return requested
    precomputed = "precomputed" in [value for value in settings.values() if isinstance(value, str)]
    return table.image_shape is None and settings.get("metric", "euclidean") in UNIT_METRICS and not precomputed


def build_estimator(method: Method, settings: Mapping[str, Any], standardize: bool | None) -> Any:
    """The unfitted estimator with these settings, on standardized columns or on columns as they are."""
    if standardize is not None and "standardize" in parameters(method.cls):
        return method.cls(**settings, standardize=standardize)
    model = method.cls(**settings)
    return Standardized(model) if standardize else model


def inner_estimator(model: Any) -> Any:
    """The method itself, fitted or not yet, without the `Standardized` that may be around it."""
    return getattr(model, "model_", model.model) if isinstance(model, Standardized) else model
