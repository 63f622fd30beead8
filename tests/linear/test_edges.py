"""PCA at the edges of precision, each with a bound on the error against an oracle of higher precision.

Oracles: `np.longdouble` (64 bits of mantissa) for means and scatter, rows whose singular values are known by
construction, and the same rows times a power of two, which costs no digit.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import lowdim
from lowdim import PCA, Standardized
from lowdim.decomposition import principal_axes as entry
from lowdim.errors import BadInput, MemoryTooSmall
from lowdim.linalg import lapack

EPS = np.finfo(np.float64).eps


def nearly_collinear(seed: int, n: int = 500) -> np.ndarray:
    """Two columns that repeat others up to 1e-7 and 1e-9: eigenvalues of about 5e-15 and 5e-19 beside 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return np.c_[x, x[:, 0] + 1e-7 * rng.normal(size=n), x[:, 1] + 1e-9 * rng.normal(size=n)]


def exact_variances(X: np.ndarray, ddof: int = 1) -> np.ndarray:
    """Eigenvalues of the covariance matrix from a one-sided Jacobi SVD of the rows in extended precision."""
    A = X.astype(np.longdouble)
    A = A - A.mean(axis=0)
    d = A.shape[1]
    for _ in range(12):
        for i in range(d):
            for j in range(i + 1, d):
                a, b, c = A[:, i] @ A[:, i], A[:, j] @ A[:, j], A[:, i] @ A[:, j]
                if abs(c) <= np.finfo(np.longdouble).eps * np.sqrt(a * b):
                    continue
                zeta = (b - a) / (2 * c)
                t = np.sign(zeta + (zeta == 0)) / (abs(zeta) + np.sqrt(1 + zeta**2))
                cosine = 1 / np.sqrt(1 + t**2)
                sine = cosine * t
                A[:, i], A[:, j] = cosine * A[:, i] - sine * A[:, j], sine * A[:, i] + cosine * A[:, j]
    return np.sort(((A**2).sum(axis=0) / (len(X) - ddof)).astype(np.float64))[::-1]


def subspace_error(A: np.ndarray, B: np.ndarray) -> float:
    """The largest sine of an angle between the row spaces of two orthonormal bases."""
    return float(np.linalg.norm(A - A @ B.T @ B, 2))


@pytest.mark.parametrize("k", [4, 5, None])
@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}, {"ddof": 0}], ids=str)
def test_eigenvalues_far_below_the_largest_keep_their_digits(k, options):
    for seed in range(5):
        X = nearly_collinear(seed)
        model = PCA(k, **options).fit(X)
        Y = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) if options.get("standardize") else X
        want = exact_variances(Y, options.get("ddof", 1))
        # A standardized column is rounded, which moves its values by eps: 1e-7 of deviations of 1e-9.
        assert_allclose(model.explained_variance_, want[: k or 5], rtol=1e-5)
        assert model.solver_ == "svd"
        assert model.log_generalized_variance_ == pytest.approx(np.log(want).sum(), rel=1e-6)
        if options.get("whiten"):
            assert_allclose(np.cov(model.transform(X).T), np.eye(k or 5), atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_few_components_need_no_svd_but_know_the_noise_variance(k):
    """PCA(3) leaves out two eigenvalues of 5e-15 and 5e-19: their mean is read off the rows."""
    X = nearly_collinear(0)
    model, want = PCA(k).fit(X), exact_variances(X)
    assert model.solver_ == "covariance"
    assert_allclose(model.explained_variance_, want[:k], rtol=1e-12)
    assert model.noise_variance_ == pytest.approx(want[k:].mean(), rel=1e-6)
    assert np.isnan(model.log_generalized_variance_)  # the covariance matrix does not hold it, and says so


def test_weights_do_not_lose_small_eigenvalues(rng):
    X, weights = nearly_collinear(1, 200), rng.integers(0, 4, 200)
    weighted = PCA(None).fit(X, sample_weight=weights)
    assert_allclose(weighted.explained_variance_, exact_variances(np.repeat(X, weights, axis=0)), rtol=1e-6)


def test_what_can_not_be_read_again_is_resolved_or_zero():
    """A stream, Moments and sparse rows have the covariance matrix alone: eigenvalues to eps times the largest."""
    X = nearly_collinear(2)
    want = exact_variances(X)
    for model in (
        PCA(None).fit(iter([X[:200], X[200:]])),
        PCA(None).fit(lowdim.moments(X)),
        PCA(None).partial_fit(X[:100]).partial_fit(X[100:]),
        PCA(None).fit(sp.csr_array(X)),
        PCA(None, solver="covariance").fit(X),
    ):
        assert_allclose(model.explained_variance_[:3], want[:3], rtol=1e-12)
        assert_allclose(model.explained_variance_[3:], want[3:], atol=8 * EPS * want[0])
        assert model.explained_variance_[4] == 0
        assert np.isnan(model.log_generalized_variance_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(12, 30), (30, 30), (30, 31)])
def test_no_more_rows_than_columns_is_singular(form, shape, rng):
    X = rng.normal(size=shape) * (rng.random(shape) < 0.5)
    for solver in ("covariance", "gram", "svd", "auto"):
        model = PCA(None, solver=solver).fit(form(X))
        assert model.explained_variance_[shape[0] - 1 :].max() == 0
        assert (model.explained_variance_[: shape[0] - 1] > 0).all()
        assert model.log_generalized_variance_ == -np.inf
    assert PCA(2, solver="krylov").fit(form(X)).log_generalized_variance_ == -np.inf


def test_log_determinant_of_a_well_conditioned_table(rng):
    X = rng.normal(size=(300, 5)) * [1e-8, 1e-4, 1, 1e4, 1e8]  # scales alone do no harm
    want = np.linalg.slogdet(np.cov((X / [1e-8, 1e-4, 1, 1e4, 1e8]).T))[1]
    for k in (2, None):
        assert PCA(k).fit(X[:, [2, 0, 4, 3, 1]]).log_generalized_variance_ == pytest.approx(want, abs=1e-9)
    assert PCA(2).fit(np.c_[X, np.full(300, 0.1)]).log_generalized_variance_ == -np.inf
    assert np.isnan(PCA(2, solver="krylov").fit(X).log_generalized_variance_)


def test_float32_rows_keep_the_digits_that_they_have(rng):
    """Variances from 1 to 1e-10 of float32 rows: products in float32 resolve 1e-7."""
    d = 12
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = (rng.normal(size=(2000, d)) * 10.0 ** np.linspace(0, -5, d) @ Q.T).astype(np.float32)
    want = exact_variances(X.astype(np.float64))
    for k in (d, None, 9):
        model = PCA(k).fit(X)
        assert model.explained_variance_.dtype == np.float32
        assert_allclose(model.explained_variance_, want[: k or d], rtol=1e-4)
        assert model.solver_ == "covariance"
    assert PCA(9).fit(X).noise_variance_ == pytest.approx(want[9:].mean(), rel=1e-3)
    wide = PCA(8).fit(np.ascontiguousarray(X[:10]))  # fewer rows than columns: the Gram matrix
    assert wide.solver_ == "gram"
    assert_allclose(wide.explained_variance_, exact_variances(X[:10].astype(np.float64))[:8], rtol=1e-4)


@pytest.mark.parametrize("solver", ["auto", "covariance", "gram", "svd", "krylov"])
@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("shape", [(400, 6), (20, 60)])
@pytest.mark.parametrize("weighted", [False, True])
def test_offsets_cost_no_digits(solver, offset, shape, weighted):
    """The rows after the offset was added are the data; a mean is rounded to eps times the offset."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape) * (1e-3 if offset == 1e12 else 1e-6) * np.r_[4.0, 3.0, 2.0, np.full(shape[1] - 3, 0.5)]
    X = np.round(X + offset, 12)
    weights = rng.integers(1, 4, shape[0]) if weighted else None
    exact = np.repeat(X, weights, axis=0) if weighted else X
    near = (exact.astype(np.longdouble) - X[0].astype(np.longdouble)).astype(np.float64)  # exact: they lie so close
    want = PCA(3, solver="svd").fit(near)
    model = PCA(3, solver=solver).fit(X, sample_weight=weights)
    assert_allclose(model.explained_variance_, want.explained_variance_, rtol=1e-9)
    assert model.total_variance_ == pytest.approx(want.total_variance_, rel=1e-9)
    assert subspace_error(model.components_, want.components_) < 1e-7
    # Scores are off by the rounding of the mean, no more.
    assert np.abs(model.transform(X).mean(axis=0)).max() < 8 * EPS * offset * np.sqrt(shape[1]) or weighted


@pytest.mark.parametrize(
    "options", [{}, {"standardize": True}, {"solver": "svd"}, {"solver": "gram"}, {"whiten": True}]
)
@pytest.mark.parametrize("power", [-480, -300, 300, 480])  # 1e-144 … 1e144
def test_a_power_of_two_costs_no_digit(options, power, rng):
    X = rng.normal(size=(40, 5)) * np.arange(1, 6)
    plain, scaled = PCA(3, **options).fit(X), PCA(3, **options).fit(np.ldexp(X, power))
    factor = 0 if options.get("standardize") else 2 * power
    assert_allclose(np.ldexp(scaled.explained_variance_, -factor), plain.explained_variance_, rtol=1e-12)
    assert_allclose(scaled.components_, plain.components_, atol=1e-12)
    assert_allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "covariance", "gram", "svd", "krylov"])
@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 2.0**-664), (np.float64, 2.0**-996), (np.float32, 2.0**-83)])
def test_standardized_columns_of_vanishing_squares(solver, dtype, size, rng):
    """1e-200 and 1e-300 in float64, 1e-25 in float32: standardized, they are like any others."""
    X = (rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))).astype(dtype)
    plain = PCA(2, standardize=True, solver=solver).fit(X)
    for factors in (size, np.array([1, size, 1, size])):
        Y = (X * factors).astype(dtype)
        tiny = PCA(2, standardize=True, solver=solver).fit(Y)
        tol = 1e-9 if dtype == np.float64 else 2e-4
        assert_allclose(tiny.transform(Y), plain.transform(X), atol=tol)
        assert_allclose(tiny.scale_, plain.scale_ * factors, rtol=tol)
        assert_allclose(tiny.explained_variance_, plain.explained_variance_, rtol=tol)
        assert_allclose(Standardized(PCA(2)).fit_transform(Y), Standardized(PCA(2)).fit_transform(X), atol=tol)


@pytest.mark.parametrize("fit", [PCA(1, standardize=True, solver="krylov"), lowdim.ProjectionPursuit(1)])
def test_standard_deviations_that_overflow_are_refused(fit):
    X = np.array([[-1e12, -1e308, 1e12, 0], [1e12, 1e12, -1e12, 1e12]])
    with pytest.raises(BadInput, match="squares overflow"):
        fit.fit(X)


def test_vanishing_squares_are_standardized_by_em_and_refused_where_they_can_not_be(rng):
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    plain, tiny = (PCA(2, standardize=True, missing="em").fit(np.ldexp(X, power)) for power in (0, -664))
    assert_allclose(tiny.components_, plain.components_, atol=1e-9)
    with pytest.raises(BadInput, match="squares underflow"):
        PCA(2, missing="em").fit(np.ldexp(X, -664))
    whole = np.nan_to_num(X)
    for small in (iter([np.ldexp(whole, -520)]), lowdim.moments(np.ldexp(whole, -520))):
        for standardize in (False, True):
            with pytest.raises(BadInput, match="squares underflow"):
                PCA(2, standardize=standardize).fit(small if not standardize else lowdim.moments(np.ldexp(whole, -520)))
    with pytest.raises(BadInput, match="squares underflow"):
        PCA(2).fit(sp.csr_array(np.ldexp(whole, -664)))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 50])
@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_rows(n, d, dtype, rng):
    X = rng.normal(size=(n, d)).astype(dtype)
    want = exact_variances(X.astype(np.float64), 0)[: min(n, d)]
    for solver in ("auto", "covariance", "gram", "svd", "krylov"):
        model = PCA(None, ddof=0, solver=solver).fit(X)
        bound = 8 * np.finfo(dtype).eps * max(want[0], 1.0)
        assert_allclose(model.explained_variance_, want, atol=bound, rtol=1e-4 if dtype == np.float32 else 1e-9)
        assert_allclose(model.components_ @ model.components_.T, np.eye(min(n, d)), atol=1e-5)
        back = model.inverse_transform(model.transform(X))
        assert_allclose(back, X, atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("solver", ["auto", "covariance", "gram", "svd", "krylov"])
def test_ties_and_rank_deficiency(solver, rng):
    """Eigenvalues 4, 4, 4, 1, 0, 0: any basis of a tie will do, but it has to span it."""
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    U = np.linalg.qr(np.c_[np.ones(40), rng.normal(size=(40, 4))])[0][:, 1:]
    X = U * np.sqrt(39 * np.array([4.0, 4, 4, 1])) @ Q[:, :4].T + 7
    model = PCA(4, solver=solver).fit(X)
    assert_allclose(model.explained_variance_, [4, 4, 4, 1], rtol=1e-9)
    assert subspace_error(model.components_[:3], Q[:, :3].T) < 1e-7
    assert model.noise_variance_ <= 100 * EPS
    if solver != "krylov":
        assert_allclose(PCA(None, solver=solver).fit(X).explained_variance_[4:], 0, atol=100 * EPS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_chunks_are_the_whole(dtype, rng):
    X = (rng.normal(size=(900, 5)) * [1e3, 10, 1, 0.1, 1e-2] + 100).astype(dtype)
    whole = exact_variances(X.astype(np.float64))
    tol = 1e-5 if dtype == np.float32 else 1e-10
    for size in (1, 7, 450):
        model = PCA(3).fit(X[i : i + size] for i in range(0, 900, size))
        assert_allclose(model.explained_variance_, whole[:3], rtol=tol)


TINY = [(np.float64, 1e-200), (np.float64, 1e-310), (np.float32, 1e-25), (np.float32, 1e-40)]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("dtype", "size"), TINY)
def test_streams_of_vanishing_squares_are_refused_as_arrays_are(dtype, size, form, rng):
    X = (rng.normal(size=(60, 3)) * size).astype(dtype)
    chunks = [form(X[:20]), form(X[20:])]
    for fit in (
        lambda: PCA(2).fit(form(X)),
        lambda: PCA(2).fit(iter(chunks)),
        lambda: PCA(2, standardize=True).fit(iter(chunks)),
        lambda: PCA(2).fit(lowdim.moments(form(X))),
        lambda: PCA(2).fit(lowdim.moments(form(X), sample_weight=np.arange(60) + 1.0)),
        lambda: PCA(2).partial_fit(chunks[0]).partial_fit(chunks[1]),
    ):
        with pytest.raises(BadInput, match="underflow"):
            fit()


def test_a_difference_between_chunks_may_vanish_too():
    with pytest.raises(BadInput, match="underflow"):
        PCA(1).fit(iter([np.full((5, 2), 1e-200), np.full((5, 2), 2e-200)]))


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e-200, 1e-310, 1e8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns_of_a_stream_are_not_taken_for_vanishing_ones(constant, dtype, rng):
    """Though the means of chunks of odd sizes differ by rounding."""
    X = np.column_stack([rng.normal(size=90), np.full(90, constant)]).astype(dtype)
    for options in ({}, {"standardize": True}):
        model = PCA(2, **options).fit(iter([X[:7], X[7:44], X[44:]]))
        assert_allclose(model.explained_variance_, [1.0 if options else X[:, 0].var(ddof=1), 0], rtol=1e-5, atol=1e-12)
    still = PCA(1).fit(iter([X[:7, 1:], X[7:, 1:]]))
    assert still.explained_variance_[0] <= (16 * np.finfo(dtype).eps * constant) ** 2


def test_a_vanishing_column_beside_others_is_zero_or_refused(rng):
    """Beside a column of size one it is no direction of variance, but it can't be standardized."""
    X = rng.normal(size=(60, 2)) * [1, 1e-200]
    found = PCA(2).fit(iter([X[:20], X[20:]]))
    assert_allclose(found.explained_variance_, [X[:, 0].var(ddof=1), 0], rtol=1e-12, atol=1e-300)
    with pytest.raises(BadInput, match="underflow"):
        PCA(2, standardize=True).fit(iter([X[:20], X[20:]]))


def test_gram_is_refused_where_it_does_not_fit(monkeypatch, rng):
    monkeypatch.setattr(entry, "available_bytes", lambda: 2**20)
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 2**20)
    tall = rng.normal(size=(400, 30))
    with pytest.raises(MemoryTooSmall, match="Gram matrix of 400 rows"):
        PCA(2, solver="gram").fit(tall)
    assert PCA(2).fit(tall).solver_ == "covariance"
    wide = rng.normal(size=(300, 500)) * np.r_[30.0, 20.0, np.ones(498)]
    assert PCA(20).fit(wide).solver_ == "krylov"  # "auto" passes over what does not fit
    assert PCA(2).fit(sp.csr_array(wide).T).solver_ == "krylov"
    for solver, what in (("auto", "Gram matrix"), ("covariance", "scatter matrix"), ("svd", "singular value decomp")):
        with pytest.raises(MemoryTooSmall, match=what):
            PCA(None, solver=solver).fit(wide)


def test_what_lapack_computes_does_not_hold_up_control_c(monkeypatch, rng):
    """QR of a chunk and of two factors run on a thread that Ctrl-C can leave behind, with one thread too."""
    threads = []

    def watched(plain):
        return lambda *factors: (threads.append(threading.current_thread()), plain(*factors))[1]

    for name in ("r_factor", "merged_r_factor"):
        monkeypatch.setattr(lapack, name, watched(getattr(lapack, name)))
    X = rng.normal(size=(2_000, 30))
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1 << 16)
    PCA(2, solver="svd", n_jobs=1).fit(X)
    assert len(threads) > 8
    assert threading.main_thread() not in threads


def test_rules_choose_with_missing_values_too(rng):
    pandas = pytest.importorskip("pandas")
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) * 3 + rng.normal(size=(200, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    for standardize in (False, True):
        model = PCA(lowdim.choose.parallel_analysis(50), missing="em", standardize=standardize).fit(frame)
        assert model.n_components_ == 2
        assert_array_equal(model.transform(frame), model.transform(frame))
