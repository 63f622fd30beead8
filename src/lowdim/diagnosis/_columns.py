"""Constant, duplicate and badly scaled columns; tables of counts and of answers on a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.diagnosis._profile import Profile
from lowdim.diagnosis._sample import Sample, bounds, dense_columns, zero_shares

__all__ = ["Columns", "columns"]

Array = NDArray[np.float64]

# A column is nearly constant if one value fills this share of the sample.
ONE_VALUE = 0.99
# Counts and term weights are zero in this share of the rows, in half of the columns or more.
RARE, MOST, FEWEST_COLUMNS = 0.95, 0.5, 20
# Answers on a scale, as in a questionnaire, have so many values in common at most.
MOST_ANSWERS = 11
# One column varies so many times as much as another: it would dominate.
UNEQUAL = 10


@dataclass(frozen=True)
class Columns:
    """Column by column, by name, or by number where there are no names."""

    constant: tuple[str, ...]
    nearly_constant: tuple[str, ...]  # one value fills 99% of the sample; constant ones are not repeated here
    duplicates: tuple[tuple[str, ...], ...]  # groups of equal columns that vary
    scale_ratio: float | None  # the largest standard deviation over the smallest, of the others
    widest: str | None
    narrowest: str | None
    missing: float  # share of the values
    most_missing: str | None  # the column with most of them
    rare: float  # share of the columns that are zero in 95% of the sample, and nowhere negative
    answers: tuple[int, int] | None  # the range of whole numbers that all columns share, as in a questionnaire

    @property
    def are_counts(self) -> bool:
        """Whether most columns are almost always zero, as counts of words or genes are."""
        return self.rare >= MOST

    @property
    def are_unequal(self) -> bool:
        """Whether the columns ought to be standardized."""
        return self.scale_ratio is not None and self.scale_ratio > UNEQUAL and not self.are_counts


def columns(found: Profile, names: list[str], dtype: np.dtype[Any]) -> tuple[Columns, NDArray[np.intp]]:
    """The columns of a profile, and the indices of those that remain if the others are dropped as advised."""
    spread = found.spreads()
    varies = spread > np.finfo(dtype).eps * np.abs(found.means)
    nearly = varies & _one_value(found.sample)
    varying = np.flatnonzero(varies & ~nearly)
    low = high = None
    if len(varying):
        low, high = int(varying[np.argmin(spread[varying])]), int(varying[np.argmax(spread[varying])])
    ratio = None if low is None or high is None else float(spread[high] / spread[low])
    missing, groups = found.missing, _equal(found.column_hashes, varies)
    told = Columns(
        constant=tuple(names[j] for j in np.flatnonzero(~varies)),
        nearly_constant=tuple(names[j] for j in np.flatnonzero(nearly)),
        duplicates=tuple(tuple(names[j] for j in group) for group in groups),
        scale_ratio=ratio,
        widest=None if high is None else names[high],
        narrowest=None if low is None else names[low],
        missing=float(missing.sum()) / (found.rows * len(names)),
        most_missing=names[int(np.argmax(missing))] if missing.any() else None,
        rare=_rare(found.sample),
        answers=_answers(found.sample[:, varies]),
    )
    if told.are_counts:  # rare words are what tells texts apart
        return told, np.flatnonzero(varies)
    repeated = [j for group in groups for j in group[1:]]
    return told, varying[~np.isin(varying, repeated)]


def _one_value(sample: Sample) -> NDArray[np.bool_]:
    """A value that fills more than half of a column is its median."""
    n, d = sample.shape
    if not n:
        return np.zeros(d, dtype=bool)
    if sp.issparse(sample):
        zeros = zero_shares(sample)
        constant = zeros >= ONE_VALUE
        filled = np.flatnonzero(zeros <= 1 - ONE_VALUE)
        constant[filled] = _one_value(dense_columns(sample, filled))
        return constant
    median = np.partition(sample, n // 2, axis=0)[n // 2]
    return np.asarray((sample == median).mean(axis=0) >= ONE_VALUE)


def _rare(sample: Sample) -> float:
    """The share of columns that are almost always zero; 0 for few columns, or where something is negative."""
    n, d = sample.shape
    if d < FEWEST_COLUMNS or not n or sample.min() < 0:
        return 0.0
    return float((zero_shares(sample) >= RARE).mean())


def _answers(sample: Sample) -> tuple[int, int] | None:
    """The lowest and highest answer if all columns hold the same few whole numbers, more than two of them."""
    n, d = sample.shape
    if d < 3 or not n:
        return None
    low, high = float(sample.min()), float(sample.max())
    values = sample.data if sp.issparse(sample) else sample
    if not 2 <= high - low < MOST_ANSWERS or low != int(low) or (values != np.rint(values)).any():
        return None
    lowest, highest = bounds(sample)
    reached = (lowest <= low + 1) & (highest >= high - 1)
    return (int(low), int(high)) if reached.all() else None


def _equal(hashes: NDArray[np.uint64], varies: NDArray[np.bool_]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for j in np.flatnonzero(varies):
        groups.setdefault(int(hashes[j]), []).append(int(j))
    return [group for group in groups.values() if len(group) > 1]
