"""SUBCLU and its density-connected sets against scikit-learn's DBSCAN."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN

import lowdim.subspace._density as density
from lowdim.errors import SearchTooLarge
from lowdim.subspace import SUBCLU, planted_clusters, scores
from lowdim.subspace._density import density_connected_sets


def dbscan_sets(X, eps, min_samples):
    """Core rows from scikit-learn; the rows of a set are all within eps of one of its core rows."""
    found = DBSCAN(eps=eps, min_samples=min_samples).fit(X)
    core = np.zeros(len(X), dtype=bool)
    core[found.core_sample_indices_] = True
    sets = []
    for label in range(found.labels_.max() + 1):
        own = np.flatnonzero(core & (found.labels_ == label))
        sets.append((np.flatnonzero((cdist(X, X[own]) <= eps).any(axis=1)).tolist(), own.tolist()))
    return sorted(sets, key=lambda one: one[1][0])


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 6))
def test_sets_are_those_of_dbscan(seed, k, min_samples):
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(0, 8, (60, k)) * 4) / 4  # many distances of exactly eps
    found = [(one.rows.tolist(), one.core.tolist()) for one in density_connected_sets(X, 0.75, min_samples)]
    assert found == dbscan_sets(X, 0.75, min_samples)


def test_blocks_of_pairs_change_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 2))
    whole = density_connected_sets(X, 0.3, 8)
    monkeypatch.setattr(density, "BLOCK_PAIRS", 100)
    parts = density_connected_sets(X, 0.3, 8)
    assert len(whole) == len(parts) >= 1
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        np.testing.assert_array_equal(a.core, b.core)


@pytest.mark.parametrize("seed", range(3))
def test_every_subspace_is_searched_as_if_alone(seed):
    """The a-priori search, inside the clusters of the smallest projection, misses nothing."""
    planted = planted_clusters(150, 4, 2, 2, noise=0.3, random_state=seed)
    model = SUBCLU(0.06, 6, redundancy=1.0).fit(planted.X)
    expected = set()
    for k in range(1, 5):
        for dims in combinations(range(4), k):
            expected |= {(dims, tuple(rows)) for rows, _ in dbscan_sets(planted.X[:, dims], 0.06, 6)}
    assert {(tuple(c.dimensions.tolist()), tuple(c.rows.tolist())) for c in model.clusters_} == expected
    assert len(model.clusters_) == len(expected)


def test_planted_clusters():
    """10% noise: rows of the planted clusters with an F1 of at least 0.9, in exactly their dimensions."""
    planted = planted_clusters(600, 5, 2, 3, width=0.1, noise=0.1, random_state=2)
    model = SUBCLU(0.09, 150).fit(planted.X)
    assert scores(model, planted).f1 >= 0.9
    found = {tuple(c.dimensions.tolist()) for c in model.clusters_ if c.size > 200}
    assert {tuple(c.dimensions.tolist()) for c in planted.clusters} <= found


def test_the_search_is_bounded():
    X = np.random.default_rng(0).uniform(size=(50, 8))
    with pytest.raises(SearchTooLarge, match="max_subspaces=5"):
        SUBCLU(0.5, 3, max_subspaces=5).fit(X)
