"""HSIC-lasso: dense kernels, a quadratic program, what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from lowdim.errors import BadParameter
from lowdim.select import HSICLasso
from lowdim.select._kernel_factors import class_factor, gaussian_factor, kernel_factors
from lowdim.select._nonnegative_lasso import nonnegative_lasso


def centered(K):
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    norm = np.linalg.norm(K)
    return K / norm if norm > 1e-12 else np.zeros_like(K)


def gaussian(x, sigma=1.0):
    x = x / (x.std() * sigma) if np.ptp(x) else x * 0
    return centered(np.exp(-0.5 * (x[:, None] - x) ** 2))


def classes(y):
    return centered((y[:, None] == y) / np.bincount(y)[y])


def data(n=120, seed=0):
    """y depends on columns 0 and 1 in a curved way; 4 repeats 0, 5 nearly repeats 1, 6 is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    X[:, 4], X[:, 5], X[:, 6] = X[:, 0], X[:, 1] + 0.3 * X[:, 5], 3.0
    y = np.cos(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return X, y, np.digitize(y, np.quantile(y, [0.3, 0.7]))


def quadratic_program(G, r, penalty):
    """The solution by a general optimizer."""
    found = minimize(
        lambda a: 0.5 * a @ G @ a - (r - penalty) @ a,
        np.full(len(r), 0.01),
        jac=lambda a: G @ a - (r - penalty),
        bounds=[(0, None)] * len(r),
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20_000},
    )
    return found.x


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_inner_products_are_those_of_dense_kernels(sigma):
    X, y, codes = data()
    dense = [gaussian(x, sigma) for x in X.T]
    factors = kernel_factors(X, sigma, 50, 2)
    for j in range(8):
        np.testing.assert_allclose(
            factors.inner_products(factors.factor(j)), [(K * dense[j]).sum() for K in dense], atol=1e-6
        )
    for factor, L in ((gaussian_factor(y, sigma, 50), gaussian(y, sigma)), (class_factor(codes), classes(codes))):
        np.testing.assert_allclose(factors.inner_products(factor), [(K * L).sum() for K in dense], atol=1e-6)
        np.testing.assert_allclose(factor.T @ factor, L, atol=1e-6)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_coefficients_solve_the_quadratic_program(task, k):
    X, y, codes = data()
    target, L = (codes, classes(codes)) if task == "classification" else (y, gaussian(y))
    model = HSICLasso(k, task=task).fit(X, target)
    dense = np.array([gaussian(x).ravel() for x in X.T])
    G, r = dense @ dense.T, dense @ L.ravel()
    # λ is what every selected feature leaves to explain
    active = model.coef_ > 0
    left = r - G @ model.coef_
    penalty = left[active].mean()
    np.testing.assert_allclose(left[active], penalty, atol=1e-6)
    assert (left <= penalty + 1e-6).all() and active.sum() <= k
    np.testing.assert_allclose(model.relevance_, r, atol=1e-6)
    expected = quadratic_program(G, r, penalty)
    expected[0], expected[4] = expected[0] + expected[4], 0.0  # twins share a coefficient in any way
    expected[6] = 0.0  # of the constant column: any number is optimal if there is no penalty
    np.testing.assert_allclose(model.coef_, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_paths_where_variables_leave_again(seed):
    """Random problems with strong correlations: the end of every path is the optimum at its penalty."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 12)) @ (np.eye(12) + 0.9 * rng.normal(size=(12, 12)))
    G, r = A.T @ A, A.T @ rng.normal(size=30) + 5.0
    for most in range(1, 13):
        path = nonnegative_lasso(r, lambda j: G[:, j], most)
        left = r - G @ path.coefficients
        scale = np.abs(r).max()
        assert (path.coefficients >= 0).all() and np.count_nonzero(path.coefficients) <= most
        assert (left <= path.penalty + 1e-7 * scale).all()
        np.testing.assert_allclose(left[path.coefficients > 0], path.penalty, atol=1e-7 * scale)


def test_curved_dependence_is_found_and_repeated_features_are_not():
    X, y, codes = data(400)
    for target in (y, codes):
        model = HSICLasso(2).fit(X, target)
        assert model.support_[1] and (model.support_[0] or model.support_[4])
        assert model.ranking_[5] > 2
    assert model.relevance_[6] == model.coef_[6] == 0.0 and model.ranking_[6] == 8


def test_scores_are_penalties_at_which_features_enter():
    X, y, _ = data()
    some, more = HSICLasso(2).fit(X, y), HSICLasso(3).fit(X, y)
    np.testing.assert_array_equal(some.support_ & more.support_, some.support_)
    np.testing.assert_allclose(some.scores_[some.support_], more.scores_[some.support_])
    assert (np.diff(more.scores_[np.argsort(more.ranking_)]) <= 0).all()
    assert more.scores_.max() == pytest.approx(more.relevance_.max())


def test_scales_and_shifts_of_columns_do_not_matter():
    X, _, codes = data()
    first, other = HSICLasso(3).fit(X, codes), HSICLasso(3).fit(X * 1e6 + 7, codes)
    np.testing.assert_allclose(first.scores_, other.scores_, atol=1e-6)


def test_bad_parameters():
    with pytest.raises(BadParameter, match="sigma must be"):
        HSICLasso(sigma=0).fit(*data()[:2])
