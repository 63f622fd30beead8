"""Means by class and within-class sums of squares of the columns: what Moments hold, without the d × d scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.target import ClassLabels
from lowdim.data.validation import not_finite_error
from lowdim.runtime.threads import scratch

__all__ = ["ClassColumns", "class_columns", "class_counts", "sparse_class_sums"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClassColumns:
    """Column sums by class: two of them add by the update of Chan, Golub and LeVeque."""

    counts: Array  # (C,) sums of weights
    means: Array  # (C, d)
    squares: Array  # (d,) sums of squares about the class means: the diagonal of the within-class scatter

    def __add__(self, other: ClassColumns) -> ClassColumns:
        counts = self.counts + other.counts
        share = np.divide(other.counts, counts, out=np.zeros_like(counts), where=counts > 0)[:, None]
        shift = other.means - self.means
        squares = self.squares + other.squares + ((self.counts[:, None] * share) * shift**2).sum(axis=0)
        return ClassColumns(counts, self.means + share * shift, squares)


def class_columns(rows: Rows, labels: ClassLabels, weights: Array | None, threads: int) -> ClassColumns:
    """Class means and within-class sums of squares, in one pass; every block is centered first."""
    classes = len(labels.classes)

    def summarize(chunk: Chunk, block: Block) -> ClassColumns:
        dense = block.toarray() if sp.issparse(block) else block
        cut = slice(chunk.start, chunk.stop)
        codes, weight = labels.codes[cut], None if weights is None else weights[cut]
        counts = class_counts(len(codes), labels.classes, codes, weight)
        divisors = np.where(counts > 0, counts, 1.0)[:, None]
        sums, panel = np.empty((classes, rows.d)), scratch(dense.shape, dense.dtype)
        if not _native.column_sums(dense, codes, weight, sums):
            raise not_finite_error(rows, chunk)
        means = sums / divisors
        if not _native.center(dense, means, panel, codes, None, None):
            raise not_finite_error(rows, chunk)
        rests = np.empty_like(sums)  # the rounding error of the means
        _native.column_sums(panel, codes, weight, rests)
        np.multiply(panel, panel, out=panel)
        squares = np.empty((1, rows.d))
        _native.column_sums(panel, None, weight, squares)
        corrected = np.maximum(squares[0] - (rests**2 / divisors).sum(axis=0), 0.0)
        return ClassColumns(counts, means + rests / divisors, corrected)

    return fold(rows, summarize, ClassColumns.__add__, threads)


def class_counts(n: int, classes: Any, codes: Any, weights: Any) -> Array:
    """Sums of the weights of n rows by class, (C,)."""
    if codes is None:
        return np.array([float(n) if weights is None else float(weights.sum())])
    return np.bincount(codes, weights=weights, minlength=len(classes)).astype(np.float64)


def sparse_class_sums(block: Block, codes: Any, count: int) -> Array:
    """Sums of sparse rows by class, (C, d)."""
    n = block.shape[0]
    rows = np.zeros(n, dtype=np.int32) if codes is None else codes
    return np.asarray((sp.csr_array((np.ones(n), (rows, np.arange(n))), shape=(count, n)) @ block).toarray())
