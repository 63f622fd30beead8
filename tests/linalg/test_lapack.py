"""LAPACK without Python's global lock: the numbers of SciPy's wrappers, bit by bit, while other threads go on."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

from lowdim.linalg import lapack
from lowdim.runtime.threads import single_blas


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 7, 90])
def test_the_bits_of_scipy(n, dtype, rng):
    A = rng.standard_normal((n, n)).astype(dtype)
    A = A + A.T
    before = A.copy()
    with single_blas():
        for driver, wanted in (("evd", None), ("evr", (n // 2, n - 1)), ("evr", (0, 0)), ("ev", None)):
            ours = lapack.eigh(A, wanted, driver)
            theirs = scipy.linalg.eigh(A, subset_by_index=wanted, driver=driver)
            for mine, other in zip(ours, theirs, strict=True):
                assert mine.dtype == dtype
                assert_array_equal(mine, other)
    assert_array_equal(A, before)


def test_memory_layout_and_other_dtypes(rng):
    A = rng.standard_normal((12, 12))
    A = A + A.T
    want = np.linalg.eigvalsh(A)
    for form in (np.asfortranarray(A), A.astype(">f8"), A.astype(np.longdouble), np.repeat(A, 2, axis=1)[:, ::2]):
        assert_allclose(lapack.eigh(form, None, "evd")[0], want, rtol=1e-12)
        assert_allclose(lapack.eigh(form, (2, 5), "evr")[0], want[2:6], rtol=1e-12)
    with pytest.raises(ValueError, match="square"):
        lapack.eigh(A[:5], None, "evd")


@pytest.mark.parametrize("shape", [(40, 6), (6, 6), (4, 9)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_factor_has_the_scatter_of_the_rows(shape, dtype, rng):
    A = rng.standard_normal(shape).astype(dtype)
    R = lapack.r_factor(A)
    assert R.shape == (min(shape), shape[1]) and R.dtype == dtype
    assert_array_equal(np.tril(R[:, : min(shape)], -1), 0)
    assert_allclose(R.T @ R, A.T @ A, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("rows", [(40, 40), (6, 6), (4, 40), (40, 3), (2, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_factors_merge_into_that_of_all_rows(rows, dtype, rng):
    A, B = (rng.standard_normal((n, 6)).astype(dtype) for n in rows)
    upper, lower = lapack.r_factor(A), lapack.r_factor(B)
    before = upper.copy(), lower.copy()
    R = lapack.merged_r_factor(upper, lower)
    assert R.shape == (6, 6) and R.dtype == dtype
    assert_array_equal(np.tril(R, -1), 0)
    assert_allclose(R.T @ R, A.T @ A + B.T @ B, atol=1e-4 if dtype == np.float32 else 1e-12)
    assert_array_equal(upper, before[0])
    assert_array_equal(lower, before[1])


@pytest.mark.parametrize("solve", [
    lambda A: lapack.eigh(A, None, "evd"),
    lambda A: lapack.eigh(A, (390, 399), "evr"),
    lapack.svd,
    lambda A: lapack.r_factor(np.vstack([A] * 6)),
    lambda A: lapack.qr(np.vstack([A] * 6)),
    lambda A: [lapack.merged_r_factor(np.triu(A), np.triu(A)) for _ in range(6)],
], ids=["evd", "evr", "svd", "r", "qr", "merge"])  # fmt: skip
def test_other_threads_go_on(solve, rng):
    A = rng.standard_normal((400, 400))
    A = A + A.T
    turns = 0
    with single_blas():
        solver = threading.Thread(target=solve, args=(A,))
        solver.start()
        while solver.is_alive():
            time.sleep(0)  # with the lock held elsewhere, this would not return before the end
            turns += 1
    assert turns > 20
