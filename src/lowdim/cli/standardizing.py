"""Columns on one scale: by the method where it knows how, else by the command line before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.data.rows import Rows
from lowdim.data.table import HeldRows, Table
from lowdim.errors import BadParameter
from lowdim.estimator import Method
from lowdim.memory import require_memory
from lowdim.param import parameters
from lowdim.summaries.centred import Centred, column_means
from lowdim.summaries.moments import spread_or_one
from lowdim.threads import thread_count

__all__ = ["by_itself", "scaling", "standardized", "z_scores"]

# Distances that compare columns, so that their units count; others compare directions or sets.
OF_COLUMNS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "l1", "l2", "cityblock", "linf")


def by_itself(method: Method) -> bool:
    """Whether the method standardises, and keeps the scale in its model."""
    return "standardize" in parameters(method.cls)


def standardized(
    method: Method, settings: Mapping[str, Any], table: Table, wish: bool | None, kept: bool
) -> bool | None:
    """Whether to standardise: as wished, else unless columns are pixels of an image or have no units for the metric.

    None says that there are no columns. A model that will be `kept` in a file must standardise by itself.
    """
    if table.kind == "distances":
        if wish:
            raise BadParameter(f"{table.source} holds distances, which have no columns to standardise. Drop the flag.")
        return None
    given = "precomputed" in [value for value in settings.values() if isinstance(value, str)]
    usual = table.image_shape is None and settings.get("metric", "euclidean") in OF_COLUMNS and not given
    scaled = usual if wish is None else wish
    if scaled and kept and not by_itself(method):
        raise BadParameter(
            f"the model file of {method.name} can't hold the scale of the columns, so new rows would be mapped in "
            "other units than the fitted ones. Standardise the columns first; then, or to keep their units, "
            "add --no-standardize."
        )
    return scaled


def z_scores(rows: Any) -> Rows:
    """Every column less its mean, divided by its standard deviation (n - 1); a constant one becomes 0."""
    if rows.count < 2:
        return HeldRows(np.asarray(rows.whole()), rows.feature_names)
    needed = rows.count * rows.d * rows.dtype.itemsize
    require_memory(needed, f"{rows.count} x {rows.d} standardised values", "Use fewer rows, or --no-standardize.")
    threads = thread_count(None)
    n, mean = column_means(rows, None, threads)
    squares = Centred(rows, mean, None, None, threads).column_squares()
    scale = spread_or_one(np.sqrt(squares / (n - 1)), mean, rows.dtype)
    out = np.empty((rows.count, rows.d), dtype=rows.dtype)
    for chunk in rows.chunks():
        out[chunk.start : chunk.stop] = (chunk.load() - mean) / scale
    return HeldRows(out, rows.feature_names)


def scaling(scaled: bool | None, table: Table) -> str:
    """What was done to the columns, in words."""
    if scaled:
        return "standardised (--no-standardize keeps their units)"
    if scaled is None or table.image_shape is None:
        return "as they are"
    return "as they are, for rows are images (--standardize changes that)"
