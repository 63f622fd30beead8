"""Kernels of lowdim. Private: call them through the package."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


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
def fill_normal(out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], seed: int, stream: int, threads: int) -> None: ...

@overload
def fill_normal(out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], seed: int, stream: int, threads: int) -> None:
    """Standard normals, each a pure function of (seed, stream, position)."""

def fill_words(out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], seed: int, stream: int) -> None:
    """Raw Philox 4x32-10 words."""

def tournament_rounds(n: int, d: int) -> int:
    """How many rounds compare n rows with each other."""

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

def select_rows(block: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], selves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    The smallest of each row of given distances, whose first column is `first`, into the lists.
    """

@overload
def pull_pairs(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, squared: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[float, float, float]: ...

@overload
def pull_pairs(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, squared: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[float, float, float]:
    """
    Σ_j factor (y_i - y_j) for every point of a map (k, n), and Σ w (δ - d)², Σ w d², Σ w d (d - δ) over the pairs.
    """

@overload
def map_distances(y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def map_distances(y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
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
def meeting_round(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, rate: float, round: int, y: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float: ...

@overload
def meeting_round(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], metric: int, root: bool, scale: float, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, rate: float, round: int, y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> float:
    """
    A round in which parties of points meet and go towards their distances.
    """

@overload
def isotonic(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float: ...

@overload
def isotonic(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float:
    """The nearest rising sequence; returns its weighted sum of squares."""

@overload
def sort_ties(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def sort_ties(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Put the places of tied pairs in the order of their values."""

def idle(seconds: float, threads: int) -> None:
    """Wait, polling for Ctrl-C as every long kernel does."""

def instruction_set() -> str:
    """The instruction set in use."""

def hardware_threads() -> int:
    """Processors that OpenMP sees (1 without OpenMP)."""

def has_openmp() -> bool:
    """Whether the module was built with OpenMP."""
