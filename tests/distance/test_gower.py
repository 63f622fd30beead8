"""Gower's distance: its formula, its laws, gaps, categories of dataframes, and every method that takes it."""

from __future__ import annotations

import gower as peer
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

from lowdim import LLE, MDS, TSNE, UMAP, ClassicalMDS, Isomap, LaplacianEigenmaps, NonmetricMDS, load, neighbors, save
from lowdim.data.rows import open_rows
from lowdim.distance.metrics import metric_of
from lowdim.distance.pairwise import prepare_rows
from lowdim.errors import BadInput, BadInputType, BadParameter, LowdimError
from lowdim.knn.index import NeighborIndex

METHODS = {
    "ClassicalMDS": ClassicalMDS(),
    "Isomap": Isomap(n_neighbors=6),
    "LLE": LLE(n_neighbors=6),
    "LaplacianEigenmaps": LaplacianEigenmaps(n_neighbors=6),
    "MDS": MDS(max_iter=20, tol=1e-3),
    "NonmetricMDS": NonmetricMDS(max_iter=20, tol=1e-3),
    "TSNE": TSNE(max_iter=30, perplexity=5),
    "UMAP": UMAP(n_neighbors=6, n_epochs=10),
}


def twin(X, kinds, weights, ranges):
    """By the definition, pair by pair: columns are numbers (n), categories (c), ordinal (o) or asymmetric (a)."""
    ranks = {j: np.unique(X[~np.isnan(X[:, j]), j]) for j, kind in enumerate(kinds) if kind == "o"}
    D = np.zeros((len(X), len(X)))
    for i, a in enumerate(X):
        for k, b in enumerate(X):
            total = count = 0.0
            for j, kind in enumerate(kinds):
                if np.isnan(a[j]) or np.isnan(b[j]) or (kind == "a" and a[j] == b[j] == 0):
                    continue
                if kind == "n":
                    s = abs(a[j] - b[j]) / ranges[j] if ranges[j] else 0.0
                elif kind == "o":
                    s = abs(np.searchsorted(ranks[j], a[j]) - np.searchsorted(ranks[j], b[j])) / (len(ranks[j]) - 1)
                else:
                    s = float(a[j] != b[j])
                total, count = total + weights[j] * s, count + weights[j]
            D[i, k] = total / count if count else np.inf
    return D


def mixed(rng, n=40, gaps=0.1):
    """Numbers, a constant, categories by odd numbers, an ordinal and an asymmetric column, with gaps."""
    X = np.column_stack(
        [
            rng.normal(5, 2, n),
            np.full(n, 3.0),
            rng.choice([-1.5, 0.25, 7.0], n),
            rng.integers(1, 5, n) ** 2,
            rng.integers(0, 2, n),
            rng.normal(size=n),
        ]
    )
    X[rng.random(X.shape) < gaps] = np.nan
    X[:, 0] = np.where(np.isnan(X[:, 0]), 5.0, X[:, 0])  # every two rows have a column in common
    return X


KINDS = "nncoan"
PARAMS = {"categorical": [2], "ordinal": [3], "asymmetric": [4]}


def gower_matrix(X, params=None):
    rows = prepare_rows(open_rows(np.asarray(X)), metric_of("gower", params), 1)
    return rows.distances_from(rows)


@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5, 3.0, 1.0, 0.0]])
def test_it_follows_its_definition(rng, weights):
    X = mixed(rng)
    ranges = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    expected = twin(X, KINDS, weights or np.ones(6), ranges)
    params = PARAMS if weights is None else PARAMS | {"weights": weights}
    np.testing.assert_allclose(gower_matrix(X, params), expected, rtol=1e-12, atol=1e-14)
    pairs = prepare_rows(open_rows(X), metric_of("gower", params), 2).pairs()
    np.testing.assert_allclose(pairs.distances * pairs.unit, squareform(expected, checks=False), rtol=1e-12, atol=1e-14)
    narrow = gower_matrix(X.astype(np.float32), params)
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, expected, atol=1e-5)


def test_complete_rows_as_the_package_gower_measures_them(rng):
    X = np.column_stack([rng.uniform(1, 5, (30, 3)), rng.integers(0, 3, (30, 2))])
    text = X.astype(object)
    text[:, 3] = [f"k{int(v)}" for v in X[:, 3]]
    text[:, 4] = [f"k{int(v)}" for v in X[:, 4]]
    expected = peer.gower_matrix(text, cat_features=[False] * 3 + [True] * 2)
    np.testing.assert_allclose(gower_matrix(X, {"categorical": [3, 4]}), expected, atol=1e-6)
    np.testing.assert_array_equal(
        NeighborIndex(text, metric="gower").graph(5).indices,
        neighbors(X, 5, metric="gower", metric_params={"categorical": [3, 4]}).indices,
    )


def test_a_worked_example():
    """Three people by age (range 20), sex and smoking: (5/20 + 1 + 0) / 3 and so on, by hand."""
    people = pd.DataFrame({"age": [20.0, 25.0, 40.0], "sex": ["f", "m", "f"], "smokes": [True, True, None]})
    graph = neighbors(people, 2, metric="gower")
    D = np.zeros((3, 3))
    D[np.arange(3)[:, None], graph.indices] = graph.distances
    np.testing.assert_allclose(squareform(D), [(0.25 + 1 + 0) / 3, (1 + 0) / 2, (0.75 + 1) / 2], rtol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_laws(seed):
    rng = np.random.default_rng(seed)
    X = mixed(rng, 12)
    D = gower_matrix(X, PARAMS)
    np.testing.assert_array_equal(D, D.T)
    assert (np.diagonal(D) == 0).all()
    assert ((D >= 0) & (D <= 1)).all()
    repeated = gower_matrix(X[:, [0, 0, 1, 2, 3, 4, 5, 5, 5]], {"categorical": [3], "ordinal": [4], "asymmetric": [5]})
    weighted = gower_matrix(X, PARAMS | {"weights": [2, 1, 1, 1, 1, 3]})
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12, atol=1e-14)
    scaled = gower_matrix(X * [3, 1, 1, 1, 1, -2] + [7, 0, 0, 0, 0, 1], PARAMS)  # units of numbers do not matter
    np.testing.assert_allclose(scaled, D, rtol=1e-9, atol=1e-12)
    order = rng.permutation(6)
    moved = {kind: [int(np.flatnonzero(order == j)[0]) for j in columns] for kind, columns in PARAMS.items()}
    np.testing.assert_allclose(gower_matrix(X[:, order], moved), D, rtol=1e-12, atol=1e-14)


def test_parts_of_the_columns_average_to_the_whole(rng):
    X = mixed(rng, gaps=0.0)
    parts = [gower_matrix(X[:, :2]), gower_matrix(X[:, 2:4], {"categorical": [0, 1]})]
    np.testing.assert_allclose(gower_matrix(X[:, :4], {"categorical": [2, 3]}), sum(parts) / 2, atol=1e-14)


def test_new_rows_beyond_the_range_and_of_other_categories_differ_completely():
    X = np.array([[0.0, 1.0, 3.0], [10.0, 2.0, 3.0]])
    index = NeighborIndex(X, metric="gower", metric_params={"categorical": [1]})
    distances = index.query(np.array([[1000.0, 1.0, 3.0], [5.0, 9.0, 4.0]]), 2)
    np.testing.assert_allclose(distances.distances[0], [1 / 3, 2 / 3], rtol=1e-6)
    np.testing.assert_allclose(distances.distances[1], [2.5 / 3, 2.5 / 3], rtol=1e-6)  # another value than the constant


@pytest.mark.parametrize("algorithm", ["exact", "approximate"])
def test_the_search_finds_the_nearest(rng, algorithm):
    X = mixed(rng, 500, gaps=0.05)
    D = gower_matrix(X, PARAMS) + np.where(np.eye(500, dtype=bool), np.inf, 0)
    expected = np.sort(D, axis=1)[:, :8].astype(np.float32)
    graphs = [
        neighbors(X, 8, metric="gower", metric_params=PARAMS, algorithm=algorithm, n_jobs=jobs) for jobs in (1, 2)
    ]
    assert graphs[0] == graphs[1]
    if algorithm == "exact":
        np.testing.assert_array_equal(graphs[0].distances, expected)
        order = np.argsort(D.astype(np.float32), axis=1, kind="stable")[:, :8]
        np.testing.assert_array_equal(graphs[0].indices, order)
    else:
        assert (graphs[0].distances == expected).mean() > 0.98
    index = NeighborIndex(X, metric="gower", metric_params=PARAMS, algorithm=algorithm)
    found = index.query(X[:40], 3)
    assert (found.distances[:, 0] == 0).mean() > 0.95
    alone = index.query(X[7:8], 3)
    np.testing.assert_array_equal(alone.distances[0], found.distances[7])


def test_rows_without_a_common_column_are_no_neighbors(rng):
    X = np.full((12, 2), np.nan)
    X[:6, 0], X[6:, 1] = rng.normal(size=6), rng.normal(size=6)
    graph = neighbors(X, 3, metric="gower")
    assert (graph.indices[:6] < 6).all()
    assert (graph.indices[6:] >= 6).all()
    for fit in (lambda: neighbors(X, 8, metric="gower"), lambda: ClassicalMDS(metric="gower").fit(X)):
        with pytest.raises(BadInput, match="no column in which both have a value"):
            fit()
    with pytest.raises(BadInput, match="no column in which both"):
        Isomap(metric="gower", n_neighbors=3).fit(X)  # its components can't be connected


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"categorical": [9]}, "from 0 to 5"),
        ({"categorical": ["age"]}, "'age', which X does not have"),
        ({"categorical": [True]}, "1 flags for 6 columns"),
        ({"categorical": [2], "ordinal": [2]}, "only one of"),
        ({"asymmetric": [0]}, "must be 0 or 1"),
        ({"weights": [1, 2]}, "one finite number per column"),
        ({"weights": [-1, 1, 1, 1, 1, 1]}, "not negative"),
        ({"weights": np.zeros(6)}, "one positive"),
        ({"range": [-1, 1, 1, 1, 1, 1]}, "not be negative"),
        ({"kinds": "n"}, "no parameter 'kinds'"),
        ({"levels": [None] * 6}, "come with low and range"),
        ({"levels": [["a"]] * 6, "low": [0] * 6, "range": [1] * 6}, "must hold numbers"),
        ({"categories": 3}, "categories of .gower. must have one entry per column"),
        ({"categories": [1] * 6}, "categories of .gower. must have one entry per column"),
        ({"weights": {0: "heavy"}}, "must hold numbers"),
        ({"range": 10**400}, "must hold numbers"),
    ],
)
def test_wrong_parameters_are_refused(rng, params, words):
    with pytest.raises(LowdimError, match=words):
        neighbors(mixed(rng), 3, metric="gower", metric_params=params)


def test_wrong_values_are_refused(rng):
    X = mixed(rng)
    with pytest.raises(BadInput, match="infinity"):
        neighbors(np.where(X > 6, np.inf, X), 3, metric="gower")
    with pytest.raises(BadInput, match="row 1 has no value"):
        neighbors(np.vstack([X[:1], np.full((1, 6), np.nan), X]), 3, metric="gower")
    with pytest.raises(BadInput, match="NaN"):  # the door is open for Gower's distance alone
        neighbors(X, 3, metric="canberra")
    with pytest.raises(BadInput, match="NaN"):
        ClassicalMDS(metric="manhattan").fit(X)


def people(n=40, seed=3):
    rng = np.random.default_rng(seed)
    sizes = pd.Categorical(rng.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"age": rng.normal(40, 10, n), "city": rng.choice(["Bonn", "Kiel", "Ulm"], n), "size": sizes})
    frame.loc[3, "age"] = frame.loc[5, "city"] = None
    return frame


def test_dataframes_of_any_library_agree():
    frame = people()
    graph = neighbors(frame, 5, metric="gower")
    codes = np.column_stack(
        [frame["age"], frame["city"].map({"Bonn": 0, "Kiel": 1, "Ulm": 2}), frame["size"].cat.codes]
    ).astype(float)
    by_hand = neighbors(codes, 5, metric="gower", metric_params={"categorical": [1], "ordinal": [2]})
    np.testing.assert_array_equal(graph.distances, by_hand.distances)
    plain = frame.assign(size=frame["size"].astype(str))
    polars = pl.DataFrame({name: [None if v != v else v for v in plain[name]] for name in plain})
    arrow = pa.table({name: polars[name].to_list() for name in polars.columns})
    expected = neighbors(plain, 5, metric="gower")
    for other in (polars, arrow):
        np.testing.assert_array_equal(neighbors(other, 5, metric="gower").distances, expected.distances)


def test_new_rows_of_a_dataframe_get_the_codes_of_the_fit():
    frame = people()
    index = NeighborIndex(frame, metric="gower")
    found = index.query(frame.iloc[[9, 4]], 1)  # by themselves these have other categories
    np.testing.assert_array_equal(found.indices[:, 0], [9, 4])
    stranger = frame.iloc[[9]].assign(city="Rome")
    np.testing.assert_allclose(index.query(stranger, 1).distances, 1 / 3, atol=0.02)
    frame["size"] = frame["size"].cat.add_categories("XXL")
    giant = frame.iloc[[9]].assign(size="XXL")  # an unknown rank differs from all, too
    np.testing.assert_allclose(NeighborIndex(people(), metric="gower").query(giant, 1).distances, 1 / 3, atol=0.02)
    with pytest.raises(BadInputType, match="held text when the model was fitted"):
        index.query(frame.assign(city=1.0).astype({"size": str}), 1)
    with pytest.raises(BadInputType, match="type"):
        neighbors(frame.assign(day=pd.Timestamp("2024-01-01")), 3, metric="gower")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_mixed_rows(name, tmp_path):
    frame = people()
    model = METHODS[name].set_params(metric="gower", metric_params={"weights": {"age": 2.0}})
    Z = model.fit_transform(frame)
    assert Z.shape == (40, 2)
    assert np.isfinite(Z).all()
    assert model.metric_params_["categories"] == [None, ["Bonn", "Kiel", "Ulm"], ["S", "M", "L"]]
    new = frame.iloc[:6].assign(age=lambda f: f["age"] + 0.5)
    W = model.transform(new)
    np.testing.assert_allclose(
        model.transform(new.iloc[2:3])[0], W[2], rtol=1e-12 if name in ("ClassicalMDS", "LLE") else 0
    )
    save(model, tmp_path / "model.lowdim")
    again = load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(new), W)
    if name in ("UMAP", "TSNE", "Isomap"):  # fitted rows keep their positions, gaps or not
        np.testing.assert_allclose(model.transform(frame), Z, atol=0 if name != "Isomap" else 1e-6)
    threads = METHODS[name].set_params(n_jobs=2).fit_transform(frame)
    METHODS[name].set_params(n_jobs=None)
    np.testing.assert_array_equal(threads, Z)
    with pytest.raises(BadInput, match="infinity"):
        model.transform(new.assign(age=np.inf))


def test_classical_scaling_of_the_distances_is_that_of_the_rows(rng):
    X = mixed(rng)
    by_rows = ClassicalMDS(metric="gower", metric_params=PARAMS).fit_transform(X)
    by_distances = ClassicalMDS(metric="precomputed").fit_transform(gower_matrix(X, PARAMS))
    np.testing.assert_allclose(by_rows, by_distances, atol=1e-10)


def test_what_needs_rows_that_can_be_averaged_is_refused():
    frame = people()
    model = UMAP(metric="gower", n_epochs=5).fit(frame)
    with pytest.raises(BadInput, match="averages rows"):
        model.inverse_transform(model.embedding_)
    with pytest.raises(BadParameter, match="needs rows"):
        UMAP(metric="gower", n_epochs=5, init="pca").fit(frame)
