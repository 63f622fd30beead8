"""Indicator coding: columns of categories as columns of 0 and 1, beside standardized numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.mixed import MixedTable, factorize
from lowdim.data.rows import Block, Rows
from lowdim.errors import BadInput
from lowdim.linalg.centered import nonzero_scale
from lowdim.runtime.progress import report

__all__ = ["ColumnCoding", "EncodedRows", "encode_numbers", "fit_coding", "read_codes", "read_numbers"]

Array = NDArray[Any]

MISSING = "missing"  # the name of the category of missing values
SPARSE_FACTOR = 4  # indicators are stored sparsely if their columns are so many times the entries of a row


@dataclass(frozen=True)
class ColumnCoding:
    """How the columns of a table are coded: means and scales of numbers, and the categories of the others."""

    number_columns: Array  # (p,) positions of the columns of numbers
    means: Array  # (p,)
    scales: Array  # (p,) standard deviations, 1 for constant columns
    category_columns: Array  # (J,) position of the column that a category belongs to, ascending
    category_values: Array  # (J,) texts
    shares: Array  # (J,) shares of the rows in the categories

    @property
    def blocks(self) -> list[tuple[int, slice]]:
        """Each column of categories, with the places of its categories."""
        columns, starts = np.unique(self.category_columns, return_index=True)
        ends = np.append(starts, len(self.category_columns))[1:]
        return [(int(c), slice(int(a), int(b))) for c, a, b in zip(columns, starts, ends, strict=True)]


class EncodedRows(Rows):
    """Standardized numbers (n, p), then indicators of categories times a factor for each, made block by block."""

    def __init__(self, numbers: Array, codes: Array, factors: Array, dtype: np.dtype[Any]) -> None:
        self._numbers, self._codes, self._factors = numbers, codes, factors
        self.n, self._p = numbers.shape
        self.d, self.dtype = self._p + len(factors), dtype
        self.sparse = self._p == 0 and SPARSE_FACTOR * codes.shape[1] <= len(factors)

    def block(self, start: int, stop: int) -> Block:
        codes = self._codes[start:stop]  # (m, Q), -1 for none
        known = codes >= 0
        values = np.where(known, self._factors[codes], 0.0).astype(self.dtype)
        if self.sparse:
            starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
            return sp.csr_array((values[known], codes[known], starts), shape=(len(codes), self.d))
        out = np.zeros((len(codes), self.d), dtype=self.dtype)
        out[:, : self._p] = self._numbers[start:stop]
        row, _ = np.nonzero(known)
        out[row, self._p + codes[known]] = values[known]
        return out


def fit_coding(
    table: MixedTable, number_columns: Sequence[int], weights: Array, handle_missing: str
) -> tuple[ColumnCoding, Array]:
    """The coding of a table's columns, and the codes of its rows, (n, Q): places among all categories."""
    means, scales = _means_and_scales(table, number_columns, weights)
    owners: list[int] = []
    texts: list[str] = []
    shares, codes = [], []
    n = float(weights.sum())
    for j in range(len(table.columns)):
        if j in number_columns:
            continue
        found = factorize(table.columns[j])
        column, values = found.codes, found.values
        if (column < 0).any():
            column, values = _own_category(table, j, column, values, handle_missing), [*values, MISSING]
        counts = np.bincount(column, weights=weights, minlength=len(values))
        used = counts > 0  # categories of rows without weight are unknown
        place = np.where(used, len(texts) + np.cumsum(used) - 1, -1)
        codes.append(place[column])
        texts += [value for value, is_used in zip(values, used, strict=True) if is_used]
        owners += [j] * int(used.sum())
        shares.append(counts[used] / n)
        report("coding categories", j + 1, len(table.columns))
    coding = ColumnCoding(
        np.asarray(number_columns, dtype=np.int64),
        means,
        scales,
        np.asarray(owners, dtype=np.int64),
        np.asarray(texts, dtype=object),
        np.concatenate(shares) if shares else np.empty(0),
    )
    return coding, np.column_stack(codes) if codes else np.empty((table.n, 0), dtype=np.int64)


def read_codes(table: MixedTable, coding: ColumnCoding, handle_missing: str, handle_unknown: str) -> Array:
    """Codes of new rows, (n, Q); -1 for a category that was not fitted, if that is not an error."""
    codes = []
    for j, places in coding.blocks:
        known = dict(zip(coding.category_values[places], range(places.start, places.stop), strict=True))
        found = factorize(table.columns[j])
        column, values = found.codes, list(found.values)
        if (column < 0).any():
            column = _own_category(table, j, column, values, handle_missing)
            values.append(MISSING)
        place = np.array([known.get(value, -1) for value in values], dtype=np.int64)
        mapped = place[column]
        if handle_unknown == "error" and (mapped < 0).any():
            row = int(np.argmax(mapped < 0))
            raise BadInput(
                f"row {row} has the category {values[int(column[row])]!r} in column {table.names[j]!r}, which was not "
                "among the fitted rows. Fit again with such rows, or use handle_unknown='ignore'."
            )
        codes.append(mapped)
    return np.column_stack(codes) if codes else np.empty((table.n, 0), dtype=np.int64)


def read_numbers(table: MixedTable, number_columns: Sequence[int]) -> Array:
    """The columns of numbers, (n, p) in float64, without missing values."""
    numbers = np.empty((table.n, len(number_columns)))
    for place, j in enumerate(number_columns):
        if not table.is_number(j):
            raise BadInput(f"column {table.names[j]!r} holds text, but held numbers in the fit. Give numbers.")
        numbers[:, place] = table.columns[j]
        missing = np.isnan(table.columns[j])
        if missing.any():
            raise BadInput(
                f"Input X contains NaN: row {int(np.argmax(missing))} has no value in column {table.names[j]!r} "
                f"({int(missing.sum())} are missing). Drop such rows or impute the values."
            )
    return numbers


def encode_numbers(table: MixedTable, coding: ColumnCoding) -> Array:
    """Standardized numbers, (n, p)."""
    return (read_numbers(table, coding.number_columns.tolist()) - coding.means) / coding.scales


def _means_and_scales(table: MixedTable, number_columns: Sequence[int], weights: Array) -> tuple[Array, Array]:
    """Weighted means and standard deviations (ddof 0) of the numbers, in units in which no square underflows."""
    X = read_numbers(table, number_columns)
    unit = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(unit > 0, unit, 1.0)
    n = float(weights.sum())
    mean = (weights @ (X / unit)) / n
    deviations = X / unit - mean
    mean += (weights @ deviations) / n  # what rounding left of the mean
    deviations = X / unit - mean
    spread = np.abs(deviations).max(axis=0, initial=0.0)
    spread = np.where(spread > 0, spread, 1.0)
    deviation = spread * np.sqrt((weights @ (deviations / spread) ** 2) / n)
    # A column in which all rows are equal may differ from its mean by rounding.
    varies = (X[:1] != X).any(axis=0)
    return mean * unit, np.where(varies, nonzero_scale(deviation, mean, table.dtype) * unit, 1.0)


def _own_category(table: MixedTable, j: int, codes: Array, values: list[str], handle_missing: str) -> Array:
    """Codes in which missing values are one category more, if that was asked for."""
    missing = codes < 0
    if handle_missing == "error":
        raise BadInput(
            f"Input X contains NaN or None: row {int(np.argmax(missing))} has no category in column "
            f"{table.names[j]!r} ({int(missing.sum())} are missing). Drop such rows, or use "
            "handle_missing='category', which makes missing values a category."
        )
    if MISSING in values:
        raise BadInput(f"column {table.names[j]!r} has a category called {MISSING!r} beside missing values. Rename it.")
    return np.where(missing, len(values), codes)
