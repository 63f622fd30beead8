"""Neighbours from distances that come in blocks: given ones, a function's, or of very wide sparse rows."""

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
from lowdim.errors import BadInput, BadParameter
from lowdim.knn.exact import Lists
from lowdim.knn.sparse_distances import nearest_entries
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = [
    "Blocks",
    "chosen",
    "lengths",
    "of_function",
    "of_matrix",
    "of_some",
    "of_sparse",
    "select",
    "wide",
]

Array = NDArray[Any]
Blocks = Callable[[int, int], Array]  # distances from queries start … stop to every row

BLOCK_VALUES = 1 << 24
DENSE_BYTES = 2 << 30  # sparse rows that would fill more than this stay sparse


def select(blocks: Blocks, m: int, n: int, k: int, own: bool, threads: int) -> Lists:
    """The k nearest of n rows for m queries. Queries that are the rows (`own`) leave themselves out."""
    out = Lists.empty(m, k)
    size = max(1, min(1024, BLOCK_VALUES // max(n, 1)))

    def work(start: int) -> int:
        stop = min(start + size, m)
        block = lengths(blocks(start, stop), np.arange(start, stop))
        selves = np.arange(start, stop, dtype=np.int32) if own else None
        part = out[slice(start, stop)]
        _native.select_nearest(block, selves, 0, part.distances, part.indices)
        return stop

    for stop in ordered_map(work, range(0, m, size), threads):
        report("selecting neighbours", stop, m)
    return out


def lengths(block: Array, rows: Array) -> NDArray[np.float32]:
    """Distances from the `rows` in float32: zero where rounding left them below it, and refused where they are none."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(block, dtype=np.float32)
    if np.isfinite(narrow).all() and not (narrow < 0).any():
        return narrow
    bad = ~(np.isfinite(narrow) & (narrow >= -rounding_of(block.dtype) * np.fmax.reduce(narrow, axis=None)))
    if bad.any():
        i, j = (int(at) for at in np.argwhere(bad)[0])
        raise BadInput(
            f"a distance must be from 0 to 3e38; from row {rows[i]} to row {j} it is {block[i, j]}. "
            "Mend the distances, or rescale them."
        )
    return np.maximum(narrow, 0)


def chosen(D: Rows, n: int, k: int, own: bool, threads: int) -> Lists:
    """The k nearest by given distances: of all n rows or, in a sparse table, of those whose distances are stored."""
    if D.sparse:
        indices, distances = nearest_entries(D.whole(), k, own)
        return Lists(distances, indices)
    return select(of_matrix(D), D.count, n, k, own, threads)


def of_matrix(D: Rows) -> Blocks:
    """Distances that are given, all of them."""
    return lambda start, stop: np.asarray(D.block(start, stop))


def of_some(D: Any, rows: Array) -> Blocks:
    """The same, from some of the rows."""
    if sp.issparse(D):
        raise BadInput("this needs the distances between all rows, and a sparse table holds some. Give a dense one.")
    return lambda start, stop: np.asarray(D[rows[start:stop]])


def of_function(queries: Array, base: Array, function: Callable[[Any, Any], float]) -> Blocks:
    """Distances that a function of two rows computes."""
    from scipy.spatial.distance import cdist

    return lambda start, stop: np.asarray(cdist(queries[start:stop], base, metric=function))


def of_sparse(queries: Any, base: Any, metric: Metric) -> Blocks:
    """Distances of sparse rows by sparse products in double precision, never made dense."""
    if metric.name not in ("euclidean", "sqeuclidean", "cosine"):
        raise BadParameter(
            f"metric {metric.name!r} needs these sparse rows as a dense table, which is too large. "
            "Use 'euclidean', 'sqeuclidean' or 'cosine', or reduce the columns first."
        )
    left, right = _prepared(queries, metric), _prepared(base, metric)
    left_squares, right_squares = _squares(left), _squares(right)
    turned = right.T.tocsc()

    def block(start: int, stop: int) -> Array:
        products = (left[start:stop] @ turned).toarray()
        if metric.unit_rows:
            aimless = (left_squares[start:stop, None] == 0) & (right_squares[None, :] == 0)
            return np.where(aimless, 0.0, np.maximum(1.0 - products, 0.0))
        squares = np.maximum(left_squares[start:stop, None] + right_squares[None, :] - 2 * products, 0.0)
        return np.asarray(np.sqrt(squares) if metric.root else squares)

    return block


def wide(rows: Rows) -> bool:
    """Whether sparse rows are too many and too wide to be made dense."""
    return rows.sparse and 4 * rows.count * rows.d > DENSE_BYTES


def _prepared(X: Any, metric: Metric) -> Any:
    rows = sp.csr_array(X).astype(np.float64)
    if not np.isfinite(rows.data).all():
        raise BadInput("Input X contains NaN or infinity. Drop or fill such rows.")
    if not metric.unit_rows:
        return rows
    lengths = np.sqrt(_squares(rows))
    return sp.diags_array(1 / np.where(lengths > 0, lengths, 1)).tocsr() @ rows


def _squares(rows: Any) -> NDArray[np.float64]:
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
