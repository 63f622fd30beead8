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
def mark_rows(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def mark_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """A 64-bit mark of every row's values."""

@overload
def mark_sparse_rows(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def mark_sparse_rows(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def mark_sparse_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def mark_sparse_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """The marks that these compressed rows would have as dense ones."""

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
def mirrored_times(strip: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], start: int, v: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def mirrored_times(strip: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], start: int, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    For rows from `start` of a symmetric matrix up to their diagonal block: own += strip @ v[:stop], above += strip[:, :start].T @ v[start:stop].
    """

def chebyshev(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], interval: tuple[float, float], degree: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Chebyshev's polynomial of a symmetric sparse M, scaled so that the interval is [-1, 1], times v.
    """

def chebyshev_of_root(starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transposed_starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], transposed_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], transposed_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], interval: tuple[float, float], degree: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """The same for M = AᵀA, from the sparse rows of A and of its transpose."""

def filter_step(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], scale: float, shift: float, back: float, threads: int) -> None:
    """out = scale S x + shift x + back z."""

def tournament_rounds(n: int, d: int) -> int:
    """How many rounds compare n rows with each other."""

def tournament_match(teams: int, round: int, match: int) -> tuple[int, int]:
    """The two blocks that meet."""

def tournament_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, round: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """One round of the comparison of all pairs, into the lists."""

def scan_queries(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], names: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    The nearest of `base` to every query, into the lists; a base row called as the query is left out.
    """

def probe_cells(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], asking: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], asking_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], same: bool, shift: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    The nearest among the members of a cell to those who ask there, into the lists.
    """

def descent_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], fresh: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], seed: int, round: int, forward: int, reverse: int, threads: int) -> int:
    """
    Introduce neighbours of neighbours; returns how many places changed hands.
    """

def walk_queries(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], graph: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Walk the graph from the lists towards the queries."""

@overload
def refine_lists(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, selves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, root: bool, scale: float, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    The nearest among the candidates (or all rows), measured in double precision, into the lists.
    """

@overload
def refine_lists(queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, selves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, metric: int, root: bool, scale: float, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

def remeasure_lists(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    The nearest among the candidates of every row, as sums over columns in float32, into the lists.
    """

def select_rows(block: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], selves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    The smallest of each row of given distances, whose first column is `first`, into the lists.
    """

def symmetrize(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], mix: float, threads: int) -> tuple:
    """
    A fuzzy graph and its transpose as one: starts, columns, weights and lengths.
    """

def join_affinities(indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, threads: int) -> tuple:
    """
    scale (A + A.T) in compressed sparse rows, for A with `weights` at `indices`.
    """

def require_edges(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int, threads: int) -> None:
    """Raises unless these are compressed sparse rows of a square matrix."""

def reorder_edges(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], new_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], new_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], new_values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Rows and columns in another order: new row r is old row order[r]."""

@overload
def pull_pairs(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, squared: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[float, float, float]: ...

@overload
def pull_pairs(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, squared: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[float, float, float]:
    """
    Σ_j factor (y_i - y_j) for every point of a map (k, n), and Σ w (δ - d)², Σ w d², Σ w d (d - δ) over the pairs.
    """

@overload
def map_distances(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], ranking: Ranking | None, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def map_distances(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ranking: Ranking | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Distances of all pairs of points of a map (k, n), packed, or each in its slot.
    """

@overload
def line_of_pairs(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> list[float]: ...

@overload
def line_of_pairs(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> list[float]:
    """
    The coefficients of the squared stress along a line, a polynomial of degree four.
    """

@overload
def measure_pairs(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def measure_pairs(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Distances of all pairs of rows, packed."""

@overload
def measure_rows(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], others: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def measure_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], others: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Distances of rows to other rows."""

@overload
def place_rows(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, steps: int, tol: float, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], settled: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def place_rows(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, steps: int, tol: float, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], settled: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Places of new points among fixed ones, by majorisation."""

@overload
def place_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], fields: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)] | None, cells: Sequence[int], origin: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], spacing: float, rule: tuple, places: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Move `places` on the frozen map y.

    rule: dof, 1 / mean sum, rate, momentum, longest step, steps, opening and grain of the tree (0: none).
    """

@overload
def meeting_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, rate: float, round: int, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float: ...

@overload
def meeting_round(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, rate: float, round: int, y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    A round in which parties of points meet and go towards their distances.
    """

class Ranking:
    """
    Pairs of n points held by the rank of their distances, in buckets; order[r] is the pair of rank r.
    """

    def __init__(self, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int) -> None: ...

    def copy(self) -> Ranking:
        """The same, for ties of its own."""

    def slots(self) -> NDArray[numpy.int32]:
        """Where each pair stands."""

    @property
    def places(self) -> NDArray[numpy.int32]:
        """Where each rank stands."""

@overload
def isotonic(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, total: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float: ...

@overload
def isotonic(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, ranking: Ranking | None, total: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float:
    """
    The nearest rising sequence, made so large that its weighted sum of squares is `total` (0: as it is); returns what it was.
    """

@overload
def sort_ties(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranking: Ranking, threads: int) -> None: ...

@overload
def sort_ties(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ranking: Ranking, threads: int) -> None:
    """Put the places of tied pairs in the order of their values."""

@overload
def bend_moments(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], given: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, breaks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, mapped: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> list[float]: ...

@overload
def bend_moments(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], given: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, breaks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, mapped: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> list[float]:
    """
    Distances of all pairs of points of a map (k, n), and Σ w d times 1, t, t² and (t - b)₊², t the given distance in 0 … 1.
    """

@overload
def bend_curve(given: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], breaks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def bend_curve(given: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], breaks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float, width: float, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The sum of 1, t, t² and (t - b)₊² with these coefficients, not below zero.
    """

def geodesics(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], seed_lengths: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Lengths of the shortest ways from every query, which stands near its seeds, to every node, into row slots[query].
    """

def local_order(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """An order of the nodes in which neighbours stand near one another."""

def square_rows(d: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Square distances where they are; `means` receives the mean of each row.
    """

def center_rows(d: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], grand: float, squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Turn squared distances into the centred Gram matrix, in place; `squares` receives the sum of squares of each row.
    """

def gram_times(gram: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """A float32 matrix times a narrow one, summed in double precision."""

def pair_sums(table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float, at: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Sums for the correlation of distances given by `table` with those on a map, by number of components.
    """

@overload
def local_grams(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def local_grams(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Inner products of the neighbours of each centre, taken from the centre.
    """

def local_weights(grams: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], reg: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Weights w = u / sum(u) with (G + reg trace(G)) u = 1, for a stack of G.
    """

def local_eigen(grams: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Descending eigenvalues and eigenvectors (in rows) of a stack of symmetric matrices.
    """

def count_columns(members: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """How many rows share a patch with each row."""

def add_patches(members: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], blocks: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The sum of blocks over the members of each patch, in compressed sparse rows.
    """

def calibrate(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], perplexity: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Gaussian weights of every row, summing to one, with the perplexity asked for.
    """

def descend(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], repulsion: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], rule: tuple, velocity: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], gains: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    One step of t-SNE's descent, centred.

    rule: exaggeration, rate, momentum, longest step, 1 / sum, 1 / dof, factor of the gradient.
    """

def log_lengths(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], dof: float, threads: int) -> float:
    """Sum of value * log(1 + d**2 / dof) over all entries."""

def repel_directly(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], dof: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    Repulsion by the sum over all pairs into `out`; returns the sum of the kernel over all pairs.
    """

def repel_by_tree(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], dof: float, opening: float, grain: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    Repulsion in three axes by an octree into `out`; returns the sum of the kernel over all pairs.

    A node acts as one where its square side is at most opening * distance**2 + grain.
    """

def spread_masses(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], origin: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], spacing: float, grid: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')], threads: int) -> None:
    """Unit masses at the rows of y onto a mesh, by cubic B-splines."""

def gather_forces(fields: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)], cells: Sequence[int], origin: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], spacing: float, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    Forces at the rows of y off a mesh into `out`; returns the sum of the first field.
    """

def multiply_spectra(density: Annotated[NDArray[numpy.complex64], dict(order='C', device='cpu', writable=False)], spectra: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.complex64], dict(order='C', device='cpu')], threads: int) -> None:
    """
    The density's spectrum times each kernel's: the first real, the others i times real.
    """

def smooth_neighbors(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], target: float, local_connectivity: float, cores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], widths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """How much each neighbour belongs to a row, and the scales of that."""

def umap_epochs(positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], frozen: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, last: int, total: int, alpha: float, forces: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], negatives: int, seed: int, crowding: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, inverse: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> None:
    """Move the rows of a map for some epochs."""

def umap_radii(positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float, b: float, shares: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], spreads: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Sums over each row's edges of phi and phi d^2."""

def powers(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """x^b as the layout computes it."""

def idle(seconds: float, threads: int) -> None:
    """Wait, polling for Ctrl-C as every long kernel does."""

def instruction_set() -> str:
    """The instruction set in use."""
