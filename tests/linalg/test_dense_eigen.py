"""The eigensolvers: against LAPACK on whole matrices, with deflation, pencils, operators and failures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lowdim
from lowdim.errors import LowdimWarning, NotConverged
from lowdim.linalg import dense_eigen as eigen
from lowdim.linalg.dense_eigen import bottom, fix_signs, pencil, top, top_of_operator


def spread(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix with known, well separated eigenvalues."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.arange(n, 0, -1.0) ** 1.5
    return (Q * values) @ Q.T, values


@given(st.integers(0, 1000), st.sampled_from([1, 3, 14, 20, 30, None]))
def test_top(seed, k):
    A, values = spread(seed)
    found = top(A, k)
    assert_allclose(found.values, values[:k], rtol=1e-10)
    assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-9)


def test_top_from_single_precision_is_refined():
    A, values = spread(0, 200)
    rough, exact = top(A, 5, rough=True), top(A, 5)
    assert_allclose(rough.values, values[:5], rtol=1e-11)
    assert_allclose(rough.vectors, exact.vectors, atol=1e-4)
    tiny = top(A * 1e-60, 5, rough=True)  # would vanish in float32
    assert_allclose(tiny.values, values[:5] * 1e-60, rtol=1e-11)


@given(st.integers(0, 1000), st.integers(1, 6))
def test_operator(seed, k):
    A, values = spread(seed, 60)
    found = top_of_operator(lambda V: A @ V, 60, k, tol=1e-10, max_iter=200, seed=0)
    assert found.converged
    assert_allclose(found.values, values[:k], rtol=1e-9)
    assert_allclose(found.vectors, top(A, k).vectors, atol=1e-6)


def test_operator_of_low_rank_still_gives_an_orthonormal_basis():
    u = np.linspace(1, 2, 40)
    found = top_of_operator(lambda V: np.outer(u, u @ V), 40, 5, tol=1e-10, max_iter=100, seed=0)
    assert_allclose(found.values, [u @ u, 0, 0, 0, 0], atol=1e-9)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-10)
    nothing = top_of_operator(lambda V: 0 * V, 10, 3, tol=1e-10, max_iter=100, seed=0)
    assert_allclose(nothing.values, 0)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("more", [0, 1, 5])
def test_operator_of_which_all_is_asked_for(n, more):
    A, values = spread(n, n)
    found = top_of_operator(lambda V: A @ V, n, n + more, tol=1e-10, max_iter=100, seed=0)
    assert found.converged
    assert_allclose(found.values, values, rtol=1e-10)
    assert_allclose(A @ found.vectors, found.vectors * values, atol=1e-9)


@given(st.integers(0, 1000), st.integers(0, 12), st.integers(1, 40), st.integers(1, 9))
def test_operator_of_any_rank(seed, rank, k, width):
    B = np.random.default_rng(seed).standard_normal((40, rank))
    want = np.linalg.eigvalsh(B @ B.T)[::-1]
    found = top_of_operator(lambda V: B @ (B.T @ V), 40, k, tol=1e-10, max_iter=200, seed=0, width=width)
    assert found.converged
    assert_allclose(found.values, np.maximum(want[:k], 0), atol=1e-9 * max(want[0], 1))
    assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)
    assert_allclose(B @ (B.T @ found.vectors), found.vectors * found.values, atol=1e-8 * max(want[0], 1))


@pytest.mark.parametrize("k", [1, 5, 20, 50, 60])
def test_operator_that_does_nothing(k):
    found = top_of_operator(lambda V: 3.0 * V, 50, k, tol=1e-10, max_iter=100, seed=0)
    assert_allclose(found.values, np.full(min(k, 50), 3.0))
    assert_allclose(found.vectors.T @ found.vectors, np.eye(min(k, 50)), atol=1e-10)


@pytest.mark.parametrize(
    ("k", "times", "width"), [(5, 3, None), (12, 12, None), (30, 25, None), (20, 40, 4), (6, 6, 1)]
)
def test_operator_with_a_value_many_times(k, times, width):
    """A block of Krylov finds no more copies of a value than it is wide, unless it looks again."""
    values = np.concatenate([[9.0, 8.0], np.full(times, 7.0), np.linspace(5, 0, 298 - times)])
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((300, 300)))[0]
    A = (Q * values) @ Q.T
    found = top_of_operator(lambda V: A @ V, 300, k, tol=1e-8, max_iter=500, seed=0, width=width)
    assert found.converged
    assert_allclose(found.values, values[:k], rtol=1e-7)
    assert_allclose(A @ found.vectors, found.vectors * values[:k], atol=1e-6)


def test_operator_tells_its_residuals():
    """They are read off the recurrence; the products themselves must agree, restarts and all."""
    values = np.concatenate([np.linspace(1.1, 1.05, 10), np.linspace(1.04, 0, 490)])
    for tol in (1e-2, 1e-5, 1e-8):
        seen = []
        with lowdim.watch(lambda step, seen=seen: seen.append(step.info["residual"])):
            found = top_of_operator(lambda V: values[:, None] * V, 500, 10, tol=tol, max_iter=500, seed=1)
        true = np.linalg.norm(values[:, None] * found.vectors - found.vectors * found.values, axis=0).max()
        assert found.converged
        assert_allclose(true / found.values[0], seen[-1], rtol=1e-3, atol=1e-12)
        assert seen[-1] <= tol


def test_operator_with_a_hard_spectrum_restarts():
    values = np.concatenate([np.linspace(1.1, 1.05, 10), np.linspace(1.04, 0, 490)])
    found = top_of_operator(lambda V: values[:, None] * V, 500, 10, tol=1e-9, max_iter=500, seed=1)
    assert found.converged
    assert_allclose(found.values, values[:10], rtol=1e-8)
    short = top_of_operator(lambda V: values[:, None] * V, 500, 10, tol=1e-9, max_iter=3, seed=1)
    assert not short.converged
    with pytest.raises(NotConverged, match="raise max_iter"):
        top_of_operator(lambda V: values[:, None] * V, 500, 100, tol=1e-9, max_iter=2, seed=1)


def test_bottom_leaves_out_what_is_known_to_be_null():
    """The Laplacian of a path: eigenvalues 2 - 2 cos(π j / n), the constant vector is null."""
    n = 120
    L = sp.diags_array([np.r_[1, np.full(n - 2, 2), 1], -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1]).toarray()
    expected = 2 - 2 * np.cos(np.pi * np.arange(1, 5) / n)
    found = bottom(L, 4, null=np.full((n, 1), n**-0.5))
    assert_allclose(found.values, expected, rtol=1e-6)
    waves = np.cos(np.pi * np.arange(1, 5) * (np.arange(n)[:, None] + 0.5) / n)
    assert_allclose(np.abs(np.sum(found.vectors * waves, axis=0)), np.linalg.norm(waves, axis=0), rtol=1e-6)
    assert_allclose(found.vectors.sum(axis=0), 0, atol=1e-8)
    assert_allclose(bottom(L, 1).values, 0, atol=1e-7)


@given(st.integers(0, 1000))
def test_pencil(seed):
    rng = np.random.default_rng(seed)
    A, B = spread(seed, 8)[0], np.cov(rng.standard_normal((8, 40)))
    found = pencil(A, B, 3)
    reference = scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:3]
    assert_allclose(found.values, reference, rtol=1e-8)
    assert_allclose(A @ found.vectors, B @ found.vectors * found.values, atol=1e-6)
    assert_allclose(found.vectors.T @ B @ found.vectors, np.eye(3), atol=1e-9)


def test_pencil_leaves_out_the_directions_that_b_does_not_see():
    A, B = np.diag([5.0, 4.0, 3.0]), np.diag([1.0, 2.0, 0.0])
    found = pencil(A, B)
    assert_allclose(found.values, [5, 2])
    assert_allclose(np.abs(found.vectors), [[1, 0], [0, 0.5**0.5], [0, 0]], atol=1e-12)


def test_one_sign_rule():
    V = np.array([[-0.5, 0.1], [0.5, -0.9], [0.2, 0.3]])
    fixed = fix_signs(V)
    assert_allclose(fixed, V * [-1, -1])  # a tie goes to the first entry; else the largest is positive
    assert_allclose(fix_signs(-V), fixed)
    nudged = V * [[1 - 1e-9, 1], [1, 1], [1, 1]]  # rounding must not choose between equals
    assert_allclose(fix_signs(nudged), fixed, atol=1e-8)
    assert fix_signs(np.zeros((3, 1))).tolist() == [[0], [0], [0]]


def test_falls_back_and_says_so(monkeypatch):
    A, values = spread(3)
    honest = scipy.linalg.eigh

    def broken(matrix, *, driver, **options):
        if driver in failing:
            raise scipy.linalg.LinAlgError("did not converge")
        return honest(matrix, driver=driver, **options)

    monkeypatch.setattr(eigen.scipy.linalg, "eigh", broken)
    failing = {"evd"}
    with pytest.warns(LowdimWarning, match="evd gave up"):
        assert_allclose(top(A).values, values, rtol=1e-10)
    failing = {"evd", "evr", "ev", "evx"}
    with pytest.warns(LowdimWarning, match="gave up"):
        assert_allclose(top(A, 4).values, values[:4], rtol=1e-10)
    monkeypatch.setattr(eigen.scipy.linalg, "svd", lambda *a, **b: broken(A, driver="evd"))
    with pytest.warns(LowdimWarning), pytest.raises(NotConverged, match="Rescale"):
        top(A)


@pytest.mark.parametrize("n", [40, 41, 100])
def test_equal_values_come_back_as_many_as_asked_for(n):
    """LAPACK's evr may find none of a range of equal values, and say nothing."""
    C = (np.eye(n) - 1 / n) / (n - 1)
    found = top(C, 2)
    np.testing.assert_allclose(found.values, 1 / (n - 1))
    assert lowdim.PCA(2).fit(np.eye(n)).components_.shape == (2, n)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_block_that_lies_in_the_basis_is_replaced(width):
    """Zero has no direction, nor has what the basis holds already: any other will do, as many as there is room for."""
    basis = np.eye(6)[:, :3]
    for block in (np.zeros((6, width)), np.eye(6)[:, :width]):
        Q, R = eigen._orthonormal(block, basis)
        assert Q.shape == (6, min(width, 3))
        assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-14)
        assert_allclose(basis.T @ Q, 0, atol=1e-14)
        assert_allclose(Q @ R, block - basis @ (basis.T @ block), atol=1e-14)
