"""LLE: components, counts, kinds of input, out-of-sample rows, model files, and manifolds that it unrolls."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

import lowdim
from determinism import assert_same_bits
from lowdim import LLE, Graph, datasets
from lowdim.errors import BadInput, BadInputType, BadParameter, Cancelled, LowdimError, ModelFileError, NotEnoughData
from lowdim.manifold.lle.alignment import ALIGNMENTS

METHODS = list(ALIGNMENTS)
FLAT = ["modified", "hessian", "ltsa"]  # these recover planes exactly


def left_over(Z, truth):
    """The fraction of the true coordinates' variance that no linear map of Z explains, (d,)."""
    A = np.column_stack([Z, np.ones(len(Z))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return (rest**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)


def assert_same_span(A, B, tol=1e-6):
    cosines = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1]
    np.testing.assert_allclose(cosines, 1, atol=tol)


def rank_correlation(a, b):
    return abs(float(spearmanr(a, b).statistic))


# ---- components, duplicates, counts ----


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [40, 600])
def test_each_component_is_embedded_by_itself(method, n, rng):
    """Up to scale and offset it is the embedding of its own rows; none is a point, and no two overlap."""
    X = np.concatenate(
        [rng.standard_normal((size, 4)) + shift for size, shift in ((n, 0), (2 * n, 900), (n // 2, -900))]
    )
    labels = np.repeat([0, 1, 2], [n, 2 * n, n // 2])
    model = LLE(2, method=method, n_neighbors=10).fit(X)
    assert model.n_connected_components_ == 3
    np.testing.assert_array_equal(model.component_labels_, labels)
    edge = -np.inf
    for component, size in enumerate(np.bincount(labels)):
        part = model.embedding_[labels == component]
        assert part[:, 0].min() > edge
        edge = part[:, 0].max()
        centered = part - part.mean(axis=0)
        share = size / len(X)  # of the rows; columns have norm one before they are scaled by √share
        np.testing.assert_allclose(centered.T @ centered, np.eye(2) * share**2, atol=1e-9)
        if method != "modified":  # whose neighborhoods share one threshold
            alone = LLE(2, method=method, n_neighbors=10).fit(X[labels == component])
            assert_same_span(alone.embedding_, centered, 1e-5)
            np.testing.assert_allclose(model.component_eigenvalues_[component], alone.eigenvalues_, rtol=1e-6)
    np.testing.assert_array_equal(model.eigenvalues_, model.component_eigenvalues_[1])
    assert model.reconstruction_error_ == pytest.approx(model.component_eigenvalues_.sum())
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_new_row_belongs_to_one_component(metric, rng):
    """That of its nearest row, even where others of its neighbors are in another."""
    X = np.concatenate([rng.uniform(size=(30, 2)), rng.uniform(size=(40, 2)) + np.array([1.6, 0])])
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = LLE(2, n_neighbors=5, metric=metric).fit(D if metric == "precomputed" else X)
    assert model.n_connected_components_ == 2
    new = np.column_stack([np.linspace(0.5, 2.1, 60), np.full(60, 0.5)])
    apart = np.linalg.norm(new[:, None] - X, axis=2)
    own = np.where(apart.argmin(axis=1) < 30, 0, 1)
    mixed = 0
    for x, z, component in zip(new, model.transform(apart if metric == "precomputed" else new), own, strict=True):
        members = np.flatnonzero(model.component_labels_ == component)
        apart_from = np.linalg.norm(X - x, axis=1)
        nearest = members[np.argsort(apart_from[members])[:5]]
        mixed += set(nearest) != set(np.argsort(apart_from)[:5])
        G = (X[nearest] - x) @ (X[nearest] - x).T
        u = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(5), np.ones(5))
        np.testing.assert_allclose(z, u / u.sum() @ model.embedding_[nearest], atol=1e-8)
    assert mixed > 0


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_component_of_few_rows_has_fewer_coordinates(rng):
    X = np.concatenate([rng.standard_normal((3, 2)), rng.standard_normal((50, 2)) + 100])
    model = LLE(4, n_neighbors=2).fit(X)
    np.testing.assert_array_equal(model.component_eigenvalues_[0, 2:], 0)
    np.testing.assert_array_equal(model.embedding_[:3, 2:], 0)
    assert np.linalg.matrix_rank(model.embedding_[:3] - model.embedding_[:3].mean(axis=0)) == 2
    with pytest.raises(NotEnoughData, match="n_components=3 must be at most 2"):
        LLE(3, n_neighbors=2).fit(np.concatenate([X[:3], X[:3] + 1000]))


@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_is_no_others_neighbor_does_not_dominate(method, rng):
    X = np.concatenate([rng.uniform(size=(150, 2)), [[1.5, 1.5]]])
    assert not (lowdim.neighbors(X, 8).indices == 150).any()
    Z = LLE(2, method=method, n_neighbors=8).fit_transform(X)
    assert np.abs(Z[150]).max() < 0.9  # no eigenvector is concentrated on it


@pytest.mark.parametrize("method", METHODS)
def test_duplicates_are_fine(method, rng):
    X = np.repeat(rng.standard_normal((40, 3)), 3, axis=0)
    model = LLE(2, method=method, n_neighbors=12).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X)).all()


def test_invalid_counts(rng):
    X = rng.standard_normal((20, 4))
    with pytest.raises(NotEnoughData, match="at most 19"):
        LLE(n_neighbors=20).fit(X)
    with pytest.raises(NotEnoughData, match=r"'hessian' with n_components=2 needs n_neighbors of at least 6; got 5"):
        LLE(2, method="hessian", n_neighbors=5).fit(X)
    LLE(2, method="hessian", n_neighbors=6).fit(X)
    with pytest.raises(NotEnoughData, match="at least 3"):
        LLE(2, method="ltsa", n_neighbors=2).fit(X)
    with pytest.raises(NotEnoughData, match="n_components=20 must be at most 19"):
        LLE(20).fit(X)
    assert LLE(19).fit(X).embedding_.shape == (20, 19)
    assert LLE().fit(X[:6]).n_neighbors_ == 5  # None takes all others


# ---- inputs ----


def test_a_given_graph_saves_the_search(rng):
    X = rng.standard_normal((100, 4))
    graph = lowdim.neighbors(X, 15)
    np.testing.assert_array_equal(
        LLE(n_neighbors=9).fit(X).embedding_, LLE(n_neighbors=9).fit(X, graph=graph).embedding_
    )
    with pytest.raises(BadInput, match="100 rows"):
        LLE().fit(X, graph=lowdim.neighbors(X[:50], 5))
    with pytest.raises(NotEnoughData, match="at most 15"):
        LLE(n_neighbors=16).fit(X, graph=graph)
    assert isinstance(graph, Graph)


def test_a_graph_holds_its_rows(rng):
    X, new = rng.standard_normal((100, 4)), rng.standard_normal((5, 4))
    graph = lowdim.neighbors(X, 12)
    want, found = LLE().fit(X), LLE().fit(graph)
    np.testing.assert_array_equal(found.embedding_, want.embedding_)
    np.testing.assert_array_equal(found.transform(new), want.transform(new))
    np.testing.assert_array_equal(LLE(n_neighbors=7).fit(graph).embedding_, LLE(n_neighbors=7).fit(X).embedding_)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    by_distance = LLE(metric="precomputed").fit(lowdim.neighbors(D, 12, metric="precomputed"))
    np.testing.assert_array_equal(by_distance.embedding_, LLE(metric="precomputed").fit(D).embedding_)
    with pytest.raises(BadParameter, match="metric='euclidean' is not that of the graph, 'cosine'"):
        LLE().fit(lowdim.neighbors(X, 12, metric="cosine"))
    with pytest.raises(BadInputType, match=r"fit\(X, graph=graph\)"):
        LLE().fit(Graph(graph.indices, graph.distances))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_given_graph_does_not_hide_bad_values(bad, rng):
    X = rng.standard_normal((60, 4))
    graph = lowdim.neighbors(X, 8)
    X[7, 2] = bad
    words = "overflow" if bad == 1e200 else "row 7, column 2"
    model = LLE()
    with pytest.raises(BadInput, match=words):
        model.fit(X, graph=graph)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("fitted", [np.float32, np.float64])
def test_new_rows_of_another_dtype(fitted, rng):
    X, new = rng.integers(-9, 9, (80, 4)), rng.integers(-9, 9, (5, 4))
    model = LLE().fit(X.astype(fitted))
    for kind, result in ((np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)):
        found = model.transform(new.astype(kind))
        assert found.dtype == result
        np.testing.assert_allclose(found, model.transform(new.astype(fitted)), rtol=1e-6)
        np.testing.assert_array_equal(model.transform(X.astype(kind)), model.embedding_.astype(result))
    if fitted == np.float32:
        with pytest.raises(BadInput, match="overflow"):
            model.transform(np.full((1, 4), 1e100))


@pytest.mark.parametrize("method", METHODS)
def test_distances_give_the_embedding_of_the_rows(method, rng):
    X, new = rng.standard_normal((80, 4)), rng.standard_normal((5, 4))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rows, distances = LLE(2, method=method).fit(X), LLE(2, method=method, metric="precomputed").fit(D)
    assert_same_span(rows.embedding_, distances.embedding_)
    signs = np.sign((rows.embedding_ * distances.embedding_).sum(axis=0))
    embedded = distances.transform(np.linalg.norm(new[:, None] - X, axis=2))
    np.testing.assert_allclose(rows.transform(new), embedded * signs, atol=1e-6)


def test_kinds_of_rows(rng):
    X = np.where(rng.uniform(size=(120, 6)) < 0.4, 0, rng.standard_normal((120, 6)))
    plain = LLE().fit_transform(X)
    np.testing.assert_array_equal(LLE().fit_transform(sp.csr_array(X)), plain)
    np.testing.assert_array_equal(LLE().fit_transform(np.asfortranarray(X)), plain)
    narrow = LLE().fit(X.astype(np.float32))
    assert narrow.embedding_.dtype == narrow.transform(X[:3].astype(np.float32)).dtype == np.float32
    other = LLE(metric="manhattan").fit_transform(X)
    assert np.abs(other - plain).max() > 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["sheet", "cloud"])
def test_the_same_bits_for_any_number_of_threads(method, kind, rng, monkeypatch):
    monkeypatch.setattr("lowdim.linalg.chebyshev.ENTRIES_PER_THREAD", 10_000)  # so that they have work
    X = datasets.load("swissroll", n=1200).X if kind == "sheet" else rng.standard_normal((700, 20))
    model = LLE(2, method=method, solver="factor" if kind == "sheet" else "chebyshev", tol=1)

    def work(threads):
        return model.set_params(n_jobs=threads).fit(X).embedding_, model.transform(X[:50] + 0.01)

    assert_same_bits(work)


def test_it_can_be_watched_and_cancelled(rng):
    X = rng.standard_normal((1100, 10))
    model = LLE(solver="chebyshev", method="ltsa")
    steps = []
    with lowdim.watch(lambda step: steps.append(step.task)):
        model.fit(X)
    assert "eigenvectors" in steps
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "eigenvectors"):
        model.fit(X)
    assert not hasattr(model, "embedding_")


def test_an_iteration_that_does_not_converge_raises(rng, monkeypatch):
    monkeypatch.setattr("lowdim.linalg.sparse_eigen.MAX_PRODUCTS", 20)
    with pytest.raises(LowdimError, match="did not reach"):
        LLE(solver="chebyshev").fit(rng.standard_normal((1100, 8)))


# ---- new rows ----


@pytest.mark.parametrize("metric", ["cosine", "precomputed"])
def test_a_model_file_keeps_every_bit(metric, rng, tmp_path):
    X = rng.uniform(1, 2, (60, 60)).astype(np.float32)
    X = ((X + X.T) * (1 - np.eye(60))).astype(np.float32)
    model = LLE(2, metric=metric, method="ltsa").fit(X)
    lowdim.save(model, tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(loaded.transform(X[:7] * 1.1), model.transform(X[:7] * 1.1))


def test_a_model_that_contradicts_itself_is_refused(tmp_path, rng):
    X = rng.standard_normal((40, 3))
    good = LLE(2).fit(X)
    for name, value in [
        ("embedding_", good.embedding_[:-1]),
        ("X_fit_", X[:-1]),
        ("X_fit_", X[:, :2]),
        ("X_fit_", None),
        ("X_fit_", np.full((40, 3), np.nan)),
        ("component_labels_", np.ones(40, np.int32)),
        ("component_labels_", np.zeros(39, np.int32)),
        ("component_eigenvalues_", np.zeros((1, 3))),
        ("eigenvalues_", np.zeros(3)),
        ("n_connected_components_", 2),
        ("n_neighbors_", 40),
        ("n_neighbors_", 0),
        ("n_neighbors_", None),
        ("reconstruction_error_", np.inf),
        ("solver_", "magic"),
    ]:
        model = LLE(2).fit(X)
        setattr(model, name, value)
        with pytest.raises(ModelFileError, match="contradicts itself"):
            lowdim.save(model, tmp_path / "odd.lowdim")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_rows_get_their_own_positions(method, dtype, rng):
    X = rng.standard_normal((200, 4)).astype(dtype)
    model = LLE(2, method=method).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_new_rows_are_reconstructed_from_their_neighbors(rng):
    X, new = rng.standard_normal((100, 4)), rng.standard_normal((7, 4))
    model = LLE(2, n_neighbors=6).fit(X)
    for x, z in zip(new, model.transform(new), strict=True):
        nearest = np.argsort(np.linalg.norm(X - x, axis=1))[:6]
        G = (X[nearest] - x) @ (X[nearest] - x).T
        u = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(6), np.ones(6))
        np.testing.assert_allclose(z, u / u.sum() @ model.embedding_[nearest], atol=1e-10)
    np.testing.assert_array_equal(model.transform(new)[3:4], model.transform(new[3:4]))


@pytest.mark.parametrize("method", FLAT)
def test_new_rows_of_a_swiss_roll_are_near_their_true_coordinates(method):
    roll = datasets.load("swissroll", n=2400)
    truth = np.column_stack([roll.labels, roll.X[:, 1]])
    model = LLE(2, method=method).fit(roll.X[:2000])
    known = np.column_stack([model.embedding_, np.ones(2000)])
    to_truth = np.linalg.lstsq(known, truth[:2000], rcond=None)[0]
    embedded = np.column_stack([model.transform(roll.X[2000:]), np.ones(400)]) @ to_truth
    off = np.abs(embedded - truth[2000:]) / np.ptp(truth, axis=0)
    assert np.median(off) < 0.01
    assert np.quantile(off, 0.95) < 0.05


# ---- manifolds ----


@pytest.mark.parametrize("method", METHODS)
def test_the_spiral_is_unrolled(method):
    spiral = datasets.load("spiral", n=500)
    Z = LLE(1, method=method, n_neighbors=12).fit_transform(spiral.X)
    assert rank_correlation(Z[:, 0], spiral.labels) > 0.99
    assert rank_correlation(lowdim.PCA(1).fit_transform(spiral.X)[:, 0], spiral.labels) < 0.9


@pytest.mark.parametrize("method", FLAT)
@pytest.mark.parametrize("name", ["swissroll", "scurve"])
def test_sheets_are_unrolled(method, name):
    """Both coordinates of the sheet are recovered up to a linear map."""
    sheet = datasets.load(name, n=1500)
    Z = LLE(2, method=method).fit_transform(sheet.X)
    assert left_over(Z, np.column_stack([sheet.labels, sheet.X[:, 1]])).max() < 0.02


@pytest.mark.parametrize("name", ["swissroll", "scurve"])
def test_standard_weights_unroll_the_length_of_a_sheet(name):
    """Standard weights distort the sheet, and still order its rows along it, as no linear method does."""
    sheet = datasets.load(name, n=1500)
    Z = LLE(2, method="standard").fit_transform(sheet.X)
    assert max(rank_correlation(column, sheet.labels) for column in Z.T) > 0.99
