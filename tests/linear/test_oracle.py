"""PCA against scikit-learn, the lectures' examples and published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA as Reference

from lowdim import PCA

SOLVERS = ["auto", "covariance", "gram", "svd", "krylov"]


def test_eight_points_of_lecture_4(eight_points):
    model = PCA(None, ddof=0).fit(eight_points)
    assert_allclose(model.mean_, [5, 5])
    assert_allclose(model.get_covariance(), [[6.25, 4.25], [4.25, 3.5]], rtol=1e-12)
    root = np.sqrt(19.953125)
    assert_allclose(model.explained_variance_, [4.875 + root, 4.875 - root], rtol=1e-12)
    assert_allclose(model.explained_variance_, [9.341892, 0.408108], atol=5e-7)
    assert_allclose(model.components_[0], [0.808647, 0.588294], atol=5e-7)
    assert_allclose(np.abs(model.components_[1]), [0.588294, 0.808647], atol=5e-7)
    assert model.explained_variance_ratio_[0] == pytest.approx(0.958143, abs=5e-7)
    assert model.total_variance_ == pytest.approx(9.75)
    assert np.exp(model.log_generalized_variance_) == pytest.approx(6.25 * 3.5 - 4.25**2)
    one = PCA(1, ddof=0).fit(eight_points)
    assert one.reconstruction_error(eight_points).mean() == pytest.approx(0.408108, abs=5e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (100, 100)])
@pytest.mark.parametrize("whiten", [False, True])
def test_scikit_learn(solver, shape, whiten, rng):
    n, d = shape
    X = rng.standard_normal((n, 30)) * 1.5 ** -np.arange(30) @ rng.standard_normal((30, d)) + 3
    ours, theirs = (
        PCA(5, solver=solver, whiten=whiten).fit(X),
        Reference(5, svd_solver="full", whiten=whiten).fit(X),
    )
    assert subspace_angles(ours.components_.T, theirs.components_.T).max() <= 1e-8
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    assert_allclose(ours.mean_, theirs.mean_)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-7)
    assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-7)


@pytest.mark.parametrize("theirs", ["covariance_eigh", "arpack", "randomized"])
def test_scikit_learns_other_solvers(theirs, digits):
    ours = PCA(8).fit(digits)
    reference = Reference(8, svd_solver=theirs, random_state=0, iterated_power=30).fit(digits)
    assert subspace_angles(ours.components_.T, reference.components_.T).max() <= 1e-8


def test_probabilistic_pca_is_scikit_learns(digits):
    X = digits[:, [10, 12, 18, 20, 26, 28, 34]]
    ours, theirs = PCA(3).fit(X), Reference(3, svd_solver="full").fit(X)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)


def test_log_likelihood_is_that_of_the_gaussian(rng):
    from scipy.stats import multivariate_normal

    X = rng.standard_normal((80, 5)) @ rng.standard_normal((5, 5)) * [1, 2, 3, 40, 5]
    for options in ({}, {"standardize": True}, {"n_components": None}):
        model = PCA(**{"n_components": 2, **options}).fit(X)
        expected = multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
        assert_allclose(model.score_samples(X), expected, rtol=1e-9)


def test_generalized_variance_is_the_determinant(rng):
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 6))
    expected = np.linalg.slogdet(np.cov(X.T))[1]
    for solver in ("covariance", "svd"):
        for k in (2, None):
            assert PCA(k, solver=solver).fit(X).log_generalized_variance_ == pytest.approx(expected)
    assert PCA(2).fit(X[:4]).log_generalized_variance_ == -np.inf
    assert np.isnan(PCA(2, solver="krylov").fit(X).log_generalized_variance_)


def test_tiny_variances_keep_their_digits(rng):
    """A covariance matrix can't hold a variance of 1e-18 beside one of 1: solver="auto" takes the SVD instead."""
    axes = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    U = np.linalg.qr(rng.standard_normal((200, 4)) - 0.0)[0]
    U = np.linalg.qr(U - U.mean(0))[0]
    X = (U * [1, 1e-3, 1e-6, 1e-9]) @ axes.T
    model = PCA(4).fit(X)
    assert model.solver_ == "svd"
    assert_allclose(model.singular_values_, [1, 1e-3, 1e-6, 1e-9], rtol=1e-6)
