"""DOC and MineClus: planted clusters, brute force, what is chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.errors import SearchTooLarge
from lowdim.subspace import DOC, MineClus, planted_clusters, scores
from lowdim.subspace._frequent_dimensions import best_frequent_set, log_quality
from lowdim.subspace.doc import discriminating_size


@pytest.mark.parametrize("model", [MineClus(), DOC()], ids=["MineClus", "DOC"])
@pytest.mark.parametrize("noise", [0.1, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_planted_clusters(model, noise, seed):
    """Up to 30% noise: 3 clusters of 4 of 12 dimensions."""
    planted = planted_clusters(900, 12, 3, 4, noise=noise, random_state=seed)
    model.fit(planted.X)
    found = scores(model, planted)
    assert found.f1 >= 0.95 and found.e4sc >= 0.95
    assert sorted(tuple(c.dimensions) for c in model.clusters_) == sorted(tuple(c.dimensions) for c in planted.clusters)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.05, 0.45), st.floats(0.05, 0.9))
def test_the_best_frequent_set_is_that_of_all_sets(seed, d, beta, density):
    rng = np.random.default_rng(seed)
    near = rng.uniform(size=(70, d)) < density * rng.uniform(0.5, 1.5, d)
    least = int(rng.integers(1, 30))
    best = None
    for size in range(1, d + 1):
        for columns in combinations(range(d), size):
            support = int(near[:, columns].all(axis=1).sum())
            if support >= least and (best is None or log_quality(support, size, beta) > best):
                best = log_quality(support, size, beta)
    found = best_frequent_set(near, least, beta, 10_000)
    if best is None:
        assert found is None
    else:
        assert found.quality == pytest.approx(best)
        assert near[:, found.dimensions].all(axis=1).sum() == found.support >= least
        assert list(found.dimensions) == sorted(found.dimensions)


def test_a_search_has_a_limit(rng):
    near = rng.uniform(size=(200, 30)) < 0.9
    with pytest.raises(SearchTooLarge, match="max_nodes=5"):
        best_frequent_set(near, 1, 0.4, 5)


@pytest.mark.parametrize("cls", [DOC, MineClus])
def test_noise_has_no_clusters(cls):
    X = np.random.default_rng(0).uniform(size=(800, 8))
    assert cls(random_state=1).fit(X).clusters_ == []
    wide = cls(width=5.0).fit(X)  # every row is near to every other: no dimension says anything
    assert wide.clusters_ == [] and (wide.labels_ == -1).all()


@pytest.mark.parametrize("cls", [DOC, MineClus])
def test_rows_are_within_the_box_around_the_medoid(cls):
    planted = planted_clusters(600, 8, 2, 3, noise=0.2)
    model = cls(0.2, width=0.1).fit(planted.X)
    assert len(model.clusters_) == 2
    for cluster, medoid in zip(model.clusters_, model.medoid_indices_, strict=True):
        own = cluster.dimensions
        assert (np.abs(planted.X[np.ix_(cluster.rows, own)] - planted.X[medoid, own]) <= 0.1 + 1e-12).all()
        assert medoid in cluster.rows and cluster.size >= 0.2 * 600
        assert cluster.description.count("∧") == len(own) - 1
    labels = np.array([cluster.rows for cluster in model.clusters_], dtype=object)
    assert len(np.unique(np.concatenate(labels))) == sum(len(rows) for rows in labels)  # a partition


def test_one_cluster_of_most_rows_and_a_limit_of_clusters():
    planted = planted_clusters(600, 8, 1, 3, noise=0.05)
    found = MineClus().fit(planted.X)
    assert scores(found, planted).e4sc > 0.95
    three = planted_clusters(600, 8, 3, 3, noise=0.05)
    assert len(MineClus(n_clusters=2).fit(three.X).clusters_) == 2


def test_seeds_and_units():
    X = planted_clusters(400, 8, 2, 3).X
    for cls in (DOC, MineClus):
        first, again = (cls(random_state=3).fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.medoid_indices_, again.medoid_indices_)
        scaled = cls(random_state=3).fit(X * 2.0 ** np.arange(8))  # a tenth of the range has no unit
        np.testing.assert_array_equal(first.labels_, scaled.labels_)


def test_the_size_of_a_discriminating_set():
    assert discriminating_size(10, 0.25) == 5  # log 20 / log 2 = 4.3
    assert discriminating_size(1, 0.01) == 1
