"""Laplacian score and principal feature analysis, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from lowdim.errors import NotEnoughData
from lowdim.select import LaplacianScore, PrincipalFeatureAnalysis


def test_the_laplacian_score_by_definition():
    X = np.random.default_rng(0).normal(size=(60, 5)) * [1, 2, 3, 1, 1]
    distances = kneighbors_graph(X, 4, mode="distance").toarray()
    W = np.where(distances > 0, np.exp(-(distances**2) / 2.5), 0)
    W = np.maximum(W, W.T)
    D = np.diag(W.sum(axis=1))
    expected = []
    for f in X.T:
        f = f - (f @ D.sum(axis=1)) / D.sum()
        expected.append(f @ (D - W) @ f / (f @ D @ f))
    assert np.allclose(LaplacianScore(n_neighbors=4, t=2.5).fit(X).scores_, 1 - np.array(expected), atol=1e-6)
    # A shift or another unit of a column that the distances hardly see changes nothing.
    small = X * [1, 1, 1, 1e-6, 1e-6]
    assert np.allclose(LaplacianScore().fit(small).scores_[:3], LaplacianScore().fit(X[:, :3]).scores_, atol=1e-4)


def test_features_with_structure_come_first():
    rng = np.random.default_rng(0)
    centers = np.repeat([[0, 0], [6, 0], [0, 6]], 50, axis=0)
    X = np.column_stack([centers + rng.normal(size=(150, 2)), 2 * rng.normal(size=(150, 3)), np.full(150, 0.1)])
    model = LaplacianScore(2).fit(X)
    assert list(model.support_) == [True, True, False, False, False, False]
    assert model.scores_[5] == -1 and model.ranking_[5] == 6
    assert list(LaplacianScore(2, weights="binary").fit(X).support_) == list(model.support_)


def test_principal_features_represent_each_group():
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(300, 3))
    X = np.repeat(groups, 3, axis=1) + 0.2 * rng.normal(size=(300, 9))
    model = PrincipalFeatureAnalysis(3, n_components=3).fit(X)
    assert sorted(np.flatnonzero(model.support_) // 3) == [0, 1, 2]
    assert np.allclose(model.loadings_, np.abs(np.linalg.eigh(np.corrcoef(X.T))[1][:, ::-1][:, :3]), atol=1e-8)
    means = np.array([model.loadings_[model.labels_ == label].mean(axis=0) for label in range(3)])
    for label, j in zip(model.labels_[model.support_], np.flatnonzero(model.support_), strict=True):
        members = np.flatnonzero(model.labels_ == label)
        gaps = np.linalg.norm(model.loadings_[members] - means[label], axis=1)
        assert members[np.argmin(gaps)] == j


def test_equal_features_are_one():
    x = np.random.default_rng(0).normal(size=(40, 2))
    model = PrincipalFeatureAnalysis(4).fit(x[:, [0, 0, 1, 1, 1]])
    assert model.support_.sum() == 2
    with pytest.raises(NotEnoughData, match="all columns are constant"):
        PrincipalFeatureAnalysis().fit(np.ones((5, 3)))
    with pytest.raises(NotEnoughData, match="n_components must be at most 2"):
        PrincipalFeatureAnalysis(n_components=3).fit(x)
