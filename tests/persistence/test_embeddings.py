"""Model files of embeddings: sparse rows in them, and fitted parts that contradict each other."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import TSNE, UMAP
from lowdim.errors import ModelFileError
from lowdim.neighbor_embedding.umap.densmap import DensityCorrelation
from lowdim.persistence import load, save
from lowdim.persistence.codec import NotSerializable, decode, encode
from lowdim.persistence.container import write_container
from lowdim.persistence.manifest import describe, to_text


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((40, 4))
    X[np.abs(X) < 0.5] = 0
    X[30:] = X[:10]  # 30 distinct rows
    return X


@pytest.fixture(scope="module")
def maps(rows):
    from scipy.spatial.distance import cdist

    distances = cdist(rows[:30], rows[:30])
    return {
        "TSNE": TSNE(max_iter=5, perplexity=8).fit(rows),
        "TSNE, sparse": TSNE(max_iter=5, perplexity=8).fit(sp.csr_array(rows)),
        "TSNE, distances": TSNE(max_iter=5, perplexity=8, metric="precomputed").fit(distances),
        "UMAP": UMAP(n_epochs=5, n_neighbors=5, densmap=True).fit(rows),
        "UMAP, sparse": UMAP(n_epochs=5, n_neighbors=5).fit(sp.csr_array(rows)),
        "UMAP, distances": UMAP(n_epochs=5, n_neighbors=5, metric="precomputed").fit(distances),
    }


def write(path, model, lies=None, tensor_lies=None, manifest_lies=None):
    """A file with a right checksum, in which some values, tensors or entries are not the honest ones."""
    manifest, tensors = describe(model)
    for name, value in (lies or {}).items():
        for old in [key for key in tensors if key == name or key.startswith(f"{name}.")]:
            del tensors[old]
        section, key = manifest["fitted"], name
        if name.startswith("state."):
            *parents, key = name.split(".")
            section = manifest
            for part in parents:
                section = section[part]["fields"]
        if value is ...:
            del section[key]
        else:
            section[key] = encode(value, name, tensors)
    manifest["fitted"].update(manifest_lies or {})
    tensors.update(tensor_lies or {})
    write_container(str(path), to_text(manifest, tensors), tensors)
    return path


def test_honest_models_are_read(maps, rows, tmp_path):
    for name, model in maps.items():
        loaded = load(write(tmp_path / "m.lowdim", model))
        new = rows[:5] + 0.1
        if name.endswith("distances"):
            new = np.abs(rows[:5, :1] - rows[None, :30, 0].ravel()) + 1
        np.testing.assert_array_equal(loaded.transform(new), model.transform(new))


def density(**changes):
    """The moments of densMAP's radii, some of them changed."""
    honest = {field.name: 1.0 for field in fields(DensityCorrelation)}
    return DensityCorrelation(**{**honest, **changes})


whole = np.arange
LIES = {
    "TSNE": [
        ("embedding_", np.zeros((39, 2))),
        ("embedding_", np.full((40, 2), np.nan)),
        ("embedding_", np.zeros(40)),
        ("embedding_", np.zeros((0, 2))),
        ("embedding_", [1, 2]),
        ("X_fit_", np.zeros((39, 4))),
        ("X_fit_", np.zeros((40, 3))),
        ("X_fit_", np.full((40, 4), np.inf)),
        ("X_fit_", sp.csr_array((40, 5))),
        ("X_fit_", sp.csr_array((41, 4))),
        ("X_fit_", "rows"),
        ("X_fit_", ...),
        ("perplexity_", np.array([np.nan])),
        ("perplexity_", np.array([0.5])),
        ("perplexity_", np.ones((1, 1))),
        ("perplexity_", None),
        ("kl_divergence_", np.nan),
        ("kl_divergence_", ...),
        ("n_iter_", 0),
        ("n_iter_", ...),
        ("n_features_in_", ...),
    ],
    "TSNE, distances": [("n_features_in_", 29)],
    "UMAP": [
        ("embedding_", np.zeros((41, 2))),
        ("embedding_", np.full((40, 2), np.inf)),
        ("state.distinct.first", whole(31)),
        ("state.distinct.first", whole(30)[::-1]),
        ("state.distinct.first", whole(30) + 11),
        ("state.distinct.first", whole(30) - 1),
        ("state.distinct.first", whole(30).astype(float)),
        ("state.distinct.first", None),
        ("state.distinct.inverse", whole(40)),
        ("state.distinct.inverse", whole(39) % 30),
        ("state.distinct.inverse", whole(40) % 29),
        ("state.distinct.inverse", -(whole(40) % 30)),
        ("state.distinct.inverse", ...),
        ("X_fit_", np.zeros((40, 4))),
        ("X_fit_", np.zeros((30, 5))),
        ("X_fit_", np.full((30, 4), np.nan)),
        ("X_fit_", sp.csr_array((30, 3))),
        ("X_fit_", [1.0]),
        ("X_fit_", ...),
        ("edges_", np.array([[0, 40]])),
        ("edges_", np.array([[-1, 2]])),
        ("edges_", whole(6).reshape(2, 3)),
        ("edges_", np.zeros((2, 2))),
        ("weights_", np.zeros(3)),
        ("weights_", ...),
        ("n_neighbors_", 31),
        ("n_neighbors_", 0),
        ("n_neighbors_", "many"),
        ("n_neighbors_", ...),
        ("n_epochs_", 0),
        ("n_epochs_", 2.5),
        ("state.seed", -1),
        ("state.seed", 2**64),
        ("state.seed", None),
        ("a_", 0.0),
        ("a_", np.nan),
        ("b_", "steep"),
        ("b_", ...),
        ("supervised_", None),
        ("supervised_", "no"),
        ("n_features_in_", ...),
        ("state.seed", ...),
        ("state.distinct", None),
        ("state.density", np.ones(8)),
        ("state.density", density(covariance=np.nan)),
        ("state.density", density(original_mean="big")),
        ("state.density", density(original_std=-1.0)),
        ("state.density", density(embedding_std=0.0)),
        ("state.density", density(original_min=2.0)),
    ],
    "UMAP, distances": [("n_features_in_", 29)],
}


@pytest.mark.parametrize(("kind", "number"), [(kind, i) for kind, lies in LIES.items() for i in range(len(lies))])
def test_parts_that_contradict_each_other_are_refused(maps, tmp_path, kind, number):
    name, lie = LIES[kind][number]
    with pytest.raises(ModelFileError, match=r"contradicts itself: |can't be made into|has no "):
        load(write(tmp_path / "m.lowdim", maps[kind], {name: lie}))


def test_weights_beyond_1_are_refused(maps, tmp_path):
    weights = maps["UMAP"].weights_.copy()
    for odd in (1.5, -0.1, np.nan):
        weights[3] = odd
        with pytest.raises(ModelFileError, match="contradicts itself: weights_"):
            load(write(tmp_path / "m.lowdim", maps["UMAP"], {"weights_": weights}))


# ---- sparse matrices ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sparse_matrix_comes_back(dtype, rng):
    X = sp.random_array((7, 5), density=0.3, rng=rng, format="csr", dtype=dtype)
    for matrix in (X, sp.csr_array((7, 5), dtype=dtype), sp.csr_array((0, 3), dtype=dtype), X[:, :0]):
        tensors = {}
        text = encode(matrix, "X_fit_", tensors)
        back = decode(text, "X_fit_", tensors)
        assert not tensors
        assert back.dtype == dtype and back.shape == matrix.shape and back.has_canonical_format
        np.testing.assert_array_equal(back.toarray(), matrix.toarray())


def test_a_matrix_out_of_order_is_put_in_order_and_left_alone():
    given = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    tensors = {}
    back = decode(encode(given, "x_", tensors), "x_", tensors)
    np.testing.assert_array_equal(back.toarray(), [[2.0, 0.0, 4.0]])
    np.testing.assert_array_equal(given.indices, [2, 0, 2])
    with pytest.raises(NotSerializable):
        encode(sp.csc_array(given), "x_", {})


# three rows of four columns: (0: 1, 3), (), (2: 0, 2, 3)
DATA, COLUMNS, STARTS = np.array([1.0, 2, 3, 4, 5]), np.array([1, 3, 0, 2, 3]), np.array([0, 2, 2, 5])
CSR = {"csr": "float64", "shape": [3, 4], "stored": 5}


def sparse_parts(**changes):
    parts = {"data": DATA, "indices": COLUMNS, "indptr": STARTS, **changes}
    return {f"x_.{name}": np.array(value) for name, value in parts.items() if value is not None}


def test_the_honest_sparse_matrix():
    back = decode(CSR, "x_", sparse_parts())
    np.testing.assert_array_equal(back.toarray(), [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 5]])


BAD_PARTS = {
    "column too large": {"indices": [1, 4, 0, 2, 3]},
    "column negative": {"indices": [-1, 3, 0, 2, 3]},
    "column huge": {"indices": [1, 2**62, 0, 2, 3]},
    "columns descending": {"indices": [3, 1, 0, 2, 3]},
    "column twice": {"indices": [1, 3, 0, 2, 2]},
    "columns of another dtype": {"indices": np.array([1, 3, 0, 2, 3], np.int32)},
    "columns of floats": {"indices": COLUMNS.astype(float)},
    "too few columns": {"indices": COLUMNS[:4]},
    "starts from 1": {"indptr": [1, 2, 2, 5]},
    "starts fall": {"indptr": [0, 3, 2, 5]},
    "starts negative": {"indptr": [0, -2, 2, 5]},
    "starts beyond": {"indptr": [0, 2, 9, 5]},
    "starts end early": {"indptr": [0, 2, 2, 4]},
    "too few starts": {"indptr": [0, 2, 5]},
    "starts of two axes": {"indptr": STARTS[None]},
    "not finite": {"data": [1, 2, np.nan, 4, 5.0]},
    "infinite": {"data": [1, 2, np.inf, 4, 5.0]},
    "values of another dtype": {"data": DATA.astype(np.float32)},
    "no values": {"data": None},
    "no columns": {"indices": None},
    "no starts": {"indptr": None},
}


@pytest.mark.parametrize("lie", BAD_PARTS)
def test_lying_sparse_tensors_are_refused(lie):
    with pytest.raises(ModelFileError):
        decode(CSR, "x_", sparse_parts(**BAD_PARTS[lie]))


BAD_TEXTS = {
    "whole numbers": {"csr": "int64"},
    "unknown dtype": {"csr": "complex128"},
    "dtype of a list": {"csr": ["float64"]},
    "one size": {"shape": [3]},
    "three sizes": {"shape": [3, 4, 1]},
    "negative size": {"shape": [3, -4]},
    "huge size": {"shape": [3, 10**400]},
    "size of a float": {"shape": [3.0, 4.0]},
    "size true": {"shape": [True, 4]},
    "sizes of text": {"shape": "34"},
    "fewer rows": {"shape": [2, 4]},
    "fewer columns": {"shape": [3, 3]},
    "other count": {"stored": 4},
    "count of text": {"stored": "5"},
    "count negative": {"stored": -1},
    "a rider": {"note": 1},
}


@pytest.mark.parametrize("lie", BAD_TEXTS)
def test_lying_sparse_entries_are_refused(lie):
    with pytest.raises(ModelFileError) as caught:
        decode({**CSR, **BAD_TEXTS[lie]}, "x_", sparse_parts())
    assert len(str(caught.value)) < 500


def test_lies_in_a_file_are_refused(maps, tmp_path):
    for kind, name in (("UMAP, sparse", "X_fit_"), ("TSNE, sparse", "X_fit_")):
        model = maps[kind]
        columns = getattr(model, name).indices.astype(np.int64)
        for lie in ({f"{name}.indices": columns + 4}, {f"{name}.indices": columns[::-1].copy()}):
            with pytest.raises(ModelFileError, match="sparse matrix"):
                load(write(tmp_path / "m.lowdim", model, tensor_lies=lie))
        with pytest.raises(ModelFileError, match="belongs to nothing"):
            load(write(tmp_path / "m.lowdim", model, tensor_lies={f"{name}.more": columns}))
        text = {"csr": "float64", "shape": [10**9, 4], "stored": len(columns)}
        with pytest.raises(ModelFileError, match="manifest says"):
            load(write(tmp_path / "m.lowdim", model, manifest_lies={name: text}))


def test_a_sparse_matrix_is_no_parameter(rows, tmp_path):
    from lowdim.errors import LowdimError

    with pytest.raises(LowdimError):
        save(UMAP(init=sp.csr_array(rows[:, :2])), tmp_path / "m.lowdim")
