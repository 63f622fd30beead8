"""Products of rows with a narrow matrix whose bits, row by row, do not depend on the rows beside them.

BLAS chooses its kernels by the number of rows and treats the last few of them differently, so that a row has other bits
in another batch. Here every row is summed in one fixed order: what `transform` gives is the same for a whole array, for
one row of it, and for the partitions of a cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["row_products", "wide_row_products"]

Array = NDArray[Any]

LANES = 16  # columns that the native product takes at once
BATCH = 48  # rows of one call to BLAS: whole tiles of every kernel (of 4, 8, 12, 16 or 24 rows), so that all are alike
BLOCK_BYTES = 32 << 20  # of sums in double precision


def row_products(A: Array, B: Array) -> Array:
    """A B for rows A (m, d) and B (d, k), in the dtype of A."""
    m, k = A.shape[0], B.shape[1]
    padded = np.zeros((B.shape[0], -(-max(k, 1) // LANES) * LANES), dtype=A.dtype)
    padded[:, :k] = B
    out = np.empty((m, k), dtype=A.dtype)
    size = max(1, BLOCK_BYTES // (8 * padded.shape[1]))
    for start in range(0, m, size):
        cut = slice(start, min(start + size, m))
        sums = np.zeros((cut.stop - start, padded.shape[1]))
        _native.row_products(A[cut], padded, k, sums)
        out[cut] = sums[:, :k]
    return out


def wide_row_products(A: Array, B: Array) -> Array:
    """A B for rows A (m, d) and a wide matrix B (d, n), by BLAS in batches of one size; rows of zeros fill the last."""
    m = A.shape[0]
    out = np.empty((m, B.shape[1]), dtype=A.dtype)
    whole = m - m % BATCH
    for start in range(0, whole, BATCH):
        np.matmul(A[start : start + BATCH], B, out=out[start : start + BATCH])
    if whole < m:
        last = np.zeros((BATCH, A.shape[1]), dtype=A.dtype)
        last[: m - whole] = A[whole:]
        out[whole:] = (last @ B)[: m - whole]
    return out
