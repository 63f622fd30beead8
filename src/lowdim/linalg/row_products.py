"""Products of rows with a matrix whose bits, row by row, do not depend on the rows beside them.

BLAS chooses its kernels by the number of rows, and within a tile some rows are summed in another order than others, so
that a row has other bits in another batch. Here every row is summed in one fixed order: what `transform` gives is the
same for a whole array, for one row of it, and for the partitions of a cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["row_products"]

Array = NDArray[Any]

LANES = 16  # columns that the native product takes at once
PANEL = 256  # columns of B that stay in the second cache while the rows pass
BLOCK_BYTES = 32 << 20  # of sums in double precision


def row_products(A: Array, B: Array) -> Array:
    """A B for rows A (m, d) and B (d, k), in the dtype of A."""
    m, k = A.shape[0], B.shape[1]
    out = np.empty((m, k), dtype=A.dtype)
    for first in range(0, k, PANEL):
        panel = B[:, first : first + PANEL]
        width = panel.shape[1]
        padded = np.zeros((B.shape[0], -(-width // LANES) * LANES), dtype=A.dtype)
        padded[:, :width] = panel
        size = max(1, BLOCK_BYTES // (8 * padded.shape[1]))
        for start in range(0, m, size):
            cut = slice(start, min(start + size, m))
            sums = np.zeros((cut.stop - start, padded.shape[1]))
            _native.row_products(A[cut], padded, width, sums)
            out[cut, first : first + width] = sums[:, :width]
    return out
