"""Kernels of lowdim. Private: call them through the package."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


@overload
def fill_normal(out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], seed: int, stream: int, threads: int) -> None: ...

@overload
def fill_normal(out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], seed: int, stream: int, threads: int) -> None:
    """Standard normals, each a pure function of (seed, stream, position)."""

def fill_words(out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], seed: int, stream: int) -> None:
    """Raw Philox 4x32-10 words."""

@overload
def hash_rows(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def hash_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """A 64-bit hash of every row's values."""

@overload
def hash_sparse_rows(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def hash_sparse_rows(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def hash_sparse_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def hash_sparse_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """The hashes that these compressed sparse rows would have as dense ones."""

@overload
def column_sums(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def column_sums(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Weighted column sums by class into `sums` (C, d); False if one is not finite.
    """

@overload
def center(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, root_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> bool: ...

@overload
def center(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, root_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> bool:
    """
    (x - mean of its class) * scale * root weight into `out`; False if one is not finite.
    """

@overload
def shift_rows(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool: ...

@overload
def shift_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    x - shift into `out` and its column sums into `sums`; False if one is not finite.
    """

@overload
def subtract_outer(part: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float) -> None: ...

@overload
def subtract_outer(part: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float) -> None:
    """part -= factor * outer(v, v), in place."""

@overload
def add_scatter(sum: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], part: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], shifts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

@overload
def add_scatter(sum: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], part: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shifts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
    """sum += part + shifts.T @ shifts, in place."""

@overload
def sparse_times(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def sparse_times(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def sparse_times(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def sparse_times(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """X v into `out`, for X in compressed sparse rows."""

@overload
def sparse_transpose_times(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], u: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def sparse_transpose_times(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def sparse_transpose_times(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], u: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def sparse_transpose_times(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """out += X.T @ u, for X in compressed sparse rows."""

@overload
def row_products(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], v: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def row_products(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    out += x @ v for the first columns of v; the bits of a row do not depend on the other rows.
    """

@overload
def half_symmetric_times(strip: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], start: int, v: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def half_symmetric_times(strip: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], start: int, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    For rows from `start` of a symmetric matrix up to their diagonal block: own += strip @ v[:stop], above += strip[:, :start].T @ v[start:stop].
    """

def chebyshev_filter(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], interval: tuple[float, float], degree: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    The Chebyshev polynomial of a symmetric sparse M, with the interval mapped to [-1, 1], times v.
    """

def chebyshev_filter_gram(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transposed_starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], transposed_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], transposed_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], interval: tuple[float, float], degree: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    chebyshev_filter for M = AᵀA, from the sparse rows of A and of its transpose.
    """

def three_term_step(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], scale: float, shift: float, z_scale: float, threads: int) -> None:
    """out = scale S x + shift x + z_scale z, for a symmetric sparse S."""

def all_pairs_round_count(n: int, d: int, k: int) -> int:
    """The number of rounds that compare all pairs of n rows, for lists of k."""

def round_robin_pair(players: int, round: int, pair: int) -> tuple[int, int]:
    """The two blocks of a pair, by the circle method."""

def all_pairs_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, round: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """One round of exact all-pairs search, into the lists."""

def exact_queries(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], self_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    Exact search: the nearest base rows of every query, into the lists; the base row self_ids[query] is excluded.
    """

def probe_cells(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], query_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], query_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], same_rows: bool, shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    Inverted-file search: the nearest members of a cell to the queries of that cell, into the lists.
    """

def nn_descent_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], is_new: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], seed: int, round: int, forward: int, reverse: int, threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> int:
    """
    One round of NN-descent; returns the number of list entries that changed.
    """

def graph_search_queries(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], graph: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    Best-first graph search for every query, starting from the entries of its list.
    """

@overload
def refine_candidates(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, self_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, root: int, scale: float, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    The nearest among the candidates (or all rows), measured in double precision, into the lists.
    """

@overload
def refine_candidates(queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, self_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, root: int, scale: float, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

def score_candidates(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    The nearest among the candidates of every row, as sums over columns in float32, into the lists.
    """

def select_nearest(block: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], self_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    The k smallest of each row of given distances, into the lists; `first` is the index of the first column.
    """

class InvertedIndex:
    """
    The rows of each column of sparse rows, in a private copy, and the measure that compares them.

    Rows are scaled by factors; offsets are the means that correlations subtract, times the root of width.
    """

    @overload
    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: int, metric: int, root: int, scale: float, width: int, threads: int) -> None: ...

    @overload
    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: int, metric: int, root: int, scale: float, width: int, threads: int) -> None: ...

    @property
    def round_count(self) -> int:
        """The number of rounds that compare all pairs."""

@overload
def sparse_queries(index: InvertedIndex, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], self_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def sparse_queries(index: InvertedIndex, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], self_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Exact search: the nearest rows of the index to every query, into the lists; the row self_ids[query] is excluded.
    """

def sparse_all_pairs_round(index: InvertedIndex, round: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """One round of exact all-pairs search of sparse rows, into the lists."""

def symmetrize_memberships(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], set_op_mix_ratio: float, threads: int) -> tuple:
    """
    The fuzzy union (or intersection) of a graph and its transpose: starts, columns, weights and lengths.
    """

def symmetrize_affinities(indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, threads: int) -> tuple:
    """
    scale (A + A.T) in compressed sparse rows, for A with `weights` at `indices`.
    """

class AffinityMatrix:
    """A private copy of affinities in compressed sparse rows, checked once."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None: ...

    def reordered(self, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> AffinityMatrix:
        """Rows and columns in another order: new row r is old row order[r]."""

    @property
    def starts(self) -> NDArray[numpy.int64]: ...

    @property
    def columns(self) -> NDArray[numpy.int32]: ...

    @property
    def values(self) -> NDArray[numpy.float32]: ...

@overload
def stress_pass(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, squared: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[float, float, float]: ...

@overload
def stress_pass(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, squared: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[float, float, float]:
    """
    The Guttman transform of stress (or the gradient of squared stress), Σ_j factor (y_i - y_j) for every point of an
    embedding (k, n); returns Σ w (δ - d)², Σ w d², Σ w d (d - δ) over the pairs.
    """

@overload
def map_distances(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], ranking: Ranking | None, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def map_distances(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ranking: Ranking | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Distances of all pairs of points of an embedding (k, n), condensed, or each in its slot.
    """

@overload
def sstress_line(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> list[float]: ...

@overload
def sstress_line(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> list[float]:
    """
    The coefficients of squared stress along a search direction, a polynomial of degree four.
    """

@overload
def pairwise_distances(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: int, scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

@overload
def pairwise_distances(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: int, scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """Distances of all pairs of rows, condensed."""

@overload
def cross_distances(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], others: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: int, scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

@overload
def cross_distances(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], others: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: int, scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """Distances from the rows of x to other rows."""

@overload
def mds_out_of_sample(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, steps: int, tol: float, positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], converged: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def mds_out_of_sample(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, steps: int, tol: float, positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], converged: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Positions of new points among fixed ones, by majorization."""

@overload
def mds_sgd_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: int, scale: float, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, step_size: float, round: int, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> float: ...

@overload
def mds_sgd_round(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: int, scale: float, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, step_size: float, round: int, y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int, params: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> float:
    """
    One round of stochastic gradient descent on stress: each block of points is paired with one other; returns Σ (δ - d)².
    """

class Ranking:
    """
    Pairs of n points by the rank of their dissimilarities, in buckets; order[r] is the pair of rank r.
    """

    def __init__(self, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int) -> None: ...

    def copy(self) -> Ranking:
        """An independent copy, whose ties can be sorted separately."""

    def slots(self) -> NDArray[numpy.int32]:
        """The storage position of each pair."""

    @property
    def positions(self) -> NDArray[numpy.int32]:
        """The storage position of each rank."""

@overload
def isotonic_regression(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, total: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float: ...

@overload
def isotonic_regression(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, total: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float:
    """
    Isotonic regression, scaled so that its weighted sum of squares is `total` (0: unscaled); returns the sum before scaling.
    """

@overload
def sort_ties(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranking: Ranking, threads: int) -> None: ...

@overload
def sort_ties(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ranking: Ranking, threads: int) -> None:
    """Sort the positions of tied pairs by their values."""

@overload
def spline_moments(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], given: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, mapped: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> list[float]: ...

@overload
def spline_moments(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], given: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, mapped: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> list[float]:
    """
    Distances of all pairs of points of an embedding (k, n), and Σ w d times 1, t, t² and (t - b)₊², t the given distance in 0 … 1.
    """

@overload
def evaluate_spline(given: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def evaluate_spline(given: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The monotone spline: the sum of 1, t, t² and (t - b)₊² with these coefficients, clipped at zero.
    """

@overload
def ica_pass(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], unmixing: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, contrast: int, moments: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], block_rows: int, threads: int) -> None: ...

@overload
def ica_pass(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unmixing: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, contrast: int, moments: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], block_rows: int, threads: int) -> None:
    """
    For sources y = unmixing z of whitened rows z and a contrast with score psi: sums of psi(y) z' into `moments`, and of psi', psi' y^2 and the contrast into `sums`. They are summed over blocks of block_rows rows, and these along a binary tree.
    """

@overload
def contrast_values(y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], contrast: int, score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], slope: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def contrast_values(y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], contrast: int, score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Score, slope of the score, and value of a contrast of ICA."""

def shortest_paths(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], node_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], seed_lengths: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Shortest path lengths from every query, given by its distances to some seed nodes, to every node, into row slots[query].
    """

def locality_order(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """An order of the nodes that keeps neighbors close together."""

def square_distances(d: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Square distances in place; `means` receives the mean of each row."""

def double_center(d: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], grand: float, squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Double centering: squared distances become the centered Gram matrix, in place; `squares` receives the sum of squares of each row.
    """

def gram_times(gram: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """A float32 matrix times a narrow one, summed in double precision."""

def correlation_sums(table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Sums for the correlation of the distances given by `table` with those of an embedding, by number of components.
    """

@overload
def local_grams(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def local_grams(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Local Gram matrices: inner products of the neighbors of each center, relative to the center.
    """

def reconstruction_weights(grams: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], reg: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Weights w = u / sum(u) with (G + reg trace(G)) u = 1, for a stack of G.
    """

def batched_eigh(grams: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Descending eigenvalues and eigenvectors (in rows) of a stack of symmetric matrices.
    """

def block_sum_counts(members: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """The number of rows that share a patch with each row."""

def block_sum(members: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], blocks: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The sum of blocks over the members of each patch, in compressed sparse rows.
    """

def calibrate_perplexity(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], perplexity: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Gaussian weights of every row, summing to one, with the given perplexity.
    """

def tsne_step(affinities: AffinityMatrix, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], repulsion: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: tuple, velocity: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], gains: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    One gradient step of t-SNE with momentum and gains; the result is centered.

    options: exaggeration, learning rate, momentum, largest step, 1 / Z, 1 / dof, factor of the gradient.
    """

def attraction_loss(affinities: AffinityMatrix, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], dof: float, threads: int) -> float:
    """
    The attractive part of the loss: the sum of value * log(1 + d**2 / dof) over all entries.
    """

def repulsion_exact(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], dof: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    Exact repulsion, summed over all pairs, into `out`; returns the sum of the kernel over all pairs.
    """

def repulsion_barnes_hut(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], dof: float, opening: float, min_extent: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    Barnes-Hut repulsion in three dimensions, by an octree, into `out`; returns the sum of the kernel over all pairs.

    A node is not opened if its squared extent is at most opening * distance**2 + min_extent.
    """

def scatter_to_mesh(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], origin: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], spacing: float, grid: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')], threads: int) -> None:
    """Scatter unit masses at the rows of y to a mesh, by cubic B-splines."""

def gather_from_mesh(fields: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)], cells: Sequence[int], origin: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], spacing: float, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Gather forces at the rows of y from a mesh into `out`."""

def multiply_spectra(density: Annotated[NDArray[numpy.complex64], dict(order='C', device='cpu', writable=False)], spectra: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)], even: bool, out: Annotated[NDArray[numpy.complex64], dict(order='C', device='cpu')], threads: int) -> float:
    """
    The density's spectrum times i times those of the forces, after the first; returns the sum of the first kernel over all pairs.

    even: whether the last axis of the mesh is, of which the spectra hold one half.
    """

def tsne_out_of_sample(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], fields: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)] | None, cells: Sequence[int], origin: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], spacing: float, options: tuple, positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Gradient descent of `positions` on the fixed embedding y.

    options: dof, 1 / mean sum, learning rate, momentum, largest step, steps, opening and min_extent of the tree (0: none).
    """

def smooth_knn(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], target: float, local_connectivity: float, rhos: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], sigmas: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Memberships of each row's neighbors, with their rho and sigma (UMAP's smooth kNN distances).
    """

def umap_epochs(positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], fixed: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, last: int, total: int, alpha: float, params: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], negative_samples: int, seed: int, density: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, inverse_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, space: int = 0) -> None:
    """Stochastic gradient descent of UMAP for some epochs, in place."""

def densmap_sums(positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tail_positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float, b: float, phi_sums: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], phi_distance_sums: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """densMAP: sums of phi and phi d^2 over each row's edges."""

def fast_powers(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """x^b as UMAP's optimizer computes it."""

def interval_bitmaps(codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, bitmaps: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Set the bits of rows first, first + 1, … in the bitmaps of the intervals that `codes` (columns, rows) name.
    """

def unit_supports(bitmaps: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], supports: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The number of rows in each unit, an intersection of intervals; units are quickest in lexicographic order.
    """

def unit_rows(bitmaps: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Add the rows of all units to a bitmap."""

def ksg_counts(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order_x: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], order_y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, closer_x: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], closer_y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Rows closer in x, and in y, than the k-th neighbor in the maximum norm of both, each row itself included.
    """

def ross_counts(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, k: int, closer: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Rows closer than the k-th neighbor of the same class, each row itself included.
    """

@overload
def rank_rows(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranks: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], nearest: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def rank_rows(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranks: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], nearest: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Ranks of all rows by their distances from the rows `own`, ties by number, and the nearest ones.
    """

@overload
def squared_sums(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def squared_sums(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def squared_sums(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def squared_sums(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Sums of d², d δ and δ² over all but the row itself."""

def compare_ranks(ranks: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Sums over the neighbors of each row, and how many both spaces share."""

def concordance(ranks: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """The share of pairs of others that both spaces order alike."""

def partner_concordance(ranks: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], partners: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """The share of pairs of partners that both spaces order alike."""

def rank_correlations(rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Spearman's correlation of pairs, by the weights of their rows."""

def group_distortions(walked: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], clustered: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], visits: int, alpha: float, worst: float, seed: int, numerators: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], denominators: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Distortions between the clusters of groups that random walks find, per walk and row.
    """

def hdbscan(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """HDBSCAN* of a table of distances; returns the number of clusters."""

def idle(seconds: float, threads: int) -> None:
    """Wait, polling for Ctrl-C as every long kernel does."""

def instruction_set() -> str:
    """The instruction set in use."""
