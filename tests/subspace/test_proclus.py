"""PROCLUS: planted clusters, its steps by hand, seeds."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.subspace import PROCLUS, planted_clusters, scores
from lowdim.subspace._medoid_search import (
    ProclusOptions,
    assign_rows,
    find_dimensions,
    greedy_medoids,
    localities,
    mean_deviation,
    robust_limit,
)


@pytest.mark.parametrize("noise", [0.1, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_planted_clusters(seed, noise):
    """Up to 30% noise: 3 clusters of 4 of 12 dimensions."""
    planted = planted_clusters(900, 12, 3, 4, noise=noise, random_state=seed)
    model = PROCLUS(3, 4, random_state=0, n_init=5).fit(planted.X)
    found = scores(model, planted)
    assert found.f1 >= 0.95 and found.e4sc >= 0.95
    assert sorted(tuple(c.dimensions) for c in model.clusters_) == sorted(tuple(c.dimensions) for c in planted.clusters)


def test_medoids_are_rows_of_their_clusters():
    X = planted_clusters(300, 6, 3, 3).X
    model = PROCLUS(3, 3, n_init=2).fit(X)
    np.testing.assert_array_equal(model.medoids_, X[model.medoid_indices_])
    assert (model.labels_[model.medoid_indices_] == np.arange(3)).all()
    assert sum(len(c.dimensions) for c in model.clusters_) == 9
    assert model.objective_ > 0 and model.n_iter_ >= 20


def test_seeds():
    X = planted_clusters(300, 6, 3, 3).X
    first, again, other = (PROCLUS(3, 3, n_init=1, random_state=seed).fit(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    assert not np.array_equal(first.medoid_indices_, other.medoid_indices_)
    more = PROCLUS(3, 3, n_init=6, random_state=1).fit(X)
    assert more.objective_ <= first.objective_  # the first search is one of the six


def test_localities_reach_to_the_nearest_other_medoid():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [10.0, 10.0]])
    near = localities(X, np.array([0, 3]), {})
    assert [part.tolist() for part in near] == [[0, 1, 2, 3], [0, 1, 2, 3]]
    assert localities(X, np.array([4]), {})[0].tolist() == [0, 1, 2, 3, 4]  # one medoid: all rows


def test_dimensions_are_those_of_the_least_relative_spread():
    X = np.zeros((5, 4))
    X[1:] = [[1, 9, 5, 1], [1, 8, 5, 2], [2, 9, 6, 1], [1, 9, 5, 1]]
    medoids, members = np.array([0]), [np.arange(1, 5)]
    spread = np.abs(X[1:]).mean(axis=0)  # 1.25, 8.75, 5.25, 1.25
    assert find_dimensions(X, medoids, members, 2)[0].tolist() == [0, 3]
    assert find_dimensions(X, medoids, members, 3)[0].tolist() == [0, 2, 3]
    assert spread.argmax() == 1
    # two medoids: at least two dimensions each, the others by z-score over both
    both = find_dimensions(X, np.array([0, 1]), [np.arange(1, 5), np.arange(1, 5)], 2.5)
    assert sorted(len(own) for own in both) == [2, 3]


def test_segmental_distance_and_objective():
    X = np.array([[0.0, 0, 9], [2, 4, 0], [1, 1, 5]])
    labels, distances = assign_rows(X, X[:2], [np.array([0, 1]), np.array([0, 1, 2])])
    np.testing.assert_allclose(distances, [[0, 5], [3, 0], [1, 3]])
    assert labels.tolist() == [0, 1, 0]
    # cluster 0: rows 0 and 2, centroid (0.5, 0.5), each at 0.5; cluster 1: its only row
    assert mean_deviation(X, labels, [np.array([0, 1]), np.array([0, 1, 2])]) == pytest.approx((0.5 + 0.5) / 3)


def test_the_pool_is_far_apart_even_if_rows_are_equal():
    X = np.repeat([[0.0, 0], [10, 0], [0, 10]], 10, axis=0)
    pool = greedy_medoids(X, ProclusOptions(3, 2, 10, 1, 0.1, 5, None), np.random.default_rng(0))
    assert len({tuple(X[i]) for i in pool}) == 3
    pool = greedy_medoids(X, ProclusOptions(6, 2, 5, 5, 0.1, 5, None), np.random.default_rng(0))
    assert len(set(pool.tolist())) == len(pool) == 30


def test_noise_within_the_spheres_is_left_out():
    planted = planted_clusters(600, 8, 2, 4, noise=0.3, random_state=1)
    paper, robust = (PROCLUS(2, 4, n_init=3, spread=spread).fit(planted.X) for spread in (None, 3.0))
    noise = planted.labels == -1
    assert (robust.labels_[noise] == -1).mean() > 0.95 > (paper.labels_[noise] == -1).mean()
    assert (robust.labels_[~noise] >= 0).mean() > 0.95
    assert robust_limit(np.array([1.0, 2.0, 3.0, 4.0, 50.0]), 2.0) == pytest.approx(3 + 2 * 1.4826)


def test_outliers():
    X = np.vstack([planted_clusters(200, 4, 2, 4, width=0.05, noise=0).X, [[50.0, 50, 50, 50]]])
    labels = PROCLUS(2, 4, n_init=3, sample_factor=20).fit(X[:-1]).predict(X)
    assert labels[-1] == -1 and (labels[:-1] >= 0).mean() > 0.9
