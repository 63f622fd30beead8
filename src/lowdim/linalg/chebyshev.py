"""Chebyshev filters: polynomials of a sparse symmetric matrix that damp an interval of its spectrum.

Two filters with one interface. `ChebyshevFilter` works in double precision and may take M = AᵀA by its factor A; it is
for eigenpairs to a tolerance (`sparse_eigen`). `Float32ChebyshevFilter` works in single precision, with the polynomial
scaled to stay within its range; it is for rough eigenvectors of large graphs (`subspace_iteration`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["BLOCK_WIDTHS", "ChebyshevFilter", "Float32ChebyshevFilter"]

Array = NDArray[Any]

ENTRIES_PER_THREAD = 300_000  # threads meet after every product, which must be worthwhile even on a busy machine
BLOCK_WIDTHS = (8, 16, 32)  # vectors that the single-precision product takes at once


class ChebyshevFilter:
    """Polynomials of M in double precision, or of M = AᵀA by its factor A, which may have far fewer entries."""

    def __init__(self, M: sp.csr_array, factor: sp.csr_array | None, threads: int) -> None:
        self.parts = _csr_parts(M) if factor is None else (*_csr_parts(factor), *_csr_parts(sp.csr_array(factor.T)))
        entries = M.nnz if factor is None else factor.nnz
        self.threads = min(threads, 1 + entries // ENTRIES_PER_THREAD)
        self._apply: Any = _native.chebyshev_filter if factor is None else _native.chebyshev_filter_gram

    def times(self, V: Array) -> Array:
        """M V."""
        return self.filter(V, (-1.0, 1.0), 1)

    def filter(self, V: Array, interval: tuple[float, float], degree: int) -> Array:
        """T(M) V, T the Chebyshev polynomial that stays within ±1 on the interval and grows beyond it."""
        out = np.empty(V.shape)
        self._apply(*self.parts, np.ascontiguousarray(V), interval, degree, out, self.threads)
        return out


class Float32ChebyshevFilter:
    """Polynomials of a matrix S with eigenvalues from -1 to 1, in single precision; results are float64."""

    def __init__(self, starts: Array, columns: Array, values: NDArray[np.float32], threads: int) -> None:
        self.parts = starts, columns, values
        self.n, self.threads = len(starts) - 1, threads

    def times(self, V: Array) -> Array:
        """S V."""
        return self._by_columns(self._product, V)

    def filter(self, V: Array, interval: tuple[float, float], degree: int) -> Array:
        """T(S) V, T the Chebyshev polynomial that is small on the interval and scaled to be 1 at 1."""
        return self._by_columns(lambda part: self._recurrence(part, interval, degree), V)

    def _by_columns(self, work: Callable[[Array], Array], V: Array) -> Array:
        """In groups of columns, because the native product takes at most 32."""
        widest = BLOCK_WIDTHS[-1]
        parts = [work(V[:, i : i + widest].copy()).astype(np.float64) for i in range(0, V.shape[1], widest)]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _product(self, x: Array) -> Array:
        out = np.empty_like(x)
        self._step(x, x, out, 1.0, 0.0, 0.0)
        return out

    def _recurrence(self, x: Array, interval: tuple[float, float], degree: int) -> Array:
        """The three-term recurrence, divided by the polynomial's value at 1 as it goes (Zhou and Saad 2007)."""
        low, high = interval
        half, center = (high - low) / 2, (high + low) / 2
        first = half / (1 - center)
        sigma, y, z = first, np.empty_like(x), np.empty_like(x)
        self._step(x, x, y, sigma / half, -sigma * center / half, 0.0)
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            self._step(y, x, z, 2 * following / half, -2 * following * center / half, -sigma * following)
            x, y, z, sigma = y, z, x, following
        return y

    def _step(self, x: Array, z: Array, out: Array, scale: float, shift: float, back: float) -> None:
        """Out = scale S x + shift x + back z."""
        _native.three_term_step(*self.parts, x, z, out, scale, shift, back, self.threads)


def _csr_parts(matrix: sp.csr_array) -> tuple[Array, Array, Array]:
    """Row starts, columns and values in the dtypes of the native code."""
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float64)
