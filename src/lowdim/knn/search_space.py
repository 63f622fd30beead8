"""SearchSpace: rows prepared for the distance kernels, in float32, near the origin, within a safe range.

float32 rows that are fine as they are stay where they are; the kernels subtract the mean as they pack them. All others
become one float32 copy, centered in double precision first, because |a|² + |b|² - 2 a·b cancels in float32 when the
origin is far away. Final distances are measured on the rows as they were given, in their own precision: where they lie,
or on a copy if the kernels can't read them there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import ArrayRows, Block, Chunk, Rows
from lowdim.data.validation import not_finite_error
from lowdim.distance.mapped_rows import mapped_rows
from lowdim.distance.metrics import ARC, MAGNITUDES, SQUARES, Metric
from lowdim.distance.pairwise import not_binary_error
from lowdim.distance.unit_rows import dense_parts, table_of_blocks, unit_rows
from lowdim.errors import BadInput
from lowdim.linalg.centered import Centered, column_means
from lowdim.runtime.memory import require_memory

__all__ = ["SearchSpace", "require_finite_distances", "require_range", "search_space_of"]

Array = NDArray[Any]

ROUNDOFF = 2.0**-24  # unit roundoff of float32
SAFE_RANGE = (1e-12, 1e12)  # within it, squares in float32 neither overflow nor underflow
FLOAT32_RANGE = (1e-30, 1e30)  # beyond it, distances leave float32


@dataclass(frozen=True)
class SearchSpace:
    """Rows as the distance kernels read them, and how queries are brought to the same form."""

    metric: Metric
    work: Array  # (n, d') float32, what the search reads
    shift: NDArray[np.float32] | None  # subtracted while packing
    source: Array  # (n, d') what final distances are measured on: the rows given, or `work`
    scale: float  # from a sum over the columns of `source` to a distance
    mean: NDArray[np.float64]  # subtracted from queries
    factor: float  # queries are multiplied by it
    reach: float  # no value of `work` is further from `shift`
    exact_sums: bool  # sums have no rounding errors: small integers, or bits
    columns: int
    threads: int

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.work.shape[0])

    @property
    def kernel(self) -> int:
        """The native sum over columns."""
        assert self.metric.kernel is not None
        return self.metric.kernel

    def prepare(self, queries: Rows) -> tuple[Array, Array]:
        """Queries as (work, source)."""
        if self.metric.bits:
            words = _pack_bits(queries, self.metric)
            return words, words
        if self.metric.by_pairs:
            source = mapped_rows(queries, self.metric, self.threads)
            return (source * self.factor).astype(np.float32), source
        if self.metric.row_map is not None:
            queries = ArrayRows(mapped_rows(queries, self.metric, self.threads))
        if self.metric.unit_rows:
            units = unit_rows(queries, self.metric, self.threads)
            return units, units
        unchanged = self.factor == 1 and not self.mean.any()
        there = _in_place(queries, self.work.dtype) if unchanged else None
        if there is not None:
            _require_finite(queries)
        work = _centered(queries, self.mean, self.factor, self.threads) if there is None else there
        if self.source is self.work:
            return work, work
        return work, _readable(queries, self.source.dtype)

    def kernel_params(self, dtype: Any) -> Array | None:
        """What the native kernel takes beside the rows, in their dtype."""
        return self.metric.kernel_params(dtype, self.columns)

    def squared_norms(self, work: Array) -> NDArray[np.float64]:
        """|a|² of rows as the products see them, (m,)."""
        mean = np.zeros(work.shape[1]) if self.shift is None else self.shift.astype(np.float64)
        return Centered(ArrayRows(work), mean, None, None, self.threads).squared_norms()

    def rounding_error(self, work: Array, kth: Array) -> Array:
        """A bound of the rounding errors in the sums of the search, for pairs nearer than `kth` (a sum), (m,).

        Rounding errors are as a random walk: six times the root of their number is a bound that fails once in 10⁸
        (Higham and Mary 2019).
        """
        if self.exact_sums:
            return np.zeros(len(work))
        steps = (12 * np.sqrt(work.shape[1]) + 16) * ROUNDOFF
        if self.kernel == SQUARES:
            own = self.squared_norms(work)
            return np.asarray(steps * (own + (np.sqrt(own) + np.sqrt(kth)) ** 2))
        columns = work.shape[1] if self.kernel == MAGNITUDES else 1
        return np.asarray(steps * kth + 4 * ROUNDOFF * self.reach * columns)

    def sums(self, distances: Array) -> NDArray[np.float64]:
        """Reported distances as sums over the columns of `work`, rounded up."""
        wide = distances.astype(np.float64) * (1 + 4 * ROUNDOFF) / self.scale
        wide = 2 * np.sin(np.minimum(wide, np.pi) / 2) if self.metric.root == ARC else wide
        wide = wide**2 if self.metric.root else wide
        if self.source is self.work:
            return wide
        return wide * (self.factor**2 if self.kernel == SQUARES else self.factor)


def search_space_of(rows: Rows, metric: Metric, threads: int) -> SearchSpace:
    """The search space of rows; raises for values that are not finite or that the metric can't use."""
    d = rows.d
    metric = metric.fitted(rows)
    origin = np.zeros(d)
    if metric.by_pairs:
        return _pairwise_space(rows, metric, threads)
    if metric.row_map is not None:
        rows = ArrayRows(mapped_rows(rows, metric, threads))
        d, origin = rows.d, np.zeros(rows.d)
    if metric.bits:
        work = _pack_bits(rows, metric)
        scale = 1.0 / d if metric.name == "hamming" else 1.0
        return SearchSpace(metric, work, None, work, scale, origin, 1.0, 1.0, True, d, threads)
    if metric.unit_rows:
        work = unit_rows(rows, metric, threads)
        packed_mean = column_means(ArrayRows(work), None, threads)[1].astype(np.float32)
        return SearchSpace(metric, work, packed_mean, work, metric.scale, origin, 1.0, 2.0, False, d, threads)
    mean = column_means(rows, None, threads)[1]
    low, high, integral = _extent(rows, threads)
    reach = require_range(low, high)
    exact_sums = integral and 4 * d * (reach + 1) ** 2 < 2**24
    mean = np.rint(mean) if integral else mean  # so that the copy has no rounding errors
    safe = reach == 0 or SAFE_RANGE[0] < reach < SAFE_RANGE[1]
    if safe and rows.dtype == np.float32:
        there = _readable(rows, np.dtype(np.float32))
        shift = mean.astype(np.float32) if metric.kernel == SQUARES else None
        return SearchSpace(metric, there, shift, there, metric.scale, origin, 1.0, reach, exact_sums, d, threads)
    factor = 1.0 if safe else float(2.0 ** -np.round(np.log2(reach)))
    work = _centered(rows, mean, factor, threads)
    integers = isinstance(rows, ArrayRows) and rows.X.dtype.kind in "iub"  # bytes of images, for instance
    if rows.dtype == np.float64 and not (integers and integral and safe):
        source, scale = _readable(rows, np.dtype(np.float64)), metric.scale
    else:
        squared = metric.kernel == SQUARES and not metric.root
        source, scale = work, metric.scale / (factor**2 if squared else factor)
    return SearchSpace(metric, work, None, source, scale, mean, factor, reach * factor, exact_sums, d, threads)


def _pairwise_space(rows: Rows, metric: Metric, threads: int) -> SearchSpace:
    """The search space of a metric that measures one pair at a time: candidates in float32, distances in double."""
    source = mapped_rows(rows, metric, threads)
    largest = max(float(np.nanmax(source, initial=0.0)), -float(np.nanmin(source, initial=0.0)))
    factor = 1.0 if metric.row_map is not None or largest == 0 else float(2.0 ** -np.round(np.log2(largest)))
    work = (source * factor).astype(np.float32)
    scale, origin = metric.scale, np.zeros(source.shape[1])
    return SearchSpace(metric, work, None, source, scale, origin, factor, 1.0, False, source.shape[1], threads)


def require_range(low: float, high: float) -> float:
    """The range of values from `low` to `high`; raises where distances would leave float32."""
    reach = high - low
    if not np.isfinite(reach) or reach > FLOAT32_RANGE[1] or 0 < reach < FLOAT32_RANGE[0]:
        raise BadInput(
            f"the values spread over {reach:g}, and distances are reported in float32, which holds 1e-38 to "
            "3e38. Rescale the columns."
        )
    return reach


def require_finite_distances(distances: Array) -> None:
    """Raise where distances are too large for float32."""
    if not np.isfinite(distances).all():
        raise BadInput("distances between rows are beyond 3e38, the largest number of float32. Rescale the columns.")


def _in_place(rows: Rows, dtype: np.dtype[Any]) -> Array | None:
    """The rows where they lie, if the kernels can read them there."""
    if not isinstance(rows, ArrayRows) or rows.X.dtype != dtype or not rows.X.dtype.isnative:
        return None
    X = np.asarray(rows.X)
    adjacent = X.shape[1] == 1 or X.strides[1] == X.itemsize
    return X if adjacent and X.strides[0] % X.itemsize == 0 and X.flags.aligned else None


def _readable(rows: Rows, dtype: np.dtype[Any]) -> Array:
    """The rows for the kernels, in this dtype: where they lie, or a copy."""
    there = _in_place(rows, dtype)
    if there is not None:
        return there
    needed = dtype.itemsize * rows.count * rows.d
    require_memory(needed, f"a copy of {rows.count} x {rows.d} values in {dtype}", "Use fewer rows or columns.")
    return np.ascontiguousarray(_dense(rows.whole()), dtype=dtype)


def _require_finite(rows: Rows) -> None:
    for chunk in rows.chunks():
        if not np.isfinite(chunk.load()).all():
            raise not_finite_error(rows, chunk)


def _extent(rows: Rows, threads: int) -> tuple[float, float, bool]:
    """The smallest and the largest value, and whether all are integers."""

    def summarize(chunk: Chunk, block: Block) -> tuple[float, float, bool]:
        dense = _values(block)
        low, high = float(dense.min()), float(dense.max())
        if not np.isfinite(low) or not np.isfinite(high):
            raise not_finite_error(rows, chunk)
        first = dense[:16]
        integral = high - low < 2**12 and bool((np.rint(first) == first).all() and (np.rint(dense) == dense).all())
        return low, high, integral

    def merge(a: tuple[float, float, bool], b: tuple[float, float, bool]) -> tuple[float, float, bool]:
        return min(a[0], b[0]), max(a[1], b[1]), a[2] and b[2]

    return fold(rows, summarize, merge, threads)


def _centered(rows: Rows, mean: Array, factor: float, threads: int) -> NDArray[np.float32]:
    return table_of_blocks(rows, rows.d, threads, lambda block: (block - mean) * factor)


def _pack_bits(rows: Rows, metric: Metric) -> NDArray[np.float32]:
    """Rows of 64-bit words; the kernels take any rows as float32, so each word is passed as two of them."""
    words = -(-rows.d // 64)
    require_memory(8 * rows.count * words, f"a table of {rows.count} x {rows.d} bits", "Use fewer rows or columns.")
    out = np.zeros((rows.count, words * 8), dtype=np.uint8)
    for chunk in rows.chunks():
        for start, block in dense_parts(chunk.load()):
            if not ((block == 0) | (block == 1)).all():
                raise not_binary_error(metric)
            packed = np.packbits(block.astype(bool), axis=1)
            begin = chunk.start + start
            out[begin : begin + len(packed), : packed.shape[1]] = packed
    return out.view(np.float32)


def _dense(block: Block) -> Array:
    return np.asarray(block.toarray() if sp.issparse(block) else block)


def _values(block: Block) -> Array:
    """The stored values of a block, and one 0 if a sparse block has entries that are not stored."""
    if not sp.issparse(block):
        return np.asarray(block)
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    missing = block.nnz < block.shape[0] * block.shape[1]
    return np.append(block.data, block.data.dtype.type(0))[: block.nnz + missing]
