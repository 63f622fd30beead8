"""Slices of the response: by quantile, by width or by category, for one response or several."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import number_kind
from lowdim.data.target import class_labels, numeric_responses, target_array
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.runtime.param import Choice, Integer, param

__all__ = ["Slices", "SlicingMixin", "slice_responses"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class SlicingMixin:
    """Adds `n_slices` and `slicing`."""

    n_slices: int = param(10, Integer(2), "Number of slices of the response; each distinct value is one if fewer.")
    slicing: str = param(
        "auto",
        Choice("auto", "quantile", "width", "category"),
        "Slices of equal counts, of equal width, or one per class; 'auto': classes for text and for at most n_slices "
        "distinct values, else quantiles.",
    )


@dataclass(frozen=True)
class Slices:
    """The slice of each row, and what tells the slices apart."""

    codes: NDArray[np.int32]  # (n,) from 0 to H - 1
    names: tuple[str, ...]  # (H,) a category, or an interval of the response
    edges: Floats | None = None  # (H - 1,) between the intervals of one numeric response

    @property
    def count(self) -> int:
        """The number of slices, H."""
        return len(self.names)


def slice_responses(y: Any, n: int, weights: Floats | None, n_slices: int, slicing: str) -> Slices:
    """Slices of the responses y, (n,) or (n, q), none of them empty.

    "quantile" gives slices of about equal weight; equal responses stay in one slice, so there may be fewer than asked
    for. "width" gives intervals of equal length; empty ones are dropped. "category" gives one slice per distinct
    response. "auto" takes categories for text and for at most `n_slices` distinct numbers, else quantiles.

    Several responses are sliced one within the other, as in R's dr: each into the q-th root of `n_slices`, rounded up.
    """
    columns = _columns(y, n)
    numeric = all(column.dtype == np.float64 for column in columns)
    if slicing == "auto":
        distinct = max(len(np.unique(column)) for column in columns) if numeric else 0
        slicing = "category" if distinct <= n_slices else "quantile"
    if slicing == "category":
        slices = _categories(columns)
    else:
        if not numeric:
            raise BadParameter(f"slicing={slicing!r} needs numbers, and y holds text. Use slicing='category'.")
        if n_slices > n:
            raise NotEnoughData(f"n_slices={n_slices} is more than the {n} rows. Ask for fewer slices.")
        slices = _intervals(columns, np.ones(n) if weights is None else weights, n_slices, slicing)
    if slices.count < 2:
        raise BadInput(
            f"y is constant or has one class ({slices.names[0]}), and nothing can be learned from it: at least 2 "
            "slices are needed. Give a response that varies."
        )
    if slices.count >= n:
        raise NotEnoughData(
            f"y makes {slices.count} slices of {n} rows, so every slice is a single row. Use fewer slices, or "
            "slicing='quantile'."
        )
    return slices


def _columns(y: Any, n: int) -> list[Array]:
    """The responses, one array per column: float64, or class codes' labels as text."""
    values = target_array(y)
    if _holds_numbers(values):
        return list(numeric_responses(values, n).T)
    if values.ndim == 2 and len(values) == n:
        return [_labels(column, n) for column in values.T]
    return [_labels(values, n)]


def _labels(column: Array, n: int) -> Array:
    found = class_labels(column, n)
    return np.array([str(label) for label in found.classes.tolist()], dtype=object)[found.codes]


def _holds_numbers(values: Array) -> bool:
    """Whether the responses are numbers, also as Python objects; booleans and text are categories."""
    if values.dtype.kind == "O":
        there = [v for v in values.ravel().tolist() if v is not None]
        return not any(isinstance(v, str | bool) for v in there)
    if values.dtype.kind in "USb":
        return False
    number_kind(values, "y")
    return True


def _categories(columns: list[Array]) -> Slices:
    codes, names = np.zeros(len(columns[0]), dtype=np.int64), [""]
    for column in columns:
        classes, own = np.unique(column, return_inverse=True)
        texts = [f"{label:g}" if isinstance(label, float) else str(label) for label in classes.tolist()]
        pairs, codes = np.unique(codes * len(classes) + own, return_inverse=True)
        names = [f"{names[pair // len(classes)]}, {texts[pair % len(classes)]}".lstrip(", ") for pair in pairs]
    return Slices(codes.astype(np.int32), tuple(names))


def _intervals(columns: list[Floats], weights: Floats, n_slices: int, slicing: str) -> Slices:
    each = n_slices if len(columns) == 1 else int(np.ceil(n_slices ** (1 / len(columns)) - 1e-9))
    codes, names, edges = np.zeros(len(weights), dtype=np.int64), [""], None
    for column in columns:
        parts, texts = np.empty_like(codes), list[str]()
        for code in range(len(names)):
            inside = np.flatnonzero(codes == code)
            own, edges = _cut(column[inside], weights[inside], each, slicing)
            parts[inside] = own + len(texts)
            texts += [f"{names[code]}, {interval}".lstrip(", ") for interval in _interval_names(edges)]
        codes, names = parts, texts
    return Slices(codes.astype(np.int32), tuple(names), edges if len(columns) == 1 else None)


def _cut(y: Floats, weights: Floats, count: int, slicing: str) -> tuple[NDArray[np.int64], Floats]:
    """The interval of each response, and the edges between the intervals that are not empty."""
    values, own = np.unique(y, return_inverse=True)
    if slicing == "width":
        span = values[-1] / 2 - values[0] / 2  # halves, so that no difference overflows
        share = (values / 2 - values[0] / 2) / span if span > 0 else np.zeros(len(values))
    else:  # the place of each distinct response among all weight, by its middle
        mass = np.bincount(own, weights=weights, minlength=len(values))
        share = (np.cumsum(mass) - mass / 2) / mass.sum() if mass.sum() > 0 else np.zeros(len(values))
    place = np.minimum((share * count).astype(np.int64), count - 1)
    first = np.flatnonzero(np.diff(place)) + 1  # where an interval begins
    edges = values[first - 1] / 2 + values[first] / 2
    return np.searchsorted(first, np.arange(len(values)), side="right")[own], edges


def _interval_names(edges: Floats) -> list[str]:
    if len(edges) == 0:
        return ["all"]
    inner = [f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges)]
    return [f"below {edges[0]:.6g}", *inner, f"above {edges[-1]:.6g}"]
