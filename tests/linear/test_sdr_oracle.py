"""Sufficient dimension reduction against statsmodels, plain formulas, and models whose directions are known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import statsmodels.regression.dimred as oracle

from lowdim import LSIR, PHD, SAVE, SIR, DirectionalRegression
from lowdim.errors import NotEnoughData
from sdr_models import inverse_model, largest_angle, linear_model, rational_model, symmetric_model

SLICED = (SIR, SAVE, DirectionalRegression)


def scaled(params, X, k):
    """Directions in rows with unit variance of the scores, up to sign."""
    return (params / np.std(X @ params, axis=0)).T[:k]


def assert_same_directions(found, want, rtol=1e-8):
    np.testing.assert_allclose(np.abs(found), np.abs(want), atol=rtol * np.abs(want).max())


# ---- statsmodels ----


@pytest.mark.parametrize("model", [inverse_model, linear_model, rational_model])
def test_sir_is_that_of_statsmodels(model):
    X, y, _ = model(400)
    want = oracle.SlicedInverseReg(y, X).fit(slice_n=40)
    found = SIR(2, n_slices=10).fit(X, y)
    np.testing.assert_allclose(found.eigenvalues_, want.eigs, atol=1e-10)
    assert_same_directions(found.components_, scaled(want.params, X, 2))


@pytest.mark.parametrize("model", [linear_model, symmetric_model])
def test_save_is_that_of_statsmodels(model):
    X, y, _ = model(400)
    want = oracle.SAVE(y, X).fit(slice_n=80)
    found = SAVE(2, n_slices=5).fit(X, y)
    np.testing.assert_allclose(found.eigenvalues_, want.eigs / 80, atol=1e-10)  # statsmodels sums over 80 rows a slice
    assert_same_directions(found.components_, scaled(want.params, X, 2))


@pytest.mark.parametrize("response", ["y", "residuals"])
@pytest.mark.parametrize("model", [rational_model, symmetric_model])
def test_phd_is_that_of_statsmodels(model, response):
    X, y, _ = model(300)
    want = oracle.PHD(y, X).fit(resid=response == "residuals")
    found = PHD(2, response=response).fit(X, y)
    np.testing.assert_allclose(found.eigenvalues_, want.eigs * 300 / 299, rtol=1e-8)  # its covariance divides by n - 1
    assert_same_directions(found.components_, scaled(want.params, X, 2))


# ---- the formula, written plainly ----


def test_directional_regression_is_the_expectation_over_pairs():
    """Li and Wang's definition: M = E[(2I - E[(z - z̃)(z - z̃)ᵀ | slices of z and z̃])²] over all pairs of rows."""
    X, y, _ = rational_model(200)
    model = DirectionalRegression(3, n_slices=4).fit(X, y)
    S = np.cov(X.T, ddof=0)
    root = scipy.linalg.sqrtm(np.linalg.inv(S)).real
    Z = (X - X.mean(axis=0)) @ root
    groups = np.array_split(np.argsort(y), 4)
    M = np.zeros_like(S)
    for a in groups:
        for b in groups:
            apart = Z[a][:, None] - Z[b][None]
            E = 2 * np.eye(len(S)) - np.einsum("ijk,ijl->kl", apart, apart) / (len(a) * len(b))
            M += E @ E / 16
    values, vectors = np.linalg.eigh(M)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1], atol=1e-10)
    assert_same_directions(model.components_, (root @ vectors[:, ::-1]).T[:3])


def test_lsir_by_plain_loops():
    X, y, _ = rational_model(120)
    model = LSIR(2, n_slices=3, n_neighbors=7).fit(X, y)
    means = np.empty_like(X)
    for rows in np.array_split(np.argsort(y), 3):
        for i in rows:
            near = rows[np.argsort(((X[rows] - X[i]) ** 2).sum(axis=1))[:7]]
            means[i] = X[near].mean(axis=0)
    apart = means - X.mean(axis=0)
    values, vectors = scipy.linalg.eigh(apart.T @ apart / 120, np.cov(X.T, ddof=0))
    np.testing.assert_allclose(model.eigenvalues_, values[::-1], atol=1e-8)
    assert_same_directions(model.components_, vectors[:, ::-1].T[:2], 1e-6)


# ---- known directions ----


@pytest.mark.parametrize("method", SLICED)
def test_the_inverse_model_is_recovered(method):
    angles = [
        largest_angle(method(2, n_slices=6).fit(*xy).components_, gamma)
        for *xy, gamma in map(inverse_model, (300, 10_000))
    ]
    assert angles[1] < 3
    assert angles[1] < angles[0] < 20


@pytest.mark.parametrize("method", [SIR, DirectionalRegression])
def test_single_and_multi_index_models(method):
    X, y, beta = linear_model(3000)
    assert largest_angle(method(1).fit(X, y).components_, beta) < 7
    X, y, basis = rational_model(6000)
    assert largest_angle(method(2).fit(X, y).components_, basis) < 12


def test_a_symmetric_model_is_missed_by_sir_alone():
    X, y, beta = symmetric_model(2000)
    assert SIR(1).fit(X, y).eigenvalues_[0] < 0.02  # no slice mean moves, and any direction is as good as another
    assert largest_angle(SIR(1).fit(X, y).components_, beta) > 25
    for model in (SAVE(1), PHD(1), PHD(1, response="y"), DirectionalRegression(1), LSIR(1)):
        assert largest_angle(model.fit(X, y).components_, beta) < 6, model


def test_phd_has_the_mean_hessian_of_a_quadratic():
    """Stein's lemma: for normal X, S⁻¹HS⁻¹ is the Hessian, here 2A for y = xᵀAx."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 3))
    A = np.array([[1.0, 0.5, 0], [0.5, -2.0, 0], [0, 0, 0]])
    model = PHD(None).fit(X, np.einsum("ni,ij,nj->n", X, A, X))
    want = sorted(np.linalg.eigvalsh(2 * A), key=abs, reverse=True)
    np.testing.assert_allclose(model.eigenvalues_, want, atol=0.1)
    assert model.eigenvalues_[0] < 0 < model.eigenvalues_[1]


def test_lsir_beats_sir_where_a_slice_has_several_clusters():
    """Class 0 lies on both sides of class 1, so that their means agree (the XOR pattern of the paper)."""
    rng = np.random.default_rng(0)
    corners = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    which = rng.integers(4, size=800)
    X = np.column_stack([3 * corners[which] + rng.normal(size=(800, 2)), 3 * rng.normal(size=(800, 8))])
    y = which // 2
    basis = np.eye(10)[:, :2]
    local = LSIR(2, n_neighbors=40).fit(X, y)
    assert largest_angle(local.components_, basis) < 15
    assert largest_angle(np.vstack([SIR(1).fit(X, y).components_, np.eye(10)[:1]]), basis) > 45


def test_unlabeled_rows_help_lsir():
    """30 labeled rows do not determine the covariance of 40 columns; 3000 rows without a label do."""
    rng = np.random.default_rng(0)
    mix = np.linalg.qr(rng.normal(size=(40, 40)))[0] * np.geomspace(1, 30, 40)
    X = rng.normal(size=(3030, 40)) @ mix.T
    y = np.sign(X @ np.linalg.solve(mix.T, np.eye(40)[:, 0]))
    hidden = y.copy()
    hidden[30:] = np.nan
    with pytest.raises(NotEnoughData, match="30 rows can't tell 40 columns apart"):
        LSIR(1, shrinkage=None).fit(X[:30], y[:30])
    model = LSIR(1).fit(X, hidden)
    assert model.n_labeled_ == 30
    guessed = np.sign(model.transform(X[30:])[:, 0])
    right = (guessed == y[30:]).mean()
    assert max(right, 1 - right) > 0.65  # half would be a guess
