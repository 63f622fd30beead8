"""Horn's parallel analysis: the definition by brute force, its behavior under the null, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from determinism import assert_same_bits
from lowdim import PCA, choose
from lowdim.choose._null_spectra import bartlett, generator
from lowdim.decomposition.component_count import Spectrum
from lowdim.errors import BadInput, Cancelled, MemoryTooSmall


def signal(n=200, d=8, k=2, seed=0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, k)))[0]
    return 3 * rng.normal(size=(n, k)) @ axes.T + rng.normal(size=(n, d))


def brute(X: np.ndarray, replicates: int, seed: int, ddof: int, correlation: bool) -> np.ndarray:
    """Eigenvalues of np.cov / np.corrcoef of tables whose columns are permuted independently, (R, d)."""
    out = []
    for r in range(replicates):
        shuffled = generator(seed, r).permuted(X.T, axis=1)
        C = np.corrcoef(shuffled) if correlation else np.cov(shuffled, ddof=ddof)
        out.append(np.linalg.eigvalsh(C)[::-1][: min(X.shape)])
    return np.array(out)


@pytest.mark.parametrize("shape", [(7, 3), (5, 5), (4, 9)])
@pytest.mark.parametrize(("ddof", "correlation"), [(0, False), (1, False), (1, True)])
def test_p_values_mean_and_quantile_by_definition(shape, ddof, correlation):
    rng = np.random.default_rng(4)
    X = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3, shape[1]) + 50
    drawn = brute(X, 40, 9, ddof, correlation)
    found = choose.parallel_analysis(40, random_state=9, quantile=0.9).run(
        choose.spectrum(X, ddof=ddof, standardize=correlation)
    )
    scale = found.values[0]
    np.testing.assert_allclose(found.mean, drawn.mean(axis=0), atol=1e-12 * scale)
    np.testing.assert_allclose(found.band, np.quantile(drawn, 0.9, axis=0), atol=1e-12 * scale)
    reached = (drawn >= found.values - 1e-12 * scale).sum(axis=0)
    np.testing.assert_array_equal(found.p_values, reached / 40)
    np.testing.assert_array_equal(found.p_values_plus_one, (1 + reached) / 41)


def test_columns_are_permuted_independently():
    # Were whole rows shuffled, the eigenvalues would stay those of the data.
    found = choose.parallel_analysis(30).run(choose.spectrum(signal()))
    assert found.mean[0] < 0.8 * found.values[0]
    # Total variance is kept by every shuffle.
    assert found.mean.sum() == pytest.approx(found.values.sum(), rel=1e-10)


@pytest.mark.parametrize("form", ["permutation", "gaussian"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("n", "d"), [(200, 8), (40, 120)])
def test_a_planted_rank_is_found(form, standardize, n, d):
    spectrum = choose.spectrum(signal(n, d), standardize=standardize)
    for keep in ("p", "p_plus_one", "quantile"):
        assert choose.parallel_analysis(60, form=form, keep=keep)(spectrum) == 2


@pytest.mark.parametrize("form", ["permutation", "gaussian"])
@pytest.mark.parametrize("standardize", [False, True])
def test_under_the_null_p_values_are_uniform(form, standardize):
    scales = np.array([1, 1, 2, 3, 5.0])
    first, kept = [], 0
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(60, 5)) * scales
        # A seed for each table: with one for all, a correlation matrix would meet the same normal columns every time.
        rule = choose.parallel_analysis(39, form=form, random_state=seed, n_jobs=1)
        found = rule.run(choose.spectrum(X, standardize=standardize, n_jobs=1))
        first.append(found.p_values_plus_one[0])
        kept += found.k > 0
    # Uniform on 1/40, 2/40, …, 1: mean 0.51 with standard error 0.037, and #/R < 0.05 in 2 of 40 cases. The normal
    # form of a covariance matrix takes the sample's variances for the truth, which can only make it more careful.
    careful = form == "gaussian" and not standardize
    assert 0.4 < np.mean(first) < (0.8 if careful else 0.62)
    assert kept <= 9  # of 3 expected; more has a chance of 0.001


def test_unequal_scales():
    """One column of large variance is not structure: neither form may keep a component for it."""
    X = np.random.default_rng(1).normal(size=(150, 6)) * [100, 1, 1, 1, 1, 1]
    for form in ("permutation", "gaussian"):
        rule = choose.parallel_analysis(60, form=form)
        assert rule(choose.spectrum(X)) == 0
        assert rule(choose.spectrum(X, standardize=True)) == 0
    X[:, 1:] += 3 * np.random.default_rng(2).normal(size=(150, 1))  # now the others share something
    assert choose.parallel_analysis(60)(choose.spectrum(X, standardize=True)) == 1


def test_the_first_failure_stops():
    X = np.random.default_rng(1).normal(size=(150, 6)) * [100, 1, 1, 1, 1, 1]
    X[:, 1:] += 3 * np.random.default_rng(2).normal(size=(150, 1))
    found = choose.parallel_analysis(60).run(choose.spectrum(X))
    assert found.p_values[0] > 0.05 and found.p_values[1] < 0.05
    assert found.k == found.kept("quantile") == 0


def test_plus_one_never_gives_zero_and_is_stricter():
    found = choose.parallel_analysis(15, alpha=0.05, keep="p_plus_one").run(choose.spectrum(signal()))
    assert found.p_values[0] == 0 and found.p_values_plus_one[0] == 1 / 16
    assert found.k == 0 and found.kept("p") == 2  # 1/16 can't fall below 0.05


@pytest.mark.parametrize("form", ["permutation", "gaussian"])
@pytest.mark.parametrize("shape", [(300, 7), (20, 60)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_for_any_number_of_threads(form, shape, dtype):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    spectrum = choose.spectrum(X)

    def work(threads):
        run = choose.parallel_analysis(17, form=form, n_jobs=threads).run(spectrum)
        return run.mean, run.band, run.p_values

    assert_same_bits(work, (1, 2, 4))


def test_seeds_differ_and_repeat():
    spectrum = choose.spectrum(signal())
    means = [choose.parallel_analysis(5, random_state=seed).run(spectrum).mean for seed in (0, 0, 1)]
    assert (means[0] == means[1]).all() and (means[0] != means[2]).any()


def test_bartlett_factor_has_the_moments_of_a_wishart_matrix():
    """W = A Aᵀ of m degrees: E W = m I, Var W_ij = m (1 + δ_ij)."""
    draws = np.array([(lambda A: A @ A.T)(bartlett(3, 7.0, generator(0, r))) for r in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), 7 * np.eye(3), atol=5 * np.sqrt(14 / 4000))
    np.testing.assert_allclose(draws.var(axis=0), 7 * (1 + np.eye(3)), rtol=0.15)


@pytest.mark.parametrize(("n", "d", "standardize"), [(30, 4, False), (30, 4, True), (6, 15, False), (6, 15, True)])
def test_the_normal_form_draws_what_normal_rows_would_give(n, d, standardize):
    scales = np.geomspace(1, 3, d)
    X = np.random.default_rng(0).normal(size=(n, d)) * scales
    spectrum = choose.spectrum(X, standardize=standardize)
    found = choose.parallel_analysis(600, form="gaussian").run(spectrum)
    rng, direct = np.random.default_rng(1), []
    for _ in range(600):
        Y = rng.normal(size=(n, d)) * X.std(axis=0, ddof=1)
        C = np.corrcoef(Y.T) if standardize else np.cov(Y.T)
        direct.append(np.linalg.eigvalsh(C)[::-1][: min(n, d)])
    error = 5 * np.std(direct, axis=0) * np.sqrt(2 / 600) + 1e-12
    assert (np.abs(found.mean - np.mean(direct, axis=0)) < error).all()


def test_moments_and_streams_use_the_normal_form():
    X = signal() * [1, 2, 3, 4, 5, 6, 7, 8]
    whole = choose.parallel_analysis(50, form="gaussian").run(choose.spectrum(X))
    for source in (lowdim.moments(X), iter(np.split(X, 4))):
        choices = choose.table(source, replicates=50)
        assert choices.parallel.form == "gaussian"
        np.testing.assert_allclose(choices.parallel.mean, whole.mean, rtol=1e-10)
    # A correlation matrix needs no variances, so the rule itself works on a stream.
    standardized = PCA(choose.parallel_analysis(form="gaussian"), standardize=True)
    assert standardized.fit(iter(np.split(signal(), 4))).n_components_ == 2


def test_exhausted_rows_are_a_named_error():
    with pytest.raises(BadInput, match="gaussian"):
        PCA(choose.parallel_analysis()).fit(lowdim.moments(signal()))


def test_weights_are_refused():
    X = signal()
    with pytest.raises(BadInput, match="weights"):
        PCA(choose.parallel_analysis()).fit(X, sample_weight=np.full(len(X), 2.0))


def test_sparse_rows_are_permuted_as_dense_ones():
    X = sp.random_array((80, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    sparse, dense = (choose.parallel_analysis(9).run(choose.spectrum(Y)) for Y in (X, X.toarray()))
    np.testing.assert_allclose(sparse.mean, dense.mean, rtol=1e-10)


def test_a_copy_that_does_not_fit_is_refused_with_a_remedy(monkeypatch):
    spectrum = choose.spectrum(signal())
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 20_000)
    with pytest.raises(MemoryTooSmall, match="gaussian"):
        choose.parallel_analysis()(spectrum)
    assert choose.parallel_analysis(form="gaussian", n_jobs=1)(Spectrum(np.ones(4), 50, 4, standardized=True)) == 0


def test_progress_and_cancellation():
    spectrum, seen = choose.spectrum(signal()), []
    with lowdim.watch(lambda step: seen.append((step.task, step.done, step.total))):
        choose.parallel_analysis(5).run(spectrum)
    assert [s for s in seen if s[0] == "parallel analysis"] == [("parallel analysis", i, 5) for i in range(1, 6)]
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "parallel analysis" and step.done == 2):
        choose.parallel_analysis(50).run(spectrum)


def test_the_input_is_not_changed():
    X = signal()
    before = X.copy()
    choose.parallel_analysis(5)(choose.spectrum(X, standardize=True))
    np.testing.assert_array_equal(X, before)


@pytest.mark.filterwarnings("ignore:.*constant:lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("form", ["permutation", "gaussian"])
@pytest.mark.parametrize("X", [np.ones((6, 3)), np.arange(7.0)[:, None] + 1e6, np.eye(4), np.ones((2, 5))])
def test_components_that_do_not_exceed_the_null_are_not_kept(X, form, standardize):
    for dtype in (np.float64, np.float32):
        found = choose.parallel_analysis(25, form=form).run(choose.spectrum(X.astype(dtype), standardize=standardize))
        assert np.isfinite(found.mean).all() and np.isfinite(found.band).all()
        if form == "permutation" or not X.std():
            assert found.k == found.kept("quantile") == 0


@given(st.integers(0, 10_000), st.integers(-20, 20))
def test_units_do_not_matter(seed, power):
    X = signal(20, 4, 1, seed)
    runs = [choose.parallel_analysis(10).run(choose.spectrum(Y)) for Y in (X, X * 2.0**power)]
    assert (runs[0].p_values == runs[1].p_values).all()
    np.testing.assert_array_equal(runs[0].mean * 4.0**power, runs[1].mean)
