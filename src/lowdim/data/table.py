"""A table as people have it: numbers, the names of their columns, and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Rows

__all__ = ["NamedArrayRows", "Table", "default_names"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers and what goes with them; `lowdim.read_table` and `lowdim.datasets.load` return one.

    The table itself goes into `fit` and `transform`, with the names of its columns; so does its `X` alone,
    be it an array or the rows of a file.
    """

    X: Array | Rows  # (n, d)
    names: tuple[str, ...]  # d column names; x0, x1, … where the source has none
    labels: Array | None = None  # (n,), or (n, q) where the truth has several coordinates
    label_name: str | None = None
    ids: Array | None = None  # (n,)
    source: str = ""  # where the numbers come from, in words or as a path
    kind: Literal["rows", "distances"] = "rows"  # distances: X[i, j] is the distance from i to j
    image_shape: tuple[int, ...] | None = None  # of a row, where rows are images

    def array(self) -> Array:
        """X as one array in memory; `MemoryTooSmall` if it can't fit."""
        return self.X.whole() if isinstance(self.X, Rows) else self.X

    def rows(self) -> Rows:
        """X as rows that know the names of their columns."""
        return self.X if isinstance(self.X, Rows) else NamedArrayRows(self.X, self.names)


class NamedArrayRows(ArrayRows):
    """Rows of a file that are held in memory, or mapped; they know the names of their columns."""

    def __init__(self, X: Array, feature_names: Sequence[str] | None = None) -> None:
        super().__init__(X)
        self.feature_names = None if feature_names is None else tuple(feature_names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.X, dtype=dtype, copy=copy, subok=False)


def default_names(d: int) -> tuple[str, ...]:
    """x0, x1, …: for columns that have no names of their own."""
    return tuple(f"x{j}" for j in range(d))
