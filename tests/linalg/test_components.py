"""Connected components: solved one by one, packed without overlap."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lowdim.linalg.components import by_component, interval_centers, pack_components


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 5))
def test_components_are_solved_by_themselves(names, k):
    _, labels = np.unique(names, return_inverse=True)
    asked = []

    def solve(rows, most):
        asked.append(rows)
        return np.full(most, float(labels[rows[0]])), rows[:, None] + 100.0 * np.arange(1, most + 1)

    Z, values = by_component(labels, k, solve)
    for rows in asked:
        assert (labels[rows] == labels[rows[0]]).all()
    for component in range(labels.max() + 1):
        rows = np.flatnonzero(labels == component)
        most = min(k, len(rows) - 1)
        np.testing.assert_array_equal(values[component], [component] * most + [0] * (k - most))
        np.testing.assert_array_equal(Z[rows, :most], rows[:, None] + 100.0 * np.arange(1, most + 1))
        assert (Z[rows, most:] == 0).all()


@given(st.integers(0, 1000), st.integers(2, 6))
def test_packed_components_do_not_overlap_and_keep_their_shape(seed, components):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(components), rng.integers(0, components, 60)])
    Z = rng.standard_normal((len(labels), 2))
    packed, offsets = pack_components(Z, labels)
    edge = -np.inf
    for component in range(components):
        rows = labels == component
        share = np.sqrt(rows.mean())
        np.testing.assert_allclose(packed[rows] - [offsets[component], 0], Z[rows] * share, atol=1e-12)
        assert packed[rows, 0].min() > edge
        edge = packed[rows, 0].max()
    np.testing.assert_array_equal(pack_components(Z, np.zeros(len(labels), dtype=int))[0], Z)


@given(st.integers(0, 1000), st.integers(1, 8), st.integers(1, 3))
def test_intervals_are_adjacent_in_the_order_of_the_centroids(seed, components, k):
    rng = np.random.default_rng(seed)
    centroids, sizes = rng.standard_normal((components, k)), rng.uniform(0.1, 1, components)
    centers = interval_centers(centroids, sizes)
    for axis in range(k):
        order = np.argsort(centroids[:, axis])
        low, high = (centers[:, axis] - sizes / 2)[order], (centers[:, axis] + sizes / 2)[order]
        np.testing.assert_allclose(low, np.concatenate([[0], high[:-1]]), atol=1e-12)
