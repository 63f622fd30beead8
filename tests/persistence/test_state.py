"""The private state of an estimator in a model file: what is saved, what is required, and what is refused.

A small estimator stands for all of them, so that these tests know nothing about any method.
"""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

from lowdim import PCA
from lowdim.base.estimator import Estimator, estimator
from lowdim.errors import ModelFileError
from lowdim.persistence import allowlist, load, save
from lowdim.persistence.codec import encode
from lowdim.persistence.container import write_container
from lowdim.persistence.manifest import describe, to_text
from lowdim.runtime.param import Integer, param


@dataclasses.dataclass(frozen=True)
class Bounds:
    low: np.ndarray
    high: np.ndarray
    unit: float = 1.0
    cache: object = dataclasses.field(default=None, compare=False)

    def _validate(self):
        if self.low.shape != self.high.shape or not (self.low <= self.high).all():
            raise ValueError("low must not exceed high")


@dataclasses.dataclass(frozen=True)
class ClipState:
    bounds: Bounds
    order: np.ndarray


@dataclasses.dataclass(frozen=True)
class OtherState:
    order: np.ndarray


@estimator(title="clipping", summary="moments")
class Clip(Estimator):
    """Clips new rows to the range of the fitted ones.

    {parameters}

    Attributes
    ----------
    center_, range_ : arrays (d,)
        Middle and width of each column.
    n_iter_
        Passes over the rows.
    odd_ : object
        Anything.

    Notes
    -----
    hidden_ : is not an attribute.

    """

    digits: int = param(3, Integer(0), "Digits.")

    _state_classes = (ClipState, Bounds)

    def fit(self, X, y=None):
        with self._fitting():
            X = np.asarray(X, dtype=float)
            self.n_features_in_ = X.shape[1]
            bounds = Bounds(X.min(axis=0), X.max(axis=0), cache=print)
            self._state = ClipState(bounds, np.arange(X.shape[1]))
            self.center_, self.range_ = (bounds.low + bounds.high) / 2, bounds.high - bounds.low
            self.n_iter_ = 1
            self._cache = print
        return self

    def transform(self, X):
        return np.clip(X, self._state.bounds.low, self._state.bounds.high)

    def _check_state(self, check):
        check.floats("center_", "d")
        check.floats("range_", "d", low=0)
        check.instance("state.bounds", Bounds)
        check.indices("state.order", "d", below="d")
        check.require(len(self._state.bounds.low) == check.sizes["d"], "state.bounds must have d columns")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    known = allowlist.methods()
    monkeypatch.setattr(allowlist, "methods", lambda: [*known, Clip._method])


@pytest.fixture
def model(rng):
    return Clip(digits=5).fit(rng.normal(size=(20, 3)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.lowdim"


def rewrite(path, model, change):
    """A file with a correct checksum whose manifest and tensors have been changed."""
    manifest, tensors = describe(model)
    change(manifest, tensors)
    write_container(str(path), to_text(manifest, tensors), tensors)
    return path


def test_the_state_comes_back_and_the_cache_does_not(model, path, rng):
    save(model, path)
    loaded = load(path)
    assert type(loaded._state) is ClipState and type(loaded._state.bounds) is Bounds
    assert loaded._state.bounds.cache is None and not hasattr(loaded, "_cache")
    assert loaded.digits == 5 and loaded.n_iter_ == 1
    X = 3 * rng.normal(size=(9, 3))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_the_manifest_of_a_state(model):
    manifest, tensors = describe(model)
    assert manifest["state"] == {
        "state": "ClipState",
        "fields": {
            "bounds": {
                "state": "Bounds",
                "fields": {
                    "low": {"array": "float64", "shape": [3]},
                    "high": {"array": "float64", "shape": [3]},
                    "unit": 1.0,
                },
            },
            "order": {"array": "int64", "shape": [3]},
        },
    }
    assert tensors.keys() == {"center_", "range_", "state.bounds.low", "state.bounds.high", "state.order"}
    assert describe(Clip())[0]["state"] is None


def drop_tensors(tensors, prefix):
    for name in [name for name in tensors if name.startswith(prefix)]:
        del tensors[name]


def without_state(manifest, tensors):
    manifest["state"] = None
    drop_tensors(tensors, "state.")


def without_state_key(manifest, tensors):
    del manifest["state"]
    drop_tensors(tensors, "state.")


def without_required_field(manifest, tensors):
    del manifest["state"]["fields"]["order"], tensors["state.order"]


def without_nested_field(manifest, tensors):
    del manifest["state"]["fields"]["bounds"]["fields"]["high"], tensors["state.bounds.high"]


def nested_part_as_state(manifest, tensors):
    manifest["state"] = encode(OtherState(np.arange(3)), "state", tensors)


def unfitted_with_state(manifest, tensors):
    manifest["fitted"] = {}
    drop_tensors(tensors, "center_")
    drop_tensors(tensors, "range_")


def setter(section, name, value):
    def change(manifest, tensors):
        tensors.pop(f"{'state.' if section == 'state' else ''}{name}", None)
        part = manifest["state"]["fields"] if section == "state" else manifest[section]
        part[name] = encode(value, f"state.{name}" if section == "state" else name, tensors)

    return change


def out_of_order(manifest, tensors):
    tensors["state.bounds.low"] = tensors["state.bounds.high"] + 1


REFUSED = {
    "no state": (without_state, "state.bounds is missing"),
    "no key for the state": (without_state_key, "has no state"),
    "a required field is absent": (without_required_field, "state: the ClipState has no order"),
    "a required field of a nested class is absent": (without_nested_field, "state.bounds: the Bounds has no high"),
    "a state without fitted attributes": (unfitted_with_state, "has a state, but no fitted attributes"),
    "a state that is a string": (lambda m, t: [drop_tensors(t, "state."), m.update(state="x")], "a str can't be"),
    "a summary of another kind as state": (
        lambda m, t: [drop_tensors(t, "state."), m.update(state=encode(moments(), "state", t))],
        "a Moments can't be the state of Clip",
    ),
    "a field of a wrong type": (setter("state", "order", np.zeros(3)), "state.order must hold"),
    "a field out of range": (setter("state", "order", np.arange(3) + 1), "state.order must hold"),
    "a field of a wrong size": (setter("state", "order", np.arange(2)), "state.order must"),
    "a string for a dataclass": (
        lambda m, t: [drop_tensors(t, "state.bounds"), m["state"]["fields"].update(bounds="x")],
        "state.bounds must be a Bounds",
    ),
    "what _validate refuses": (out_of_order, "state.bounds is no valid Bounds: low must not exceed high"),
    "an undocumented attribute": (setter("fitted", "hidden_", 3), "'hidden_' is not a fitted attribute of Clip"),
    "the private state as an attribute": (setter("fitted", "_state", 3), "'_state' is not a fitted attribute"),
    "the cache as an attribute": (setter("fitted", "_cache", 3), "'_cache' is not a fitted attribute"),
    "a method as an attribute": (setter("fitted", "transform", 3), "'transform' is not a fitted attribute"),
    "a parameter as an attribute": (setter("fitted", "digits", 3), "'digits' is not a fitted attribute"),
    "an attribute of a wrong type": (setter("fitted", "center_", "middle"), "center_ must be"),
    "a text for the number of features": (setter("fitted", "n_features_in_", "3"), "n_features_in_ must be"),
}


def moments():
    from lowdim.summaries.moments import moments

    return moments(np.eye(3))


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_states_are_refused(name, model, path, monkeypatch):
    change, message = REFUSED[name]
    with pytest.raises(ModelFileError, match=message):
        load(rewrite(path, model, change))


def test_a_declared_class_that_is_not_the_state_is_checked(model, path, monkeypatch):
    """A class on the estimator's list in the wrong place lacks what `_check_state` asks for."""
    monkeypatch.setattr(Clip, "_state_classes", (*Clip._state_classes, OtherState))

    def change(manifest, tensors):
        drop_tensors(tensors, "state.")
        manifest["state"] = encode(OtherState(np.arange(3)), "state", tensors)

    with pytest.raises(ModelFileError, match=r"state\.bounds is missing"):
        load(rewrite(path, model, change))


def test_a_field_with_a_default_may_be_absent(model, path):
    loaded = load(rewrite(path, model, lambda m, _: m["state"]["fields"]["bounds"]["fields"].pop("unit")))
    assert loaded._state.bounds.unit == 1.0


def test_save_refuses_what_load_would_refuse(model, path):
    model.hidden_ = 3
    with pytest.raises(ModelFileError, match="hidden_ is not a fitted attribute of Clip"):
        save(model, path)
    del model.hidden_
    model.odd_ = object()
    with pytest.raises(ModelFileError, match=r"Clip\.odd_ must hold numbers.* holds an object"):
        save(model, path)
    del model.odd_
    honest = model._state
    for field, value, message in (
        ("order", print, r"Clip\._state must hold numbers"),
        ("order", np.arange(4), "state.order must"),
        ("bounds", Bounds(np.ones(3), np.zeros(3)), "low must not exceed high"),
    ):
        model._state = dataclasses.replace(honest, **{field: value})
        with pytest.raises(ModelFileError, match=message):
            save(model, path)
    del model._state
    with pytest.raises(ModelFileError, match=r"state\.bounds is missing"):
        save(model, path)
    assert not path.exists()


@pytest.mark.parametrize("defined", [property(lambda self: 1), lambda self: 1, None, "text"])
def test_what_the_class_defines_is_never_set(defined, model, path, monkeypatch):
    model.odd_ = 3
    save(model, path)
    assert load(path).odd_ == 3
    monkeypatch.setattr(Clip, "odd_", defined, raising=False)
    with pytest.raises(ModelFileError, match="'odd_' is not a fitted attribute of Clip"):
        load(path)
    with pytest.raises(ModelFileError, match="odd_ is not a fitted attribute of Clip"):
        save(model, path)


def test_documented_attributes():
    assert allowlist.documented_attributes(Clip) == {
        "center_",
        "range_",
        "n_iter_",
        "odd_",
        "n_features_in_",
        "feature_names_in_",
    }
    assert allowlist.documented_attributes(type("Undocumented", (), {})) == {"n_features_in_", "feature_names_in_"}
    assert {"components_", "mean_", "scale_", "converged_"} <= allowlist.documented_attributes(PCA)


def test_two_state_classes_of_one_name_are_a_programming_error(monkeypatch):
    twin = dataclasses.make_dataclass("Bounds", ["low"], frozen=True)
    monkeypatch.setattr(Clip, "_state_classes", (ClipState, Bounds, twin))
    with pytest.raises(TypeError, match="share the name Bounds"):
        allowlist.states()


def test_every_state_class_is_a_dataclass_of_lowdim():
    for name, cls in allowlist.states().items():
        assert dataclasses.is_dataclass(cls) and cls.__name__ == name
        assert inspect.getmodule(cls).__name__.startswith("lowdim.") or cls in (ClipState, Bounds)
