"""k-NN from blocks of distances: precomputed ones, those of a function or of single pairs, or of wide sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Rows
from lowdim.distance.matrix_checks import rounding_of
from lowdim.distance.metrics import Metric
from lowdim.distance.pairwise import function_distances, prepare_rows
from lowdim.errors import BadInput, BadParameter
from lowdim.knn.exact import NeighborLists
from lowdim.knn.sparse_distances import nearest_entries
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = [
    "SPARSE_METRICS",
    "Blocks",
    "block_rows",
    "distance_blocks",
    "is_wide",
    "nearest_given",
    "nearest_in_blocks",
    "nonnegative_float32",
    "precomputed_blocks",
    "sparse_distances",
]

Array = NDArray[Any]
Blocks = Callable[[int, int], Array]  # distances from queries start … stop to every row

SPARSE_METRICS = ("euclidean", "sqeuclidean", "cosine")  # that are computed by sparse products
BLOCK_VALUES = 1 << 24
DENSE_BYTES = 2 << 30  # sparse rows that would fill more than this stay sparse


def block_rows(n: int, d: int, metric: Metric) -> int:
    """Queries per block of distances to n rows; fewer where single pairs are measured, for Ctrl-C."""
    values = n * d if metric.by_pairs else n
    return max(1, min(1024, BLOCK_VALUES // max(values, 1)))


def nearest_in_blocks(
    blocks: Blocks, m: int, n: int, k: int, own: bool, threads: int, *, undefined: bool = False, size: int = 1024
) -> NeighborLists:
    """The k nearest of n rows for m queries; if the queries are these rows (`own`), each without itself.

    Distances may be infinite where they can be `undefined`: such rows are no neighbors, if there are enough others.
    """
    out = NeighborLists.empty(m, k)
    size = max(1, min(size, BLOCK_VALUES // max(n, 1)))

    def work(start: int) -> int:
        stop = min(start + size, m)
        block = nonnegative_float32(blocks(start, stop), np.arange(start, stop), undefined=undefined)
        left_out = np.arange(start, stop, dtype=np.int32) if own else None
        part = out[slice(start, stop)]
        _native.select_nearest(block, left_out, 0, part.distances, part.indices)
        return stop

    for stop in ordered_map(work, range(0, m, size), threads):
        report("selecting neighbors", stop, m)
    return out


def nonnegative_float32(block: Array, rows: Array, *, undefined: bool = False) -> NDArray[np.float32]:
    """Distances from the `rows` in float32: 0 where rounding left them below it; raises where they are no distances."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(block, dtype=np.float32)
    if undefined and not np.isnan(narrow).any():
        return narrow
    if np.isfinite(narrow).all() and not (narrow < 0).any():
        return narrow
    bad = ~(np.isfinite(narrow) & (narrow >= -rounding_of(block.dtype) * np.fmax.reduce(narrow, axis=None)))
    if bad.any():
        i, j = (int(at) for at in np.argwhere(bad)[0])
        raise BadInput(
            f"a distance must be from 0 to 3e38; from row {rows[i]} to row {j} it is {block[i, j]}. "
            "Correct the distances, or rescale them."
        )
    return np.maximum(narrow, 0)


def nearest_given(D: Rows, n: int, k: int, own: bool, threads: int) -> NeighborLists:
    """The k nearest by precomputed distances: of all n rows or, in a sparse table, of those that are stored."""
    if D.sparse:
        indices, distances = nearest_entries(D.whole(), k, own)
        return NeighborLists(distances, indices)
    return nearest_in_blocks(lambda start, stop: np.asarray(D.block(start, stop)), D.count, n, k, own, threads)


def precomputed_blocks(D: Any, rows: Array) -> Blocks:
    """Precomputed distances from some of the rows."""
    if sp.issparse(D):
        raise BadInput("this needs the distances between all rows, and a sparse table holds some. Give a dense one.")
    return lambda start, stop: np.asarray(D[rows[start:stop]])


def distance_blocks(queries: Rows, base: Rows, metric: Metric, threads: int) -> Blocks:
    """Distances in double precision by a fitted metric that has no kernel of tiles, or of wide sparse rows."""
    if metric.function is not None:
        function, left, right = metric.function, _dense_whole(queries), _dense_whole(base)
        return lambda start, stop: function_distances(left[start:stop], right, function)
    if metric.by_pairs and not is_wide(base):
        return _pair_blocks(queries, base, metric, threads)
    return _sparse_blocks(queries.whole(), base.whole(), metric)


def _pair_blocks(queries: Rows, base: Rows, metric: Metric, threads: int) -> Blocks:
    """Distances by the kernels that measure one pair at a time; those of a block are computed by one thread."""
    fitted = prepare_rows(_Double(base), metric, threads)
    asked = fitted if queries is base else prepare_rows(_Double(queries), metric, threads, fitted)
    params, kernel = fitted.params, fitted.kernel
    assert kernel is not None

    def block(start: int, stop: int) -> Array:
        part = asked.table[start:stop]
        out: Array = np.empty((len(part), len(fitted.table)))
        _native.cross_distances(part, fitted.table, kernel, metric.root, fitted.scale, out, 1, params)
        return out

    return block


class _Double(Rows):
    """Rows in double precision."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self.sparse = rows, rows.sparse
        self.n, self.d, self.dtype = rows.count, rows.d, np.dtype(np.float64)
        self.feature_names = getattr(rows, "feature_names", None)

    def block(self, start: int, stop: int) -> Any:
        """The same block in float64."""
        return self._rows.block(start, stop).astype(np.float64, copy=False)


def _sparse_blocks(queries: Any, base: Any, metric: Metric) -> Blocks:
    """Distances of sparse rows by sparse products in double precision, never made dense."""
    if metric.name not in SPARSE_METRICS:
        raise BadParameter(
            f"metric {metric.name!r} needs these sparse rows as a dense table, which is too large. "
            "Use 'euclidean', 'sqeuclidean' or 'cosine', or reduce the columns first."
        )
    left, right = _scaled(queries, metric), _scaled(base, metric)
    left_squares, right_squares = _squared_norms(left), _squared_norms(right)
    transposed = right.T.tocsc()

    def block(start: int, stop: int) -> Array:
        products = (left[start:stop] @ transposed).toarray()
        if metric.unit_rows:
            both_zero = (left_squares[start:stop, None] == 0) & (right_squares[None, :] == 0)
            return np.where(both_zero, 0.0, np.maximum(1.0 - products, 0.0))
        squares = np.maximum(left_squares[start:stop, None] + right_squares[None, :] - 2 * products, 0.0)
        return np.asarray(np.sqrt(squares) if metric.root else squares)

    return block


def sparse_distances(queries: Any, base: Any, metric: Metric) -> Array:
    """All distances from sparse queries to sparse rows, (m, n), in the dtype of these; 0 from a table to itself."""
    m, n = queries.shape[0], base.shape[0]
    blocks, size = _sparse_blocks(queries, base, metric), block_rows(n, base.shape[1], metric)
    out = np.empty((m, n), dtype=base.dtype)
    for start in range(0, m, size):
        stop = min(start + size, m)
        out[start:stop] = blocks(start, stop)
        report("computing distances", stop, m)
    if queries is base:
        np.fill_diagonal(out, 0)
    return out


def is_wide(rows: Rows) -> bool:
    """Whether sparse rows are too many and too wide to be made dense."""
    return rows.sparse and 4 * rows.count * rows.d > DENSE_BYTES


def _scaled(X: Any, metric: Metric) -> Any:
    """Sparse rows in float64, of length one if the metric asks for it."""
    rows = sp.csr_array(X).astype(np.float64)
    if not np.isfinite(rows.data).all():
        raise BadInput("Input X contains NaN or infinity. Drop or fill such rows.")
    if not metric.unit_rows:
        return rows
    lengths = np.sqrt(_squared_norms(rows))
    return sp.diags_array(1 / np.where(lengths > 0, lengths, 1)).tocsr() @ rows


def _dense_whole(rows: Rows) -> Array:
    whole = rows.whole()
    return np.asarray(whole.toarray() if rows.sparse else whole)


def _squared_norms(rows: Any) -> NDArray[np.float64]:
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
