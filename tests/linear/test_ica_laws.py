"""Laws of ICA: whitened sources, equivariance, estimating equations, weights, threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from numpy.testing import assert_allclose

from determinism import assert_same_bits
from lowdim import ICA, PCA
from lowdim.data.rows import ArrayRows
from lowdim.decomposition.principal_axes import PCAOptions
from lowdim.linear.ica.contrast import WhitenedRows, random_rotation
from lowdim.linear.ica.likelihood import FreeLikelihood, OrthogonalLikelihood
from lowdim.linear.ica.picard import picard
from lowdim.linear.ica.whitening import whiten, whiten_again
from mixtures import mixture, same_sources

ALGORITHMS = ["picard-o", "picard", "fastica", "deflation"]
KINDS = ("laplace", "uniform", "exponential", "binary")


def covariance(Z):
    return np.cov(Z.T, ddof=0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_sources_are_centered_and_white(algorithm, offset):
    X = mixture(KINDS, 1500)[2] + offset
    model = ICA(algorithm=algorithm).fit(X)
    Z = model.transform(X)
    C = covariance(Z)
    assert_allclose(np.diagonal(C), 1, atol=1e-6 if offset else 1e-11)
    if algorithm != "picard":  # which allows correlations
        assert_allclose(C, np.eye(4), atol=1e-6 if offset else 1e-11)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-6 if offset else 1e-11)
    assert_allclose(model.components_ @ model.mixing_, np.eye(4), atol=1e-10)


@pytest.mark.parametrize(("ratio", "dtype", "bound"), [(1e-5, np.float64, 1e-12), (1e-4, np.float32, 2e-6)])
def test_directions_of_very_different_scales_are_white_too(ratio, dtype, bound):
    X = (mixture(KINDS, 1500)[0] * np.geomspace(1, ratio, 4) @ random_rotation(4, 5)).astype(dtype)
    options = PCAOptions(None, ddof=0)
    whitening, Z = whiten(ArrayRows(X), None, options)
    assert whitening.rank == 4 and Z.dtype == dtype
    assert_allclose(covariance(Z.whole().astype(np.float64)), np.eye(4), atol=bound)
    assert_allclose(whitening.matrix @ whitening.inverse, np.eye(4), atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_whitening_of_whitened_rows(weighted, rng):
    """As after resampling: with the symmetric root, so that white rows stay where they are."""
    Z = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3)) + 1
    weights = rng.integers(0, 3, 500).astype(float) if weighted else None
    whitening, white = whiten_again(ArrayRows(Z), weights, 1)
    white = white.whole()
    assert_allclose(np.average(white, axis=0, weights=weights), 0, atol=1e-12)
    assert_allclose(
        np.cov(white.T, ddof=0, fweights=None if weights is None else weights.astype(int)), np.eye(3), atol=1e-12
    )
    assert_allclose(white, (Z - whitening.mean) @ whitening.matrix.T, atol=1e-12)
    assert_allclose(whitening.matrix @ whitening.inverse, np.eye(3), atol=1e-12)
    assert_allclose(whitening.matrix, whitening.matrix.T, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["picard-o", "picard", "fastica"])
def test_a_linear_map_of_the_rows_keeps_the_sources(algorithm, rng):
    _, _, X = mixture(KINDS, 1500)
    B = rng.normal(size=(4, 4))
    tol = {"tol": 1e-14} if algorithm == "fastica" else {"tol": 1e-9}
    first, second = (ICA(algorithm=algorithm, **tol).fit(table) for table in (X, X @ B.T + 5))
    assert same_sources(first.components_, second.components_ @ B, covariance(X)) < 1e-11


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_estimating_equations_of_picard_o(fun):
    _, _, X = mixture(KINDS, 1500)
    Y = ICA(fun=fun, tol=1e-9).fit_transform(X)
    score = {"logcosh": np.tanh(Y), "exp": Y * np.exp(-(Y**2) / 2), "cube": Y**3}[fun]
    slope = {"logcosh": 1 - np.tanh(Y) ** 2, "exp": (1 - Y**2) * np.exp(-(Y**2) / 2), "cube": 3 * Y**2}[fun]
    signs = np.sign(slope.mean(axis=0) - (score * Y).mean(axis=0))
    assert set(signs) == {-1, 1}
    G = signs[:, None] * (score.T @ Y) / len(Y)
    assert_allclose(G, G.T, atol=1e-8)


def test_gradient_and_curvature_of_the_likelihoods(rng):
    """Against differences of the loss along relative steps."""
    _, _, X = mixture(KINDS, 600)
    rows = WhitenedRows(whiten(ArrayRows(X), None, PCAOptions(None, ddof=0))[1], None, 1)
    start = random_rotation(4, 3)
    E = 1e-4 * rng.normal(size=(4, 4))
    for extended in (False, True):
        free, orthogonal = FreeLikelihood("logcosh", extended), OrthogonalLikelihood("logcosh", extended)
        for model, step, W in ((free, E, start + 0.1 * E / 1e-4), (orthogonal, E - E.T, start)):
            point = model.at(rows, W)
            ends = [model.at(rows, model.moved(W, sign * step), point.signs).loss for sign in (1, -1)]
            assert (ends[0] - ends[1]) / 2 == pytest.approx((point.gradient * step).sum(), rel=1e-4)
            back = model.preconditioned(point, point.gradient)
            assert (back * point.gradient).sum() > 0


@pytest.mark.parametrize("extended", [False, True])
def test_the_approximate_hessian_is_that_of_independent_sources(extended, rng):
    kinds = KINDS if extended else ("laplace", "student", "exponential", "laplace")
    _, _, X = mixture(kinds, 60_000)
    rows = WhitenedRows(whiten(ArrayRows(X), None, PCAOptions(None, ddof=0))[1], None, 1)
    E = 1e-3 * rng.normal(size=(4, 4))
    for model, step in ((FreeLikelihood("logcosh", extended), E), (OrthogonalLikelihood("logcosh", extended), E - E.T)):
        found = picard(rows, random_rotation(4, 0), model, 1e-6, 500)
        point = model.at(rows, found.W)
        ends = [model.at(rows, model.moved(point.W, sign * step), point.signs).loss for sign in (1, -1)]
        coupling = (step * step.T).sum() if isinstance(model, FreeLikelihood) else 0.0
        assert sum(ends) - 2 * point.loss == pytest.approx((point.curvature * step**2).sum() + coupling, rel=0.05)
        solved = model.preconditioned(point, step)
        image = point.curvature * solved + (solved.T if isinstance(model, FreeLikelihood) else 0.0)
        assert_allclose(image, step, atol=1e-10)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights_are_repetitions(algorithm, rng):
    _, _, X = mixture(KINDS, 400)
    weights = rng.integers(0, 4, len(X))
    tol = 1e-13 if algorithm in ("fastica", "deflation") else 1e-9
    weighted = ICA(algorithm=algorithm, tol=tol).fit(X, sample_weight=weights)
    repeated = ICA(algorithm=algorithm, tol=tol).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.components_, repeated.components_, atol=1e-6)
    assert_allclose(weighted.kurtosis_, repeated.kurtosis_, atol=1e-6)
    assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-6)
    assert weighted.n_samples_ == repeated.n_samples_ == weights.sum()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_inverse_transform(algorithm):
    _, _, X = mixture(KINDS, 800)
    model = ICA(algorithm=algorithm).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    two = ICA(2, algorithm=algorithm).fit(X)  # the same plane as that of the principal axes
    pca = PCA(2).fit(X)
    assert_allclose(two.inverse_transform(two.transform(X)), pca.inverse_transform(pca.transform(X)), atol=1e-9)


def test_order_signs_and_explained_variance():
    _, _, X = mixture(KINDS, 800)
    model = ICA().fit(X)
    variances = model.explained_variance_
    assert (np.diff(variances) <= 0).all()
    assert_allclose(variances, (model.mixing_**2).sum(axis=0))
    assert_allclose(variances.sum(), X.var(axis=0).sum())
    assert_allclose(model.explained_variance_ratio_.sum(), 1)
    largest = np.abs(model.mixing_).argmax(axis=0)
    assert (model.mixing_[largest, range(4)] > 0).all()
    for seed in (1, 2, 3):  # the same components, in the same order, whatever the start
        assert_allclose(ICA(random_state=seed).fit(X).components_, model.components_, atol=1e-5)


def test_kurtosis_tells_super_from_sub_gaussian_sources():
    _, _, X = mixture(("laplace", "uniform"), 3000)
    model = ICA().fit(X)
    assert_allclose(model.kurtosis_, scipy.stats.kurtosis(model.transform(X)), rtol=1e-9)
    assert sorted(np.sign(model.kurtosis_)) == [-1, 1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_change_no_bit(algorithm):
    _, _, X = mixture(KINDS, 20_000)

    def fit(threads):
        model = ICA(algorithm=algorithm, max_iter=200, n_jobs=threads).fit(X)
        return model.components_, model.mixing_, model.transform(X)

    assert_same_bits(fit, (1, 2, 4))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_float32_is_float64_rounded(algorithm):
    _, _, X = mixture(KINDS, 3000)
    wide, narrow = (ICA(algorithm=algorithm).fit(X.astype(dtype)) for dtype in (np.float64, np.float32))
    assert narrow.components_.dtype == narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert same_sources(narrow.components_.astype(float), wide.components_, covariance(X)) < 1e-5


def test_sparse_rows_files_and_chunks_are_rows(tmp_path, rng):
    X = mixture(KINDS, 900)[2] * (rng.random((900, 4)) < 0.3)
    whole = ICA().fit(X)
    np.save(tmp_path / "rows.npy", X)
    for source in (sp.csr_array(X), str(tmp_path / "rows.npy"), lambda: iter([X[:300], X[300:]])):
        assert same_sources(ICA().fit(source).components_, whole.components_, covariance(X)) < 1e-9
