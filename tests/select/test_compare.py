"""Side by side: optimism on noise, agreement, and the stability index with its interval."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from determinism import assert_same_bits
from lowdim.errors import BadInput, BadParameter
from lowdim.select import MRMR, FTest, compare, stability


def test_the_stability_of_equal_sizes_is_kunchevas_index():
    rng = np.random.default_rng(0)
    M, d, k = 12, 20, 6
    Z = np.array([rng.permutation(d) < k for _ in range(M)])
    Z[:6, :4] = True
    Z = np.array([np.isin(np.arange(d), np.flatnonzero(row)[:k]) for row in Z])
    pairs = [(a & b).sum() for i, a in enumerate(Z) for b in Z[:i]]
    assert stability(Z).value == pytest.approx(np.mean([(r - k * k / d) / (k - k * k / d) for r in pairs]), abs=1e-12)


def test_stability_of_the_same_and_of_random_choices():
    same = np.tile([1, 1, 0, 0, 0], (10, 1))
    assert stability(same).value == pytest.approx(1.0) and stability(same).low == pytest.approx(1.0)
    assert stability(np.ones((4, 3), dtype=bool)).value == 1.0
    once = stability([[1, 1, 0, 0, 0]] * 4 + [[1, 0, 1, 0, 0]])
    assert once.low < once.value < once.high == 1.0
    rng = np.random.default_rng(0)
    assert abs(stability(rng.random((400, 50)) < 0.3).value) < 0.01


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    p = np.array([0.9, 0.9, 0.8, 0.3, 0.2, 0.1, 0.1, 0.5])
    truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    found = [stability(rng.random((80, 8)) < p) for _ in range(300)]
    covered = np.mean([s.low <= truth <= s.high for s in found])
    assert 0.9 < covered < 0.99
    assert np.mean([s.value for s in found]) == pytest.approx(truth, abs=0.01)
    narrow = stability(rng.random((80, 8)) < p, confidence=0.5)
    assert narrow.high - narrow.low < found[0].high - found[0].low


@pytest.mark.parametrize("bad", [[[1, 0]], [[1, 2], [0, 1]], "text", np.zeros(4), None])
def test_stability_refuses_what_is_no_selection(bad):
    with pytest.raises(BadInput, match="selections must be at least 2 rows"):
        stability(bad)
    with pytest.raises(BadParameter, match="confidence must be"):
        stability([[1, 0], [0, 1]], confidence=1)


def test_selecting_before_cross_validating_finds_signal_in_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1000)), rng.integers(0, 2, 50)
    found = compare(X, y, filters=["f"], n_resamples=4, k=20, estimator=GaussianNB())
    (result,) = found.results
    assert result.outside.mean() > 0.85 and result.nested.mean() < 0.7
    assert result.optimism == pytest.approx(result.outside.mean() - result.nested.mean())
    assert result.stability.value < 0.2
    honest = cross_val_score(make_pipeline(FTest(20), GaussianNB()), X, y, cv=5)
    assert np.allclose(result.nested, honest)


def test_every_filter_side_by_side():
    data = load_wine(as_frame=True)
    options = {"n_resamples": 3, "cv": 3, "estimator": GaussianNB()}
    found = compare(data.data, data.target, **options)
    names = [result.name for result in found.results]
    assert names == ["variance", "f", "fisher", "chi2", "mutual_information", "mrmr", "hsic_lasso",
                     "relieff", "surf", "multisurf",
                     "laplacian"]  # fmt: skip
    assert found.k == 6 and all(result.support.sum() == 6 for result in found.results)
    f, mi = found.results[1], found.results[4]
    assert np.array_equal(f.ranking, FTest().fit(data.data, data.target).ranking_)
    assert found.agreement[1, 4] == pytest.approx(kendalltau(f.ranking, mi.ranking).statistic)
    assert found.overlap[1, 4] == (f.support & mi.support).sum() / (f.support | mi.support).sum()
    assert np.array_equal(found.agreement, found.agreement.T) and found.agreement[1, 2] > 0.999  # Fisher and F
    text = str(found)
    assert "proline" in text and "optimism" in text and "Kendall" in text and "all features" in text
    table = found.to_pandas()
    assert isinstance(table, pd.DataFrame) and table.index[0] == "proline" and list(table.columns) == [*names, "mean"]
    assert json.loads(json.dumps(found.to_dict()))["filters"][1]["selected"]
    assert np.allclose(found.baseline, cross_val_score(GaussianNB(), data.data, data.target, cv=3))


def test_regression_own_filters_and_threads():
    X, y = load_diabetes(return_X_y=True)
    found = compare(X[:150], y[:150], n_resamples=2, cv=2, k=3)
    assert [r.name for r in found.results] == ["variance", "f", "mutual_information", "mrmr",
                                               "hsic_lasso", "relieff", "surf",
                                               "multisurf", "laplacian"]  # fmt: skip
    assert not found.classification and "a measurement" in str(found)
    own = compare(X[:150], y[:150], filters={"ours": MRMR(2)}, n_resamples=2, cv=2)
    assert own.results[0].name == "ours" and own.results[0].support.sum() == 2

    def run(jobs):
        results = compare(X[:150], y[:150], n_resamples=3, cv=2, filters=["relieff", "f"], n_jobs=jobs).results
        return [part for r in results for part in (r.ranking, r.outside, r.nested, r.stability.value)]

    assert_same_bits(run, (1, 3))


def test_bad_arguments():
    X, y = load_wine(return_X_y=True)
    for options, message in (
        ({"filters": ["magic"]}, "filters must be a list of variance"),
        ({"filters": "f"}, "filters must be a list"),
        ({"filters": []}, "filters must be a list"),
        ({"filters": {"a": 3}}, "must map names to filters"),
        ({"n_resamples": 1}, "n_resamples must be"),
        ({"k": 20}, "k must be at most 13"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(X, y, **options)
    with pytest.raises(BadInput, match="compare requires y"):
        compare(X)
