"""Neighbors against scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from lowdim.knn.graph import Graph
from lowdim.knn.index import NeighborIndex, neighbors


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_digits_as_scikit_learn_finds_them(digits, metric):
    graph = neighbors(digits, 15, metric=metric)
    distances, _ = NearestNeighbors(n_neighbors=15, metric=metric, algorithm="brute").fit(digits).kneighbors()
    assert np.allclose(graph.distances, distances, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("metric", ["correlation", "sqeuclidean"])
def test_digits_as_scipy_measures_them(digits, metric):
    D = cdist(digits, digits, metric)
    np.fill_diagonal(D, np.inf)
    assert np.allclose(neighbors(digits, 10, metric=metric).distances, np.sort(D, axis=1)[:, :10], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
def test_bits_as_scipy_measures_them(digits, metric):
    bits = digits > 8
    D = cdist(bits, bits, metric).astype(np.float32)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :12]
    graph = neighbors(bits, 12, metric=metric)
    assert np.array_equal(graph.indices, order)
    assert np.allclose(graph.distances, np.take_along_axis(D, order, 1), rtol=1e-6)


def test_queries_as_a_tree_finds_them(rng):
    X, Y = rng.normal(size=(4000, 3)), rng.normal(size=(500, 3))
    distances, indices = cKDTree(X).query(Y, 9)
    for algorithm, share in (("exact", 1.0), ("approximate", 0.98)):
        found = NeighborIndex(X, algorithm=algorithm).query(Y, 9)
        assert (found.indices == indices).mean() >= share
        assert np.isclose(found.distances, distances, rtol=1e-6).mean() >= share


def test_a_transformer_s_graph_is_ours(digits):
    sparse = KNeighborsTransformer(n_neighbors=10, mode="distance").fit_transform(digits)
    graph = Graph.from_sparse(sparse)
    assert graph.k == 10
    assert np.allclose(graph.distances, neighbors(digits, 10).distances, rtol=1e-5)
