"""Moments of single columns: counts and means by class, within-class squares, ranges; in one pass, additive.

The diagonal of `Moments`: what univariate filters need, in memory proportional to the number of columns, so that a
table with 100,000 of them needs no scatter matrix. Merged by the update of Chan, Golub and LeVeque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.target import ClassLabels, block_labels
from lowdim.data.validation import not_finite_error, overflow_error, underflow_error
from lowdim.runtime.threads import scratch
from lowdim.select._target import Target

__all__ = ["ColumnMoments", "CrossMoments", "column_moments", "cross_moments"]

Floats = NDArray[np.float64]


@dataclass
class ColumnMoments:
    """First and second moments of every column by itself, by class."""

    counts: Floats  # (C,) sums of weights
    means: Floats  # (C, d)
    within: Floats  # (d,) sums of squared deviations from the class means
    low: Floats  # (d,)
    high: Floats  # (d,)
    classes: NDArray[Any] | None  # (C,), sorted; None without labels
    dtype: np.dtype[Any]

    @property
    def n(self) -> float:
        """The sum of the weights."""
        return float(self.counts.sum())

    @property
    def mean(self) -> Floats:
        """Means of the columns, (d,)."""
        base = self.means[0]  # differences from one class keep a common large offset exact
        return base + (self.counts / self.n) @ (self.means - base)

    @property
    def between(self) -> Floats:
        """Sums of squared deviations of the class means from the mean, (d,)."""
        return self.counts @ (self.means - self.mean) ** 2

    @property
    def total(self) -> Floats:
        """Sums of squared deviations from the mean, (d,)."""
        return self.within + self.between

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Columns that do not vary beyond rounding, (d,)."""
        return np.sqrt(self.total / self.n) <= np.finfo(self.dtype).eps * np.abs(self.mean)


def column_moments(rows: Rows, target: Target | None, weights: Floats | None, threads: int) -> ColumnMoments:
    """Moments of the columns; without a target there is one class, unless the chunks of a stream bring labels."""

    def summarize(chunk: Chunk, block: Block) -> ColumnMoments:
        classes, codes = _labels(chunk, target)
        weight = None if weights is None else weights[chunk.start : chunk.stop]
        part = _part(block.toarray() if sp.issparse(block) else block, classes, codes, weight)
        if part is None:
            raise not_finite_error(rows, chunk)
        return part

    out = fold(rows, summarize, _merge, threads)
    if not np.isfinite(out.total).all():
        raise overflow_error()
    if ((out.high > out.low) & (out.total == 0)).any():
        raise underflow_error()
    return out


def _labels(chunk: Chunk, target: Target | None) -> tuple[Any, Any]:
    known = None
    if target is not None and target.classes is not None and target.codes is not None:
        known = ClassLabels(target.classes, target.codes)
    labels = block_labels(chunk, known)
    return (None, None) if labels is None else (labels.classes, np.ascontiguousarray(labels.codes))


def _part(block: NDArray[Any], classes: Any, codes: Any, weights: Floats | None) -> ColumnMoments | None:
    """Moments of one chunk, centered by its own means; None if a value is not finite."""
    n, d = block.shape
    C = 1 if classes is None else len(classes)
    labels = np.zeros(n, dtype=np.int32) if codes is None else codes
    counts = np.bincount(labels, weights=weights, minlength=C).astype(np.float64)
    sums, rests = np.empty((C, d)), np.empty((C, d))
    if not _native.column_sums(block, codes, weights, sums):
        return None
    divisors = np.where(counts > 0, counts, 1.0)[:, None]
    means, panel = sums / divisors, scratch((n, d), block.dtype)
    roots = None if weights is None else np.sqrt(weights)
    if not _native.center(block, means, panel, codes, None, roots):
        return None
    # The rounding error of the means is left in the panel; in a constant column it would look like variance.
    _native.column_sums(panel, codes, roots, rests)
    squares = np.einsum("ij,ij->j", panel, panel, dtype=np.float64)
    within = np.maximum(squares - (rests**2 / divisors).sum(axis=0), 0.0)
    low, high = block.min(axis=0).astype(np.float64), block.max(axis=0).astype(np.float64)
    return ColumnMoments(counts, means + rests / divisors, within, low, high, classes, block.dtype)


def _merge(a: ColumnMoments, b: ColumnMoments) -> ColumnMoments:
    classes = a.classes
    if a.classes is not None and b.classes is not None and not np.array_equal(a.classes, b.classes):
        classes = np.union1d(a.classes, b.classes)
        a, b = _extended(a, classes), _extended(b, classes)
    counts = a.counts + b.counts
    share = np.divide(b.counts, counts, out=np.zeros_like(counts), where=counts > 0)
    shift = b.means - a.means
    shift[(a.counts == 0) | (b.counts == 0)] = 0.0
    within = a.within + b.within + (a.counts * share) @ shift**2
    means = np.where((a.counts == 0)[:, None], b.means, a.means + share[:, None] * shift)
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return ColumnMoments(counts, means, within, low, high, classes, a.dtype)


def _extended(m: ColumnMoments, classes: NDArray[Any]) -> ColumnMoments:
    """The same moments with a place for every one of these classes."""
    index = np.searchsorted(classes, np.asarray(m.classes))
    counts, means = np.zeros(len(classes)), np.zeros((len(classes), m.means.shape[1]))
    counts[index], means[index] = m.counts, m.means
    return ColumnMoments(counts, means, m.within, m.low, m.high, classes, m.dtype)


@dataclass
class CrossMoments:
    """Moments of the columns and of a response beside them, in one pass."""

    columns: ColumnMoments  # of one class
    response: ColumnMoments  # of one class and one column
    products: Floats  # (d,) sums of products of both deviations


def cross_moments(rows: Rows, response: Floats, weights: Floats | None, threads: int) -> CrossMoments:
    """Moments of the columns with those of a response (n,)."""

    def summarize(chunk: Chunk, block: Block) -> CrossMoments:
        cut = slice(chunk.start, chunk.stop)
        weight = None if weights is None else weights[cut]
        y = np.ascontiguousarray(response[cut, None])
        dense = block.toarray() if sp.issparse(block) else block
        columns, own = _part(dense, None, None, weight), _part(y, None, None, weight)
        if columns is None or own is None:
            raise not_finite_error(rows, chunk)
        deviations = (y - own.means)[:, 0] * (1.0 if weight is None else weight)
        return CrossMoments(columns, own, deviations @ (dense - columns.means))

    def merge(a: CrossMoments, b: CrossMoments) -> CrossMoments:
        harmonic = a.columns.n * b.columns.n / max(a.columns.n + b.columns.n, np.finfo(float).tiny)
        shift = (b.columns.means - a.columns.means)[0] * (b.response.means - a.response.means)[0, 0]
        products = a.products + b.products + harmonic * shift
        return CrossMoments(_merge(a.columns, b.columns), _merge(a.response, b.response), products)

    out = fold(rows, summarize, merge, threads)
    if not (np.isfinite(out.columns.total).all() and np.isfinite(out.products).all()):
        raise overflow_error()
    if ((out.columns.high > out.columns.low) & (out.columns.total == 0)).any():
        raise underflow_error()
    return out
