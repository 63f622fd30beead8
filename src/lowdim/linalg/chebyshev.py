"""Polynomials of a large sparse symmetric matrix, times a block of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["Polynomial"]

Array = NDArray[Any]

ENTRIES_A_THREAD = 300_000  # threads meet after every product, which must be worth it even on a busy machine


class Polynomial:
    """M, or M = AᵀA by its root A, which may have far fewer entries, ready to be multiplied."""

    def __init__(self, M: sp.csr_array, root: sp.csr_array | None, threads: int) -> None:
        self.parts = _parts(M) if root is None else (*_parts(root), *_parts(sp.csr_array(root.T)))
        entries = M.nnz if root is None else root.nnz
        self.threads = min(threads, 1 + entries // ENTRIES_A_THREAD)
        self._apply: Any = _native.chebyshev_filter if root is None else _native.chebyshev_filter_gram

    def times(self, V: Array) -> Array:
        """M V."""
        return self.chebyshev(V, (-1.0, 1.0), 1)

    def chebyshev(self, V: Array, interval: tuple[float, float], degree: int) -> Array:
        """T(M) V, T Chebyshev's polynomial that stays within ±1 on the interval and grows beyond it."""
        out = np.empty(V.shape)
        self._apply(*self.parts, np.ascontiguousarray(V), interval, degree, out, self.threads)
        return out


def _parts(matrix: sp.csr_array) -> tuple[Array, Array, Array]:
    """Starts, columns and values, as native code wants them."""
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float64)
