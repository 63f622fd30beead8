"""LDA against R's published numbers, scikit-learn by all of its solvers, and the generalized eigenproblem itself."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf
from sklearn.covariance import oas as sklearn_oas
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from lowdim import LDA, moments

SOLVERS = ("covariance", "gram", "svd")
TABLES = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


def residuals(X, y):
    means = np.array([X[y == k].mean(axis=0) for k in np.unique(y)])
    return X - means[np.searchsorted(np.unique(y), y)]


def angle(A, B):
    """The largest angle between axes of the same number."""
    A, B = (V / np.linalg.norm(V, axis=1, keepdims=True) for V in (A, B))
    cosines = np.abs((A * B).sum(axis=1))
    sines = np.linalg.norm(A - np.sign((A * B).sum(axis=1))[:, None] * B, axis=1)
    assert (cosines > 0.9).all()
    return sines.max()


def peer(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # variables are collinear
        return LinearDiscriminantAnalysis(**options).fit(X, y)


def centered(other):
    """The coefficients of a peer's linear scores without a term that all classes share."""
    return other.coef_ - other.priors_ @ other.coef_


@pytest.mark.parametrize("solver", SOLVERS)
def test_iris_as_published_for_r(solver):
    """MASS::lda(Species ~ ., iris): coefficients, proportion of trace, svd and group means."""
    X, y = load_iris(return_X_y=True)
    model = LDA(solver=solver).fit(X, y)
    published = np.array(
        [[0.8293776, 1.5344731, -2.2012117, -2.8104603], [-0.02410215, -2.16452123, 0.93192121, -2.83918785]]
    )
    np.testing.assert_allclose(model.components_, -published, rtol=2e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.9912, 0.0088], atol=5e-5)
    np.testing.assert_allclose(np.sqrt(150 * model.eigenvalues_ / 2), [48.642644, 4.579983], rtol=1e-6)
    np.testing.assert_allclose(model.means_[2], [6.588, 2.974, 5.552, 2.026], rtol=1e-12)
    assert np.flatnonzero(model.predict(X) != y).tolist() == [70, 83, 133]  # 71, 84 and 134, counted from 1


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_scikit_learn_by_svd(name, solver):
    """The same axes and the same classifier. Its within-class covariance divides by n, ours by n - K."""
    X, y = TABLES[name](return_X_y=True)
    model, other = LDA(solver=solver).fit(X, y), peer(X, y, solver="svd")
    factor = np.sqrt((len(X) - len(other.classes_)) / len(X))
    axes = other.scalings_.T[: model.n_components_]
    assert angle(model.components_, axes) < 1e-9
    np.testing.assert_allclose(np.abs(model.components_), factor * np.abs(axes), atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, other.explained_variance_ratio_, atol=1e-10)
    np.testing.assert_allclose(model.coef_, factor**2 * other.coef_, atol=1e-7 * np.abs(other.coef_).max())
    assert abs(model.score(X, y) - other.score(X, y)) <= 0.001


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("solver", SOLVERS)
def test_scikit_learn_with_priors(solver, priors):
    """With the divisor n - K in place of n its scores are ours, if S is not weighted by the priors (solver "svd")."""
    X, y = load_wine(return_X_y=True)
    model, other = LDA(solver=solver, priors=priors).fit(X, y), peer(X, y, solver="svd", priors=priors)
    assert angle(model.components_, other.scalings_.T) < 1e-9
    factor = (len(X) - 3) / len(X)
    np.testing.assert_allclose(model.coef_, factor * other.coef_, atol=1e-8 * np.abs(other.coef_).max())
    np.testing.assert_allclose(model.mean_, other.xbar_, rtol=1e-12)
    quadratic = other.intercept_ - np.log(other.priors_)
    np.testing.assert_allclose(model.intercept_, factor * quadratic + np.log(other.priors_), rtol=1e-8)


@pytest.mark.parametrize("solver", ["eigen", "lsqr"])
def test_scikit_learn_by_its_other_solvers(solver):
    X, y = load_wine(return_X_y=True)
    model, other = LDA().fit(X, y), peer(X, y, solver=solver)
    assert angle(model.coef_, centered(other)) < 1e-8
    if solver == "eigen":
        assert angle(model.components_, other.scalings_.T[:2]) < 1e-7


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intensity", [0.0, 0.1, 0.7, 1.0])
def test_scikit_learn_with_fixed_shrinkage(solver, intensity):
    """The same classifier. Its axes are others: it shrinks the total covariance, and so the between-class one, too."""
    X, y = load_wine(return_X_y=True)
    model = LDA(solver=solver, shrinkage=intensity, shrinkage_target="identity").fit(X, y)
    other = peer(X, y, solver="lsqr", shrinkage=intensity)
    assert angle(model.coef_, centered(other)) < 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("target", ["diagonal", "identity"])
@pytest.mark.parametrize("weighted", [False, True])
def test_intensities_of_ledoit_wolf_and_oas(solver, target, weighted):
    """Those of the class-centered rows, divided by their deviations if correlations are shrunk; weights repeat rows."""
    X, y = load_wine(return_X_y=True)
    X, y = X[::3], y[::3]
    weights = np.random.default_rng(0).integers(0, 4, len(X)) if weighted else None
    repeated, labels = (X, y) if weights is None else (np.repeat(X, weights, axis=0), np.repeat(y, weights))
    Z = residuals(repeated, labels)
    Z = Z / (Z.std(axis=0) if target == "diagonal" else 1.0)
    for name, estimate in (("ledoit-wolf", sklearn_ledoit_wolf), ("oas", sklearn_oas)):
        model = LDA(solver=solver, shrinkage=name, shrinkage_target=target).fit(X, y, weights)
        shrunk, intensity = estimate(Z, assume_centered=True)
        assert model.shrinkage_ == pytest.approx(intensity, rel=1e-9)
        A = model.components_ * (residuals(repeated, labels).std(axis=0) if target == "diagonal" else 1.0)
        factor = len(repeated) / (len(repeated) - 3)
        np.testing.assert_allclose(A @ shrunk @ A.T * factor, np.eye(2), atol=1e-9)


def test_the_generalized_eigenproblem():
    """B v = λ W v, and SIR's form of it with the total scatter: B v = λ / (1 + λ) T v."""
    X, y = load_wine(return_X_y=True)
    model, m = LDA().fit(X, y), moments(X, y)
    values, vectors = scipy.linalg.eigh(m.between, m.total)
    assert angle(model.components_, vectors[:, ::-1][:, :2].T) < 1e-8
    ratios = values[::-1][:2] / (1 - values[::-1][:2])
    np.testing.assert_allclose(model.eigenvalues_ * len(X) / (len(X) - 3), ratios, rtol=1e-8)
