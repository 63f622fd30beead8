"""Kernel PCA at the edges of precision: bounds on the error, totals that do not depend on what was asked for."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lowdim
from lowdim import PCA, KernelPCA
from lowdim.data.rows import open_rows
from lowdim.decomposition import gram_eigen
from lowdim.errors import BadInput, MemoryTooSmall
from lowdim.kernel_pca.nystrom import nystrom_bytes
from lowdim.kernels import chi2, cosine, laplacian, linear, polynomial, rational_quadratic, rbf, sigmoid

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


@pytest.mark.parametrize("solver", ["dense", "lanczos", "nystrom"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0, 1e4, 1e8, 1e12])
def test_the_linear_kernel_is_pca_wherever_the_columns_lie(offset, dtype, solver, rng):
    """Of the rows as they are after the rounding that the offset cost them; in float32, all are equal at 1e12."""
    X = (rng.normal(size=(60, 3)) * [4, 2, 1] + offset).astype(dtype)
    new = (rng.normal(size=(9, 3)) + offset).astype(dtype)
    model = KernelPCA(3, kernel="linear", solver=solver, n_landmarks=30 if solver == "nystrom" else None)
    Z = model.fit_transform(X)
    near, new_near = (rows.astype(np.float64) - X[0].astype(np.float64) for rows in (X, new))  # exact, so close by
    exact = PCA(3, ddof=0).fit(near)
    eps = float(np.finfo(dtype).eps)
    largest = 60 * float(exact.explained_variance_[0])
    assert_allclose(model.eigenvalues_, 60 * exact.explained_variance_, atol=400 * eps * largest)
    # An axis is turned by the error over the gap between eigenvalues; rows at 1e8 in float32 are multiples of 8.
    bound = (2e-4 if dtype == np.float32 else 1e-10) * max(np.abs(near).max(), np.abs(new_near).max())
    for found, rows in ((Z, near), (model.transform(X), near), (model.transform(new), new_near)):
        want = exact.transform(rows) * (exact.explained_variance_ > 0)
        assert_allclose(np.abs(found), np.abs(want), atol=bound)
    assert_array_equal(model.X_fit_ if solver != "nystrom" else X, X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "kernel",
    [2 * linear(), linear() + rbf(0.1), polynomial(1, 0.5), linear() + 3.0, rbf(0.1), laplacian(0.1)],
    ids=repr,
)
def test_the_centered_matrix_does_not_change_with_an_offset(kernel, weighted, rng):
    X = rng.normal(size=(40, 3)) + 1e8
    near = X - 1e8  # exact, as they lie so close
    weights = rng.integers(1, 4, 40) if weighted else None
    found, want = (lowdim.gram(rows, kernel, sample_weight=weights).dense() for rows in (X, near))
    assert_allclose(found, want, atol=1e-12 * np.abs(want).max())


def test_kernels_that_depend_on_where_the_rows_lie_are_not_shifted(rng):
    X = rng.normal(size=(20, 3)) + 2
    H = np.eye(20) - 1 / 20
    for kernel in (polynomial(2, 0.5), sigmoid(0.1), cosine(), linear() * linear(), linear() + cosine(), chi2(0.1)):
        rows = np.abs(X) if isinstance(kernel, chi2) else X
        assert_allclose(
            lowdim.gram(rows, kernel).dense(), H @ kernel(rows) @ H, atol=1e-10 * np.abs(kernel(rows)).max()
        )
    assert_allclose(linear()(X), X @ X.T, rtol=1e-14)  # the kernel itself is what it says


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "cosine", "polynomial"])
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float64, s) for s in (1e-300, 1e-150, 1e150, 1e300)]
    + [(np.float32, 1e-30), (np.float32, 1e15), (np.float32, 1e30)],
)
def test_any_scale_is_right_or_refused(kernel, dtype, scale, rng):
    X = (rng.normal(size=(30, 3)) * [3, 2, 1]).astype(dtype)
    plain = KernelPCA(2, kernel=kernel).fit(X)
    try:
        scaled = KernelPCA(2, kernel=kernel).fit(X * dtype(scale))
    except BadInput as error:
        assert "escale" in str(error)
        assert kernel != "cosine"  # which has no scale
        return
    tol = 1e-9 if dtype == np.float64 else 1e-4
    assert_allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=tol)
    assert np.isfinite(scaled.transform(X * dtype(scale))).all()


@pytest.mark.parametrize("solver", ["dense", "lanczos"])
def test_tied_eigenvalues_span_the_space(solver, rng):
    n = 30
    Q = np.linalg.qr(np.c_[np.ones(n), rng.normal(size=(n, 4))])[0][:, 1:]
    K = Q * [2.0, 1.0, 1.0, 1.0] @ Q.T
    model = KernelPCA(4, kernel="precomputed", solver=solver)
    Z = model.fit_transform((K + K.T) / 2)
    assert_allclose(model.eigenvalues_, [2, 1, 1, 1], rtol=1e-9)
    assert_allclose(Z @ Z.T, K, atol=1e-9)


def test_new_rows_in_chunks_are_the_whole(monkeypatch, rng):
    X = rng.normal(size=(200, 3)) + 1e4
    model = KernelPCA(2, kernel="linear").fit(X)
    whole = model.transform(X)
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1)  # 16 rows
    assert_allclose(model.transform(X), whole, atol=1e-11 * np.abs(whole).max())


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


@pytest.mark.parametrize("m", [5, 300])
def test_nystrom_asks_for_the_memory_that_it_takes(m, rng):
    X = rng.normal(size=(1500, 300)).astype(np.float32)
    model = KernelPCA(2, solver="nystrom", n_landmarks=m, n_jobs=1).fit(X[:400])
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= nystrom_bytes(open_rows(X), m, 1) <= 3 * peak


def test_nystrom_refuses_what_does_not_fit(monkeypatch, rng):
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 1 << 20)
    with pytest.raises(MemoryTooSmall, match="smaller n_landmarks"):
        KernelPCA(2, solver="nystrom", n_landmarks=300).fit(rng.normal(size=(1500, 3)))
