"""UMAP: its membership curve, membership strengths and fuzzy graph are what the formulas say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from lowdim import neighbors
from lowdim.neighbor_embedding.umap.find_ab import find_ab
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set, smooth_knn_distances


def test_the_published_curve():
    np.testing.assert_allclose(find_ab(0.1, 1.0), (1.577, 0.895), atol=5e-4)


@given(st.floats(0, 1), st.floats(0.1, 10))
@example(0.12190222133530626, 0.19935681737302938)
def test_the_curve_scales_with_the_spread(min_dist, spread):
    """Distances × spread is a × spread^-2b, with the same b."""
    a, b = find_ab(min_dist, 1.0)
    scaled_a, scaled_b = find_ab(min_dist * spread, spread)
    assert scaled_b == pytest.approx(b, rel=1e-4)
    assert scaled_a == pytest.approx(a * spread ** (-2 * b), rel=1e-3)


@pytest.mark.parametrize("spread", [0.2, 1.0, 10.0])
@pytest.mark.parametrize("share", [0.0, 0.12, 0.58, 0.999, 1.0])
def test_the_curve_is_the_best_one(share, spread):
    """Not even SciPy's least squares, started beside it, finds a better one."""
    d = np.linspace(0, 3 * spread, 300)[1:]
    target = np.where(d < share * spread, 1.0, np.exp(-(d - share * spread) / spread))

    def curve(d, a, b):
        return 1 / (1 + a * d ** (2 * b))

    found = find_ab(share * spread, spread)
    best, _ = curve_fit(curve, d, target, p0=np.multiply(found, (1.05, 0.97)), maxfev=10_000)
    np.testing.assert_allclose(found, best, rtol=1e-4)


def test_memberships_sum_to_log_k(rng):
    d = np.sort(rng.gamma(3, size=(50, 14)), axis=1)
    memberships = smooth_knn_distances(d, 1.0, 1)
    np.testing.assert_allclose(memberships.weights.sum(axis=1), np.log2(15), atol=2e-4)
    np.testing.assert_allclose(memberships.rhos, d[:, 0], rtol=1e-6)
    expected = np.exp(-(d - d[:, :1]) / memberships.sigmas[:, None].astype(float))
    np.testing.assert_allclose(memberships.weights, expected, rtol=1e-4)


@given(st.integers(-20, 20))
def test_memberships_do_not_depend_on_the_unit(power):
    d = np.sort(np.random.default_rng(1).gamma(3, size=(9, 8)), axis=1).astype(np.float32)
    weights = smooth_knn_distances(d, 1.0, 1).weights
    np.testing.assert_array_equal(smooth_knn_distances(d * np.float32(2.0**power), 1.0, 1).weights, weights)


def test_neighbors_no_farther_than_the_nearest_have_strength_1():
    d = np.array([[0, 0, 0, 1.0], [0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
    np.testing.assert_array_equal(smooth_knn_distances(d, 1.0, 1).weights, np.ones((3, 4)))


def test_both_directions_are_combined_by_union_and_intersection(rng):
    graph = neighbors(rng.standard_normal((80, 4)), 7)
    W = np.zeros((80, 80))
    weights = smooth_knn_distances(graph.distances, 1.0, 1).weights
    np.put_along_axis(W, graph.indices.astype(np.int64), weights, axis=1)
    for mix in (0.0, 0.4, 1.0):
        expected = mix * (W + W.T - W * W.T) + (1 - mix) * W * W.T
        fuzzy = fuzzy_simplicial_set(graph, 1.0, mix, 1)
        np.testing.assert_allclose(fuzzy.to_sparse().toarray(), expected, atol=1e-6)
        assert (np.diff(fuzzy.columns)[np.diff(fuzzy.rows) == 0] > 0).all()
