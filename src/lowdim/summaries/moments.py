"""Moments: counts, class means and within-class scatter, the summary that linear methods read.

Each chunk is centered by its own means before products are taken, and Moments are merged by the update of Chan, Golub
and LeVeque, so a mean of 1e8 costs no digits of a variance of 1. Products of float32 chunks are computed in float32 and
summed in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows, chunk_rows, column_ends
from lowdim.data.target import block_labels, class_labels, union_of_classes
from lowdim.data.validation import FeatureRecord, check_weights, not_finite_error, overflow_error, read_rows, restarts
from lowdim.errors import BadInput, NotEnoughData
from lowdim.linalg.centered import nonzero_scale
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import interruptible_product, scratch, thread_count
from lowdim.summaries.class_columns import class_counts, sparse_class_sums

__all__ = ["Moments", "block_moments", "merge", "moments", "moments_of", "scatter_bytes"]

Array = NDArray[np.float64]
FLOAT64: np.dtype[Any] = np.dtype(np.float64)
STREAM_BLOCKS = 8  # assumed where their number is unknown
MEAN_ROUNDING = 16  # times eps: the means of two chunks of a constant column may differ by so much


@dataclass(repr=False)
class Moments(SummaryDisplay):
    """First and second moments of rows, by class.

    Without labels there is one class, and `within` is the total scatter. Moments are additive:
    `moments(A) + moments(B)` equals `moments(vstack([A, B]))` to rounding.
    """

    rows: int
    counts: Array  # (C,) sums of weights, by class
    means: Array  # (C, d)
    within: Array  # (d, d) within-class scatter W
    classes: NDArray[Any] | None = None  # (C,) class labels, sorted; None without labels
    dtype: np.dtype[Any] = FLOAT64  # of the rows
    feature_names: NDArray[Any] | None = None

    def _summary(self) -> str:
        size = f"{count(self.rows, 'row')} × {count(self.d, 'column')}"
        weighted = "" if self.n == self.rows else f", weights that sum to {self.n:g}"
        classes = "" if self.classes is None else f", {count(len(self.classes), 'class', 'classes')}"
        return f"{size}{weighted}{classes}, {self.dtype}"

    @property
    def d(self) -> int:
        """The number of columns."""
        return int(self.means.shape[1])

    @property
    def n(self) -> float:
        """The sum of the weights; the number of rows without weights."""
        return float(self.counts.sum())

    @property
    def mean(self) -> Array:
        """The mean of all rows, (d,)."""
        # Averaging differences from one class keeps a common large offset exact.
        base = self.means[0]
        return base + (self.counts / self.n) @ (self.means - base)

    @property
    def between(self) -> Array:
        """Between-class scatter B, (d, d)."""
        deviations = (self.means - self.mean) * np.sqrt(self.counts)[:, None]
        return deviations.T @ deviations

    @property
    def total(self) -> Array:
        """Total scatter T = W + B, (d, d)."""
        return self.within if len(self.counts) == 1 else self.within + self.between

    @property
    def variances(self) -> Array:
        """Variances of the columns: the diagonal of `covariance(ddof=0)`, (d,)."""
        return np.diagonal(self.total) / self.n

    def degrees(self, ddof: int) -> float:
        """The divisor of a covariance, n - ddof."""
        if self.n <= ddof:
            raise NotEnoughData(
                f"a covariance with ddof={ddof} needs more than {count(ddof, 'row')}; got n={self.n:g} (the sum of the "
                "weights). Use ddof=0, or give more rows."
            )
        return self.n - ddof

    def covariance(self, ddof: int = 1) -> Array:
        """Covariance matrix T / (n - ddof), (d, d)."""
        return self.total / self.degrees(ddof)

    def scale(self, ddof: int = 1) -> Array:
        """Standard deviations, 1 for constant columns, (d,)."""
        return nonzero_scale(np.sqrt(np.diagonal(self.total) / self.degrees(ddof)), self.mean, self.dtype)

    def correlation(self) -> Array:
        """Pearson correlations, (d, d); zero for a constant column."""
        scale = self.scale(ddof=0)
        out = self.total / self.n / np.outer(scale, scale)
        np.fill_diagonal(out, np.where(np.diagonal(out) > 0, 1.0, 0.0))
        return out

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        within = np.array(self.within, dtype=np.float64)
        return merge(replace(self, counts=self.counts.copy(), means=self.means.copy(), within=within), other)


def moments(X: Any, y: Any = None, *, sample_weight: Any = None, n_jobs: int | None = None) -> Moments:
    """Moments of X, in one pass.

    Parameters
    ----------
    X : array, sparse matrix, memory map, dataframe, file, Dask collection, or iterator of chunks, or function of one
        n rows of d columns, neither changed nor copied.
    y : array of n labels, optional
        Class labels: means and scatter are then by class.
    sample_weight : array of n numbers, optional
        Multiplicity of each row.
    n_jobs : int, optional
        Number of threads; the result has the same bits for any number.

    """
    owner = FeatureRecord()
    counted = restarts(X) and (y is not None or sample_weight is not None)
    rows = read_rows(owner, X, fitting=True, several_passes=counted)
    found = moments_of(rows, y, check_weights(sample_weight, rows.n), thread_count(n_jobs))
    return replace(found, feature_names=getattr(owner, "feature_names_in_", None))


def moments_of(rows: Rows, y: Any, weights: Array | None, threads: int) -> Moments:
    """Moments of rows that have been validated."""
    require_memory(
        scatter_bytes(rows.d, threads, rows.n),
        f"a scatter matrix of {rows.d} × {rows.d}",
        "Use solver='krylov', which needs no such matrix, or fewer columns.",
    )
    if rows.n is None and (y is not None or weights is not None):
        advice = "Give a function that returns a new iterator; labels can also come with the chunks: pairs (X, y)."
        raise BadInput(f"labels and weights need a known number of rows, which an iterator does not have. {advice}")
    known = None if y is None else class_labels(y, rows.n)

    def summarize(chunk: Chunk, block: Block) -> Moments:
        labels = block_labels(chunk, known)
        classes, code = (None, None) if labels is None else (labels.classes, labels.codes)
        weight = None if weights is None else weights[chunk.start : chunk.stop]
        if (part := block_moments(block, classes, code, weight)) is None:
            raise not_finite_error(rows, chunk)
        return part

    out = fold(rows, summarize, merge, threads)
    out.within = np.asarray(out.within, dtype=np.float64)
    if not np.isfinite(out.within).all():
        raise overflow_error()
    return out


def block_moments(block: Block, classes: Any, codes: Any, weights: Any) -> Moments | None:
    """Moments of one block, their scatter in its dtype; None if a value is not finite."""
    part = (_sparse_part if sp.issparse(block) else _dense_part)(block, classes, codes, weights)
    if part is not None:
        # With labels, a column may vary between the classes alone.
        _mark_underflow(part, lambda columns: classes is None and np.greater(*column_ends(block[:, columns])))
    return part


def scatter_bytes(d: int, threads: int, n: int | None = None) -> int:
    """Memory that scatter matrices of d columns need: those waiting in the fold, those of threads, one more."""
    blocks = STREAM_BLOCKS if n is None else -(-n // chunk_rows(d))
    return 8 * d * d * (1 + blocks.bit_length() + min(threads, blocks))


def merge(a: Moments, b: Moments) -> Moments:
    """A + b in the memory of a, by the update of Chan, Golub and LeVeque for each class."""
    if a.d != b.d:
        raise BadInput(f"moments of {a.d} and of {b.d} columns can't be added.")
    if (a.classes is None) != (b.classes is None):
        raise BadInput("moments with labels and moments without can't be added.")
    if a.classes is not None and b.classes is not None and not np.array_equal(a.classes, b.classes):
        union = union_of_classes(a.classes, b.classes)
        a, b = _extended(a, union), _extended(b, union)
    counts = a.counts + b.counts
    share = np.divide(b.counts, counts, out=np.zeros_like(counts), where=counts > 0)
    shift = b.means - a.means  # (C, d)
    shift[(a.counts == 0) | (b.counts == 0)] = 0.0
    correction = np.sqrt(a.counts * share)[:, None] * shift
    a.within = np.asarray(a.within, dtype=np.float64)
    _native.add_scatter(a.within, b.within, correction)
    moved = np.abs(shift) > MEAN_ROUNDING * np.finfo(a.dtype).eps * np.abs(a.means)
    _mark_underflow(a, lambda columns: moved[:, columns].any(axis=0))
    a.means = np.where((a.counts == 0)[:, None], b.means, a.means + share[:, None] * shift)
    a.counts, a.rows = counts, a.rows + b.rows
    return a


def _mark_underflow(m: Moments, vary: Callable[[NDArray[np.intp]], Any]) -> None:
    """Give columns that vary, but whose squares underflow, the smallest scatter: they are not taken for constant."""
    columns = np.flatnonzero(np.diagonal(m.within) == 0)
    if len(columns):
        m.within[columns, columns] = np.where(vary(columns), np.finfo(m.within.dtype).tiny, 0)


def _dense_part(block: Block, classes: Any, codes: Any, weights: Any) -> Moments | None:
    if codes is None and weights is None:
        return _unweighted_part(block)
    n, d = block.shape
    counts = class_counts(n, classes, codes, weights)
    sums = np.empty((len(counts), d))
    if not _native.column_sums(block, codes, weights, sums):
        return None
    means = sums / (divisors := np.where(counts > 0, counts, 1.0)[:, None])
    panel, roots = scratch((n, d), block.dtype), None if weights is None else np.sqrt(weights)
    if not _native.center(block, means, panel, codes, None, roots):
        return None
    # The rounding error of the means is left in the panel; in a constant column it would look like variance.
    rests = np.empty_like(sums)
    _native.column_sums(panel, codes, roots, rests)
    correction = rests / np.sqrt(divisors)
    scatter = interruptible_product(lambda: panel.T @ panel, panel.size * d // 2)
    scatter -= (correction.T @ correction).astype(panel.dtype)
    np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0))
    return Moments(n, counts, means + rests / divisors, scatter, classes, block.dtype)


def _unweighted_part(block: Block) -> Moments | None:
    """One sweep: shift by the mean of a few rows, take sums and products, then correct for the difference δ.

    The scatter about the mean is the scatter about the shift minus n δδᵀ. That costs no digits while δ is below the
    standard deviations; otherwise the sweep is repeated with a better shift.
    """
    n, d = block.shape
    shift = block[:: max(1, n // 128)].mean(axis=0, dtype=np.float64).astype(block.dtype)
    panel, sums = scratch((n, d), block.dtype), np.empty(d)
    for _ in range(2):
        if not _native.shift_rows(block, shift, panel, sums):
            return None
        # NumPy sees that both factors are one array and calls syrk, which is half the work of gemm.
        scatter = interruptible_product(lambda: panel.T @ panel, panel.size * d // 2)
        delta = sums / n
        rounding = n * (np.finfo(block.dtype).eps * shift.astype(np.float64)) ** 2
        squares = np.diagonal(scatter)
        if not ((n * delta**2 > 0.9 * squares) & (squares > 4 * rounding)).any():
            break
        shift = (shift + delta).astype(block.dtype)
    _native.subtract_outer(scatter, delta, float(n))
    np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0))
    return Moments(n, np.array([float(n)]), (shift + delta)[None], scatter, None, block.dtype)


def _sparse_part(block: Block, classes: Any, codes: Any, weights: Any) -> Moments | None:
    """Implicit centering: XᵀX - Σ n_c μ_c μ_cᵀ over the classes. For sparse columns the second term is small."""
    n, d = block.shape
    filled = np.bincount(block.indices, minlength=d) if block.nnz else np.zeros(d, dtype=int)
    if filled.max(initial=0) > n // 4:
        # In a nearly dense column the mean may be large, and the difference would cancel.
        return _densified(block, classes, codes, weights)
    if not np.isfinite(block.data).all():
        return None
    counts, wide = class_counts(n, classes, codes, weights), block.astype(np.float64)
    left = wide if weights is None else sp.diags_array(weights).tocsr() @ wide
    means = sparse_class_sums(left, codes, len(counts)) / np.maximum(counts, np.finfo(float).tiny)[:, None]
    scatter = (left.T @ wide).toarray()
    roots = np.sqrt(counts)[:, None] * means
    if codes is not None and ((roots**2).sum(axis=0) > np.diagonal(scatter) / 2).any():  # dense within classes
        return _densified(block, classes, codes, weights)
    return Moments(n, counts, means, np.ascontiguousarray(scatter - roots.T @ roots), classes, block.dtype)


def _densified(block: Block, classes: Any, codes: Any, weights: Any) -> Moments | None:
    total, size = None, chunk_rows(block.shape[1])
    for start in range(0, block.shape[0], size):
        cut = slice(start, start + size)
        code, weight = (None if part is None else part[cut] for part in (codes, weights))
        if (part := _dense_part(block[cut].toarray(), classes, code, weight)) is None:
            return None
        total = part if total is None else merge(total, part)
    return total


def _extended(m: Moments, union: NDArray[Any]) -> Moments:
    """The same with these classes, among which are its own."""
    index = np.searchsorted(union, np.asarray(m.classes))
    counts, means = np.zeros(len(union)), np.zeros((len(union), m.d))
    counts[index], means[index] = m.counts, m.means
    return Moments(m.rows, counts, means, m.within, union, m.dtype, m.feature_names)
