"""Gower's distance (1971) between rows of numbers, categories and gaps: the weighted mean of what columns differ by.

    d(a, b) = Σ_j w_j δ_j s_j / Σ_j w_j δ_j

s_j is |a_j - b_j| over the range of the column for numbers (at most 1, so that a new row beyond the range differs
completely), 0 or 1 for categories that are equal or not, and the difference of ranks over their range for ordinal
columns. δ_j is 0 where a value is missing, and in asymmetric columns where both are 0, else 1. Ranges, ranks and
categories are those of the fitted rows; a category that none of them has differs from all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import not_finite_error
from lowdim.distance.metric_params import numeric_param, vector_param
from lowdim.distance.value_codes import codes_of, distinct_values
from lowdim.errors import BadInput, BadParameter

__all__ = ["GowerMap", "gower_map", "undefined_gower_error"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

STRANGE = 3  # times the ranks of a column: so far away that a difference is more than 1


@dataclass(frozen=True)
class GowerMap:
    """Numbers scaled by their range, codes of categories and scaled ranks; NaN where a value is missing."""

    low: Floats  # (d,)
    range: Floats  # (d,) 0 for a constant column, from which another value differs completely
    levels: Sequence[Floats | None]  # the distinct values of categorical and ordinal columns
    ordinal: Mask  # (d,)
    text: Mask  # (d,) codes of categories, the last of which stands for all that no fitted row has
    weights: Floats  # (d,) negative for asymmetric columns

    @property
    def columns(self) -> int:
        """Columns of the mapped rows."""
        return len(self.low)

    def __call__(self, block: Floats) -> Floats:
        out = (block - self.low) / np.where(self.range > 0, self.range, 1)
        for j, values in enumerate(block.T):
            levels = self.levels[j]
            if levels is None:
                if self.range[j] == 0:
                    out[:, j] = np.where(np.isnan(values), np.nan, values != self.low[j])
            elif self.ordinal[j]:
                ranks = np.interp(values, levels, np.arange(len(levels))) if len(levels) else np.zeros(len(values))
                ranks = np.where(self.text[j] & (values >= len(levels)), STRANGE * len(levels), ranks)
                out[:, j] = np.where(np.isnan(values), np.nan, ranks / max(len(levels) - 1, 1))
            else:
                out[:, j] = codes_of(values, levels)
        return out


def gower_map(given: Mapping[str, Any], rows: Rows) -> tuple[dict[str, Any], GowerMap]:
    """All parameters of Gower's distance, and its map of rows; those of an earlier fit are taken as they are."""
    if rows.sparse:
        raise BadInput("metric 'gower' takes dense rows; these are sparse. Give X.toarray().")
    params = dict(given)
    d = rows.d
    names = getattr(rows, "feature_names", None)
    categorical, ordinal, asymmetric = (
        _column_mask(kind, params.get(kind), d, names) for kind in ("categorical", "ordinal", "asymmetric")
    )
    found = params.get("categories", getattr(rows, "categories", None))
    categories: Any = [None] * d if found is None else found
    _require_whole_fit(params, categories, d)
    ranked = getattr(rows, "ordered", None)
    if ranked is not None and "levels" not in params:  # ordered categories of a dataframe
        ordinal = ordinal | (np.asarray(ranked) & ~categorical)
    text = np.array([values is not None for values in categories])
    categorical = categorical | (text & ~ordinal)
    _require_one_kind(categorical, ordinal, asymmetric)
    if "levels" not in params:
        params |= _fit(rows, categorical, ordinal, asymmetric, text, params)
    weights = _weights(params.get("weights"), d, names)
    low, extent = (vector_param(name, params[name], d, "gower") for name in ("low", "range"))
    if (extent < 0).any():
        raise BadParameter("metric_params: range of 'gower' must not be negative.")
    levels = params["levels"]
    if not isinstance(levels, list) or len(levels) != d:
        raise BadParameter(f"metric_params: levels of 'gower' must have one entry per column ({d}).")
    levels = [None if values is None else _level_array(values) for values in levels]
    complete = {
        "weights": weights,
        "categorical": categorical,
        "ordinal": ordinal,
        "asymmetric": asymmetric,
        "low": low,
        "range": extent,
        "levels": levels,
        "categories": [None if values is None else list(values) for values in categories],
    }
    signed = np.where(asymmetric, -weights, weights)
    return complete, GowerMap(low, extent, levels, ordinal, text, signed)


def undefined_gower_error() -> BadInput:
    """The error for rows that have no column in common."""
    return BadInput(
        "Gower's distance is not defined for some pairs of rows: there is no column in which both have a value (in "
        "asymmetric columns, one that is not 0). Drop rows or columns of few values."
    )


def _require_whole_fit(params: Mapping[str, Any], categories: Any, d: int) -> None:
    """Refuse a part of what an earlier fit found: levels need the ranges, and every column has an entry of both."""
    if any("levels" in params and name not in params for name in ("low", "range")):
        raise BadParameter(
            "metric_params: levels of 'gower' come with low and range, all from metric_params_ of a fit."
        )
    right = isinstance(categories, Sequence) and not isinstance(categories, str) and len(categories) == d
    if not right or not all(values is None or isinstance(values, Iterable) for values in categories):
        raise BadParameter(f"metric_params: categories of 'gower' must have one entry per column ({d}).")


def _fit(
    rows: Rows, categorical: Mask, ordinal: Mask, asymmetric: Mask, text: Mask, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Ranges and levels of the fitted rows."""
    table = np.asarray(rows.whole(), dtype=np.float64)
    if np.isinf(table).any():
        raise not_finite_error(rows, Chunk(0, len(table), lambda: np.where(np.isnan(table), 0, table)))
    gaps = np.isnan(table)
    if gaps.all(axis=1).any():
        row = int(np.argmax(gaps.all(axis=1)))
        raise BadInput(f"row {row} has no value at all, so that nothing can be compared with it. Drop such rows.")
    for j in np.flatnonzero(asymmetric):
        if not np.isin(table[~gaps[:, j], j], (0, 1)).all():
            raise BadInput(f"column {j} is asymmetric, so that its values must be 0 or 1 (or missing).")
    empty = gaps.all(axis=0)
    low = np.where(empty, 0.0, np.where(gaps, np.inf, table).min(axis=0, initial=np.inf))
    high = np.where(empty, 0.0, np.where(gaps, -np.inf, table).max(axis=0, initial=-np.inf))
    known = getattr(rows, "categories", None) or [None] * rows.d
    levels: list[Floats | None] = []
    for column, is_text, is_kind, values in zip(table.T, text, categorical | ordinal, known, strict=True):
        if is_text:
            levels.append(np.arange(len(values or ()), dtype=np.float64))
        else:
            levels.append(distinct_values(column) if is_kind else None)
    extent = high - low if given.get("range") is None else vector_param("range", given["range"], rows.d, "gower")
    return {"low": low, "range": extent, "levels": levels}


def _weights(given: Any, d: int, names: Sequence[str] | None) -> Floats:
    if given is None:
        return np.ones(d)
    if isinstance(given, Mapping):
        weights = np.ones(d)
        for name, weight in given.items():
            weights[_column_mask("weights", [name], d, names)] = vector_param("weights", [weight], 1, "gower")[0]
    else:
        weights = vector_param("weights", given, d, "gower")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise BadParameter("metric_params: weights of 'gower' must be finite and not negative, and one positive.")
    return weights


def _column_mask(kind: str, given: Any, d: int, names: Sequence[str] | None) -> Mask:
    """Columns by number, by name, or as a mask (d,)."""
    out = np.zeros(d, dtype=bool)
    if given is None:
        return out
    if isinstance(given, np.ndarray) and given.dtype == bool:
        given = given.tolist()
    asked = [given] if isinstance(given, str | int) else list(given) if isinstance(given, Iterable) else [given]
    if asked and all(isinstance(value, bool | np.bool_) for value in asked):
        if len(asked) != d:
            raise BadParameter(f"metric_params: {kind} of 'gower' has {len(asked)} flags for {d} columns.")
        return np.asarray(asked, dtype=bool)
    for column in asked:
        out[_column_number(kind, column, d, names)] = True
    return out


def _column_number(kind: str, column: Any, d: int, names: Sequence[str] | None) -> int:
    if isinstance(column, str):
        known = [] if names is None else [str(name) for name in names]
        if column in known:
            return known.index(column)
        raise BadParameter(f"metric_params: {kind} of 'gower' names the column {column!r}, which X does not have.")
    if isinstance(column, int | np.integer) and -d <= column < d:
        return int(column) % d
    raise BadParameter(
        f"metric_params: {kind} of 'gower' must be numbers of columns, from 0 to {d - 1}, names or flags; got "
        f"{column!r:.60}."
    )


def _require_one_kind(categorical: Mask, ordinal: Mask, asymmetric: Mask) -> None:
    twice = categorical & ordinal | (categorical | ordinal) & asymmetric
    if twice.any():
        raise BadParameter(
            f"metric_params: column {int(np.argmax(twice))} can be only one of categorical, ordinal and asymmetric."
        )


def _level_array(values: Any) -> Floats:
    out = numeric_param("levels", values, "gower")
    if out.ndim != 1 or np.isnan(out).any() or (np.diff(out) <= 0).any():
        raise BadParameter("metric_params: the levels of a column must be ascending numbers.")
    return out
