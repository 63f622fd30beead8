"""Products of rows with a matrix whose bits, row by row, do not depend on the rows beside them.

BLAS sums a row in another order where it stands elsewhere in a tile of its kernel (on Haswell and Zen the upper and the
lower half of every 12 rows, in single precision), so that batches of one size would not help. Here every row is summed
in one fixed order: what `transform` gives is the same for a whole array, for one row of it, and for the partitions of a
cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["row_products"]

Array = NDArray[Any]

LANES = 16  # columns that the native product takes at once
PANEL = 256  # columns whose copy, in rows of their own, stays in the cache while the rows pass
BLOCK_ROWS = 2048
BLOCK_PRODUCTS = 1 << 30  # of numbers in one native call, between which Ctrl-C is seen


def row_products(A: Array, B: Array) -> Array:
    """A B for rows A (m, d) and B (d, k), in their common dtype, float32 or float64."""
    A = np.require(A, np.result_type(A.dtype, B.dtype, np.float32), ["C", "A"])  # native, whatever the order of bytes
    m, k = A.shape[0], B.shape[1]
    out = np.empty((m, k), dtype=A.dtype)
    for first in range(0, k, PANEL):
        columns = slice(first, min(first + PANEL, k))
        width = columns.stop - first
        padded = np.zeros((B.shape[0], -(-width // LANES) * LANES), dtype=A.dtype)
        padded[:, :width] = B[:, columns]
        size = min(BLOCK_ROWS, max(1, BLOCK_PRODUCTS // max(1, padded.size)))
        for start in range(0, m, size):
            rows = slice(start, min(start + size, m))
            sums = np.zeros((rows.stop - start, padded.shape[1]))
            _native.row_products(A[rows], padded, width, sums)
            out[rows, columns] = sums[:, :width]
    return out
