"""Every metric against SciPy or scikit-learn: condensed, between two tables, in the search; parameters and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import haversine_distances

from lowdim import MDS, TSNE, UMAP, ClassicalMDS, Isomap, load, neighbors, save
from lowdim.data.rows import open_rows
from lowdim.distance.metrics import METRICS, metric_of
from lowdim.distance.pairwise import prepare_rows
from lowdim.errors import BadInput, BadParameter, LowdimError, ModelFileError
from lowdim.knn.index import NeighborIndex

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(70, 6)) * [1, 2, 0.5, 3, 1, 10]
TABLE[:, 0] += 1e6  # where a careless formula loses the digits
SIGNED = RNG.normal(size=(70, 6))
SIGNED[RNG.random((70, 6)) < 0.2] = 0
SHARES = RNG.gamma(0.5, size=(70, 6))
SHARES[3] = 0
BITS = (RNG.random((70, 70)) < 0.3).astype(float)
VALUES = RNG.integers(0, 4, (70, 6)).astype(float)
PLACES = np.column_stack([RNG.uniform(-np.pi / 2, np.pi / 2, 70), RNG.uniform(-np.pi, np.pi, 70)])
HALF = 35
V = np.var(TABLE, axis=0, ddof=1)
COVARIANCE = np.cov(TABLE[:, 1:], rowvar=False)


def hellinger(X, Y):
    sums = [np.where(Z.sum(axis=1) > 0, Z.sum(axis=1), 1)[:, None] for Z in (X, Y)]
    P, Q = np.sqrt(X / sums[0]), np.sqrt(Y / sums[1])
    empty = [Z.sum(axis=1) == 0 for Z in (X, Y)]
    return np.where(empty[0][:, None] ^ empty[1], 1.0, cdist(P, Q) / np.sqrt(2))  # nothing differs from a whole by 1


def scipy_metric(name, **params):
    return lambda X, Y: cdist(X, Y, name, **params)


def scipy_sets(name):
    return lambda X, Y: cdist(X != 0, Y != 0, name)


# name, table, parameters, oracle
CASES = {
    "minkowski 3": ("minkowski", SIGNED, {"p": 3}, scipy_metric("minkowski", p=3)),
    "minkowski 1.5": ("minkowski", SIGNED, {"p": 1.5}, scipy_metric("minkowski", p=1.5)),
    "minkowski 2.7": ("minkowski", SIGNED, {"p": 2.7}, scipy_metric("minkowski", p=2.7)),
    "minkowski 4": ("minkowski", SIGNED, {"p": 4}, scipy_metric("minkowski", p=4)),
    "minkowski 1": ("minkowski", SIGNED, {"p": 1}, scipy_metric("cityblock")),
    "minkowski": ("minkowski", SIGNED, None, scipy_metric("euclidean")),
    "minkowski inf": ("minkowski", SIGNED, {"p": np.inf}, scipy_metric("chebyshev")),
    "seuclidean": ("seuclidean", TABLE, None, scipy_metric("seuclidean", V=V)),
    "seuclidean V": ("seuclidean", TABLE, {"V": np.arange(1.0, 7)}, scipy_metric("seuclidean", V=np.arange(1.0, 7))),
    "mahalanobis": (
        "mahalanobis",
        TABLE[:, 1:],
        None,
        scipy_metric("mahalanobis", VI=np.linalg.inv(COVARIANCE)),
    ),
    "mahalanobis V": (
        "mahalanobis",
        SIGNED[:, 1:],
        {"V": COVARIANCE},
        scipy_metric("mahalanobis", VI=np.linalg.inv(COVARIANCE)),
    ),
    "canberra": ("canberra", SIGNED, None, scipy_metric("canberra")),
    "braycurtis": ("braycurtis", SHARES[4:], None, scipy_metric("braycurtis")),
    "hellinger": ("hellinger", SHARES, None, hellinger),
    "haversine": ("haversine", PLACES, None, haversine_distances),
    "hamming": ("hamming", VALUES, None, scipy_metric("hamming")),
    "hamming bits": ("hamming", BITS, None, scipy_metric("hamming")),
    "jaccard": ("jaccard", BITS, None, scipy_sets("jaccard")),
    "dice": ("dice", BITS, None, scipy_sets("dice")),
    "russellrao": ("russellrao", BITS, None, scipy_sets("russellrao")),
    "rogerstanimoto": ("rogerstanimoto", BITS, None, scipy_sets("rogerstanimoto")),
    "sokalmichener": ("sokalmichener", BITS, None, scipy_sets("rogerstanimoto")),
    "sokalsneath": ("sokalsneath", BITS, None, scipy_sets("sokalsneath")),
    "yule": ("yule", BITS, None, scipy_sets("yule")),
}


def test_every_metric_has_an_oracle():
    elsewhere = {"euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "correlation", "precomputed", "gower"}
    assert {name for name, *_ in CASES.values()} | elsewhere == set(METRICS)


@pytest.mark.parametrize("case", CASES)
def test_distances_are_those_of_the_oracle(case):
    name, X, params, oracle = CASES[case]
    fitted = prepare_rows(open_rows(X), metric_of(name, params), 2)
    D = oracle(X, X)
    bound = 3e-8 if name == "haversine" else 1e-10  # half a turn away, one digit of the sine is eight of the angle
    pairs = fitted.pairs()
    np.testing.assert_allclose(pairs.distances * pairs.unit, D[np.triu_indices(len(X), 1)], rtol=bound, atol=bound)
    new = prepare_rows(open_rows(X[:5]), fitted.metric, 1, fitted)
    np.testing.assert_allclose(fitted.distances_from(new), D[:5], rtol=bound, atol=bound)
    narrow = prepare_rows(open_rows(X.astype(np.float32)), metric_of(name, params), 1)
    if not name.startswith(("seuclidean", "mahalanobis")):
        assert narrow.pairs().distances.dtype == np.float32
        np.testing.assert_allclose(narrow.distances_from(narrow), D, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_the_search_finds_the_nearest(case):
    name, X, params, oracle = CASES[case]
    D = oracle(X, X)
    fitted, new = X[:HALF], X[HALF:]
    if name in ("seuclidean", "mahalanobis"):
        params = {"V": V} if name == "seuclidean" else params or {"V": COVARIANCE}
        D = cdist(X, X, "seuclidean", V=V) if name == "seuclidean" else cdist(X, X, name, VI=np.linalg.inv(params["V"]))
    expected = D[:HALF, :HALF] + np.where(np.eye(HALF, dtype=bool), np.inf, 0)
    graph = neighbors(fitted, 7, metric=name, metric_params=params)
    bound = 1e-6 if name != "haversine" else 1e-5
    np.testing.assert_allclose(graph.distances, np.sort(expected, axis=1)[:, :7], rtol=bound, atol=bound)
    index = NeighborIndex(fitted, metric=name, metric_params=params)
    found = index.query(new, 7)
    np.testing.assert_allclose(found.distances, np.sort(D[HALF:, :HALF], axis=1)[:, :7], rtol=bound, atol=bound)
    one = index.query(new[3:4], 7)  # the same by itself
    np.testing.assert_array_equal(one.indices[0], found.indices[3])
    np.testing.assert_array_equal(one.distances[0], found.distances[3])


@pytest.mark.parametrize("case", ["minkowski 2.7", "canberra", "braycurtis", "hamming", "mahalanobis V", "hellinger"])
def test_an_approximate_search_misses_few(case):
    name, X, params, oracle = CASES[case]
    rng = np.random.default_rng(2)
    X = np.abs(X[rng.integers(0, len(X), 600)] + rng.integers(0, 2, (600, X.shape[1])))
    graphs = [
        neighbors(X, 8, metric=name, metric_params=params, algorithm="approximate", n_jobs=jobs) for jobs in (1, 2)
    ]
    assert graphs[0] == graphs[1]
    D = np.sort(oracle(X, X) + np.where(np.eye(600, dtype=bool), np.inf, 0), axis=1)[:, :8]
    assert (np.abs(graphs[0].distances - D) <= 1e-5 * (1 + D)).mean() > 0.97
    index = NeighborIndex(X, metric=name, metric_params=params, algorithm="approximate")
    found = index.query(X[:50], 3)
    assert (found.distances[:, 0] < 1e-6).mean() > 0.95


@pytest.mark.parametrize(
    ("metric", "params", "X", "words"),
    [
        ("minkowski", {"p": 0.5}, SIGNED, "at least 1"),
        ("minkowski", {"p": "two"}, SIGNED, "at least 1"),
        ("minkowski", {"p": 10**400}, SIGNED, "at least 1"),
        ("minkowski", {"q": 2}, SIGNED, "no parameter 'q'; it has p"),
        ("euclidean", {"p": 2}, SIGNED, "it has none"),
        ("seuclidean", {"V": np.zeros(6)}, SIGNED, "column 0 is 0"),
        ("seuclidean", None, np.column_stack([SIGNED, np.ones(70)]), "column 6 is 0"),
        ("seuclidean", {"V": [1.0]}, SIGNED, "one finite number per column"),
        ("mahalanobis", None, SIGNED[:4], "singular"),
        ("mahalanobis", {"VI": -np.eye(6)}, SIGNED, "negative eigenvalue"),
        ("mahalanobis", {"VI": np.triu(np.ones((6, 6)))}, SIGNED, "symmetric"),
        ("haversine", None, SIGNED, "two columns"),
        ("haversine", None, 50 + PLACES, "np.radians"),
        ("hellinger", None, SIGNED, "negative"),
        ("jaccard", None, SIGNED, "0 or 1"),
        ("yule", None, SIGNED, "0 or 1"),
        ("canberra", None, np.where(SIGNED > 2, np.nan, SIGNED), "NaN"),
        ("mahalanobis", None, np.where(SIGNED > 2, np.nan, SIGNED), "NaN"),
        ("hamming", None, np.where(SIGNED > 2, np.nan, SIGNED), "NaN"),
        ("hellinger", None, np.where(SHARES > 2, np.inf, SHARES), "NaN or infinity"),
    ],
)
def test_what_a_metric_can_not_use_is_refused_by_name(metric, params, X, words):
    for fit in (
        lambda: neighbors(X, 3, metric=metric, metric_params=params),
        lambda: ClassicalMDS(metric=metric, metric_params=params).fit(X),
    ):
        with pytest.raises(LowdimError, match=words):
            fit()


def test_braycurtis_of_opposite_rows_is_refused():
    X = np.vstack([SIGNED[:5], -SIGNED[:1]])
    with pytest.raises(BadInput, match="add up to 0"):
        ClassicalMDS(metric="braycurtis").fit(X)


def test_parameters_must_be_a_dict():
    with pytest.raises(BadParameter, match="metric_params must be None, or a dict"):
        UMAP(metric_params=[3]).fit(SIGNED)
    with pytest.raises(BadParameter, match="metric_params"):
        neighbors(SIGNED, 3, metric="minkowski", metric_params=3)


def test_a_function_takes_keywords():
    def scaled(a, b, factor=1.0):
        return factor * float(np.abs(a - b).sum())

    plain, twice = (neighbors(SIGNED, 3, metric=scaled, metric_params=p) for p in (None, {"factor": 2.0}))
    np.testing.assert_allclose(twice.distances, 2 * plain.distances)


def test_sparse_rows_give_the_distances_of_dense_ones():
    X = np.where(SHARES > 1, SHARES, 0.0)[5:]
    for metric in ("canberra", "hellinger", "minkowski", "hamming"):
        params = {"p": 3} if metric == "minkowski" else None
        dense, sparse = (neighbors(Z, 4, metric=metric, metric_params=params) for Z in (X, sp.csr_array(X)))
        np.testing.assert_allclose(dense.distances, sparse.distances, rtol=3e-7)  # two roundings of float32


@pytest.mark.parametrize("cls", [ClassicalMDS, Isomap, UMAP, TSNE])
def test_variances_of_the_fitted_rows_serve_new_ones_and_model_files(cls, tmp_path):
    X = SIGNED[:, 1:]
    settings = {"n_epochs": 5} if cls is UMAP else {"max_iter": 30, "perplexity": 20.0} if cls is TSNE else {}
    model = cls(metric="mahalanobis", **settings).fit(X)
    VI = np.linalg.inv(np.cov(X, rowvar=False))
    np.testing.assert_allclose(model.metric_params_["VI"], VI, rtol=1e-9, atol=1e-12)
    new = X[:3] + 0.01
    save(model, tmp_path / "model.lowdim")
    again = load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    np.testing.assert_array_equal(again.metric_params_["VI"], model.metric_params_["VI"])
    given = cls(metric="mahalanobis", metric_params={"VI": model.metric_params_["VI"]}, **settings).fit(X)
    np.testing.assert_array_equal(given.embedding_, model.embedding_)


def test_a_model_file_without_the_variances_is_refused(tmp_path):
    model = Isomap(metric="seuclidean").fit(SIGNED)
    del model.metric_params_["V"]
    with pytest.raises(ModelFileError, match="lacks V"):
        save(model, tmp_path / "model.lowdim")


def test_a_graph_is_used_by_a_model_of_the_same_parameters_alone():
    graph = neighbors(SIGNED, 6, metric="minkowski", metric_params={"p": 3})
    same = Isomap(metric="minkowski", metric_params={"p": 3}).fit(graph)
    assert same.X_fit_ is not None
    assert Isomap(metric="minkowski", metric_params={"p": 4}).fit(graph).X_fit_ is None
    joined = graph.join(SIGNED)
    assert joined.shape == (70, 70)


def test_sgd_takes_the_metrics_of_single_pairs():
    model = MDS(metric="canberra", solver="sgd", max_iter=15, random_state=1).fit(SIGNED)
    exact = MDS(metric="canberra", solver="smacof").fit(SIGNED)
    assert model.stress1_ < 1.15 * exact.stress1_
    D = pdist(SIGNED, "canberra")
    assert model.stress1_ == pytest.approx(np.sqrt(((D - pdist(model.embedding_)) ** 2).sum() / (D**2).sum()), rel=1e-6)
