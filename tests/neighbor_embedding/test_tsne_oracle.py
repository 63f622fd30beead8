"""TSNE against scikit-learn and openTSNE."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from sklearn.manifold import TSNE as SklearnTSNE
from sklearn.manifold._t_sne import _joint_probabilities
from sklearn.metrics import pairwise_distances

from lowdim import TSNE, Affinities, neighbors
from lowdim.neighbor_embedding.tsne.affinities import conditional_probabilities
from lowdim.neighbor_embedding.tsne.gradient_descent import GradientDescent, TsneOptions


def test_affinities_are_scikit_learns(digits):
    """Exact joint probabilities over all neighbours."""
    X = digits[:300]
    squares = pairwise_distances(X, metric="euclidean", squared=True).astype(np.float32)
    expected = squareform(_joint_probabilities(squares, 20.0, verbose=0))
    graph = neighbors(X, 299)
    ours = (
        Affinities._joint(graph.indices, conditional_probabilities(graph.distances, 20.0, 1), 1).to_sparse().toarray()
    )
    np.testing.assert_allclose(ours, expected, atol=2e-5 * expected.max())


def test_affinities_are_opentsnes(digits):
    affinity = pytest.importorskip("openTSNE.affinity")
    theirs = affinity.PerplexityBasedNN(digits, perplexity=30, method="exact", n_jobs=1).P
    ours = Affinities.from_graph(neighbors(digits, 90), 30).to_sparse()
    difference = np.abs(ours - theirs)
    assert difference.sum() < 1e-3  # of a total of one; neighbours at equal distance may differ


def test_divergence_is_no_worse_than_scikit_learns(digits):
    theirs = SklearnTSNE(init="pca", random_state=0, max_iter=750).fit_transform(digits)
    P = Affinities.from_graph(neighbors(digits, 90), 30)
    judge = GradientDescent(P, TsneOptions(), 1)
    assert TSNE().fit(digits).kl_divergence_ <= 1.02 * judge.divergence(judge.initial_state(theirs.astype(np.float32)))


def test_divergence_is_no_worse_than_opentsnes(digits):
    peer = pytest.importorskip("openTSNE")
    theirs = peer.TSNE(random_state=0, n_jobs=1, negative_gradient_method="fft").fit(digits)
    P = Affinities.from_graph(neighbors(digits, 90), 30)
    judge = GradientDescent(P, TsneOptions(), 1)
    expected = judge.divergence(judge.initial_state(np.asarray(theirs, dtype=np.float32)))
    assert TSNE().fit(digits).kl_divergence_ <= 1.02 * expected
