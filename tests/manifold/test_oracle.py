"""Isomap and Laplacian eigenmaps against scikit-learn's, with exact neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn import manifold
from sklearn.datasets import make_s_curve, make_swiss_roll

from lowdim import Isomap, LaplacianEigenmaps, neighbors
from lowdim.manifold.laplacian.edge_weights import edge_weights


def untied(digits, n):
    """Digits without equal distances, among which libraries may choose as they like."""
    return digits[:n] + np.random.default_rng(0).standard_normal((n, digits.shape[1]))


def up_to_signs(A, B):
    return A * np.sign((A * B).sum(axis=0)) - B


@pytest.mark.parametrize("k", [8, 10])
@pytest.mark.parametrize("name", ["digits", "swiss roll", "s-curve"])
def test_isomap(name, k, digits):
    X = {"digits": untied(digits, 900), "swiss roll": make_swiss_roll(600, random_state=3)[0]}.get(
        name, make_s_curve(350, random_state=3)[0]
    )
    theirs = manifold.Isomap(n_components=3, n_neighbors=k).fit(X)
    ours = Isomap(3, n_neighbors=k).fit(X)
    assert procrustes(theirs.embedding_, ours.embedding_)[2] < 1e-8
    scale = np.abs(theirs.embedding_).max()
    np.testing.assert_allclose(up_to_signs(ours.embedding_, theirs.embedding_), 0, atol=1e-3 * scale)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.kernel_pca_.eigenvalues_, rtol=1e-5)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-5)


def test_isomap_by_radius():
    X = make_s_curve(300, random_state=0)[0]
    theirs = manifold.Isomap(n_components=2, n_neighbors=None, radius=0.7).fit(X)
    ours = Isomap(2, radius=0.7).fit(X)
    assert procrustes(theirs.embedding_, ours.embedding_)[2] < 1e-10
    new = X[:20] + 0.02
    z = ours.transform(new) * np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    np.testing.assert_allclose(z, theirs.transform(new), atol=1e-3)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "precomputed"])
def test_isomap_of_other_distances(metric, digits):
    X = untied(digits, 500)
    if metric == "precomputed":
        X = np.abs(X[:, None] - X).sum(axis=2)
    theirs = manifold.Isomap(n_components=2, n_neighbors=12, metric=metric).fit(X)
    assert procrustes(theirs.embedding_, Isomap(2, n_neighbors=12, metric=metric).fit(X).embedding_)[2] < 1e-8


def test_new_rows_of_isomap(digits):
    rows, new = untied(digits, 1000)[:900], untied(digits, 1000)[900:]
    theirs = manifold.Isomap(n_components=2, n_neighbors=8).fit(rows)
    ours = Isomap(2, n_neighbors=8).fit(rows)
    signs = np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    z = theirs.transform(new)
    np.testing.assert_allclose(ours.transform(new) * signs, z, atol=1e-4 * np.abs(z).max())


@pytest.mark.parametrize("n", [200, 1000])
def test_spectral_embedding(n, digits):
    """scikit-learn's is the random-walk form, scaled by √Σd."""
    W = edge_weights(neighbors(digits[:n], 12), "heat", "local").matrix
    theirs = manifold.SpectralEmbedding(4, affinity="precomputed", eigen_solver="arpack", random_state=0)
    want = theirs.fit_transform(W.toarray()) * np.sqrt(W.sum())
    ours = LaplacianEigenmaps(4, n_neighbors=12).fit(digits[:n])
    assert ours.n_connected_components_ == 1
    np.testing.assert_allclose(up_to_signs(ours.embedding_, want), 0, atol=1e-5)
    given = LaplacianEigenmaps(4, affinity="precomputed").fit(W.toarray())
    np.testing.assert_allclose(up_to_signs(given.embedding_, want), 0, atol=1e-5)


def test_spectral_embedding_of_the_default_neighbors(digits):
    """Their affinity is ½ for edges that are not mutual; the rest is the same."""
    theirs = manifold.SpectralEmbedding(2, n_neighbors=11, eigen_solver="arpack", random_state=0).fit(digits[:500])
    W = theirs.affinity_matrix_
    ours = LaplacianEigenmaps(2, affinity="precomputed").fit(W)
    degrees = W.sum() - W.diagonal().sum()
    np.testing.assert_allclose(up_to_signs(ours.embedding_, theirs.embedding_ * np.sqrt(degrees)), 0, atol=1e-5)
