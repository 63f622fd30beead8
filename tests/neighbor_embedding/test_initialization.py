"""Initialization: Laplacian eigenvectors by connected component, and the box of UMAP."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from lowdim import neighbors
from lowdim.data.rows import open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.neighbor_embedding import initialization
from lowdim.neighbor_embedding.initialization import component_scores, pad_columns, scale_to_box, spectral_init
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set


def fuzzy_graph(X, k):
    return fuzzy_simplicial_set(neighbors(X, k), 1.0, 1.0, 1)


def test_a_connected_graph_starts_at_its_laplacian_eigenvectors(digits):
    graph = fuzzy_graph(digits[:200], 14)
    W = graph.to_sparse().toarray().astype(np.float64)
    root = np.sqrt(W.sum(axis=1))
    wanted = np.linalg.eigh(W / np.outer(root, root))[1][:, ::-1][:, 1:4]
    found = np.linalg.qr(spectral_init(graph, 3, 0, 1))[0]
    assert np.linalg.svd(wanted.T @ found)[1].min() > 0.999


def test_components_are_subgraphs(rng, blobs):
    X, blob = blobs(rng, 6)
    order = rng.permutation(len(X))
    graph = fuzzy_graph(X[order], 9)
    sorted_graph = graph.reordered(np.argsort(blob[order], kind="stable"))
    W = graph.to_sparse().toarray()
    for c in range(6):
        members = np.flatnonzero(blob[order] == c)
        part = sorted_graph.subgraph(30 * c, 30 * c + 30)
        np.testing.assert_array_equal(part.to_sparse().toarray(), W[np.ix_(members, members)])
        assert (np.diff(part.columns)[np.diff(part.rows) == 0] > 0).all()


def test_components_are_ordered_by_the_principal_components_of_their_centroids(monkeypatch, rng):
    X = rng.standard_normal((200, 3)).astype(np.float32)
    labels = rng.integers(0, 40, 200)
    labels[:40] = np.arange(40)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(41))
    centroids = np.vstack([X[labels == c].mean(axis=0, dtype=np.float64) for c in range(40)])
    expected = principal_scores(open_rows(centroids), 2, 0, 1)
    monkeypatch.setattr(initialization, "chunk_rows", lambda d, size: 7)
    for table in (X, sp.csr_array(X)):
        np.testing.assert_allclose(component_scores(table, order, bounds, 2, 0, 1), expected, atol=1e-6)


def test_components_do_not_overlap(rng, blobs):
    X, blob = blobs(rng, 7)
    Z = spectral_init(fuzzy_graph(X, 9), 2, 0, 1, X)
    low = np.array([Z[blob == c].min(axis=0) for c in range(7)])
    high = np.array([Z[blob == c].max(axis=0) for c in range(7)])
    for axis in range(2):
        order = np.argsort(low[:, axis])
        assert (low[order[1:], axis] >= high[order[:-1], axis] - 1e-9).all()


def test_the_box_has_side_10_and_no_two_rows_coincide():
    Z = scale_to_box(np.zeros((50, 2)), 0, 1)
    assert Z.min() == 0 and Z.max() == 10 and len(np.unique(Z, axis=0)) == 50


def test_missing_columns_are_padded(rng):
    X = rng.standard_normal((30, 2)) * [5, 1]
    scores = pad_columns(principal_scores(open_rows(X), 3, 0, 1), 3, 0, 1)
    assert scores.shape == (30, 3) and abs(np.corrcoef(scores[:, 0], X[:, 0])[0, 1]) > 0.99
    assert 0 < scores[:, 2].std() < 1e-3
