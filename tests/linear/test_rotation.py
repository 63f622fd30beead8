"""Correlation loadings and orthogonal rotations: laws, and statsmodels' factor rotation as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from statsmodels.multivariate.factor_rotation import rotate_factors

import lowdim
from lowdim import PCA
from lowdim.errors import BadInput, BadParameter, LowdimWarning, ModelFileError


def factor_table(n: int = 400) -> np.ndarray:
    """Nine columns in three groups, each of which follows one of three factors."""
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(n, 3)) * (3.0, 2.0, 1.5)
    return np.repeat(factors, 3, axis=1) + rng.normal(size=(n, 9)) * np.linspace(0.5, 1.5, 9) + 10.0


X = factor_table()


def criterion(B: np.ndarray, gamma: float) -> float:
    return float((B**4).sum() - gamma / len(B) * ((B**2).sum(axis=0) ** 2).sum())


# ---- rotations ----


@pytest.mark.parametrize(("gamma", "name"), [(1.0, "varimax"), (0.0, "quartimax")])
def test_rotations_agree_with_statsmodels(gamma, name):
    A = PCA(3, standardize=True).fit(X).correlation_loadings_
    rotated, rotation = lowdim.varimax(A, gamma=gamma, normalize=False)
    theirs, _ = rotate_factors(A, name, tol=1e-9, max_tries=2000)
    overlap = np.abs(rotated.T @ theirs) / np.outer(np.linalg.norm(rotated, axis=0), np.linalg.norm(theirs, axis=0))
    match = overlap.argmax(axis=1)
    assert sorted(match) == [0, 1, 2]
    np.testing.assert_allclose(np.abs(rotated), np.abs(theirs[:, match]), atol=2e-5)
    assert criterion(rotated, gamma) >= criterion(theirs, gamma) - 1e-12
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(A @ rotation, rotated, atol=1e-12)


def test_the_angle_of_two_components_is_the_best_of_all_angles():
    A = np.random.default_rng(1).normal(size=(12, 2))
    for gamma in (0.0, 0.5, 1.0):
        rotated, _ = lowdim.varimax(A, gamma=gamma, normalize=False)
        turns = np.linspace(0, np.pi, 2001)
        best = max(criterion(A @ [[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]], gamma) for t in turns)
        assert criterion(rotated, gamma) >= best - 1e-12


def test_varimax_finds_the_groups_and_keeps_communalities():
    A = PCA(3, standardize=True).fit(X).correlation_loadings_
    rotated, _ = lowdim.varimax(A)
    np.testing.assert_allclose((rotated**2).sum(axis=1), (A**2).sum(axis=1), rtol=1e-12)
    groups = np.abs(rotated).argmax(axis=1)
    assert [len(set(groups[start : start + 3])) for start in (0, 3, 6)] == [1, 1, 1]
    assert len(set(groups)) == 3
    sizes = (rotated**2).sum(axis=0)
    assert (np.diff(sizes) <= 0).all()
    assert (rotated[np.abs(rotated).argmax(axis=0), range(3)] > 0).all()


def test_kaiser_normalization_turns_rows_of_unit_length():
    A = PCA(3).fit(X).correlation_loadings_ * np.linspace(1, 4, 9)[:, None]
    _, rotation = lowdim.varimax(A)
    _, plain = lowdim.varimax(A / np.linalg.norm(A, axis=1, keepdims=True), normalize=False)
    np.testing.assert_allclose(np.abs(rotation.T @ plain).max(axis=0), 1.0, atol=1e-9)


def test_rotated_loadings_stay_as_they_are():
    rotated, _ = lowdim.varimax(PCA(3).fit(X).correlation_loadings_)
    again, rotation = lowdim.varimax(rotated)
    np.testing.assert_allclose(again, rotated, atol=1e-9)
    np.testing.assert_allclose(rotation, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("A", [np.eye(4), np.ones((5, 3)), np.zeros((3, 2)), np.ones((4, 1)), 1e-160 * np.eye(3)])
def test_degenerate_loadings_give_an_orthogonal_rotation(A):
    rotated, rotation = lowdim.varimax(A)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(A.shape[1]), atol=1e-12)
    assert np.isfinite(rotated).all()


def test_bad_rotations_are_refused_by_name():
    with pytest.raises(BadParameter, match="gamma"):
        lowdim.varimax(np.eye(3), gamma=-1)
    with pytest.warns(LowdimWarning, match="max_iter=1"):
        lowdim.varimax(np.random.default_rng(0).normal(size=(20, 6)), max_iter=1)
    with pytest.raises(BadParameter, match="'quartimax'"):
        lowdim.rotate_components(PCA(2).fit(X), "oblimin")
    with pytest.raises(BadInput, match="fitted PCA"):
        lowdim.rotate_components(lowdim.ICA(2).fit(X))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_rotated_scores_are_uncorrelated_and_have_the_rotated_loadings(whiten, standardize):
    found = lowdim.rotate_components(PCA(3, whiten=whiten, standardize=standardize).fit(X))
    scores = found.transform(X)
    np.testing.assert_allclose(np.cov(scores.T), np.eye(3), atol=1e-10)
    np.testing.assert_allclose(lowdim.correlation_loadings(scores, X), found.loadings, atol=1e-10)
    quartimax = lowdim.rotate_components(PCA(3).fit(X), "quartimax")
    np.testing.assert_allclose(quartimax.loadings, lowdim.quartimax(PCA(3).fit(X).correlation_loadings_)[0])
    model = PCA(3, standardize=True).fit(X)  # all rotated components explain what the components do
    total = lowdim.rotate_components(model).explained_variance_ratio.sum()
    np.testing.assert_allclose(total, model.explained_variance_ratio_.sum())


# ---- correlation loadings ----


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "krylov"])
@pytest.mark.parametrize("standardize", [False, True])
def test_correlation_loadings_are_correlations(solver, standardize):
    rng = np.random.default_rng(0)
    table = X[:8] if solver == "gram" else X
    weights = rng.integers(1, 4, size=len(table))
    model = PCA(3, solver=solver, standardize=standardize).fit(table, sample_weight=weights)
    repeated = np.repeat(table, weights, axis=0)
    expected = np.corrcoef(repeated.T, model.transform(repeated).T)[:9, 9:]
    np.testing.assert_allclose(model.correlation_loadings_, expected, atol=1e-7)
    found = lowdim.correlation_loadings(model, table, sample_weight=weights)
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_correlation_loadings_of_streams_sparse_rows_and_constant_columns():
    table = np.where(X > 11, X, 0.0)
    table[:, 4] = 7.0
    expected = PCA(2, solver="svd").fit(table).correlation_loadings_
    assert (expected[4] == 0).all()
    assert np.abs(expected).max() <= 1
    streamed = PCA(2).fit(iter(np.array_split(table, 5))).correlation_loadings_
    parts = PCA(2).partial_fit(table[:100]).partial_fit(table[100:]).correlation_loadings_
    sparse = PCA(2).fit(sp.csr_array(table)).correlation_loadings_
    for found in (streamed, parts, sparse, lowdim.correlation_loadings(PCA(2).fit(table), sp.csr_array(table))):
        np.testing.assert_allclose(found, expected, atol=1e-10)
    narrow = PCA(2).fit(table.astype(np.float32))
    assert narrow.correlation_loadings_.dtype == np.float32
    np.testing.assert_allclose(narrow.correlation_loadings_, expected, atol=1e-5)


def test_correlation_loadings_of_rows_with_missing_values():
    gaps = np.where(np.random.default_rng(5).random(X.shape) < 0.02, np.nan, X)
    found = PCA(3, missing="em").fit(gaps).correlation_loadings_
    np.testing.assert_allclose(found, PCA(3).fit(X).correlation_loadings_, atol=0.1)


def test_correlation_loadings_of_any_embedding():
    Z = np.column_stack([X[:, 0], np.ones(len(X))])
    found = lowdim.correlation_loadings(Z, X)
    np.testing.assert_allclose(found[:, 0], np.corrcoef(X.T)[0], atol=1e-12)
    assert (found[:, 1] == 0).all()
    with pytest.raises(BadInput, match="400 rows"):
        lowdim.correlation_loadings(Z[:9], X)


def test_a_saved_pca_keeps_its_correlation_loadings(tmp_path):
    model = PCA(2).fit(X)
    lowdim.save(model, tmp_path / "pca.lowdim")
    np.testing.assert_array_equal(
        lowdim.load(tmp_path / "pca.lowdim").correlation_loadings_, model.correlation_loadings_
    )
    object.__setattr__(model._state, "variances", None)  # as in files of an earlier lowdim
    with pytest.raises(ModelFileError, match="Fit it again"):
        _ = model.correlation_loadings_
