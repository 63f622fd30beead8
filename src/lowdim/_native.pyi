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

def smooth_neighbors(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], target: float, local_connectivity: float, cores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], widths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """How much each neighbour belongs to a row, and the scales of that."""

def symmetrize(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], mix: float, out_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], out_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], out_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], out_lengths: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """A fuzzy graph and its transpose as one; returns the number of entries."""

@overload
def mark_rows(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def mark_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """A 64-bit mark of every row's values."""

def filter_step(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], scale: float, shift: float, back: float, threads: int) -> None:
    """out = scale S x + shift x + back z."""

def umap_epochs(positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], frozen: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block: int, first: int, last: int, total: int, alpha: float, forces: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], pulls: int, negatives: int, seed: int, crowding: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, inverse: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> None:
    """Move the rows of a map for some epochs."""

def umap_radii(positions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], a: float, b: float, shares: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], spreads: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Sums over each row's edges of phi and phi d^2."""

def powers(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """x^b as the layout computes it."""

def idle(seconds: float, threads: int) -> None:
    """Wait, polling for Ctrl-C as every long kernel does."""

def instruction_set() -> str:
    """The instruction set in use."""

def hardware_threads() -> int:
    """Processors that OpenMP sees (1 without OpenMP)."""

def has_openmp() -> bool:
    """Whether the module was built with OpenMP."""
