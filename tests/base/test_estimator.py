"""What every estimator does: one fit at a time, and the tag that says that X holds distances."""

from __future__ import annotations

import copy
import pickle
import sys
import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

import lowdim
from lowdim.errors import AlreadyFitting, BadInput, BadParameter, Cancelled
from lowdim.runtime.param import parameters

X = np.random.default_rng(0).normal(size=(40, 3))
D = cdist(X, X)
QUICK = {"max_iter": 5, "n_epochs": 5}


def quick(cls, **options):
    return cls(
        **options, **{name: value for name, value in QUICK.items() if name in parameters(cls) and cls is not lowdim.MDS}
    )


# ---- distances in cross-validation ----

PAIRWISE = [
    (method.cls, name, matrix)
    for method in lowdim.methods()
    for name, matrix in (("metric", D), ("affinity", np.exp(-D)), ("kernel", np.exp(-(D**2))))
    if name in parameters(method.cls)
]


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize(
    ("cls", "name", "matrix"), PAIRWISE, ids=lambda value: getattr(value, "__name__", str(value)[:9])
)
def test_distances_are_split_by_rows_and_columns(cls, name, matrix):
    model = quick(cls, **{name: "precomputed"})
    assert get_tags(model).input_tags.pairwise
    assert not get_tags(quick(cls)).input_tags.pairwise

    def score(fitted, given, y=None):
        Z = fitted.transform(given)
        assert Z.shape == (len(given), fitted.embedding_.shape[1] if hasattr(fitted, "embedding_") else Z.shape[1])
        return float(np.abs(Z).mean())

    scores = cross_val_score(model, matrix, scoring=score, cv=4, error_score="raise")
    assert np.isfinite(scores).all()


def test_every_method_that_takes_distances_is_tried():
    assert {cls.__name__ for cls, name, _ in PAIRWISE if name == "metric"} == {
        method.name for method in lowdim.methods() if "metric" in parameters(method.cls)
    }
    assert len(PAIRWISE) >= 10


def test_distances_are_not_standardized():
    model = lowdim.Standardized(lowdim.Isomap(metric="precomputed"))
    assert get_tags(model).input_tags.pairwise
    with pytest.raises(BadParameter, match="Standardized: Isomap takes distances"):
        model.fit(D)
    assert not get_tags(lowdim.Standardized(lowdim.Isomap())).input_tags.pairwise


# ---- one fit at a time ----


def test_one_object_is_fitted_once_at_a_time():
    model, inside, errors = lowdim.UMAP(n_epochs=20), threading.Event(), []
    done = threading.Event()

    def wait(step):
        inside.set()
        done.wait(20)

    def first():
        with lowdim.watch(wait):
            model.fit(X)

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(20)
    try:
        for attempt in (lambda: model.fit(X), lambda: model.fit_transform(X)):
            with pytest.raises(AlreadyFitting, match=r"this UMAP is being fitted already.*clone\(model\)"):
                attempt()
        unfitted = clone(model).fit(X)  # a clone is another object
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            twin.fit(X)  # and so is a copy, made at any time
    finally:
        done.set()
        thread.join(20)
    assert not errors
    np.testing.assert_array_equal(model.embedding_, unfitted.embedding_)
    np.testing.assert_array_equal(model.fit(X).embedding_, unfitted.embedding_)


def test_a_fit_within_the_callback_of_the_same_object_is_refused():
    model = lowdim.MDS(2)

    def again(step):
        model.fit(X)

    with pytest.raises(AlreadyFitting), lowdim.watch(again):
        model.fit(X)
    assert not hasattr(model, "embedding_")
    model.fit(X)


PARTIAL = [method.cls for method in lowdim.methods() if hasattr(method.cls, "partial_fit")]
LABELS = np.arange(len(X)) % 3


def fitted_parts(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_") or name in ("_state", "_cache")}


@pytest.mark.parametrize("cls", PARTIAL)
def test_a_partial_fit_is_alone(cls):
    model = cls().partial_fit(X[:20], LABELS[:20])
    before, steps = fitted_parts(model), []

    def again(step):
        steps.append(step)
        model.partial_fit(X, LABELS)

    with pytest.raises(AlreadyFitting), lowdim.watch(again):
        model.partial_fit(X[20:], LABELS[20:])
    assert len(steps) == 1 and fitted_parts(model) == before
    with pytest.raises(AlreadyFitting), lowdim.watch(lambda step: model.fit(X, LABELS)):
        model.partial_fit(X[20:], LABELS[20:])
    assert fitted_parts(model) == before


@pytest.mark.parametrize("cls", PARTIAL)
def test_what_a_partial_fit_had_learned_outlives_an_error(cls, monkeypatch):
    """An error or Ctrl-C at any time leaves the model as it was, and the next call goes on from there."""
    first, rest = (X[:20], LABELS[:20]), (X[20:], LABELS[20:])
    whole = cls().partial_fit(*first).partial_fit(*rest)
    model = cls().partial_fit(*first)
    before = fitted_parts(model)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), lowdim.watch(interrupt):
        model.partial_fit(*rest)
    with pytest.raises(BadInput):
        model.partial_fit(np.full_like(rest[0], np.nan), rest[1])
    with pytest.raises(BadInput):
        model.partial_fit(rest[0][:, :1], rest[1])
    assert all(value is before[name] for name, value in fitted_parts(model).items())
    module = sys.modules[cls.__module__]  # at the very end, when the attributes have been set
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, f"{cls.__name__}State", interrupt)
        model.partial_fit(*rest)
    assert fitted_parts(model) == before and all(value is before[name] for name, value in fitted_parts(model).items())
    np.testing.assert_array_equal(model.partial_fit(*rest).transform(X), whole.transform(X))
    with pytest.raises(BadParameter):
        model.set_params(n_components=-1).partial_fit(*rest)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "model",
    [lowdim.MDS(n_init=3), lowdim.NonmetricMDS(n_init=3), lowdim.MDS(solver="sgd"), lowdim.TSNE(), lowdim.UMAP()],
)
def test_a_callback_may_raise_stop_iteration(model, n_jobs):
    model = clone(model).set_params(n_jobs=n_jobs)

    def stop(step):
        raise StopIteration

    with pytest.raises(Cancelled, match="was stopped by its callback"), lowdim.watch(stop):
        model.fit(X)
    assert not hasattr(model, "embedding_")


def test_an_error_of_a_callback_is_the_callers():
    def fail(step):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"), lowdim.watch(fail):
        lowdim.NonmetricMDS().fit(X)
