"""What a fit reads and what its eigenproblem gives, and sums over the scores of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.linalg.centered import Centered
from lowdim.linear.sdr.regularized_whitening import RegularizedWhitening
from lowdim.linear.sdr.slicing import Slices
from lowdim.summaries.moments import Moments

__all__ = ["RowSum", "Sample", "Solution", "sum_over_scores"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

# A sum over a block of rows, from their scores (m, r), their slices (m,) and their places among all rows.
RowSum = Callable[[Floats, NDArray[np.intp], slice], Floats]


@dataclass(frozen=True)
class Sample:
    """Rows, whose chunks carry their slices, and the response."""

    rows: Rows
    weights: Floats | None
    threads: int
    slices: Slices | None = None  # None for PHD, and for a stream of labels that is read once
    response: Floats | None = None  # (n,) of PHD

    def weights_of(self, cut: slice) -> Floats | None:
        """The weights of some rows."""
        return None if self.weights is None else self.weights[cut]


@dataclass(frozen=True)
class Solution:
    """Eigenpairs of M v = λ S v: all of them, the largest |λ| first."""

    summary: Any  # of the method, made from the rows
    moments: Moments
    whitening: RegularizedWhitening
    values: Floats  # (r,)
    vectors: Floats  # (d, r) V, with VᵀSV = I

    @property
    def shares(self) -> Floats:
        """The share of each slice in all weight, (H,)."""
        return np.asarray(self.moments.counts / self.moments.n)

    @property
    def slice_scores(self) -> Floats:
        """Means of the scores by slice, (H, r)."""
        return np.asarray((self.moments.means - self.moments.mean) @ self.vectors)

    def centered(self, sample: Sample) -> Centered:
        """The rows about their mean."""
        return Centered(sample.rows, self.moments.mean, None, None, sample.threads)


def sum_over_scores(sample: Sample, solution: Solution, total: RowSum, task: str) -> Floats:
    """The sum over all rows of total(scores, slices, places), in one pass."""
    centered, classes = solution.centered(sample), solution.moments.classes

    def summarize(chunk: Chunk, block: Block) -> Floats:
        Z = centered.panel(chunk, block).astype(np.float64) @ solution.vectors
        codes = np.zeros(len(Z), dtype=np.intp)
        if classes is not None:  # a slice without weight is in none of them, and its rows don't count
            codes = np.minimum(np.searchsorted(classes, np.asarray(chunk.y)), len(classes) - 1)
        return total(Z, codes, slice(chunk.start, chunk.stop))

    return fold(sample.rows, summarize, lambda a, b: a + b, sample.threads, task)
