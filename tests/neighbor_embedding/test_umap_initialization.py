"""What UMAP lays out and from where: the fuzzy graph, and the first map."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lowdim import UMAP, neighbors
from lowdim.data.rows import open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.neighbor_embedding import initialization
from lowdim.neighbor_embedding.initialization import pad_columns, scale_to_box, spectral_init
from lowdim.neighbor_embedding.umap.find_ab import find_ab
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set, smooth_knn_distances

# ---- the fuzzy graph ----


def test_the_published_curve():
    np.testing.assert_allclose(find_ab(0.1, 1.0), (1.577, 0.895), atol=5e-4)


@given(st.floats(0, 1), st.floats(0.1, 10))
def test_the_curve_scales_with_the_map(share, spread):
    """Distances × spread is a × spread^-2b, with the same b."""
    a, b = find_ab(share, 1.0)
    scaled_a, scaled_b = find_ab(share * spread, spread)
    assert scaled_b == pytest.approx(b, rel=1e-4)
    assert scaled_a == pytest.approx(a * spread ** (-2 * b), rel=1e-3)


def test_memberships_sum_to_log_k(rng):
    d = np.sort(rng.gamma(3, size=(50, 14)), axis=1)
    belonging = smooth_knn_distances(d, 1.0, 1)
    np.testing.assert_allclose(belonging.weights.sum(axis=1), np.log2(15), atol=2e-4)
    np.testing.assert_allclose(belonging.rhos, d[:, 0], rtol=1e-6)
    by_hand = np.exp(-(d - d[:, :1]) / belonging.sigmas[:, None].astype(float))
    np.testing.assert_allclose(belonging.weights, by_hand, rtol=1e-4)


@given(st.integers(-20, 20))
def test_memberships_do_not_depend_on_the_unit(power):
    d = np.sort(np.random.default_rng(1).gamma(3, size=(9, 8)), axis=1).astype(np.float32)
    np.testing.assert_array_equal(
        smooth_knn_distances(d, 1.0, 1).weights, smooth_knn_distances(d * np.float32(2.0**power), 1.0, 1).weights
    )


def test_duplicates_and_zeros_belong_wholly():
    d = np.array([[0, 0, 0, 1.0], [0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
    weights = smooth_knn_distances(d, 1.0, 1).weights
    np.testing.assert_array_equal(weights, np.ones((3, 4)))


def test_the_union_is_a_probability(rng):
    graph = neighbors(rng.standard_normal((80, 4)), 7)
    W = np.zeros((80, 80))
    np.put_along_axis(W, graph.indices.astype(np.int64), smooth_knn_distances(graph.distances, 1.0, 1).weights, axis=1)
    for mix in (0.0, 0.4, 1.0):
        expected = mix * (W + W.T - W * W.T) + (1 - mix) * W * W.T
        fuzzy = fuzzy_simplicial_set(graph, 1.0, mix, 1)
        np.testing.assert_allclose(fuzzy.to_sparse().toarray(), expected, atol=1e-6)
        assert (np.diff(fuzzy.columns)[np.diff(fuzzy.rows) == 0] > 0).all()


# ---- initialization ----


def test_a_fuzzy_graph_that_does_not_fit_into_memory_is_refused(monkeypatch, digits):
    from lowdim.errors import MemoryTooSmall
    from lowdim.runtime import memory

    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 19)
    with pytest.raises(MemoryTooSmall, match="fuzzy graph"):
        UMAP().fit(digits)


def test_components_are_subgraphs(rng, blobs):
    X, piece = blobs(rng, 6)
    order = rng.permutation(len(X))
    fuzzy = fuzzy_simplicial_set(neighbors(X[order], 9), 1.0, 1.0, 1)
    sorted_graph = fuzzy.reordered(np.argsort(piece[order], kind="stable"))
    W = fuzzy.to_sparse().toarray()
    for c in range(6):
        members = np.flatnonzero(piece[order] == c)
        part = sorted_graph.subgraph(30 * c, 30 * c + 30)
        np.testing.assert_array_equal(part.to_sparse().toarray(), W[np.ix_(members, members)])
        assert (np.diff(part.columns)[np.diff(part.rows) == 0] > 0).all()


def test_components_are_ordered_by_the_principal_components_of_their_centroids(monkeypatch, rng):
    X = rng.standard_normal((200, 3)).astype(np.float32)
    labels = rng.integers(0, 40, 200)
    labels[:40] = np.arange(40)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(41))
    means = np.vstack([X[labels == c].mean(axis=0, dtype=np.float64) for c in range(40)])
    expected = principal_scores(open_rows(means), 2, 0, 1)
    monkeypatch.setattr(initialization, "chunk_rows", lambda d, size: 7)
    np.testing.assert_allclose(initialization.component_scores(X, order, bounds, 2, 0, 1), expected, atol=1e-6)
    np.testing.assert_allclose(
        initialization.component_scores(sp.csr_array(X), order, bounds, 2, 0, 1), expected, atol=1e-6
    )


def test_components_do_not_cover_each_other(rng, blobs):
    X, piece = blobs(rng, 7)
    fuzzy = fuzzy_simplicial_set(neighbors(X, 9), 1.0, 1.0, 1)
    Z = spectral_init(fuzzy, 2, 0, 1, X)
    low = np.array([Z[piece == c].min(axis=0) for c in range(7)])
    high = np.array([Z[piece == c].max(axis=0) for c in range(7)])
    for axis in range(2):
        order = np.argsort(low[:, axis])
        assert (low[order[1:], axis] >= high[order[:-1], axis] - 1e-9).all()


def test_an_initialization_is_in_its_box_and_no_two_rows_coincide(rng):
    Z = scale_to_box(np.zeros((50, 2)), 0, 1)
    assert Z.min() == 0 and Z.max() == 10 and len(np.unique(Z, axis=0)) == 50
    X = rng.standard_normal((30, 2)) * [5, 1]
    scores = pad_columns(principal_scores(open_rows(X), 3, 0, 1), 3, 0, 1)
    assert scores.shape == (30, 3) and abs(np.corrcoef(scores[:, 0], X[:, 0])[0, 1]) > 0.99
