"""Rows of a map that are equal in the table and move as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Twins", "meet_twins"]


@dataclass(frozen=True)
class Twins:
    """Rows that are there more than once: where they stand, (t,), the group of each, (t,), and its size, (t,)."""

    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, which: NDArray[np.int64]) -> Twins | None:
        """Those among rows of which row i is the distinct row which[i]; None if there are none."""
        sizes = np.bincount(which)[which]
        rows = np.flatnonzero(sizes > 1)
        if not len(rows):
            return None
        return cls(rows, np.unique(which[rows], return_inverse=True)[1], sizes[rows])

    def meet(self, values: NDArray[np.float32]) -> None:
        """Give every row the mean of its group."""
        for axis in range(values.shape[1]):
            sums = np.bincount(self.group, values[self.rows, axis])
            values[self.rows, axis] = sums[self.group] / self.size


def meet_twins(positions: NDArray[np.float32], which: NDArray[np.int64]) -> None:
    """Put rows with one number in `which` at one place, their mean."""
    twins = Twins.of(which)
    if twins is not None:
        twins.meet(positions)
