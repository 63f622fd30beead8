"""Constant, duplicate and badly scaled columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.diagnosis._profile import Profile

__all__ = ["Columns", "columns"]

# A column is nearly constant if one value fills this share of the sample.
ONE_VALUE = 0.99


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


def columns(found: Profile, names: list[str], dtype: np.dtype[Any]) -> Columns:
    """The columns of a profile."""
    spread = found.spreads()
    varies = spread > np.finfo(dtype).eps * np.abs(found.means)
    nearly = varies & _one_value(found.sample)
    varying = np.flatnonzero(varies & ~nearly)
    low = high = None
    if len(varying):
        low, high = int(varying[np.argmin(spread[varying])]), int(varying[np.argmax(spread[varying])])
    ratio = None if low is None or high is None else float(spread[high] / spread[low])
    missing = found.missing
    return Columns(
        constant=tuple(names[j] for j in np.flatnonzero(~varies)),
        nearly_constant=tuple(names[j] for j in np.flatnonzero(nearly)),
        duplicates=tuple(tuple(names[j] for j in group) for group in _equal(found.column_hashes, varies)),
        scale_ratio=ratio,
        widest=None if high is None else names[high],
        narrowest=None if low is None else names[low],
        missing=float(missing.sum()) / (found.rows * len(names)),
        most_missing=names[int(np.argmax(missing))] if missing.any() else None,
    )


def _one_value(sample: NDArray[np.float64]) -> NDArray[np.bool_]:
    """A value that fills more than half of a column is its median."""
    if not len(sample):
        return np.zeros(sample.shape[1], dtype=bool)
    median = np.partition(sample, len(sample) // 2, axis=0)[len(sample) // 2]
    return np.asarray((sample == median).mean(axis=0) >= ONE_VALUE)


def _equal(hashes: NDArray[np.uint64], varies: NDArray[np.bool_]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for j in np.flatnonzero(varies):
        groups.setdefault(int(hashes[j]), []).append(int(j))
    return [group for group in groups.values() if len(group) > 1]
