"""Model files keep every bit of what can be kept, and refuse the rest."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from lowdim import PCA, TSNE
from lowdim.errors import BadParameter, ModelFileError
from lowdim.persistence import allowlist as known
from lowdim.persistence import load, save
from lowdim.persistence.codec import NotSerializable, decode, encode


def table(dtype=np.float64, n=40, d=5, seed=0):
    return (np.random.default_rng(seed).normal(size=(n, d)) * np.arange(1, d + 1) + 3).astype(dtype)


def assert_same(a, b):
    """Equal in type, dtype, shape, memory order and every bit, all the way down."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray) and a.dtype == object:
        assert a.shape == b.shape and a.tolist() == b.tolist()
    elif isinstance(a, np.ndarray | np.generic):
        assert (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()
        assert b.flags.c_contiguous
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif is_dataclass(a) and type(a).__eq__ is not object.__eq__:
        for field in fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, float):
        assert repr(a) == repr(b)  # tells -0.0 from 0.0, and knows nan
    else:
        assert a == b


def assert_same_model(a, b):
    kept = vars(a).keys() - {"_cache"}  # what searches is made again from the rows
    assert type(a) is type(b) and kept == vars(b).keys() - {"_cache"}
    for name in kept:
        assert_same(getattr(a, name), getattr(b, name))


def round_trip(model, directory):
    path = directory / "model.lowdim"
    save(model, path)
    return load(path)


VARIANTS = {
    "plain": PCA(2),
    "whitened": PCA(3, whiten=True),
    "standardized": PCA(0.8, standardize=True, ddof=0),
    "svd": PCA(None, solver="svd"),
    "krylov": PCA(1, solver="krylov", tol=1e-4, random_state=2**100),
    "gaps": PCA(2, missing="em"),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", VARIANTS)
def test_a_loaded_model_has_the_same_bits(name, dtype, tmp_path):
    X, new = table(dtype), table(dtype, seed=1)
    if name == "gaps":
        X[3, 1] = new[0, 0] = np.nan
    model = clone(VARIANTS[name]).fit(X)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded)
    Z = model.transform(new)
    assert_same(Z, loaded.transform(new))
    assert Z.dtype == dtype
    assert_same(model.inverse_transform(Z), loaded.inverse_transform(Z))
    assert_same(model.get_covariance(), loaded.get_covariance())


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_loaded_map_places_new_rows_with_the_same_bits(dtype, tmp_path):
    for model in (TSNE(max_iter=60), TSNE(3, perplexity=(3, 9), init=table(np.float32, d=3), max_iter=20)):
        fitted = clone(model).fit(table(dtype))
        loaded = round_trip(fitted, tmp_path)
        assert_same_model(fitted, loaded)
        assert_same(fitted.transform(table(dtype, seed=1)), loaded.transform(table(dtype, seed=1)))


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@given(
    X=hnp.arrays(np.float32, (7, 3), elements=st.floats(-1e3, 1e3, width=32)),
    standardize=st.booleans(),
    whiten=st.booleans(),
)
def test_any_fitted_table_comes_back_bit_equal(X, standardize, whiten):
    model = PCA(2, standardize=standardize, whiten=whiten).fit(X)
    with tempfile.TemporaryDirectory() as directory:
        loaded = round_trip(model, Path(directory))
    assert_same_model(model, loaded)
    assert_same(model.transform(X), loaded.transform(X))


@pytest.mark.parametrize("first", [1, 20], ids=["before the first axes", "after"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_partial_fit_goes_on_with_the_same_bits(dtype, first, tmp_path):
    X = table(dtype)
    stayed = PCA(2, standardize=True).partial_fit(X[:first])
    left = round_trip(stayed, tmp_path)
    for model in (stayed, left):
        model.partial_fit(X[first:30]).partial_fit(X[30:])
    assert_same_model(stayed, left)
    assert left._state.moments.rows == 40
    assert_same(stayed.transform(X), left.transform(X))


def test_an_unfitted_model_comes_back_unfitted(tmp_path):
    model = PCA(0.9, whiten=True, tol=1e-3)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded)
    assert loaded.get_params() == model.get_params()
    assert not [name for name in vars(loaded) if name.endswith("_")]


def test_feature_names_and_output_survive(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table(), columns=["a", "β", 'q"uote', "\N{SNOWMAN}", ""])
    model = PCA(2).set_output(transform="pandas").partial_fit(frame)
    model._state.moments.feature_names = model.feature_names_in_
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded)
    pd.testing.assert_frame_equal(model.transform(frame), loaded.transform(frame), check_exact=True)
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(frame.rename(columns={"a": "z"}))


def test_odd_numbers_survive(tmp_path):
    """Negative zero, the smallest denormal, and a scalar that is not finite."""
    X = table()
    model = PCA(2).fit(X)
    model.mean_[:2] = -0.0, 5e-324
    model.log_generalized_variance_ = -np.inf
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded)
    assert np.signbit(loaded.mean_[0])


SCALARS = st.none() | st.booleans() | st.integers(-(2**127), 2**127) | st.floats() | st.text()
ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int32, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=0, min_side=0),
)


@given(st.recursive(SCALARS | ARRAYS, lambda inner: st.lists(inner) | st.lists(inner).map(tuple), max_leaves=8))
def test_every_value_survives_json(value):
    tensors = {}
    text = json.dumps(encode(value, "x_", tensors), allow_nan=False)
    assert_same(value, decode(json.loads(text), "x_", tensors))
    assert not tensors


@pytest.mark.parametrize(
    "value",
    [
        object(),
        print,
        2**128,
        1j,
        b"bytes",
        {1: "a"},
        np.longdouble(1),
        np.zeros(2, complex),
        np.array([1, "a"], object),
        np.array([["a"]], object),
        np.array(["2020-01-01"], "M8[s]"),
        np.array(["a"], "S1"),
        np.ma.masked_equal([1, 2], 1),
    ],
)
def test_what_is_not_plain_data_is_refused(value):
    with pytest.raises(NotSerializable):
        encode(value, "x_", {})


def test_layouts_and_byte_orders_are_normalised():
    tensors = {}
    big = np.asfortranarray(np.arange(6.0).reshape(2, 3)).astype(">f8")
    stored = encode(big, "x_", tensors)
    assert tensors["x_"].flags.c_contiguous and tensors["x_"].dtype.isnative
    np.testing.assert_array_equal(decode(stored, "x_", tensors), big)


def test_numpy_parameters_become_plain_numbers(tmp_path):
    loaded = round_trip(PCA(np.int64(2), tol=np.float32(0.5), whiten=np.bool_(True)), tmp_path)
    found = [loaded.n_components, loaded.tol, loaded.whiten]
    assert found == [2, 0.5, True]
    assert [type(value) for value in found] == [int, float, bool]


@dataclass(frozen=True)
class Half:
    """A rule as lowdim.choose has them."""

    least: int = 1
    factor: float = 0.5

    def __call__(self, spectrum):
        return max(self.least, int(len(spectrum.values) * self.factor))


@dataclass(frozen=True)
class Result:
    """Frozen, but no rule: it can't be called."""

    k: int = 1


@pytest.fixture
def rules(monkeypatch):
    home = ModuleType("lowdim.choose")
    home.__all__ = ["Half", "Result", "helper"]
    home.Half, home.Result, home.helper = Half, Result, len
    monkeypatch.setitem(sys.modules, "lowdim.choose", home)
    monkeypatch.setattr(known, "RULE_MODULES", ("lowdim.choose",))
    return home


def test_rules_come_back_from_the_fixed_list(rules, tmp_path):
    X = table()
    model = PCA(Half(least=2, factor=0.7)).fit(X)
    assert model.n_components_ == 3
    assert known.rules() == {"Half": Half}
    loaded = round_trip(model, tmp_path)
    assert loaded.n_components == Half(2, 0.7)
    assert_same_model(model, loaded)
    assert_same(model.transform(X), loaded.fit(X).transform(X))
    rules.__all__ = []
    with pytest.raises(ModelFileError, match="Half"):
        load(tmp_path / "model.lowdim")
    with pytest.raises(BadParameter, match="got a Half"):
        save(model, tmp_path / "other.lowdim")


def test_rules_of_the_library_come_back(tmp_path):
    from lowdim import choose

    for rule in (choose.share(0.7), choose.kaiser(), choose.parallel_analysis(), choose.gavish_donoho()):
        model = PCA(rule)
        loaded = round_trip(model, tmp_path)
        assert type(loaded.n_components) is type(rule) and loaded.n_components == rule
        assert_same_model(model, loaded)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (PCA(lambda spectrum: 1), "n_components.*got a function.*set_params"),
        (PCA(random_state=np.random.RandomState(0)), "random_state.*RandomState.*random_state=0"),
        (PCA(random_state=np.random.default_rng(0)), "random_state.*Generator.*random_state=0"),
        (PCA(random_state=2**200), "random_state.*128 bits"),
        (PCA(-3), "n_components must be"),
        (make_pipeline(PCA(2)), "estimator of lowdim.*got Pipeline"),
        (type("Mine", (PCA,), {})(2), "not a subclass.*got Mine"),
        (type("PCA", (PCA,), {})(2), "not a subclass.*got PCA"),
        (PCA, "got type"),
        (None, "got NoneType"),
    ],
)
def test_what_cant_be_kept_is_refused_with_advice(model, words, tmp_path):
    with pytest.raises(BadParameter, match=words):
        save(model, tmp_path / "model.lowdim")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mean_", np.zeros(4), "mean_ must be of shape 5"),
        ("components_", np.full((2, 5), np.nan), "components_ must be an array of finite"),
    ],
)
def test_a_fitted_model_that_is_not_sound_is_refused(name, value, words, tmp_path):
    model = PCA(2).fit(table())
    setattr(model, name, value)
    with pytest.raises(ModelFileError, match=words):
        save(model, tmp_path / "model.lowdim")
    assert not os.listdir(tmp_path)


def test_saving_twice_gives_the_same_bytes_and_leaves_the_model_alone(tmp_path):
    model = PCA(2).partial_fit(table())
    before = clone(model).partial_fit(table())
    save(model, str(tmp_path / "a"))
    save(load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert_same_model(model, before)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
