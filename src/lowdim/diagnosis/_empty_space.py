"""The empty space phenomenon: the share of grid cells without a row (lecture 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.diagnosis._sample import Sample, bounds, dense_columns, spreads

__all__ = ["EmptySpace", "empty_space"]

Array = NDArray[np.float64]

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class EmptySpace:
    """Cells of a grid with `bins` bins per column, over the first 1, 2, … of the columns that vary most."""

    bins: int
    cells: tuple[int, ...]  # bins, bins², …
    empty: tuple[float, ...]  # the share of them without a row
    expected_empty: tuple[float, ...]  # the share expected for as many uniformly distributed rows
    log10_cells: float  # of the grid over all columns that vary, to compare with the rows
    log10_rows: float


def empty_space(X: Sample, rows: int, bins: int = 5) -> EmptySpace | None:
    """The grid of a sample X of a table with so many rows."""
    spread = spreads(X)
    lowest, highest = bounds(X)
    varying = np.flatnonzero(highest > lowest)
    if not len(varying):
        return None
    leading = varying[np.argsort(-spread[varying], kind="stable")]
    deepest = min(len(leading), int(np.log(MOST_CELLS) / np.log(bins)))
    code = np.zeros(X.shape[0], dtype=np.int64)
    cells: list[int] = []
    empty: list[float] = []
    expected_empty: list[float] = []
    for column in dense_columns(X, leading[:deepest]).T:
        low, high = column.min(), column.max()
        code = code * bins + np.minimum((column - low) / (high - low) * bins, bins - 1).astype(np.int64)
        cells.append(bins ** (len(cells) + 1))
        empty.append(1 - len(np.unique(code)) / cells[-1])
        expected_empty.append(float((1 - 1 / cells[-1]) ** X.shape[0]))
    log10_cells = float(len(varying) * np.log10(bins))
    return EmptySpace(bins, tuple(cells), tuple(empty), tuple(expected_empty), log10_cells, float(np.log10(rows)))
