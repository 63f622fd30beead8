"""Dense eigensolvers against LAPACK's whole spectra: deflation, generalized problems, signs and failing drivers."""

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
from lowdim.linalg import dense_eigen, lapack
from lowdim.linalg.dense_eigen import eigh_largest, eigh_smallest, fix_signs, generalized_eigh


def known_spectrum(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix with known, well separated eigenvalues."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.arange(n, 0, -1.0) ** 1.5
    return (Q * values) @ Q.T, values


@given(st.integers(0, 1000), st.sampled_from([1, 3, 14, 20, 30, None]))
def test_largest(seed, k):
    A, values = known_spectrum(seed)
    found = eigh_largest(A, k)
    assert_allclose(found.values, values[:k], rtol=1e-10)
    assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-9)


def test_single_precision_vectors_are_refined():
    A, values = known_spectrum(0, 200)
    rough, exact = eigh_largest(A, 5, rough=True), eigh_largest(A, 5)
    assert_allclose(rough.values, values[:5], rtol=1e-11)
    assert_allclose(rough.vectors, exact.vectors, atol=1e-4)
    tiny = eigh_largest(A * 1e-60, 5, rough=True)  # would vanish in float32
    assert_allclose(tiny.values, values[:5] * 1e-60, rtol=1e-11)


def test_smallest_deflates_the_null_space():
    """The Laplacian of a path: eigenvalues 2 - 2 cos(π j / n), the constant vector is null."""
    n = 120
    L = sp.diags_array([np.r_[1, np.full(n - 2, 2), 1], -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1]).toarray()
    expected = 2 - 2 * np.cos(np.pi * np.arange(1, 5) / n)
    found = eigh_smallest(L, 4, null=np.full((n, 1), n**-0.5))
    assert_allclose(found.values, expected, rtol=1e-6)
    cosines = np.cos(np.pi * np.arange(1, 5) * (np.arange(n)[:, None] + 0.5) / n)
    assert_allclose(np.abs(np.sum(found.vectors * cosines, axis=0)), np.linalg.norm(cosines, axis=0), rtol=1e-6)
    assert_allclose(found.vectors.sum(axis=0), 0, atol=1e-8)
    assert_allclose(eigh_smallest(L, 1).values, 0, atol=1e-7)


@given(st.integers(0, 1000))
def test_generalized(seed):
    rng = np.random.default_rng(seed)
    A, B = known_spectrum(seed, 8)[0], np.cov(rng.standard_normal((8, 40)))
    found = generalized_eigh(A, B, 3)
    reference = scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:3]
    assert_allclose(found.values, reference, rtol=1e-8)
    assert_allclose(A @ found.vectors, B @ found.vectors * found.values, atol=1e-6)
    assert_allclose(found.vectors.T @ B @ found.vectors, np.eye(3), atol=1e-9)


def test_generalized_leaves_out_the_null_space_of_b():
    A, B = np.diag([5.0, 4.0, 3.0]), np.diag([1.0, 2.0, 0.0])
    found = generalized_eigh(A, B)
    assert_allclose(found.values, [5, 2])
    assert_allclose(np.abs(found.vectors), [[1, 0], [0, 0.5**0.5], [0, 0]], atol=1e-12)


def test_sign_convention():
    V = np.array([[-0.5, 0.1], [0.5, -0.9], [0.2, 0.3]])
    fixed = fix_signs(V)
    assert_allclose(fixed, V * [-1, -1])  # a tie goes to the first entry; else the largest is positive
    assert_allclose(fix_signs(-V), fixed)
    nudged = V * [[1 - 1e-9, 1], [1, 1], [1, 1]]  # rounding must not choose between equals
    assert_allclose(fix_signs(nudged), fixed, atol=1e-8)
    assert fix_signs(np.zeros((3, 1))).tolist() == [[0], [0], [0]]


def test_a_failing_driver_is_replaced_with_a_warning(monkeypatch):
    A, values = known_spectrum(3)
    honest = lapack.eigh

    def broken(matrix, wanted, driver):
        if driver in failing:
            raise scipy.linalg.LinAlgError("did not converge")
        return honest(matrix, wanted, driver)

    monkeypatch.setattr(lapack, "eigh", broken)
    failing = {"evd"}
    with pytest.warns(LowdimWarning, match="evd driver failed"):
        assert_allclose(eigh_largest(A).values, values, rtol=1e-10)
    failing = {"evd", "evr", "ev", "evx"}
    with pytest.warns(LowdimWarning, match="driver failed"):
        assert_allclose(eigh_largest(A, 4).values, values[:4], rtol=1e-10)
    monkeypatch.setattr(dense_eigen.scipy.linalg, "svd", lambda *a, **b: broken(A, None, "evd"))
    with pytest.warns(LowdimWarning), pytest.raises(NotConverged, match="Rescale"):
        eigh_largest(A)


@pytest.mark.parametrize("n", [40, 41, 100])
def test_equal_values_come_back_as_many_as_asked_for(n):
    """LAPACK's evr may find none of a range of equal values, and say nothing."""
    C = (np.eye(n) - 1 / n) / (n - 1)
    found = eigh_largest(C, 2)
    np.testing.assert_allclose(found.values, 1 / (n - 1))
    assert lowdim.PCA(2).fit(np.eye(n)).components_.shape == (2, n)
