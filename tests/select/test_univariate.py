"""Filters from moments: scikit-learn's numbers, and the laws of a one-pass summary."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import chi2, f_classif, f_regression

from lowdim import moments
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.select import ChiSquared, CorrelationPruning, FisherScore, FTest, VarianceThreshold

CANCER = load_breast_cancer(return_X_y=True)


def close(found, expected, tolerance=1e-10):
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_f_test_of_classes_is_that_of_scikit_learn():
    X, y = CANCER
    model = FTest().fit(X, y)
    F, p = f_classif(X, y)
    close(model.scores_, F)
    close(model.pvalues_, p)
    assert list(np.argsort(model.ranking_)) == list(np.argsort(-F, kind="stable"))
    assert model.support_.sum() == 15


def test_f_test_of_a_measurement_is_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    model = FTest().fit(X, y)  # whole numbers, but far too many distinct ones to be classes
    F, p = f_regression(X, y)
    close(model.scores_, F)
    close(model.pvalues_, p)


def test_chi_squared_is_that_of_scikit_learn():
    X, y = CANCER
    model = ChiSquared().fit(X, y)
    statistic, p = chi2(X, y)
    close(model.scores_, statistic)
    close(model.pvalues_, p)
    with pytest.raises(BadInput, match=r"Negative values.*column 2 has the value -1"):
        ChiSquared().fit(np.where(np.arange(30) == 2, -1, X), y)


def test_a_large_offset_costs_no_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = rng.integers(0, 3, 500)
    close(FTest().fit(X + 1e8, y).scores_, FTest().fit(X, y).scores_, 1e-6)
    close(FTest().fit(X + 1e8, X[:, 0] + y + 1e8).scores_, FTest().fit(X, X[:, 0] + y).scores_, 1e-6)


def test_fisher_score_from_moments_and_its_relation_to_f():
    X, y = CANCER
    m = moments(X, y)
    scores = FisherScore().fit(X, y).scores_
    close(scores, np.diagonal(m.between) / np.diagonal(m.within))
    n, C = len(X), 2
    close(scores * (n - C) / (C - 1), f_classif(X, y)[0])
    with pytest.raises(BadInput, match="FisherScore needs classes"):
        FisherScore().fit(X, X[:, 0])


def test_variances():
    X, _ = CANCER
    close(VarianceThreshold().fit(X).scores_, X.var(axis=0))
    held = np.column_stack([X[:, :2], np.full(len(X), 0.1)])
    assert list(VarianceThreshold().fit(held).support_) == [True, True, False]
    assert list(VarianceThreshold(k=1).fit(held).support_) == [False, True, False]
    with pytest.raises(NotEnoughData, match="no feature in X has a variance above threshold=1e"):
        VarianceThreshold(threshold=1e9).fit(X)


@pytest.mark.parametrize("filter", [FTest, FisherScore, ChiSquared])
def test_streams_weights_and_sparse_rows_equal_the_whole(filter):
    rng = np.random.default_rng(1)
    X = rng.poisson(1.0, size=(40_000, 30)).astype(float)  # several chunks
    y = rng.integers(0, 3, len(X))
    X[:, 0] += y
    whole = filter().fit(X, y)
    pieces = ((X[i : i + 7000], np.array(["a", "b", "c"])[y[i : i + 7000]]) for i in range(0, len(X), 7000))
    assert np.array_equal(filter().fit(pieces).scores_, whole.scores_)
    close(filter().fit(sp.csr_array(X), y).scores_, whole.scores_)
    counts = rng.integers(0, 3, 500)
    weighted = filter().fit(X[:500], y[:500], sample_weight=counts).scores_
    close(weighted, filter().fit(np.repeat(X[:500], counts, axis=0), np.repeat(y[:500], counts)).scores_)


def test_a_stream_whose_chunks_have_different_classes():
    X, y = CANCER
    order = np.argsort(y, kind="stable")  # one class, then the other
    pieces = ((X[order[i : i + 100]], y[order[i : i + 100]]) for i in range(0, len(X), 100))
    close(FTest().fit(pieces).scores_, f_classif(X, y)[0])
    with pytest.raises(BadParameter, match="needs y at once"):
        FTest(task="regression").fit(iter([(X, y)]))


def test_perfect_and_constant_features():
    y = np.repeat([0, 1], 10)
    X = np.column_stack([y, np.full(20, 0.1), np.random.default_rng(0).normal(size=20)])
    model = FTest().fit(X, y)
    assert model.scores_[0] == np.inf and model.pvalues_[0] == 0
    assert model.scores_[1] == 0 and model.pvalues_[1] == 1
    assert list(model.ranking_) == [1, 3, 2]
    assert FTest().fit(X, y + 0.5 * X[:, 2] * 0).scores_[0] == np.inf


def test_number_share_and_threshold():
    X, y = CANCER
    assert FTest(3).fit(X, y).support_.sum() == 3
    assert FTest(0.1).fit(X, y).support_.sum() == 3
    assert FTest(None).fit(X, y).support_.all()
    least = np.sort(f_classif(X, y)[0])[-7]
    assert FTest(None, threshold=least * (1 - 1e-9)).fit(X, y).support_.sum() == 7
    assert FTest(4, threshold=least).fit(X, y).support_.sum() == 4
    with pytest.raises(NotEnoughData, match="k must be at most 30"):
        FTest(31).fit(X, y)
    with pytest.raises(NotEnoughData, match="no feature reaches threshold=1e"):
        FTest(threshold=1e9).fit(X, y)
    for bad in (0, 1.0, -1, "all", 1.5):
        with pytest.raises(BadParameter, match="k must be"):
            FTest(bad).fit(X, y)


@example(5, 0.25, "order", 0)  # a feature that was dropped is nearer to one that comes later
@given(st.integers(2, 9), st.floats(0, 1), st.sampled_from(["order", "variance", "target"]), st.integers(0, 99))
def test_correlation_pruning_keeps_no_correlated_pair_and_drops_nothing_else(d, threshold, priority, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, d)) @ rng.normal(size=(d, d))
    y = rng.integers(0, 2, 40)
    model = CorrelationPruning(threshold, priority=priority).fit(X, y)
    r = np.abs(np.corrcoef(X.T))
    kept = np.flatnonzero(model.support_)
    assert (r[np.ix_(kept, kept)][~np.eye(len(kept), dtype=bool)] <= threshold + 1e-12).all()
    for j in np.flatnonzero(~model.support_):
        better = kept[model.ranking_[kept] < model.ranking_[j]]
        assert r[j, better].max() > threshold - 1e-12
        assert model.representative_[j] == better[np.argmax(r[j, better])]
    first = {"order": 0, "variance": X.var(axis=0).argmax(), "target": f_classif(X, y)[0].argmax()}[priority]
    assert model.ranking_[first] == 1 and model.support_[first]
