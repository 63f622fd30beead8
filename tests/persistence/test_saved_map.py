"""The map of fitted rows in a model file: what is kept, what comes back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim import PCA
from lowdim.errors import ModelFileError
from lowdim.persistence import SavedMap, load_with_map, save_with_map
from lowdim.persistence.saved_map import MOST_ROWS

X = np.random.default_rng(0).normal(size=(30, 4))
MODEL = PCA(2).fit(X)
Z = MODEL.transform(X)


@pytest.mark.parametrize(
    "labels",
    [None, np.resize(["b", "a", ""], 30), np.arange(30), np.linspace(0, 1, 30), np.resize([True, False], 30)],
    ids=["none", "texts", "integers", "numbers", "flags"],
)
def test_what_was_saved_comes_back(tmp_path, labels):
    path = tmp_path / "m.lowdim"
    save_with_map(MODEL, path, SavedMap.of(Z, labels, "kind"))
    model, found = load_with_map(path)
    np.testing.assert_array_equal(found.embedding, Z.astype(np.float32))
    assert found.label_name == (None if labels is None else "kind")
    assert (found.labels is None) == (labels is None)
    if labels is not None:
        assert found.labels.tolist() == labels.tolist()
    alone = lowdim.load(path)  # the public function leaves the map out
    np.testing.assert_array_equal(alone.transform(X), Z)
    np.testing.assert_array_equal(model.transform(X), Z)


def test_files_of_python_have_no_map(tmp_path):
    lowdim.save(MODEL, tmp_path / "m.lowdim")
    assert load_with_map(tmp_path / "m.lowdim")[1] is None


def test_many_rows_are_sampled_and_many_texts_are_not_kept():
    many = np.zeros((MOST_ROWS + 5, 2))
    many[:, 0] = np.arange(len(many))
    kept = SavedMap.of(many, np.arange(len(many)), "row")
    assert len(kept.embedding) <= MOST_ROWS and (kept.embedding[:, 0] == kept.labels).all()
    assert SavedMap.of(many, [f"row {i}" for i in range(len(many))], "row").labels is None


@pytest.mark.parametrize(
    "broken",
    [
        SavedMap(Z.astype(np.float32), np.zeros(29)),
        SavedMap(np.full((30, 2), np.nan, dtype=np.float32)),
        SavedMap(Z),  # float64
        SavedMap(Z.astype(np.float32)[0]),
    ],
)
def test_a_map_that_contradicts_itself_is_refused(tmp_path, broken):
    save_with_map(MODEL, tmp_path / "m.lowdim", broken)
    with pytest.raises(ModelFileError, match="contradicts itself"):
        load_with_map(tmp_path / "m.lowdim")


def test_codes_beyond_the_texts_are_refused():
    tensors = {"map.embedding": Z.astype(np.float32), "map.labels": np.full(30, 2, dtype=np.int32)}
    section = {
        "embedding": {"array": "float32", "shape": [30, 2]},
        "labels": {"array": "int32", "shape": [30]},
        "texts": ["a", "b"],
        "label_name": None,
    }
    with pytest.raises(ModelFileError, match="contradicts itself"):
        SavedMap.decode(section, tensors)
