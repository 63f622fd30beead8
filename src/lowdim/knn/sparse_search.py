"""Exact k-NN search of sparse rows by an inverted index, which stores the rows of each column.

What two rows share is summed over the columns that both fill, in double precision: products for Euclidean distances and
those that become one (cosine, correlation and Hellinger, whose rows are scaled to unit length by a factor and never
made dense), common magnitudes for Manhattan distances, common elements for sets. Distances of near rows, which would
cancel, are measured by differences. Equal distances (in float32) are ordered by index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.ownership import canonical_csr
from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import not_finite_error
from lowdim.distance.metrics import MAGNITUDES, SQUARES, Metric
from lowdim.distance.pairwise import not_binary_error
from lowdim.distance.unit_rows import negative_shares_error
from lowdim.knn.exact import QUERY_ROWS, NeighborLists
from lowdim.knn.search_space import require_range
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = [
    "SparseSpace",
    "SparseTable",
    "has_inverted_index",
    "is_long_search",
    "sparse_all_pairs",
    "sparse_query",
    "sparse_space_of",
]

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_FILLED = 0.25  # rows of which a larger share is filled are faster as dense ones
LARGE_VALUES = 1 << 28  # that would take a gigabyte as dense rows, and stay sparse
NULL_LENGTH = 8 * np.finfo(np.float64).eps  # as in `unit_rows`, relative to the root of the columns
EXPONENT_RANGE = 300  # powers of two between the values of rows whose products neither overflow nor underflow


@dataclass(frozen=True)
class SparseTable:
    """Sparse rows as the inverted index takes them; |a|² and the like follow from them."""

    starts: NDArray[np.int64]  # (n + 1,)
    columns: NDArray[np.int32]  # ascending in every row
    values: Array
    factors: Floats  # (n,) of the rows, which scale them to unit length
    offsets: Floats  # (n,) √d times the mean of a scaled row, for correlations

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.factors)

    def __getitem__(self, rows: slice) -> SparseTable:
        part = slice(int(self.starts[rows.start]), int(self.starts[rows.stop]))
        starts = self.starts[rows.start : rows.stop + 1] - part.start
        return SparseTable(starts, self.columns[part], self.values[part], self.factors[rows], self.offsets[rows])

    def parts(self) -> tuple[Array, Array, Array, Array, Array]:
        """The arrays, in the order of the native functions."""
        return self.starts, self.columns, self.values, self.factors, self.offsets


@dataclass(frozen=True)
class SparseSpace:
    """Sparse rows in an inverted index, and how queries are brought to the same form."""

    metric: Metric
    index: _native.InvertedIndex
    table: SparseTable
    columns: NDArray[np.int64] | None  # those that occur, where most do not; None: all
    d: int
    threads: int

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.table.n

    def prepare(self, queries: Rows) -> SparseTable:
        """Queries, which may be dense, as a table of the dtype of the rows."""
        return _table(queries, self.metric, self.columns, self.table.values.dtype)


def has_inverted_index(rows: Rows, metric: Metric) -> bool:
    """Whether rows are searched by an inverted index: the metric is a sum over shared columns, and few are filled."""
    if not rows.sparse or metric.row_map is not None:
        return False
    if metric.kernel not in (SQUARES, MAGNITUDES) and not metric.bits:
        return False
    values = rows.count * rows.d
    return bool(rows.whole().nnz <= MOST_FILLED * values) or values > LARGE_VALUES


def is_long_search(rows: Rows) -> bool:
    """Whether comparing all pairs takes longer than an approximate search of the rows as dense ones.

    The units are additions to a sum: the pairs that share a column, and a share of all pairs, which are looked at;
    for the approximate search, its products per row, which were measured.
    """
    counts = np.bincount(rows.whole().indices, minlength=1).astype(np.float64)
    exact = (counts @ counts) / 2 + rows.count**2 / 16
    return bool(exact > rows.count * (100 * rows.d + 40_000))


def sparse_space_of(rows: Rows, metric: Metric, threads: int) -> SparseSpace:
    """The inverted index of sparse rows; raises for values that are not finite or that the metric can't use."""
    csr = rows.whole()
    item = 8 if metric.root_rows else rows.dtype.itemsize
    needed = csr.nnz * (20 + 6 * item) + 64 * rows.count
    require_memory(needed, f"an inverted index of {csr.nnz} values", "Use fewer rows, or reduce the columns first.")
    columns = None if rows.d <= 4 * csr.nnz + (1 << 16) else np.unique(csr.indices).astype(np.int64)
    dtype = np.dtype(np.float32 if metric.bits else np.float64 if metric.root_rows else rows.dtype)
    table = _table(rows, metric, columns, dtype)
    if not metric.bits and not metric.unit_rows:
        require_range(float(table.values.min(initial=0)), float(table.values.max(initial=0)))
    bound = (rows.d if columns is None else max(len(columns), 1)) + 1  # one more for rows without a direction
    assert metric.kernel is not None
    index = _native.InvertedIndex(*table.parts(), bound, metric.kernel, metric.root, metric.scale, rows.d, threads)
    return SparseSpace(metric, index, table, columns, rows.d, threads)


def sparse_all_pairs(space: SparseSpace, k: int) -> NeighborLists:
    """The k nearest other rows of every row, by comparing all pairs."""
    found = NeighborLists.empty(space.n, k)
    rounds = space.index.round_count
    for turn in range(rounds):
        _native.sparse_all_pairs_round(space.index, turn, found.distances, found.indices, space.threads)
        report("comparing all pairs", turn + 1, rounds)
    return found


def sparse_query(space: SparseSpace, asked: SparseTable, k: int, own: Array | None = None) -> NeighborLists:
    """The k nearest rows of the space to every query; the row of number own[i], if given, is left out for query i."""
    found, m = NeighborLists.empty(asked.n, k), asked.n
    for start in range(0, m, QUERY_ROWS):
        cut = slice(start, min(start + QUERY_ROWS, m))
        part, left_out = found[cut], None if own is None else own[cut]
        _native.sparse_queries(space.index, *asked[cut].parts(), left_out, part.distances, part.indices, space.threads)
        report("comparing queries", cut.stop, m)
    return found


def _table(rows: Rows, metric: Metric, known: NDArray[np.int64] | None, dtype: np.dtype[Any]) -> SparseTable:
    whole = rows.whole()
    csr = canonical_csr(whole if rows.sparse else sp.csr_array(whole))
    if not np.isfinite(csr.data).all():
        raise not_finite_error(rows, Chunk(0, rows.count, lambda: whole))
    n, d = csr.shape
    factors, offsets = np.ones(n), np.zeros(n)
    values, null = csr.data, np.zeros(n, dtype=bool)
    if metric.bits:
        if (values != 1).any():
            raise not_binary_error(metric)
    elif metric.unit_rows:
        values, factors, offsets, null = _unit_lengths(csr, metric)
    elif values.dtype != dtype:  # queries of another precision
        with np.errstate(over="ignore"):
            values = values.astype(dtype)
        if not np.isfinite(values).all():
            raise not_finite_error(rows, Chunk(0, rows.count, lambda: whole.astype(dtype)))
    scaled = sp.csr_array((values.astype(dtype, copy=False), csr.indices, csr.indptr), shape=(n, d))
    return _indexed(scaled, factors, offsets, null, known)


def _indexed(
    csr: sp.csr_array, factors: Floats, offsets: Floats, null: Array, known: NDArray[np.int64] | None
) -> SparseTable:
    """Rows with the columns of the index; a row without a direction has one column that no other row has."""
    columns = csr.indices
    beyond = csr.shape[1]
    if known is not None:
        place = (
            np.minimum(np.searchsorted(known, columns), len(known) - 1) if len(known) else np.zeros(len(columns), int)
        )
        seen = known[place] == columns if len(known) else np.zeros(len(columns), dtype=bool)
        beyond, columns = len(known), place
        if not seen.all():  # columns that no row of the index has, behind all that some have
            columns[~seen] = beyond + 1 + np.unique(csr.indices[~seen], return_inverse=True)[1]
            csr = sp.csr_array((csr.data, columns, csr.indptr), shape=(csr.shape[0], int(columns.max()) + 1))
            csr.sort_indices()
            columns = csr.indices
    starts, values = csr.indptr.astype(np.int64), csr.data
    if null.any():
        row = np.repeat(np.arange(len(null)), np.diff(starts))
        kept = ~null[row]
        counts = np.where(null, 1, np.diff(starts))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        filled = np.ones(int(starts[-1]), dtype=bool)
        filled[starts[:-1][null]] = False
        wide, numbers = np.full(len(filled), beyond, dtype=np.int32), np.ones(len(filled), dtype=values.dtype)
        wide[filled], numbers[filled] = columns[kept], values[kept]
        columns, values = wide, numbers
    return SparseTable(starts, columns.astype(np.int32, copy=False), np.ascontiguousarray(values), factors, offsets)


def _unit_lengths(csr: sp.csr_array, metric: Metric) -> tuple[Array, Floats, Floats, NDArray[np.bool_]]:
    """Values, the factors that scale rows to unit length, their offsets, and the rows without a direction."""
    n, d = csr.shape
    row = np.repeat(np.arange(n), np.diff(csr.indptr))
    largest = np.zeros(n)
    filled = np.diff(csr.indptr) > 0
    largest[filled] = np.maximum.reduceat(np.abs(csr.data), csr.indptr[:-1][filled]) if filled.any() else 0
    values = csr.data
    exponents = np.frexp(largest[filled])[1]
    if metric.root_rows or (values.dtype == np.float64 and _is_extreme(values, exponents)):
        values = np.ldexp(values.astype(np.float64), -np.frexp(largest)[1][row])  # so that no square overflows
        largest = np.ldexp(largest, -np.frexp(largest)[1])
    if metric.root_rows:
        if (values < 0).any():
            raise negative_shares_error()
        values, largest = np.sqrt(values), np.sqrt(largest)
    wide = values.astype(np.float64, copy=False)
    mean = np.zeros(n)
    if metric.centered_rows:
        mean = np.bincount(row, wide, n) / d
        rest = d - np.bincount(row, minlength=n)
        squares = np.bincount(row, (wide - mean[row]) ** 2, n) + rest * mean**2
    else:
        squares = np.bincount(row, wide * wide, n)
    length = np.sqrt(squares)
    null = length <= NULL_LENGTH * np.sqrt(d) * largest
    factors = 1 / np.where(null, 1, length)
    return values, factors, np.where(null, 0, np.sqrt(d) * mean * factors), null


def _is_extreme(values: Array, exponents: Array) -> bool:
    low = np.frexp(np.abs(values).min(initial=1))[1]
    return bool(exponents.max(initial=0) > EXPONENT_RANGE or low < -EXPONENT_RANGE)
