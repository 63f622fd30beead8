"""Labels as they come: ordered categoricals, numbers, dates and text, their missing ones and their order."""

from __future__ import annotations

import numbers
import re
from datetime import UTC, date, datetime
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MOST_DATES",
    "category_order",
    "label_dates",
    "label_numbers",
    "missing_labels",
    "plain_label",
    "sorted_labels",
]

Array = NDArray[Any]

MOST_DATES = 12  # more distinct dates than this are values on a scale
ISO_DATE = re.compile(r"\d{4}-\d\d(-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?)?")


def category_order(labels: Any) -> list[Any] | None:
    """The categories of an ordered categorical of pandas, or of an Enum of polars, in their order."""
    source = getattr(labels, "cat", labels)
    if getattr(source, "ordered", False) is True:
        return [plain_label(v) for v in source.categories]
    dtype: Any = getattr(labels, "dtype", None)
    return [str(v) for v in dtype.categories] if type(dtype).__name__ == "Enum" else None


def missing_labels(values: Array) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    absent = ("NAType", "NaTType", "NoneType")
    return np.array([type(v).__name__ in absent or (isinstance(v, numbers.Real) and v != v) for v in values])


def label_numbers(values: Array, missing: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The labels as numbers with NaN for what is missing; None if they are something else."""
    if values.dtype.kind == "O":
        there = values[~missing]
        if not len(there) or not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in there):
            return None
    elif values.dtype.kind not in "iuf":
        return None
    out = np.full(len(values), np.nan)
    out[~missing] = values[~missing].astype(np.float64)
    return out


def label_dates(values: Array, missing: NDArray[np.bool_]) -> Array | None:
    """The labels as datetime64 without a time zone (in UTC if they had one); None if they are something else.

    Text is taken as dates only where its values are too many for categories.
    """
    there = values[~missing]
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    if not len(there) or values.dtype.kind not in "OU":
        return None
    if not all(isinstance(v, date) for v in there):  # datetime and pandas' Timestamp are dates too
        texts = {str(v) for v in there}
        if len(texts) <= MOST_DATES or not all(ISO_DATE.fullmatch(text) for text in texts):
            return None
    out = np.full(len(values), np.datetime64("NaT", "us"))
    try:
        out[~missing] = [np.datetime64(_naive(v), "us") for v in there]
    except (ValueError, OverflowError):  # 2023-02-31
        return None
    return out


def _naive(moment: Any) -> Any:
    if not isinstance(moment, datetime):
        return moment if isinstance(moment, date) else str(moment)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def plain_label(label: Any) -> Any:
    return label if isinstance(label, numbers.Real) else str(label)


def sorted_labels(distinct: set[Any], order: list[Any] | None) -> list[Any]:
    """The order of a categorical; else numbers, also those written as text, by value, and natural order."""
    if order is not None:
        rank = {label: i for i, label in enumerate(order)}
        return sorted(distinct, key=lambda label: rank.get(label, len(rank)))
    try:
        values = {label: float(label) for label in distinct}
        if all(value == value for value in values.values()):
            return sorted(distinct, key=lambda label: (values[label], isinstance(label, str), str(label)))
    except (ValueError, OverflowError):
        pass
    return sorted(distinct, key=_natural)


def _natural(label: Any) -> tuple[int, Any, str]:
    """Natural sort order: numbers before text, "c2" before "c10"."""
    if isinstance(label, numbers.Real):
        return 0, float(label), ""
    parts = re.split("([0-9]+)", label)
    digits = ((len(p.lstrip("0")), p.lstrip("0")) for p in parts[1::2])  # longer numbers are larger
    texts = ((0, p) for p in parts[::2])
    return 1, tuple(key for pair in zip_longest(texts, digits, fillvalue=(0, "")) for key in pair), label
