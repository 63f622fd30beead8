"""Measures against a truth by hand, their laws; planted clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim import datasets
from lowdim.errors import BadInput, BadParameter
from lowdim.subspace import planted_clusters, scores

TRUTH = [(range(10), [0, 1]), (range(10, 20), [2, 3])]


def test_perfect_and_empty():
    perfect = scores(TRUTH, TRUTH)
    assert perfect.to_dict() == {"f1": 1, "rnia": 1, "ce": 1, "e4sc": 1}
    assert scores([], TRUTH).to_dict() == {"f1": 0, "rnia": 0, "ce": 0, "e4sc": 0}
    assert str(perfect) == "F1 1.000  1 - RNIA 1.000  1 - CE 1.000  E4SC 1.000"


def test_by_hand():
    """Half of the first cluster, in one of its dimensions and a wrong one; the second is split in two."""
    found = [(range(5), [0, 3]), (range(10, 15), [2, 3]), (range(15, 20), [2, 3])]
    got = scores(found, TRUTH)
    union, intersection = 20 + 5 + 20, 5 + 20
    assert got.rnia == pytest.approx(intersection / union)
    assert got.ce == pytest.approx((5 + 10) / union)  # one half of the second cluster is not matched
    assert got.f1 == pytest.approx((2 * 5 / 15 + 1) / 2)
    best_of_found, best_of_true = (2 * 5 / 30 + 2 * (2 * 10 / 30)) / 3, (2 * 5 / 30 + 2 * 10 / 30) / 2
    assert got.e4sc == pytest.approx(2 * best_of_found * best_of_true / (best_of_found + best_of_true))


def test_clusters_found_twice_count_twice():
    got = scores([*TRUTH, *TRUTH], TRUTH)
    assert got.f1 == 1 and got.e4sc == 1
    assert got.rnia == got.ce == 0.5


clusters = st.lists(
    st.tuples(st.sets(st.integers(0, 12), min_size=1), st.sets(st.integers(0, 4), min_size=1)), min_size=1, max_size=5
)


@settings(max_examples=12)
@given(clusters, clusters)
def test_laws(found, truth):
    found, truth = ([(sorted(r), sorted(d)) for r, d in some] for some in (found, truth))
    ours, back = scores(found, truth), scores(truth, found)
    assert all(0 <= value <= 1 for value in ours.to_dict().values())
    assert ours.ce <= ours.rnia + 1e-12
    for name in ("rnia", "ce", "e4sc"):  # symmetric
        assert getattr(ours, name) == pytest.approx(getattr(back, name))
    assert scores(truth[::-1], truth).e4sc == pytest.approx(1)


@pytest.mark.parametrize("wrong", [3, [3], [([], [0])], [([-1], [0])], [([0.5], [0])]])
def test_what_is_not_a_clustering(wrong):
    with pytest.raises(BadInput, match="found"):
        scores(wrong, TRUTH)
    with pytest.raises(BadInput, match="no clusters"):
        scores(TRUTH, [])


def test_planted_clusters():
    planted = planted_clusters(500, 8, 3, 4, width=0.2, noise=0.2, random_state=4)
    assert planted.X.shape == (500, 8) and (planted.labels == -1).sum() == 100
    assert planted.X.min() >= 0 and planted.X.max() <= 1
    for c, cluster in enumerate(planted.clusters):
        np.testing.assert_array_equal(cluster.rows, np.flatnonzero(planted.labels == c))
        spans = np.ptp(planted.X[cluster.rows], axis=0)
        assert (spans[cluster.dimensions] <= 0.2).all() and (np.delete(spans, cluster.dimensions) > 0.8).all()
    np.testing.assert_array_equal(planted.X, planted_clusters(500, 8, 3, 4, width=0.2, noise=0.2, random_state=4).X)
    assert scores(planted, planted).e4sc == 1
    with pytest.raises(BadParameter, match="n_dimensions=9 must be at most d=8"):
        planted_clusters(100, 8, 3, 9)
    with pytest.raises(BadParameter, match="width must be"):
        planted_clusters(width=0)


def test_the_data_set():
    table = datasets.load("subspaces", n=200, d=3, clusters=2)
    assert table.X.shape == (200, 3) and set(table.labels) == {-1, 0, 1}
