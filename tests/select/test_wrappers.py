"""Wrappers: mlxtend's sequential searches, scikit-learn's RFECV, planted features, early stop, and resuming."""

from __future__ import annotations

import json

import numpy as np
import pytest
from mlxtend.feature_selection import SequentialFeatureSelector
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale

import lowdim
from lowdim.errors import BadInput, BadParameter, Cancelled, NotEnoughData
from lowdim.select import RFE, Boruta, SequentialSelection
from lowdim.select._wrapper import SelectionTask, choose_size

X, Y = load_wine(return_X_y=True)
X = scale(X)[:, :6]


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("floating", [True, False])
def test_sequential_searches_are_those_of_mlxtend(forward, floating):
    model = GaussianNB()
    peer = SequentialFeatureSelector(model, k_features=(1, 6), forward=forward, floating=floating, cv=3).fit(X, Y)
    direction = "forward" if forward else "backward"
    ours = SequentialSelection("best", estimator=model, cv=3, direction=direction, floating=floating).fit(X, Y)
    assert list(ours.subsets_.sum(axis=1)) == sorted(peer.subsets_) == list(range(1, 7))
    for mask, scores in zip(ours.subsets_, ours.cv_scores_, strict=True):
        expected = peer.subsets_[int(mask.sum())]
        assert tuple(np.flatnonzero(mask)) == tuple(expected["feature_idx"])
        assert np.array_equal(scores, expected["cv_scores"])
    assert ours.cv_scores_.mean(axis=1).max() == pytest.approx(peer.k_score_)
    fixed = SequentialSelection(3, estimator=model, cv=3, direction=direction, floating=floating).fit(X, Y)
    peer = SequentialFeatureSelector(model, k_features=3, forward=forward, floating=floating, cv=3).fit(X, Y)
    assert tuple(np.flatnonzero(fixed.support_)) == peer.k_feature_idx_


def test_floating_is_no_worse_at_any_size():
    plain = SequentialSelection(estimator=GaussianNB(), cv=3).fit(X, Y).cv_scores_.mean(axis=1)
    floating = SequentialSelection(estimator=GaussianNB(), cv=3, floating=True).fit(X, Y).cv_scores_.mean(axis=1)
    assert (floating >= plain - 1e-12)[:3].all() and floating.max() >= plain.max() - 1e-12


@pytest.mark.parametrize("step", [1, 3, 0.3])
def test_elimination_is_that_of_scikit_learn(step):
    model = LogisticRegression(max_iter=500)
    peer = RFECV(model, cv=3, step=step).fit(X, Y)
    ours = RFE("best", estimator=model, cv=3, step=step).fit(X, Y)
    assert np.allclose(ours.cv_scores_.mean(axis=1), peer.cv_results_["mean_test_score"])
    assert np.array_equal(ours.ranking_, peer.ranking_)
    assert np.array_equal(ours.support_, peer.support_)


def test_elimination_of_a_measurement_and_by_importances():
    data, y = load_diabetes(return_X_y=True)
    peer = RFECV(Ridge(0.1), cv=KFold(3)).fit(data, y)
    ours = RFE(estimator=Ridge(0.1), cv=3).fit(data, y)
    assert np.array_equal(ours.ranking_, peer.ranking_)
    forest = ExtraTreesClassifier(8, random_state=0)
    assert np.array_equal(RFE(4, estimator=forest, cv=2).fit(X, Y).subsets_.sum(axis=1), np.arange(1, 7))
    with pytest.raises(BadParameter, match="GaussianNB has neither"):
        RFE(estimator=GaussianNB()).fit(X, Y)


def test_the_number_of_features():
    scores = np.array([[0.5, 0.7], [0.8, 0.9], [0.9, 0.9], [0.9, 0.9], [0.7, 0.7]])
    assert choose_size(scores, "best") == 2  # the smallest of the best
    scores[3] = [0.88, 0.96]
    assert choose_size(scores, "best") == 3
    assert choose_size(scores, "parsimonious") == 2  # within 0.04 of 0.92
    model = SequentialSelection("parsimonious", estimator=GaussianNB(), cv=3).fit(X, Y)
    best = SequentialSelection("best", estimator=GaussianNB(), cv=3).fit(X, Y)
    assert model.support_.sum() <= best.support_.sum()
    assert SequentialSelection(0.5, estimator=GaussianNB(), cv=3).fit(X, Y).support_.sum() == 3


def test_early_stop():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    noise = np.column_stack([y + 0.05 * rng.normal(size=80), rng.normal(size=(80, 9))])
    model = SequentialSelection(estimator=GaussianNB(), cv=4, patience=2).fit(noise, y)
    assert list(model.subsets_.sum(axis=1)) == [1, 2, 3]
    assert list(np.flatnonzero(model.support_)) == [0]
    assert len(SequentialSelection(3, estimator=GaussianNB(), cv=4, patience=1).fit(noise, y).subsets_) == 3


@pytest.mark.parametrize(
    "model",
    [
        SequentialSelection(estimator=GaussianNB(), cv=3, floating=True),
        RFE(estimator=LogisticRegression(max_iter=300), cv=3),
        Boruta(estimator=ExtraTreesClassifier(5), max_iter=6, tentative=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_stopped_search_resumes_to_the_same_result(model, tmp_path, monkeypatch):
    from lowdim.select import _boruta, _rfe

    path = tmp_path / "search.json"
    expected = model.set_params(checkpoint=None).fit(X, Y).support_
    model.set_params(checkpoint=path)
    part_done = lowdim.watch(lambda step: path.exists() and step.done >= 2 and len(path.read_text()) > 300)
    with part_done, pytest.raises(Cancelled):
        model.fit(X, Y)
    known = len(json.loads(path.read_text())["results"])
    assert known > 0
    calls = []
    for owner, name in ((SelectionTask, "scores"), (_rfe, "_fold_scores"), (_boruta, "_with_shadows")):
        true = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, true=true: calls.append(1) or true(*args))
    assert np.array_equal(model.fit(X, Y).support_, expected)
    total = len(json.loads(path.read_text())["results"])
    assert len(calls) == total - known < total
    calls.clear()
    assert np.array_equal(model.fit(X, Y).support_, expected)
    assert not calls
    with pytest.raises(BadInput, match="other data or other parameters"):
        model.fit(X + 1, Y)
    path.write_text(path.read_text().replace("0.", "1.", 1))
    with pytest.raises(BadInput, match="is damaged"):
        model.fit(X, Y)
    path.write_text("{}")
    with pytest.raises(BadInput, match="not a checkpoint of a selection"):
        model.fit(X, Y)


def test_boruta_finds_all_relevant_features_and_no_others():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=200)
    y = (hidden > 0).astype(int)
    copies = hidden[:, None] + 0.5 * rng.normal(size=(200, 3))  # redundant, but relevant
    data = np.column_stack([copies, rng.normal(size=(200, 15))])
    model = Boruta(estimator=ExtraTreesClassifier(20, max_depth=5), max_iter=25).fit(data, y)
    assert list(model.decision_[:3]) == [1] * 3
    assert (model.decision_[3:] < 1).all() and (model.decision_ == -1).sum() >= 8
    assert len(model.shadow_importances_) == model.n_iter_
    assert (model.importances_[:3] > model.shadow_importances_.mean()).all()
    again = Boruta(estimator=ExtraTreesRegressor(15, max_depth=5), max_iter=12).fit(data, hidden)
    assert list(np.flatnonzero(again.support_)) == [0, 1, 2]
    seeded = [Boruta(estimator=ExtraTreesRegressor(3), max_iter=1, tentative=True, random_state=i) for i in (0, 5)]
    assert not np.array_equal(*(model.fit(data, hidden).importances_ for model in seeded))


def test_borutas_test_is_a_two_sided_binomial_one():
    """Eleven hits of eleven: 1/2048 < 0.01 / 13 confirms; ten would not (1/1024); none of eleven rejects."""
    model = Boruta()
    for rounds, decided in ((10, False), (11, True)):
        model.decision_, model.hits_ = np.zeros(13, dtype=np.int64), np.repeat([rounds, 0, rounds // 2], [1, 1, 11])
        model._decide(rounds)
        assert list(model.decision_[:3]) == ([1, -1, 0] if decided else [0, 0, 0])


def test_the_default_estimators():
    assert SequentialSelection(2, cv=2).fit(X[:, :4], np.array(["a", "b", "c"])[Y]).support_.sum() == 2
    data, y = load_diabetes(return_X_y=True)
    model = RFE(4, cv=2).fit(data, y)
    assert model.support_.sum() == 4 and model.support_[2]  # the body mass index


def test_errors_say_what_to_do():
    with pytest.raises(NotEnoughData, match="smallest class has 2 rows"):
        SequentialSelection().fit(X[:20], [0] * 18 + [1] * 2)
    with pytest.raises(BadInput, match="the estimator LogisticRegression refuses the data"):
        SequentialSelection(estimator=LogisticRegression(C=-1), cv=2).fit(X, Y)
    with pytest.raises(BadParameter, match="estimator must be None or a scikit-learn estimator"):
        SequentialSelection(estimator="svm").fit(X, Y)
