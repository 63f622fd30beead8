"""Rules against published numbers and other implementations."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest
from scipy import integrate
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA as SklearnPCA

from lowdim import choose
from lowdim.choose._minka import log_evidence
from lowdim.choose._random_matrix import optimal_coefficient, pastur_median
from lowdim.decomposition.component_count import Spectrum

# Standard deviations of the principal components of R's USArrests, scaled.
US_ARRESTS = Spectrum(np.array([1.5748783, 0.9948694, 0.5971291, 0.4164494]) ** 2, 50, 4, standardized=True)


def test_us_arrests():
    assert choose.kaiser()(US_ARRESTS) == 1
    assert choose.kaiser(0.7)(US_ARRESTS) == 2
    assert choose.broken_stick()(US_ARRESTS) == 1  # shares 0.620, 0.247 against 0.521, 0.271
    assert choose.share(0.95)(US_ARRESTS) == 3  # 0.620, 0.868, 0.957
    assert choose.share(0.85)(US_ARRESTS) == 2
    assert choose.parallel_analysis(form="gaussian")(US_ARRESTS) == 1


def test_iris_and_wine():
    """Eigenvalues above 1: 2.92 of iris; 4.71, 2.50 and 1.45 of wine. Horn agrees."""
    for data, expected in [(load_iris().data, 1), (load_wine().data, 3)]:
        spectrum = choose.spectrum(data, standardize=True)
        assert choose.kaiser()(spectrum) == expected
        assert choose.parallel_analysis()(spectrum) == expected
        assert choose.parallel_analysis(form="gaussian", keep="quantile")(spectrum) == expected


def test_the_largest_permuted_eigenvalue_is_near_the_marchenko_pastur_edge():
    """Tracy and Widom: below (1 + √(p/n))² by about 1.2 of its spread, which is a few percent here."""
    n, p = 400, 40
    X = np.random.default_rng(0).normal(size=(n, p))
    first = choose.parallel_analysis(30).run(choose.spectrum(X, standardize=True)).mean[0]
    edge = (np.sqrt(n - 1) + np.sqrt(p)) ** 2 / (n - 1)
    spread = (np.sqrt(n - 1) + np.sqrt(p)) * (1 / np.sqrt(n - 1) + 1 / np.sqrt(p)) ** (1 / 3) / (n - 1)
    assert first == pytest.approx(edge - 1.2065 * spread, abs=spread)


@pytest.mark.parametrize("beta", [1e-4, 0.01, 0.1, 0.37, 0.5, 0.9, 0.999, 1.0])
def test_the_median_of_marchenko_and_pastur_by_its_density(beta):
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2

    def density(t):
        return np.sqrt(max((high - t) * (t - low), 0.0)) / (2 * np.pi * beta * t)

    median = pastur_median(beta)
    above, _ = integrate.quad(density, median, high, limit=500)
    assert above == pytest.approx(0.5, abs=1e-7)


def test_gavish_and_donohos_published_coefficients():
    assert optimal_coefficient(1.0) == pytest.approx(2.858, abs=5e-4)  # for a square matrix and unknown noise
    # λ*(1) = 4/√3 for known noise.
    assert optimal_coefficient(1.0) * np.sqrt(pastur_median(1.0)) == pytest.approx(4 / np.sqrt(3), rel=1e-9)
    # Their cubic approximation is good to 0.02 everywhere.
    for beta in np.linspace(0.05, 1, 20):
        cubic = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
        assert optimal_coefficient(beta) == pytest.approx(cubic, abs=0.02)
    # λ*(0) = √2 and the law shrinks to a point.
    assert optimal_coefficient(1e-6) == pytest.approx(np.sqrt(2), abs=5e-3)


def test_gavish_donoho_thresholds_singular_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 60))
    X -= X.mean(axis=0)  # 60 independent rows: a square, so 2.858 times the median
    U, s, V = np.linalg.svd(X, full_matrices=False)
    limit = 2.858 * np.median(s)
    for factor, expected in [(0.99, 0), (1.01, 1)]:
        planted = s.copy()
        planted[0] = factor * limit
        assert choose.gavish_donoho()(choose.spectrum((U * planted) @ V)) == expected


def evidence_by_the_paper(values, n, k):
    """Minka's equation, written out with loops over pairs."""
    d = len(values)
    v = values[k:].sum() / (d - k)
    hat = np.concatenate([values[:k], np.full(d - k, v)])
    m = d * k - k * (k + 1) / 2
    log_u = -k * np.log(2) + sum(lgamma((d - i + 1) / 2) - np.log(np.pi) * (d - i + 1) / 2 for i in range(1, k + 1))
    log_a = sum(
        np.log((1 / hat[j] - 1 / hat[i]) * (values[i] - values[j]) * n) for i in range(k) for j in range(i + 1, d)
    )
    return (
        log_u
        - n / 2 * np.log(values[:k]).sum()
        - n * (d - k) / 2 * np.log(v)
        + (m + k) / 2 * np.log(2 * np.pi)
        - log_a / 2
        - k / 2 * np.log(n)
    )


def test_minkas_evidence_by_the_formula_of_the_paper():
    values = np.sort(np.random.default_rng(0).exponential(size=9))[::-1]
    expected = [evidence_by_the_paper(values, 70, k) for k in range(9)]
    np.testing.assert_allclose(log_evidence(values, 70, 9, 1e-300), expected, rtol=1e-10)


def test_minkas_evidence_with_fewer_rows_than_columns():
    """For n < d the zero eigenvalues count like all others."""
    values = np.sort(np.random.default_rng(1).exponential(size=5))[::-1]
    padded = np.concatenate([values, np.zeros(4)])
    expected = [evidence_by_the_paper(padded, 6, k) for k in range(5)]
    np.testing.assert_allclose(log_evidence(values, 6, 9, 1e-300), expected, rtol=1e-10)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_minka_agrees_with_scikit_learn(load):
    X = load().data
    for Y in (X, (X - X.mean(axis=0)) / X.std(axis=0)):
        reference = SklearnPCA(n_components="mle", svd_solver="full").fit(Y).n_components_
        assert choose.minka()(choose.spectrum(Y)) == reference


@pytest.mark.parametrize("seed", range(12))
def test_minka_agrees_with_scikit_learn_on_planted_ranks(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(40, 200)), int(rng.integers(5, 20)), int(rng.integers(1, 4))
    X = 2 * rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + rng.normal(size=(n, d))
    reference = SklearnPCA(n_components="mle", svd_solver="full").fit(X).n_components_
    assert choose.minka()(choose.spectrum(X)) == reference
