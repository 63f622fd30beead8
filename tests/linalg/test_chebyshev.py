"""Chebyshev filters against the polynomial of the whole spectrum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim.linalg.chebyshev import ChebyshevFilter, Float32ChebyshevFilter


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_polynomial_is_that_of_the_spectrum(threads, rng, monkeypatch):
    monkeypatch.setattr("lowdim.linalg.chebyshev.ENTRIES_PER_THREAD", 100)
    A = sp.csr_array(sp.random_array((300, 300), density=0.05, rng=rng))
    M = sp.csr_array(A.T @ A)
    values, vectors = np.linalg.eigh(M.toarray())
    V = rng.standard_normal((300, 5))
    T = np.polynomial.chebyshev.Chebyshev([0, 0, 0, 0, 0, 1], domain=[0.5, 3])(values)
    for polynomial in (ChebyshevFilter(M, None, threads), ChebyshevFilter(M, A, threads)):
        assert polynomial.threads == threads
        np.testing.assert_allclose(polynomial.times(V), M @ V, atol=1e-12 * np.abs(M @ V).max())
        want = vectors @ (T[:, None] * (vectors.T @ V))
        np.testing.assert_allclose(polynomial.filter(V, (0.5, 3.0), 5), want, atol=1e-9 * np.abs(want).max())


@pytest.mark.parametrize("width", [8, 16, 40])
def test_the_single_precision_filter_is_1_at_1(width, rng):
    """T(S) = T_m(x) / T_m(x at 1), x the spectrum with the interval mapped to [-1, 1]."""
    A = rng.standard_normal((200, 200))
    values, vectors = np.linalg.eigh(A + A.T)
    values = np.linspace(-1, 1, 200)
    S = sp.csr_array(((vectors * values) @ vectors.T).astype(np.float32))
    polynomial = Float32ChebyshevFilter(S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data, 2)
    V = rng.standard_normal((200, width)).astype(np.float32)
    T = np.polynomial.chebyshev.Chebyshev([0] * 6 + [1], domain=[-1, 0.7])
    want = vectors @ ((T(values) / T(1.0))[:, None] * (vectors.T @ V))
    np.testing.assert_allclose(polynomial.filter(V, (-1.0, 0.7), 6), want, atol=1e-5 * np.abs(want).max())
    np.testing.assert_allclose(polynomial.times(V), S @ V, atol=1e-5)
