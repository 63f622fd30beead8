"""Model files of methods on standardized columns: the scale is kept with every bit, and lies are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lowdim
from lowdim import PCA, UMAP, Isomap, KernelPCA, Standardized
from lowdim.errors import BadParameter, ModelFileError
from lowdim.persistence.codec import encode
from lowdim.persistence.container import read_container, write_container
from lowdim.persistence.manifest import from_text, to_text


@pytest.fixture
def X(rng):
    return rng.standard_normal((50, 3)) * [1, 100, 0.01] + [0, 7, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", [PCA(2), Isomap(2, n_neighbors=9), KernelPCA(2), UMAP(n_epochs=20)], ids=str)
def test_new_rows_get_the_same_bits(model, dtype, X, tmp_path):
    X = X.astype(dtype)
    fitted = Standardized(model).fit(X)
    lowdim.save(fitted, tmp_path / "a")
    loaded = lowdim.load(tmp_path / "a")
    assert type(loaded) is Standardized and type(loaded.model_) is type(model)
    assert loaded.model.get_params() == model.get_params() and not hasattr(loaded.model, "n_features_in_")
    new = X[:5] + np.ptp(X, axis=0).astype(dtype) / 50
    np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
    for name in ("mean_", "scale_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    lowdim.save(loaded, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_names_output_and_the_unfitted_are_kept(X, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    lowdim.save(Standardized(PCA(2)).set_output(transform="pandas").fit(frame), tmp_path / "model")
    loaded = lowdim.load(tmp_path / "model")
    assert list(loaded.transform(frame).columns) == ["PC1", "PC2"]
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]
    lowdim.save(Standardized(PCA(1)), tmp_path / "model")
    unfitted = lowdim.load(tmp_path / "model")
    assert type(unfitted) is Standardized and unfitted.model.n_components == 1 and not hasattr(unfitted, "model_")


LIES = {
    "fewer means": {"mean_": np.zeros(2)},
    "a scale of zero": {"scale_": np.array([1.0, 0.0, 1.0])},
    "a scale that is not finite": {"scale_": np.array([1.0, np.inf, 1.0])},
    "a float32 scale": {"scale_": np.ones(3, dtype=np.float32)},
    "no scale": {"scale_": ...},
    "other columns": {"n_features_in_": 2, "mean_": np.zeros(2), "scale_": np.ones(2)},
    "a method of its own": {"fit": 1},
    "a hidden attribute": {"__class__": 1},
}


@pytest.mark.parametrize("name", LIES)
def test_lies_are_refused(name, X, tmp_path):
    path = str(tmp_path / "model")
    lowdim.save(Standardized(PCA(2)).fit(X), path)
    text, tensors = read_container(path)
    manifest = from_text(text, tensors)
    for key, value in LIES[name].items():
        tensors.pop(f"standardized.{key}", None)
        manifest["standardized"].pop(key, None)
        if value is not ...:
            manifest["standardized"][key] = encode(value, f"standardized.{key}", tensors)
    write_container(path, to_text(manifest, tensors), tensors)
    with pytest.raises(ModelFileError):
        lowdim.load(path)


@pytest.mark.parametrize("section", [None, [], 3, "text"])
def test_a_scale_that_is_no_section_is_refused(section, X, tmp_path):
    path = str(tmp_path / "model")
    lowdim.save(PCA(2).fit(X), path)
    text, tensors = read_container(path)
    write_container(path, to_text({**from_text(text, tensors), "standardized": section}, tensors), tensors)
    with pytest.raises(ModelFileError, match="no standardized"):
        lowdim.load(path)


def test_what_is_inside_must_be_a_method(X, tmp_path):
    with pytest.raises(BadParameter, match="got Standardized"):
        lowdim.save(Standardized(Standardized(PCA(2))).fit(X), tmp_path / "model")
    with pytest.raises(BadParameter, match="got type"):
        lowdim.save(Standardized(PCA), tmp_path / "model")
    broken = clone(Standardized(PCA(2))).fit(X)
    broken.scale_ = -broken.scale_
    with pytest.raises(ModelFileError, match="scale_ must be positive"):
        lowdim.save(broken, tmp_path / "model")
    assert not list(tmp_path.iterdir())
