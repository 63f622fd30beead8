"""Columns of one scale: by the method where it knows how, else around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowdim.base.estimator import Method
from lowdim.base.standardized import Standardized
from lowdim.data.table import Table
from lowdim.errors import BadParameter
from lowdim.runtime.param import parameters

__all__ = ["on_columns", "reduction", "scaling", "standardized"]

# Distances that compare columns, so that their units count; others compare directions or sets.
OF_COLUMNS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "l1", "l2", "cityblock", "linf")


def standardized(settings: Mapping[str, Any], table: Table, wish: bool | None) -> bool | None:
    """Whether to standardise: as wished, else unless columns are pixels of an image or have no units for the metric.

    None says that there are no columns.
    """
    if table.kind == "distances":
        if wish:
            raise BadParameter(f"{table.source} holds distances, which have no columns to standardise. Drop the flag.")
        return None
    given = "precomputed" in [value for value in settings.values() if isinstance(value, str)]
    usual = table.image_shape is None and settings.get("metric", "euclidean") in OF_COLUMNS and not given
    return usual if wish is None else wish


def on_columns(method: Method, settings: Mapping[str, Any], scaled: bool | None) -> Any:
    """The method with these settings, on standardised columns or on columns as they are."""
    if scaled is not None and "standardize" in parameters(method.cls):
        return method.cls(**settings, standardize=scaled)
    model = method.cls(**settings)
    return Standardized(model) if scaled else model


def reduction(model: Any) -> Any:
    """The fitted method itself, without the scale of the columns that may stand around it."""
    return model.model_ if isinstance(model, Standardized) else model


def scaling(scaled: bool | None, table: Table) -> str:
    """What was done to the columns, in words."""
    if scaled:
        return "standardised (--no-standardize keeps their units)"
    if scaled is None or table.image_shape is None:
        return "as they are"
    return "as they are, for rows are images (--standardize changes that)"
