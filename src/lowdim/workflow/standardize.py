"""Standardized columns, as every front end decides and describes them; the rule itself lives in `base`."""

from __future__ import annotations

from lowdim.base.standardization import build_estimator, inner_estimator, should_standardize
from lowdim.data.table import Table

__all__ = ["build_estimator", "describe_standardization", "inner_estimator", "should_standardize"]


def describe_standardization(standardized: bool, table: Table) -> str:
    """What was done to the columns."""
    if standardized:
        return "standardized (--no-standardize keeps their units)"
    if table.image_shape is None:
        return "not standardized"
    sides = " × ".join(map(str, table.image_shape))
    return f"not standardized, because the rows are images of {sides} (--standardize overrides)"
