"""Steadiness and cohesiveness: their clusters, oracles and laws; what is said of labels and of places."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import lowdim
from determinism import assert_same_bits
from lowdim import _native, quality
from lowdim.quality._distance_source import embedding_source, read_source
from lowdim.quality._label_groups import overlaps
from lowdim.quality._steadiness import SharedNeighborSpace, group_reliability
from lowdim.quality._words import neighbor_places


@pytest.mark.parametrize("n", [2, 5, 9, 60, 300])
@pytest.mark.parametrize("groups", [1, 3])
def test_clusters_are_those_of_hdbscan(rng, n, groups):
    X = rng.normal(size=(n, 3)) + 9 * np.arange(groups)[rng.integers(0, groups, n), None]
    D = cdist(X, X).astype(np.float32)
    D = np.maximum(D, D.T)
    labels = np.empty(n, dtype=np.int32)
    found = _native.hdbscan(D, labels)
    assert found == labels.max() + 1
    expected = HDBSCAN(
        min_cluster_size=5, min_samples=min(6, n), metric="precomputed", allow_single_cluster=True, copy=True
    ).fit_predict(D.astype(np.float64))
    np.testing.assert_array_equal(labels < 0, expected < 0)
    assert adjusted_rand_score(expected, labels) == 1


@pytest.fixture(scope="module")
def groups():
    """Four groups in ten columns, far from each other."""
    return make_blobs(400, n_features=10, centers=4, cluster_std=1.0, random_state=3)


def both(X, Z, seed=0, threads=2):
    true, drawn = (SharedNeighborSpace.of(embedding_source(part, threads), np.arange(len(X))) for part in (X, Z))
    return group_reliability(drawn, true, seed, threads), group_reliability(true, drawn, seed, threads)


def test_shared_neighbors_weigh_by_their_ranks(groups):
    X = groups[0][:40]
    space = SharedNeighborSpace.of(read_source(X, "euclidean", None, None, 1), np.arange(40))
    near = np.argsort(cdist(X, X) + np.diag(np.full(40, np.inf)), axis=1)[:, :6]
    np.testing.assert_array_equal(space.neighbors, near)

    def similarity(i, j):
        return sum((7 - list(near[i]).index(c)) * (7 - list(near[j]).index(c)) for c in set(near[i]) & set(near[j]))

    raw = np.array([[similarity(i, j) if i != j else 0 for j in range(40)] for i in range(40)])
    np.testing.assert_allclose(space.similarity, raw / raw.max(), atol=1e-6)


def test_zadu_finds_the_same(groups):
    from zadu.measures import steadiness_cohesiveness

    X = groups[0]
    rng = np.random.default_rng(0)
    maps = {"pca": lowdim.PCA(2).fit_transform(X), "random": rng.normal(size=(400, 2)), "one axis": X[:, :2]}
    for name, Z in maps.items():
        expected = steadiness_cohesiveness.measure(X, Z, iteration=150, random_state=0)
        for found, measure in zip(both(X, Z), ("steadiness", "cohesiveness"), strict=True):
            reach = max(found.figure.high - found.figure.low, 0.04)
            assert found.figure.value == pytest.approx(expected[measure], abs=reach), (name, measure)


def test_the_identity_has_no_false_and_no_missing_groups(groups):
    X = groups[0]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(10, 10)))[0]
    for found in both(X, 3 * X @ turn + 1):
        assert found.figure.value == pytest.approx(1, abs=1e-6) and np.nanmin(found.points) > 1 - 1e-6


def test_two_groups_drawn_as_one_are_false_and_one_drawn_as_two_is_torn(groups):
    X, y = groups
    Z = np.column_stack([10.0 * y, np.zeros(400)]) + X[:, :2] / np.ptp(X[:, :2])
    honest = both(X, Z)
    merged = Z.copy()
    merged[y == 1] += merged[y == 0].mean(axis=0) - merged[y == 1].mean(axis=0)
    torn = Z.copy()
    torn[np.flatnonzero(y == 2)[::2]] += [0, 50]
    false, missing = both(X, merged), both(X, torn)
    assert false[0].figure.high < honest[0].figure.low and missing[1].figure.high < honest[1].figure.low
    assert np.nanmean(false[0].points[y <= 1]) < np.nanmean(false[0].points[y > 1])
    assert np.nanmean(missing[1].points[y == 2]) < np.nanmean(missing[1].points[y != 2])


def test_points_average_to_the_map_by_their_weights(groups):
    X, _ = groups
    for found in both(X, X[:, :2]):
        known = found.weights > 0
        assert np.average(found.points[known], weights=found.weights[known]) == pytest.approx(found.figure.value)
        assert np.isnan(found.points[~known]).all() and 0 <= np.nanmin(found.points) <= np.nanmax(found.points) <= 1


def test_a_random_map_is_as_the_baseline_says(groups):
    X, _ = groups
    found = quality.measure(X, np.random.default_rng(5).normal(size=(400, 2)), k=10)
    for name in ("steadiness", "cohesiveness"):
        assert found[name].value == pytest.approx(found[name].baselines["random"], abs=0.1)
        assert found[name].low < found[name].value < found[name].high and not found[name].exact


def test_groups_have_the_same_bits_for_any_number_of_threads(groups):
    X, _ = groups
    Z = lowdim.PCA(2).fit_transform(X)
    assert_same_bits(lambda threads: [found.points for found in both(X, Z, 4, threads)])


def test_means_of_labels_are_those_of_their_points(groups):
    X, y = groups
    names = np.array(["a", "b", "c", "d"])[y]
    q = quality.measure(X, lowdim.PCA(2).fit_transform(X), labels=names, k=10)
    table = q.groups.set_index("label")
    for name in "abcd":
        assert table.loc[name, "rows"] == (names == name).sum()
        for measure in ("neighbor_recall", "triplet_accuracy", "neighborhood_hit"):
            assert table.loc[name, measure] == pytest.approx(q.point_values[measure][names == name].mean())
    assert len(q.group_words()) >= 4 and q.to_dict()["groups"]["a"]["rows"] == (y == 0).sum()


def test_classes_that_overlap_are_told_apart_by_where_they_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) + np.array([[0, 0, 0], [0.5, 0, 0], [30, 0, 0]]).repeat(100, axis=0)
    y = np.array(["p", "q", "r"]).repeat(100)
    assert quality.measure(X, X[:, :2], labels=y, k=5).group_words()[3].startswith("p and q overlap in the data too")
    folded = X[:, :2].copy()
    folded[200:] -= folded[200:].mean(axis=0) - folded[:100].mean(axis=0)
    said = quality.measure(X, folded, labels=y, k=5).group_words()[3:]
    assert any("p and r overlap more in the map" in words for words in said)
    lists = np.array([[1, 2], [0, 2], [0, 1]])
    np.testing.assert_allclose(overlaps(lists, np.array([0, 0, 1]), 2), [[2 / 4, 4 / 6], [4 / 6, 0]])


def test_neighbors_that_are_drawn_in_two_places():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2)) * 0.1
    torn = X + np.where(np.arange(60) % 2 == 0, 0.0, 8.0)[:, None]
    q = quality.measure(X, torn, k=10, baselines=())
    near = q.true_neighbors[0]
    sizes = sorted([int((near % 2 == side).sum()) for side in (0, 1)], reverse=True)
    assert neighbor_places(q, 0) == sizes
    assert any("drawn in two places" in words for words in q.point_words(0))
    whole = quality.measure(X, X, k=10, baselines=())
    assert neighbor_places(whole, 0) == [10] and len(whole.point_words(0)) == 1
