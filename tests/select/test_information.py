"""Mutual information and mRMR: scikit-learn, mrmr_selection, known values and laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mrmr import mrmr_classif, mrmr_regression
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import f_classif, mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from lowdim.select import MRMR, MutualInformation
from lowdim.select._mi_estimators import MutualInformationEstimate, column_of, plug_in, quantile_codes


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=n)
    return X, y, np.digitize(y, [0, 1.5])


def information(x, y, k):
    """The k-NN estimate between a measurement, and a measurement or classes."""
    estimate = MutualInformationEstimate("knn", k, 2)
    return estimate(column_of(x, False, estimate, 0), column_of(y, y.dtype.kind == "i", estimate, 1))


@pytest.mark.parametrize("n_neighbors", [1, 3, 8])
def test_k_nearest_neighbors_as_scikit_learn_without_ties(n_neighbors):
    X, y, classes = data()
    model = MutualInformation(n_neighbors=n_neighbors)
    assert np.allclose(
        model.fit(X, classes).scores_, mutual_info_classif(X, classes, n_neighbors=n_neighbors), atol=1e-10
    )
    assert np.allclose(model.fit(X, y).scores_, mutual_info_regression(X, y, n_neighbors=n_neighbors), atol=1e-10)


def test_discrete_features_as_scikit_learn():
    X, y, classes = data()
    X = np.column_stack([X, np.clip(np.round(X[:, :2]), -2, 2)])
    mask = np.array([False] * 5 + [True] * 2)
    model = MutualInformation(discrete_threshold=10)
    assert np.allclose(
        model.fit(X, classes).scores_, mutual_info_classif(X, classes, discrete_features=mask), atol=1e-10
    )
    found = model.fit(X, y).scores_
    assert np.allclose(found, mutual_info_regression(X, y, discrete_features=mask), atol=1e-10)


def test_ties_are_deterministic_and_harmless():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 2))
    x = np.round(np.column_stack([noise[:, 0], 0.5 * noise[:, 0] + noise[:, 1], noise[:, 1], np.zeros(400)]), 1)
    y = np.round(noise[:, 0], 1)
    scores = MutualInformation(discrete_threshold=0, task="regression").fit(x, y).scores_
    assert scores[0] > 2 and scores[1] == pytest.approx(-0.5 * np.log(0.8), abs=0.06) and scores[2] < 0.1
    assert scores[3] < 1e-12
    labels = (y > 0).astype(int)
    found = [MutualInformation(discrete_threshold=0, n_jobs=jobs).fit(x, labels).scores_ for jobs in (1, 3)]
    assert np.array_equal(*found)
    assert found[0][2] < 0.05 and found[0][0] > 0.6
    assert information(np.zeros(50), noise[:50, 0], 3) < 1e-12
    assert information(np.zeros(50), labels[:50], 3) == 0


def test_known_values():
    """A bivariate normal has -log(1 - r²) / 2; halves of a line that classes tell apart have log 2."""
    rng = np.random.default_rng(0)
    for r in (0.0, 0.6, 0.9):
        x, e = rng.normal(size=(2, 3000))
        assert information(x, r * x + np.sqrt(1 - r**2) * e, 4) == pytest.approx(-0.5 * np.log(1 - r**2), abs=0.05)
    y = np.repeat([0, 1], 1500)
    assert information(y + rng.uniform(size=3000), y, 4) == pytest.approx(np.log(2), abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=40))
def test_the_plug_in_estimate(pairs):
    a, b = np.array(pairs).T
    assert plug_in(a, b) == pytest.approx(mutual_info_score(a, b), abs=1e-12)


def test_histograms_do_not_change_with_monotone_scales():
    X, y, classes = data()
    model = MutualInformation(estimator="histogram", bins=6)
    scores = model.fit(X, classes).scores_
    assert np.allclose(model.fit(np.exp(X), classes).scores_, scores, atol=1e-12)
    assert scores[0] > 5 * scores[3] and scores[1] > 5 * scores[3]
    codes = quantile_codes(X[:, 0], 6)
    assert list(np.bincount(codes)) == [50] * 6
    assert scores[0] == pytest.approx(mutual_info_score(codes, classes), abs=1e-12)
    assert (model.fit(X, y).scores_[:2] > 0.1).all()


def test_mrmr_is_that_of_mrmr_selection():
    X, y = load_breast_cancer(return_X_y=True)
    expected = mrmr_classif(pd.DataFrame(X), pd.Series(y), 12, show_progress=False, n_jobs=1)
    model = MRMR(12).fit(X, y)
    assert list(np.argsort(model.ranking_)[:12]) == [int(j) for j in expected]
    X, y = load_diabetes(return_X_y=True)
    expected = mrmr_regression(pd.DataFrame(X), pd.Series(y), 6, show_progress=False, n_jobs=1)
    assert list(np.argsort(MRMR(6).fit(X, y).ranking_)[:6]) == [int(j) for j in expected]


@pytest.mark.parametrize("scheme", ["quotient", "difference"])
@pytest.mark.parametrize("measure", ["f", "mutual_information"])
def test_mrmr_by_its_definition(scheme, measure):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6)) @ rng.normal(size=(6, 6))
    y = (X[:, 0] + X[:, 3] > 0).astype(int)
    model = MRMR(5, scheme=scheme, measure=measure, bins=5).fit(X, y)
    if measure == "f":
        relevance, redundancy = f_classif(X, y)[0], np.abs(np.corrcoef(X.T))
    else:
        codes = [quantile_codes(x, 5) for x in X.T]
        relevance = np.array([mutual_info_score(a, y) for a in codes])
        redundancy = np.array([[mutual_info_score(a, b) for a in codes] for b in codes])
    order = [int(np.argmax(relevance))]
    while len(order) < 5:
        rest = [j for j in range(6) if j not in order]
        mean = np.maximum(redundancy, 1e-3 if scheme == "quotient" else 0)[np.ix_(rest, order)].mean(axis=1)
        scores = relevance[rest] / mean if scheme == "quotient" else relevance[rest] - mean
        order.append(rest[int(np.argmax(scores))])
        assert model.scores_[order[-1]] == pytest.approx(scores.max(), rel=1e-9)
    assert list(np.argsort(model.ranking_)[:5]) == order
    assert np.allclose(model.relevance_, relevance)


def test_mrmr_takes_no_copy_of_what_it_has():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(300, 2))
    y = (base.sum(axis=1) > 0).astype(int)
    X = np.column_stack([base[:, 0], base[:, 0] + 1e-3 * rng.normal(size=300), base[:, 1] + 0.3 * rng.normal(size=300)])
    assert list(MRMR(2, scheme="quotient").fit(X, y).support_)[2]
