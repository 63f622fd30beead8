"""Rough eigenvectors of the normalized Laplacian against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import neighbors
from lowdim.errors import MemoryTooSmall
from lowdim.linalg import subspace_iteration
from lowdim.linalg.subspace_iteration import laplacian_eigenvectors
from lowdim.runtime import memory


def weights(X, k):
    """Heat weights of a neighbor graph, float32."""
    W = neighbors(X, k).symmetrize()
    values = np.exp(-((W.data / np.median(W.data)) ** 2)).astype(np.float32)
    return sp.csr_array((values, W.indices, W.indptr), shape=W.shape)


def normalized(W):
    W = W.toarray().astype(np.float64)
    root = np.sqrt(W.sum(axis=1))
    return W / np.outer(root, root)


def test_filtered_and_dense_vectors_are_lapacks(digits):
    W = weights(digits[:500], 14)
    V = np.linalg.eigh(normalized(W))[1][:, ::-1][:, 1:4]
    Z = np.linalg.qr(laplacian_eigenvectors(W, 3, 0, 2))[0]
    assert np.linalg.svd(V.T @ Z)[1].min() > 0.999
    W = weights(digits[:100], 9)  # few rows: the dense solver
    V = np.linalg.eigh(normalized(W))[1][:, ::-1][:, 1:3]
    np.testing.assert_allclose(np.abs(V.T @ laplacian_eigenvectors(W, 2, 0, 1)), np.eye(2), atol=1e-5)


@pytest.mark.parametrize("k", [29, 40])
def test_many_vectors_need_no_dense_matrix(monkeypatch, digits, k):
    W = weights(digits[:800], 14)
    monkeypatch.setattr(subspace_iteration, "eigh_largest", None)
    found = laplacian_eigenvectors(W, k, 0, 2)
    S = normalized(W)
    values, vectors = np.linalg.eigh(S)
    np.testing.assert_allclose(found.T @ found, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(np.diag(found.T @ S @ found), values[::-1][1 : k + 1], atol=2e-3)
    assert np.linalg.svd(vectors[:, ::-1][:, 1:20].T @ found)[1].min() > 0.99


def test_nearly_all_vectors_come_from_the_dense_matrix(digits):
    found = laplacian_eigenvectors(weights(digits[:300], 14), 200, 0, 1)
    np.testing.assert_allclose(found.T @ found, np.eye(200), atol=1e-8)


def test_there_are_at_most_n_minus_2(digits):
    assert laplacian_eigenvectors(weights(digits[:5], 4), 9, 0, 1).shape == (5, 3)
    assert laplacian_eigenvectors(weights(digits[:2], 1), 9, 0, 1).shape == (2, 0)


@pytest.mark.parametrize("k", [40, 300])
def test_too_little_memory(monkeypatch, digits, k):
    W = weights(digits[:600], 14)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 19)
    with pytest.raises(MemoryTooSmall, match="graph Laplacian"):
        laplacian_eigenvectors(W, k, 0, 1)
