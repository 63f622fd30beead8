"""Laws of LDA: scores are white within classes, affine maps change nothing, weights repeat rows, parts add up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import lowdim
from determinism import assert_same_bits
from lowdim import LDA

SOLVERS = ("covariance", "gram", "svd")


def classes_of(n, d, K, seed=0, offset=0.0):
    """Gaussian classes with one covariance and different sizes."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.choice(K, n - K, p=np.arange(1, K + 1) / np.arange(1, K + 1).sum())])
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 3 * rng.normal(size=(K, d))[y] + offset, y


def pooled(Z, y):
    means = np.array([Z[y == k].mean(axis=0) for k in range(y.max() + 1)])
    return (Z - means[y]).T @ (Z - means[y]) / (len(Z) - len(means))


@given(st.integers(12, 60), st.integers(1, 8), st.integers(2, 5), st.sampled_from(SOLVERS), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_scores_are_white_within_classes_and_uncorrelated_between(n, d, K, solver, seed):
    X, y = classes_of(n + d + K, d, K, seed)
    model = LDA(solver=solver).fit(X, y)
    Z = model.transform(X)
    np.testing.assert_allclose(pooled(Z, y), np.eye(model.n_components_), atol=1e-8)
    centers = model.transform(model.means_)
    between = (centers.T * model.priors_) @ centers
    np.testing.assert_allclose(between, np.diag(model.eigenvalues_), atol=1e-8 * model.eigenvalues_.max())
    assert (np.diff(model.eigenvalues_) <= 1e-12 * model.eigenvalues_[0]).all()
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0)


@given(st.sampled_from(SOLVERS), st.sampled_from([None, 0.3, "ledoit-wolf", "oas"]), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_affine_equivariance(solver, shrinkage, seed):
    """Any affine map of the rows leaves scores and classes alone; with shrinkage of correlations, any units do."""
    X, y = classes_of(80, 5, 3, seed)
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, 5)) + 3 * np.eye(5) if shrinkage is None else np.diag(10.0 ** rng.uniform(-5, 5, 5))
    first = LDA(solver=solver, shrinkage=shrinkage).fit(X, y)
    moved = X @ A + rng.normal(size=5)
    second = LDA(solver=solver, shrinkage=shrinkage).fit(moved, y)
    a, b = first.transform(X), second.transform(moved)
    np.testing.assert_allclose(a, b * np.sign((a * b).sum(axis=0)), atol=1e-6)
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(moved), atol=1e-6)
    assert first.shrinkage_ == pytest.approx(second.shrinkage_, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shrinkage", [None, "ledoit-wolf"])
def test_weights_repeat_rows(solver, shrinkage):
    X, y = classes_of(60, 4, 3)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    weights[y == 2] = np.maximum(weights[y == 2], 1)
    model = LDA(solver=solver, shrinkage=shrinkage).fit(X, y, weights)
    again = LDA(shrinkage=shrinkage).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(model.components_, again.components_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, again.intercept_, rtol=1e-9)
    assert model.n_samples_ == weights.sum()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_class_without_weight_is_no_class(solver):
    X, y = classes_of(60, 4, 4)
    model = LDA(solver=solver).fit(X, y, (y != 1).astype(float))
    again = LDA(solver=solver).fit(X[y != 1], y[y != 1])
    assert model.classes_.tolist() == [0, 2, 3]
    np.testing.assert_allclose(model.components_, again.components_, rtol=1e-9)


@pytest.mark.parametrize("K", [2, 4])
def test_the_linear_score_is_the_gaussian_likelihood(K):
    X, y = classes_of(100, 4, K)
    priors = np.arange(1, K + 1) / np.arange(1, K + 1).sum()
    model = LDA(priors=priors).fit(X, y)
    precision = np.linalg.inv(pooled(X, y))
    deviations = X[:, None] - model.means_
    densities = np.exp(-0.5 * np.einsum("nki,ij,nkj->nk", deviations, precision, deviations)) * priors
    posterior = densities / densities.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), posterior, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), posterior, atol=1e-12)
    assert (model.predict(X) == posterior.argmax(axis=1)).all()
    scores = model.decision_function(X)
    linear = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores, linear[:, 0] if K == 2 else linear, atol=1e-9)


def test_log_probabilities_stay_finite():
    X, y = classes_of(60, 3, 3)
    far = 1e4 * X
    log_proba = LDA().fit(X, y).predict_log_proba(far)
    assert np.isfinite(log_proba).all() and log_proba.min() < -800
    np.testing.assert_allclose(log_proba.max(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_inverse_transform_gives_class_means_back(solver):
    X, y = classes_of(60, 5, 3)
    model = LDA(solver=solver).fit(X, y)
    np.testing.assert_allclose(model.inverse_transform(model.transform(model.means_)), model.means_, atol=1e-9)
    Z = np.random.default_rng(0).normal(size=(7, 2))
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stream_has_the_bits_of_an_array(dtype):
    X, y = classes_of(70_000, 30, 5)
    X, y = X.astype(dtype), np.sort(y)  # a class begins where another ends
    cuts = [0, 7, 30_000, 30_001, 70_000]
    stream = ((X[a:b], y[a:b]) for a, b in pairwise(cuts))
    whole, streamed = LDA().fit(X, y), LDA().fit(stream)
    for name in ("components_", "coef_", "intercept_", "means_", "eigenvalues_"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(streamed, name))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shrinkage", [None, "ledoit-wolf"])
def test_same_bits_for_any_number_of_threads(solver, shrinkage):
    X, y = classes_of(9000, 300, 4)

    def work(threads):
        n = 250 if solver == "gram" else 9000
        model = LDA(solver=solver, shrinkage=shrinkage or 0.5, n_jobs=threads).fit(X[:n], y[:n])
        return model.components_, model.decision_function(X), model.transform(X)

    assert_same_bits(work, (1, 2, 4))


def test_partial_fit_moments_and_file_are_the_fit(tmp_path):
    X, y = classes_of(300, 4, 3, offset=1e6)
    names = np.array(["a", "b", "c"])[y]
    whole = LDA().fit(X, names)
    model = LDA()
    for part in np.split(np.argsort(y, kind="stable"), [3, 90, 200]):
        model.partial_fit(X[part], names[part])
    path = tmp_path / "table.csv"
    lines = [",".join([*map(repr, row.tolist()), name]) for row, name in zip(X, names, strict=True)]
    path.write_text("p,q,r,s,kind\n" + "\n".join(lines) + "\n")
    for other in (model, LDA().fit(lowdim.moments(X, names)), LDA().fit(path, "kind")):
        np.testing.assert_allclose(other.components_, whole.components_, rtol=1e-6)
        assert other.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(other.intercept_, whole.intercept_, rtol=1e-6)
    assert LDA().fit(path, "kind").score(path, "kind") == whole.score(X, names)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("shrinkage", [None, "ledoit-wolf", "oas"])
@pytest.mark.parametrize("shape", [(90, 6), (30, 50)])
def test_sparse_rows_are_dense_rows(shrinkage, shape):
    rng = np.random.default_rng(0)
    X = sp.random(*shape, 0.3, format="csr", random_state=0, data_rvs=lambda size: rng.normal(size=size))
    y = np.arange(shape[0]) % 3
    dense, sparse = (LDA(shrinkage=shrinkage).fit(A, y) for A in (X.toarray(), X))
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-8)
    assert (sparse.predict(X) == dense.predict(X.toarray())).all()


def test_a_large_offset_costs_no_digits():
    X, y = classes_of(400, 4, 3)
    moved = LDA().fit(X + 1e7, y)
    np.testing.assert_allclose(moved.components_, LDA().fit(X, y).components_, rtol=1e-6)
    np.testing.assert_allclose(moved.decision_function(X + 1e7), LDA().fit(X, y).decision_function(X), atol=1e-5)
