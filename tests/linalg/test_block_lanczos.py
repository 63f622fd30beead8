"""Lanczos iterations against dense spectra: any rank, repeated eigenvalues, restarts, residuals, both ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lowdim
from lowdim.errors import NotConverged
from lowdim.linalg.block_lanczos import block_lanczos, lanczos_extremes, orthonormal_block
from lowdim.linalg.dense_eigen import eigh_largest


def known_spectrum(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix with known, well separated eigenvalues."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.arange(n, 0, -1.0) ** 1.5
    return (Q * values) @ Q.T, values


@given(st.integers(0, 1000), st.integers(1, 6))
def test_operator(seed, k):
    A, values = known_spectrum(seed, 60)
    found = block_lanczos(lambda V: A @ V, 60, k, tol=1e-10, max_iter=200, seed=0)
    assert found.converged
    assert_allclose(found.values, values[:k], rtol=1e-9)
    assert_allclose(found.vectors, eigh_largest(A, k).vectors, atol=1e-6)


def test_operator_of_low_rank_still_gives_an_orthonormal_basis():
    u = np.linspace(1, 2, 40)
    found = block_lanczos(lambda V: np.outer(u, u @ V), 40, 5, tol=1e-10, max_iter=100, seed=0)
    assert_allclose(found.values, [u @ u, 0, 0, 0, 0], atol=1e-9)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-10)
    nothing = block_lanczos(lambda V: 0 * V, 10, 3, tol=1e-10, max_iter=100, seed=0)
    assert_allclose(nothing.values, 0)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("more", [0, 1, 5])
def test_operator_with_all_pairs_wanted(n, more):
    A, values = known_spectrum(n, n)
    found = block_lanczos(lambda V: A @ V, n, n + more, tol=1e-10, max_iter=100, seed=0)
    assert found.converged
    assert_allclose(found.values, values, rtol=1e-10)
    assert_allclose(A @ found.vectors, found.vectors * values, atol=1e-9)


@given(st.integers(0, 1000), st.integers(0, 12), st.integers(1, 40), st.integers(1, 9))
def test_operator_of_any_rank(seed, rank, k, width):
    B = np.random.default_rng(seed).standard_normal((40, rank))
    want = np.linalg.eigvalsh(B @ B.T)[::-1]
    found = block_lanczos(lambda V: B @ (B.T @ V), 40, k, tol=1e-10, max_iter=200, seed=0, width=width)
    assert found.converged
    assert_allclose(found.values, np.maximum(want[:k], 0), atol=1e-9 * max(want[0], 1))
    assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)
    assert_allclose(B @ (B.T @ found.vectors), found.vectors * found.values, atol=1e-8 * max(want[0], 1))


@pytest.mark.parametrize("k", [1, 5, 20, 50, 60])
def test_multiple_of_the_identity(k):
    found = block_lanczos(lambda V: 3.0 * V, 50, k, tol=1e-10, max_iter=100, seed=0)
    assert_allclose(found.values, np.full(min(k, 50), 3.0))
    assert_allclose(found.vectors.T @ found.vectors, np.eye(min(k, 50)), atol=1e-10)


@pytest.mark.parametrize(
    ("k", "times", "width"), [(5, 3, None), (12, 12, None), (30, 25, None), (20, 40, 4), (6, 6, 1)]
)
def test_repeated_eigenvalues(k, times, width):
    """A block Krylov space holds no more copies of an eigenvalue than it is wide, so a new block looks for more."""
    values = np.concatenate([[9.0, 8.0], np.full(times, 7.0), np.linspace(5, 0, 298 - times)])
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((300, 300)))[0]
    A = (Q * values) @ Q.T
    found = block_lanczos(lambda V: A @ V, 300, k, tol=1e-8, max_iter=500, seed=0, width=width)
    assert found.converged
    assert_allclose(found.values, values[:k], rtol=1e-7)
    assert_allclose(A @ found.vectors, found.vectors * values[:k], atol=1e-6)


def test_reported_residuals_are_true():
    """They are read off the recurrence; the products themselves must agree, restarts and all."""
    values = np.concatenate([np.linspace(1.1, 1.05, 10), np.linspace(1.04, 0, 490)])
    for tol in (1e-2, 1e-5, 1e-8):
        seen = []
        with lowdim.watch(lambda step, seen=seen: seen.append(step.info["residual"])):
            found = block_lanczos(lambda V: values[:, None] * V, 500, 10, tol=tol, max_iter=500, seed=1)
        true = np.linalg.norm(values[:, None] * found.vectors - found.vectors * found.values, axis=0).max()
        assert found.converged
        assert_allclose(true / found.values[0], seen[-1], rtol=1e-3, atol=1e-12)
        assert seen[-1] <= tol


def test_operator_with_a_hard_spectrum_restarts():
    values = np.concatenate([np.linspace(1.1, 1.05, 10), np.linspace(1.04, 0, 490)])
    found = block_lanczos(lambda V: values[:, None] * V, 500, 10, tol=1e-9, max_iter=500, seed=1)
    assert found.converged
    assert_allclose(found.values, values[:10], rtol=1e-8)
    short = block_lanczos(lambda V: values[:, None] * V, 500, 10, tol=1e-9, max_iter=3, seed=1)
    assert not short.converged
    with pytest.raises(NotConverged, match="raise max_iter"):
        block_lanczos(lambda V: values[:, None] * V, 500, 100, tol=1e-9, max_iter=2, seed=1)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_block_that_lies_in_the_basis_is_replaced(width):
    """Zero has no direction, nor has what the basis holds already: any other will do, as many as there is room for."""
    basis = np.eye(6)[:, :3]
    for block in (np.zeros((6, width)), np.eye(6)[:, :width]):
        Q, R = orthonormal_block(block, basis)
        assert Q.shape == (6, min(width, 3))
        assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-14)
        assert_allclose(basis.T @ Q, 0, atol=1e-14)
        assert_allclose(Q @ R, block - basis @ (basis.T @ block), atol=1e-14)


@given(st.integers(0, 1000))
def test_extremes_lie_within_the_spectrum_and_near_its_ends(seed):
    A, values = known_spectrum(seed, 60)
    A = A - 100 * np.eye(60)
    low, high = lanczos_extremes(A, seed)
    assert values[-1] - 100 - 1e-9 <= low <= values[-1] - 90
    assert values[0] - 110 <= high <= values[0] - 100 + 1e-9
