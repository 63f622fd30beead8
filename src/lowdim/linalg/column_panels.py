"""Products of centered rows taken over panels of their columns, for fewer rows than columns: P Pᵀ and Pᵀ U.

The panels have a width that depends on the number of rows alone, and their products are summed in an order that does
not depend on where the rows live. Rows in memory or in a file are cut here. Those of a Dask collection are cut by
workers (`partition_panels`), a few groups of panels at a time: what comes to this process are matrices of n rows and
columns, and never the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.fold import is_partitioned
from lowdim.data.rows import ArrayRows, Chunk, chunk_rows
from lowdim.data.validation import not_finite_error
from lowdim.runtime.threads import interruptible_product, ordered_map, scratch

if TYPE_CHECKING:
    from lowdim.linalg.centered import Centered

__all__ = ["panel_gram", "panel_transpose_times"]

Array = NDArray[Any]

LEAST_WIDTH = 256  # so that a product outweighs adding its n × n values
GROUP_PANELS = 16  # whose products are summed before they are added to the others


def panel_gram(centered: Centered) -> NDArray[np.float64]:
    """P Pᵀ, (n, n): groups of panels in order, and the panels of each in order, summed in float64."""
    n, width = centered.rows.count, _width(centered.rows.count)

    def product(panel: Array) -> Array:
        return interruptible_product(lambda: panel @ panel.T, n * panel.size)

    def summarize(start: int, block: Array) -> NDArray[np.float64]:
        total = np.zeros((n, n))
        for part in _panels(centered, start, block, width, product):
            _native.add_scatter(total, part, np.zeros((0, n)))
        return total

    if is_partitioned(centered.rows):
        return _by_workers(centered, summarize, _add)
    total, group = np.zeros((n, n)), np.zeros((n, n))
    for i, part in enumerate(_in_memory(centered, product), 1):
        _native.add_scatter(group, part, np.zeros((0, n)))
        if i % GROUP_PANELS == 0:
            total += group
            group[:] = 0.0
    total += group
    return total


def panel_transpose_times(centered: Centered, U: Array) -> NDArray[np.float64]:
    """Pᵀ U, (d, k), for U (n, k)."""
    width = _width(centered.rows.count)

    def summarize(start: int, block: Array) -> Array:
        return np.concatenate(list(_panels(centered, start, block, width, lambda panel: panel.T @ U)))

    if is_partitioned(centered.rows):
        parts = _by_workers(centered, summarize, None)
    else:
        parts = list(_in_memory(centered, lambda panel: panel.T @ U))
    return np.concatenate(parts).astype(np.float64, copy=False)


def _width(n: int) -> int:
    return max(LEAST_WIDTH, chunk_rows(n) // 4)


def _in_memory(centered: Centered, work: Callable[[Array], Array]) -> Iterator[Array]:
    """work(panel) for all panels of rows that are in memory or in a file, by threads, in order."""
    rows = centered.rows
    whole = rows if isinstance(rows, ArrayRows) else ArrayRows(rows.whole())
    width = _width(whole.count)

    def run(start: int) -> Array:
        return work(_panel(centered, start, whole.columns(start, start + width)))

    return ordered_map(run, range(0, whole.d, width), centered.threads)


def _by_workers(centered: Centered, summarize: Callable[[int, Array], Any], merge: Any) -> Any:
    from lowdim.data.partition_panels import fold_columns  # imports dask

    return fold_columns(centered.rows, GROUP_PANELS * _width(centered.rows.count), summarize, merge)


def _panels(
    centered: Centered, start: int, block: Array, width: int, work: Callable[[Array], Array]
) -> Iterator[Array]:
    """work(panel) for the panels of a block of the columns from `start` on."""
    for at in range(0, block.shape[1], width):
        yield work(_panel(centered, start + at, block[:, at : at + width]))


def _panel(centered: Centered, start: int, block: Array) -> Array:
    """Columns of P from the same ones of the rows, in scratch memory of this thread."""
    cut = slice(start, start + block.shape[1])
    panel = scratch(block.shape, block.dtype)
    scale = None if centered.scale is None else centered.scale[cut]
    if not _native.center(block, centered.mean[None, cut], panel, None, scale, centered.root_weights):
        raise not_finite_error(centered.rows, Chunk(0, len(block), lambda: block))
    return panel


def _add(a: Array, b: Array) -> Array:
    a += b
    return a
