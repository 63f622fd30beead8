"""The kernels of local patches against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import _native


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(9, 1, 1), (20, 7, 5), (33, 50, 12)])
def test_grams(dtype, n, d, k, rng):
    X, centers = (rng.standard_normal((n, d)).astype(dtype) + 100 for _ in range(2))
    indices = np.argsort(rng.uniform(size=(n, n)), axis=1)[:, :k].astype(np.int32)
    out = np.empty((n, k, k))
    _native.local_grams(X, centers, indices, out, 3)
    D = X[indices].astype(float) - centers[:, None].astype(float)
    np.testing.assert_allclose(out, D @ D.transpose(0, 2, 1), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="out of range"):
        _native.local_grams(X, centers, indices + n, out, 1)


@pytest.mark.parametrize("k", [1, 2, 3, 12, 31])
@pytest.mark.parametrize("count", [1, 8, 21])
def test_eigen(k, count, rng):
    A = rng.standard_normal((count, k, max(1, k // 2)))
    G = A @ A.transpose(0, 2, 1)  # half of the values are zero
    values, vectors = np.empty((count, k)), np.empty((count, k, k))
    _native.batched_eigh(G, values, vectors, 2)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(G)[:, ::-1], atol=1e-12 * np.abs(G).max() * k)
    np.testing.assert_allclose(vectors @ vectors.transpose(0, 2, 1), np.tile(np.eye(k), (count, 1, 1)), atol=1e-12)
    rebuilt = vectors.transpose(0, 2, 1) @ (values[:, :, None] * vectors)
    np.testing.assert_allclose(rebuilt, G, atol=1e-12 * np.abs(G).max() * k)


@pytest.mark.parametrize(
    "matrix", [np.zeros((4, 4)), np.ones((4, 4)), np.diag([1.0, 3.0, 2.0, 0.0]), 1e-100 * np.ones((4, 4))]
)
def test_eigen_of_simple_matrices(matrix):
    values, vectors = np.empty((1, 4)), np.empty((1, 4, 4))
    _native.batched_eigh(matrix[None], values, vectors, 1)
    np.testing.assert_allclose(
        values[0], np.linalg.eigvalsh(matrix)[::-1], atol=1e-14 * max(1e-100, np.abs(matrix).max())
    )
    np.testing.assert_allclose(vectors[0] @ vectors[0].T, np.eye(4), atol=1e-14)


def test_weights_without_a_ridge_fall_back_on_eigenvalues(rng):
    """A matrix that is not definite has its negative eigenvalues lifted to zero."""
    G = np.stack([np.diag([1.0, 2.0, 4.0]), np.diag([1.0, 2.0, -3.0]), np.eye(3)])
    w = np.empty((3, 3))
    _native.reconstruction_weights(G, 0.0, w, 1)
    np.testing.assert_allclose(w[0], np.array([4, 2, 1]) / 7)
    np.testing.assert_allclose(w[2], 1 / 3)
    _native.reconstruction_weights(G, 0.5, w, 1)
    np.testing.assert_allclose(w[0], (u := 1 / (np.array([1, 2, 4]) + 3.5)) / u.sum())
    assert np.isfinite(w).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_add_patches(threads, rng):
    n, p = 150, 6
    members = np.argsort(rng.uniform(size=(n, n)), axis=1)[:, :p].astype(np.int32)
    blocks = rng.standard_normal((n, p, p))
    expected = np.zeros((n, n))
    for i in range(n):
        expected[np.ix_(members[i], members[i])] += blocks[i]
    counts = np.empty(n, dtype=np.int32)
    _native.block_sum_counts(members, counts, threads)
    np.testing.assert_array_equal(counts, (expected != 0).sum(axis=1))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns, values = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
    _native.block_sum(members, blocks, starts, columns, values, threads)
    found = sp.csr_array((values, columns, starts), shape=(n, n))
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-13)
    assert found.has_canonical_format
    with pytest.raises(ValueError, match="starts"):
        _native.block_sum(members, blocks, starts + 1, columns, values, threads)


@pytest.mark.parametrize("degree", [1, 2, 3, 20])
@pytest.mark.parametrize("width", [1, 3, 8, 16, 27])
def test_chebyshev(degree, width, rng):
    A = sp.random_array((60, 60), density=0.1, rng=rng, format="csr")
    M = sp.csr_array(A @ A.T)
    V, out = rng.standard_normal((60, width)), np.empty((60, width))
    low, high = 0.5, 4.0
    pieces = (M.indptr.astype(np.int32), M.indices.astype(np.int32), M.data)
    _native.chebyshev_filter(*pieces, V, (low, high), degree, out, 3)
    values, vectors = np.linalg.eigh(M.toarray())
    polynomial = np.polynomial.chebyshev.Chebyshev([0] * degree + [1])((values - (low + high) / 2) / ((high - low) / 2))
    np.testing.assert_allclose(out, vectors @ (polynomial[:, None] * (vectors.T @ V)), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="empty"):
        _native.chebyshev_filter(*pieces, V, (1.0, 1.0), degree, out, 1)


@pytest.mark.parametrize("degree", [1, 2, 7])
@pytest.mark.parametrize("width", [1, 16, 27])
@pytest.mark.parametrize("threads", [1, 3])
def test_chebyshev_of_a_root(degree, width, threads, rng):
    A = sp.random_array((600, 600), density=0.01, rng=rng, format="csr")
    M = sp.csr_array(A.T @ A)
    V, out, want = rng.standard_normal((600, width)), np.empty((600, width)), np.empty((600, width))

    def parts(matrix):
        return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data

    _native.chebyshev_filter_gram(*parts(A), *parts(sp.csr_array(A.T)), V, (0.5, 4.0), degree, out, threads)
    _native.chebyshev_filter(*parts(M), V, (0.5, 4.0), degree, want, 1)
    np.testing.assert_allclose(out, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())
    with pytest.raises(ValueError, match="compressed sparse rows"):
        _native.chebyshev_filter_gram(*parts(A), *parts(sp.csr_array(A[:5].T)), V[:5], (0.5, 4.0), degree, out[:5], 1)
