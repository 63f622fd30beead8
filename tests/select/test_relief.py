"""ReliefF, SURF, MultiSURF and RReliefF: skrebate, brute force by the definitions, and interactions."""

from __future__ import annotations

import numpy as np
import pytest
import skrebate

from lowdim.select import SURF, FTest, MultiSURF, ReliefF
from lowdim.select._relief import differences


def numbers(n=120, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def pair_differences(X, discrete):
    """|a - b| as a share of the range, or whether both differ, (n, n, d)."""
    parts = [
        (x[:, None] != x) * 1.0 if is_discrete else np.abs(x[:, None] - x) / np.ptp(x)
        for x, is_discrete in zip(X.T, discrete, strict=True)
    ]
    return np.stack(parts, axis=2)


def by_definition(D, codes, neighborhoods):
    """Kononenko's weights: hits count -1 in all, the misses of class c P(c) / (1 - P(own))."""
    n, priors = len(codes), np.bincount(codes) / len(codes)
    scores = np.zeros(D.shape[2])
    for i, found in enumerate(neighborhoods):
        for label in range(len(priors)):
            members = [j for j in found if codes[j] == label]
            if members:
                mean = D[i, members].mean(axis=0)
                scores += -mean if label == codes[i] else priors[label] / (1 - priors[codes[i]]) * mean
    return scores / n


def nearest(distances, codes, k):
    for i, row in enumerate(distances):
        order = [j for j in np.argsort(row, kind="stable") if j != i]
        yield [j for label in np.unique(codes) for j in [j for j in order if codes[j] == label][:k]]


def test_relieff_is_that_of_skrebate():
    X, y = numbers()
    expected = skrebate.ReliefF(n_neighbors=8).fit(X.copy(), y).feature_importances_
    assert np.allclose(ReliefF(n_neighbors=8).fit(X, y).scores_, expected, atol=1e-12)
    balanced = np.repeat([0, 1, 2], 40)
    expected = skrebate.ReliefF(n_neighbors=8).fit(X.copy(), balanced).feature_importances_
    assert np.allclose(ReliefF(n_neighbors=8).fit(X, balanced).scores_, expected, atol=1e-12)


def test_multisurf_is_that_of_skrebate_and_surf_close_to_it():
    X, y = numbers()
    expected = skrebate.MultiSURF().fit(X.copy(), y).feature_importances_
    assert np.allclose(MultiSURF().fit(X, y).scores_, expected, atol=1e-12)
    # skrebate's mean distance counts the zeros between a row and itself.
    expected = skrebate.SURF().fit(X.copy(), y).feature_importances_
    assert np.allclose(SURF().fit(X, y).scores_, expected, atol=5e-3)


@pytest.mark.parametrize("kind", ["relieff", "surf", "multisurf"])
def test_unequal_classes_and_discrete_features_by_definition(kind):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(60, 3)), rng.integers(0, 4, (60, 2))])
    codes = np.repeat([0, 1, 2], [30, 20, 10])
    D = pair_differences(X, [False, False, False, True, True])
    distances = D.sum(axis=2)
    off = ~np.eye(60, dtype=bool)
    if kind == "relieff":
        model, found = ReliefF(n_neighbors=4), list(nearest(distances, codes, 4))
    elif kind == "surf":
        model = SURF()
        found = [np.flatnonzero((row < distances[off].mean()) & o) for row, o in zip(distances, off, strict=True)]
    else:
        model = MultiSURF()
        found = [
            np.flatnonzero((row < row[o].mean() - row[o].std() / 2) & o) for row, o in zip(distances, off, strict=True)
        ]
    assert np.allclose(model.fit(X, codes).scores_, by_definition(D, codes, found), atol=1e-12)


def test_rrelieff_by_definition():
    X, _ = numbers(80, 4)
    y = X[:, 0] + 0.1 * X[:, 1]
    D = pair_differences(X, [False] * 4)
    gap = np.abs(y[:, None] - y) / np.ptp(y)
    n_c, n_a, n_ca = 0.0, np.zeros(4), np.zeros(4)
    for i in range(80):
        found = [j for j in np.argsort(D[i].sum(axis=1), kind="stable") if j != i][:6]
        weights = np.exp(-((np.arange(1, 7) / 5.0) ** 2))
        for j, w in zip(found, weights / weights.sum(), strict=True):
            n_c, n_a, n_ca = n_c + gap[i, j] * w, n_a + D[i, j] * w, n_ca + gap[i, j] * D[i, j] * w
    expected = n_ca / n_c - (n_a - n_ca) / (80 - n_c)
    model = ReliefF(n_neighbors=6, sigma=5.0).fit(X, y)
    assert np.allclose(model.scores_, expected, atol=1e-12)
    assert model.ranking_[0] == 1
    assert SURF().fit(X, y).ranking_[0] == 1 and MultiSURF().fit(X, y).ranking_[0] == 1


@pytest.mark.parametrize("model", [ReliefF(), SURF(), MultiSURF()], ids=lambda model: type(model).__name__)
def test_an_interaction_that_no_univariate_filter_sees(model):
    X, y = numbers(600, 6)
    assert set(np.argsort(model.fit(X, y).ranking_)[:2]) == {0, 1}
    assert FTest().fit(X, y).pvalues_[:2].min() > 1e-3


def test_units_do_not_matter():
    X, y = numbers()
    scaled = X * [1, 10, 1e6, 1, 1e-3, 1, 1] + 7
    assert np.allclose(ReliefF().fit(scaled, y).scores_, ReliefF().fit(X, y).scores_, atol=1e-9)


def test_the_mean_distance_by_sorting():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(50, 2)), rng.integers(0, 3, 50)])
    table = differences(X, np.array([False, False, True]))
    distances = pair_differences(X, [False, False, True]).sum(axis=2)
    assert table.mean_distance() == pytest.approx(distances[~np.eye(50, dtype=bool)].mean(), rel=1e-12)
    assert np.allclose(np.abs(table.space[:, None] - table.space).sum(axis=2), distances)


def test_a_class_of_one_row():
    X, _ = numbers(30, 3)
    y = np.array([0] * 15 + [1] * 14 + [2])
    assert np.isfinite(ReliefF().fit(X, y).scores_).all()
