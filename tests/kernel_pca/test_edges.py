"""Kernel PCA at the edges of precision: bounds on the error, totals that do not depend on what was asked for."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lowdim
from lowdim import PCA, KernelPCA
from lowdim.decomposition import gram_eigen
from lowdim.errors import BadInput
from lowdim.kernels import laplacian, polynomial, rational_quadratic, rbf, sigmoid

EPS = np.finfo(np.float64).eps


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "rational_quadratic"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_default_gamma_does_not_depend_on_where_the_columns_lie(kernel, dtype, rng):
    X = rng.normal(size=(80, 4)).astype(dtype)
    offsets = np.array([0, 100, 1000, 5], dtype=dtype)
    plain, shifted = KernelPCA(2, kernel=kernel).fit(X), KernelPCA(2, kernel=kernel).fit(X + offsets)
    tol = 1e-10 if dtype == np.float64 else 1e-3
    assert shifted.kernel_.gamma == pytest.approx(plain.kernel_.gamma, rel=tol)
    assert_allclose(shifted.eigenvalues_, plain.eigenvalues_, rtol=tol)


@pytest.mark.parametrize("kernel", [rbf, laplacian, rational_quadratic, polynomial, sigmoid])
def test_the_default_gamma_is_that_of_all_numbers_if_the_table_is_centered(kernel, rng):
    X = rng.normal(size=(50, 3)) * [1, 2, 3]
    X -= X.mean(axis=0)
    scale = 3 * X.std() if kernel is laplacian else 3 * X.var()
    assert kernel(gamma="scale").resolve(X).gamma == pytest.approx(1 / scale, rel=1e-12)
    far = X + 1e8  # the means are rounded to 1e-8, the columns to 1e-8 too
    assert kernel(gamma="scale").resolve(far).gamma == pytest.approx(1 / scale, rel=1e-7)


def test_gamma_of_constant_rows_and_of_vanishing_ones():
    assert rbf("scale").resolve(np.full((5, 2), 3.3)).gamma == 1
    with pytest.raises(BadInput, match="underflow"):
        rbf("scale").resolve(np.arange(10.0).reshape(5, 2) * 1e-200)
    small = (np.arange(10.0).reshape(5, 2) * 1e-25).astype(np.float32)  # squares vanish in float32, not in float64
    assert rbf("scale").resolve(small).gamma == pytest.approx(1 / small.astype(np.float64).var(axis=0).sum())


@pytest.mark.parametrize("n", [5, 30, 200])
@pytest.mark.parametrize(
    ("dtype", "offset"), [(np.float32, 0), (np.float32, 10), (np.float64, 0), (np.float64, 10), (np.float64, 1e3)]
)
def test_rounding_is_no_component(n, offset, dtype):
    for seed in range(10 if n < 200 else 2):
        X = (np.random.default_rng(seed).normal(size=(n, 3)) + offset).astype(dtype)
        model = KernelPCA(None, kernel="linear").fit(X)
        assert len(model.eigenvalues_) == 3
        want = n * PCA(3, ddof=0).fit(X.astype(np.float64)).explained_variance_
        bound = 4 * np.finfo(dtype).eps * n * 3 * (offset + 4) ** 2  # of entries as large as the square of the offset
        assert_allclose(model.eigenvalues_, want, atol=bound)


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_the_linear_kernel_says_what_an_offset_cost(offset, rng):
    """Inner products of the rows have an error of eps times the offset squared: no eigenvalue below it is told."""
    X = rng.normal(size=(30, 2)) + offset
    bound = 4 * EPS * 30 * (2 * offset**2 + 1)
    model = KernelPCA(None, kernel="linear").fit(X)
    assert_allclose(model.eigenvalues_[0], 0, atol=bound)
    assert np.isfinite(model.transform(X)).all()
    near = KernelPCA(2).fit(X)  # distances are taken about the mean, and keep their digits
    assert_allclose(near.eigenvalues_, KernelPCA(2).fit(X - offset).eigenvalues_, rtol=1e-6 if offset == 1e8 else 0.01)


def test_the_share_of_an_indefinite_kernel_does_not_depend_on_the_number_of_components(rng):
    A = rng.normal(size=(40, 40))
    A = A + A.T
    H = np.eye(40) - 1 / 40
    values = np.linalg.eigvalsh(H @ A @ H)
    want = values[-1] / values[values > 0].sum()
    for solver in ("dense", "lanczos"):
        for k in (1, 2, 5, None):
            if solver == "lanczos" and k is None:
                continue
            model = KernelPCA(k, kernel="precomputed", solver=solver).fit(A)
            assert model.explained_variance_ratio_[0] == pytest.approx(want, rel=1e-6)
    assert KernelPCA(None, kernel="precomputed").fit(A).explained_variance_ratio_.sum() == pytest.approx(1)


def test_the_total_of_a_large_indefinite_kernel_is_estimated(monkeypatch, rng):
    X = rng.normal(size=(300, 5))
    kernel = sigmoid(0.3, -1.0)
    exact = KernelPCA(None, kernel=kernel).fit(X)
    monkeypatch.setattr(gram_eigen, "GRAM_ROWS", 100)
    shares = [KernelPCA(k, kernel=kernel).fit(X).explained_variance_ratio_[0] for k in (1, 2, 5, 20)]
    assert_allclose(shares, shares[0], rtol=1e-6)  # the estimate does not depend on it either
    assert shares[0] == pytest.approx(exact.explained_variance_ratio_[0], rel=0.02)


def test_the_total_of_a_nystrom_approximation_does_not_depend_on_the_number_of_components(rng):
    X = rng.normal(size=(200, 3))
    for kernel in (rbf(0.3), sigmoid(0.3, -1.0)):
        options = {"kernel": kernel, "solver": "nystrom", "n_landmarks": 40}
        with pytest.warns() if kernel.psd is None else np.errstate():
            shares = [KernelPCA(k, **options).fit(X).explained_variance_ratio_[0] for k in (1, 3, 20)]
        assert_allclose(shares, shares[0], rtol=1e-9)


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e-200), (np.float64, 1e-300), (np.float32, 1e-25)])
@pytest.mark.parametrize("solver", ["dense", "lanczos", "nystrom"])
def test_vanishing_squares_are_refused(dtype, size, solver, rng):
    X = (rng.normal(size=(40, 3)) * size).astype(dtype)
    with pytest.raises(BadInput, match="underflow"):
        KernelPCA(2, kernel="linear", solver=solver).fit(X)
    with pytest.raises(BadInput, match="underflow"):
        KernelPCA(2).fit_transform(lowdim.gram(X, "linear"))
    constant = np.full((20, 3), size, dtype=dtype)
    assert not KernelPCA(2, kernel="linear", solver=solver).fit_transform(constant).any()


@pytest.mark.parametrize("power", [-450, 450])  # 1e-135, 1e135
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "cosine"])
def test_a_power_of_two_costs_no_digit(kernel, power, rng):
    X = rng.normal(size=(40, 3)) * [3, 2, 1]
    plain, scaled = KernelPCA(2, kernel=kernel).fit(X), KernelPCA(2, kernel=kernel).fit(np.ldexp(X, power))
    factor = 2 * power if kernel == "linear" else 0
    assert_allclose(np.ldexp(scaled.eigenvalues_, -factor), plain.eigenvalues_, rtol=1e-9)
    assert_allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "sigmoid", "laplacian"])
def test_few_rows_of_one_column(n, kernel, rng):
    X = rng.normal(size=(n, 1))
    for k in (1, n, None):
        model = KernelPCA(k, kernel=kernel)
        Z = model.fit_transform(X)
        assert len(model.eigenvalues_) <= max(1, n - 1) if k is None else True  # centering takes one
        assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-9 * max(1.0, float(model.eigenvalues_[0])))
        assert_array_equal(Z[:, model.eigenvalues_ == 0], 0)
        assert model.explained_variance_ratio_.sum() <= 1 + 1e-12


def test_eigenvalues_ten_orders_below_the_largest(rng):
    """A kernel matrix of known spectrum: absolute errors of eps · n times its largest entry."""
    n = 40
    Q = np.linalg.qr(np.c_[np.ones(n), rng.normal(size=(n, 6))])[0][:, 1:]  # orthogonal to constants: centered
    values = 10.0 ** np.arange(0, -12, -2)
    K = Q * values @ Q.T
    model = KernelPCA(None, kernel="precomputed").fit((K + K.T) / 2)
    assert_allclose(model.eigenvalues_, values, atol=4 * EPS * n * np.abs(K).max())
    assert len(model.eigenvalues_) == 6


def test_nystrom_keeps_to_a_few_blocks_of_memory(monkeypatch, rng):
    """Landmarks are what it keeps, so neither γ nor the trace nor a block of kernel values may copy the table."""
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1 << 18)
    X = rng.normal(size=(4000, 400)).astype(np.float32)
    model = KernelPCA(2, solver="nystrom", n_landmarks=10, n_jobs=1)
    model.fit(X[:100])
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes
