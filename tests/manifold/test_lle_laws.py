"""Laws of the LLE family: what weights, alignments and maps must satisfy, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import lowdim
from determinism import assert_same_bits
from lowdim import LLE, Graph, datasets
from lowdim.errors import BadInput, BadInputType, BadParameter, Cancelled, LowdimError, ModelFileError, NotEnoughData
from lowdim.manifold.lle.alignment import ALIGNMENTS
from lowdim.manifold.lle.patches import Patches, add_blocks, grams_of_distances, grams_of_rows, weights_of

METHODS = list(ALIGNMENTS)
FLAT = ["modified", "hessian", "ltsa"]  # these keep planes as they are


def patches_of(X, k):
    indices = lowdim.neighbors(X, k).indices
    return Patches(indices, grams_of_rows(X, X, indices, 1), 1)


def matrix_of(X, k, method, d=2, reg=1e-3):
    patches = patches_of(X, k)
    return add_blocks(patches.members, ALIGNMENTS[method](patches, d, reg), 1)


def plane(n=300, d=5, seed=0):
    """Points of a plane in d dimensions, and their coordinates on it."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(size=(n, 2))
    axes = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    return flat @ axes.T + rng.standard_normal(d), flat


def left_over(Z, truth):
    """The share of the true coordinates' variance that no linear map of Z explains, (d,)."""
    A = np.column_stack([Z, np.ones(len(Z))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return (rest**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)


def assert_same_span(A, B, tol=1e-6):
    cosines = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1]
    np.testing.assert_allclose(cosines, 1, atol=tol)


def rank_correlation(a, b):
    return abs(float(spearmanr(a, b).statistic))


# ---- weights ----


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 100))
def test_weights_solve_the_lecture_system(m, k, seed):
    D = np.random.default_rng(seed).standard_normal((m, k, 5))
    G = D @ D.transpose(0, 2, 1)
    w = weights_of(G, 1e-3, 2)
    for i in range(m):
        u = np.linalg.solve(G[i] + 1e-3 * np.trace(G[i]) * np.eye(k), np.ones(k))
        np.testing.assert_allclose(w[i], u / u.sum(), rtol=1e-9)


def test_weights_make_a_point_of_an_affine_set_exactly(rng):
    corners = rng.standard_normal((3, 4))
    share = rng.dirichlet(np.ones(3))
    D = corners - share @ corners
    np.testing.assert_allclose(weights_of((D @ D.T)[None], 0.0, 1)[0], share, atol=1e-9)
    many = rng.standard_normal((20, 2))  # more neighbours than dimensions: many exact weights, one of them
    w = weights_of((many @ many.T)[None], 1e-12, 1)[0]
    assert w.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(w @ many, 0, atol=1e-9)


def test_weights_of_equal_rows_are_equal():
    np.testing.assert_array_equal(weights_of(np.zeros((3, 4, 4)), 1e-3, 1), np.full((3, 4), 0.25))


def test_weights_from_distances_that_are_not_euclidean(rng):
    D = rng.uniform(1, 9, (30, 30))
    D = (D + D.T) * (1 - np.eye(30))
    indices = lowdim.neighbors(D, 6, metric="precomputed").indices
    w = weights_of(grams_of_distances(D, D, indices), 1e-3, 1)
    assert np.isfinite(w).all()
    np.testing.assert_allclose(w.sum(axis=1), 1)


# ---- the matrix ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 8), (61, 6, 7), (90, 20, 12)])
def test_the_matrix_is_semidefinite_and_sends_constants_to_zero(method, n, d, k, rng):
    M = matrix_of(rng.standard_normal((n, d)), k, method).toarray()
    np.testing.assert_allclose(M @ np.ones(n), 0, atol=1e-11 * np.abs(M).max())
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    assert np.linalg.eigvalsh(M).min() > -1e-10


POOR = {
    "more equal rows than neighbours": np.repeat(np.random.default_rng(0).standard_normal((4, 3)), 20, axis=0),
    "some of them": np.concatenate([np.zeros((30, 3)), np.random.default_rng(1).standard_normal((50, 3))]),
    "a single column": np.random.default_rng(2).standard_normal((80, 1)),
    "a line in space": np.outer(np.random.default_rng(3).uniform(size=80), [1.0, 2.0, -1.0]) + 5,
    "a grid": np.stack(np.meshgrid(np.arange(10.0), np.arange(8.0)), axis=-1).reshape(-1, 2),
    "a circle": np.column_stack([np.cos(t := np.arange(80) * np.pi / 40), np.sin(t)]),
    "all rows equal": np.full((80, 3), 0.1),
}


@pytest.mark.parametrize("name", POOR)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2])
def test_patches_short_of_a_direction_keep_the_laws(method, name, d):
    """Blocks are semidefinite and send constants to zero, one by one; the map is finite."""
    patches = patches_of(POOR[name], 10)
    for scale in (1.0, 1e-6):
        B = ALIGNMENTS[method](Patches(patches.indices, scale**2 * patches.grams, 1), d, 1e-3)
        largest = np.abs(B).max()
        np.testing.assert_allclose(B.sum(axis=2), 0, atol=1e-11 * largest)
        np.testing.assert_allclose(B, B.transpose(0, 2, 1), atol=1e-12 * largest)
        assert np.linalg.eigvalsh(B).min() > -1e-11 * largest
    M = matrix_of(POOR[name], 10, method, d).toarray()
    np.testing.assert_allclose(M @ np.ones(80), 0, atol=1e-11 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > -1e-10 * np.abs(M).max()
    model = LLE(d, method=method, n_neighbors=10).fit(POOR[name])
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(POOR[name] + 0.01)).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_coordinates_are_those_of_the_patch(d, rng):
    """Orthonormal, centred, along the widest directions; none where a patch has no more of them."""
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 6))
    patches = patches_of(X, 7)
    U = patches.coordinates(d)
    np.testing.assert_allclose(U.sum(axis=1), 0, atol=1e-12)
    for i in range(50):
        rows = X[patches.members[i]]
        widest = np.linalg.svd(rows - rows.mean(axis=0))[0][:, : min(d, 2)]
        np.testing.assert_allclose(U[i] @ U[i].T, widest @ widest.T, atol=1e-9)


def test_second_derivatives_that_say_nothing_new_are_left_out():
    """On a circle x² + y² is constant: two of the three products are left."""
    angle = np.linspace(0, 2 * np.pi, 9)[:-1]
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    indices = np.array([[j for j in range(8) if j != i] for i in range(8)], dtype=np.int32)
    patches = Patches(indices, grams_of_rows(X, X, indices, 1), 1)
    B = ALIGNMENTS["hessian"](patches, 2, 0.0)
    np.testing.assert_allclose(np.trace(B, axis1=1, axis2=2), 2, atol=1e-9)  # a projection on two directions
    np.testing.assert_allclose(B @ B, B, atol=1e-9)


def test_the_standard_matrix_is_the_lectures(rng):
    X = rng.standard_normal((50, 4))
    patches = patches_of(X, 6)
    W = np.zeros((50, 50))
    np.put_along_axis(W, patches.indices.astype(np.int64), patches.weights(1e-3), axis=1)
    M = matrix_of(X, 6, "standard")
    np.testing.assert_allclose(M.toarray(), (np.eye(50) - W).T @ (np.eye(50) - W), atol=1e-13)
    assert M.has_sorted_indices


@pytest.mark.parametrize("method", FLAT)
def test_coordinates_of_a_plane_cost_nothing(method):
    X, flat = plane()
    M = matrix_of(X, 10, method, reg=1e-10)
    assert np.abs(M @ flat).max() < 1e-9


# ---- the map ----


@pytest.mark.parametrize("method", FLAT)
@pytest.mark.parametrize("n", [300, 1500])
def test_a_plane_is_recovered(method, n):
    X, flat = plane(n)
    model = LLE(2, method=method, n_neighbors=10, reg=1e-9).fit(X)
    assert left_over(model.embedding_, flat).max() < 1e-6
    assert model.reconstruction_error_ < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_the_map_is_orthonormal_centred_and_scored_by_its_objective(method, rng):
    X = rng.standard_normal((150, 5))
    model = LLE(2, method=method, n_neighbors=9).fit(X)
    Z = model.embedding_
    np.testing.assert_allclose(Z.T @ Z, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(Z.sum(axis=0), 0, atol=1e-9)
    M = matrix_of(X, 9, method)
    assert np.trace(Z.T @ (M @ Z)) == pytest.approx(model.reconstruction_error_, rel=1e-8)
    assert (np.diff(model.eigenvalues_) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_shifts_turns_and_scales_change_nothing(method, rng):
    X = datasets.load("scurve", n=250).X
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    first = LLE(2, method=method).fit(X)
    second = LLE(2, method=method).fit(37.0 * X @ turn + 5.0)
    assert_same_span(first.embedding_, second.embedding_, 1e-4)
    np.testing.assert_allclose(first.eigenvalues_, second.eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_rows_does_not_matter(method, rng):
    X = rng.standard_normal((200, 4))
    order = rng.permutation(200)
    first, second = (LLE(2, method=method).fit(rows) for rows in (X, X[order]))
    assert_same_span(first.embedding_[order], second.embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_every_solver_finds_the_same(method, rng):
    X = rng.standard_normal((600, 6)).astype(np.float64)
    found = {solver: LLE(2, method=method, solver=solver).fit(X) for solver in ("dense", "factor", "chebyshev")}
    for solver, model in found.items():
        assert model.solver_ == solver
        np.testing.assert_allclose(model.eigenvalues_, found["dense"].eigenvalues_, rtol=1e-8, atol=1e-13)
        np.testing.assert_allclose(np.abs((model.embedding_ * found["dense"].embedding_).sum(axis=0)), 1, atol=1e-6)


def test_the_solver_fits_the_shape(rng):
    assert LLE().fit(rng.standard_normal((300, 3))).solver_ == "dense"
    assert LLE().fit(datasets.load("swissroll", n=1500).X).solver_ == "factor"
    assert LLE(method="ltsa").fit(rng.standard_normal((2600, 12))).solver_ == "chebyshev"


# ---- pieces, duplicates, counts ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [40, 600])
def test_each_piece_is_mapped_by_itself(method, n, rng):
    """Up to size and place it is the map of its own rows; none is a point, and no two overlap."""
    X = np.concatenate(
        [rng.standard_normal((size, 4)) + shift for size, shift in ((n, 0), (2 * n, 900), (n // 2, -900))]
    )
    labels = np.repeat([0, 1, 2], [n, 2 * n, n // 2])
    model = LLE(2, method=method, n_neighbors=10).fit(X)
    assert model.n_connected_components_ == 3
    np.testing.assert_array_equal(model.components_of_rows_, labels)
    edge = -np.inf
    for piece, size in enumerate(np.bincount(labels)):
        part = model.embedding_[labels == piece]
        assert part[:, 0].min() > edge
        edge = part[:, 0].max()
        centred = part - part.mean(axis=0)
        share = size / len(X)  # of the rows; columns have length one before they are scaled by √share
        np.testing.assert_allclose(centred.T @ centred, np.eye(2) * share**2, atol=1e-9)
        if method != "modified":  # whose patches share one bound
            alone = LLE(2, method=method, n_neighbors=10).fit(X[labels == piece])
            assert_same_span(alone.embedding_, centred, 1e-5)
            np.testing.assert_allclose(model.component_eigenvalues_[piece], alone.eigenvalues_, rtol=1e-6)
    np.testing.assert_array_equal(model.eigenvalues_, model.component_eigenvalues_[1])
    assert model.reconstruction_error_ == pytest.approx(model.component_eigenvalues_.sum())
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_new_row_belongs_to_one_piece(metric, rng):
    """That of its nearest row, even where others of its neighbours are in another."""
    X = np.concatenate([rng.uniform(size=(30, 2)), rng.uniform(size=(40, 2)) + np.array([1.6, 0])])
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = LLE(2, n_neighbors=5, metric=metric).fit(D if metric == "precomputed" else X)
    assert model.n_connected_components_ == 2
    new = np.column_stack([np.linspace(0.5, 2.1, 60), np.full(60, 0.5)])
    apart = np.linalg.norm(new[:, None] - X, axis=2)
    own = np.where(apart.argmin(axis=1) < 30, 0, 1)
    mixed = 0
    for x, z, piece in zip(new, model.transform(apart if metric == "precomputed" else new), own, strict=True):
        members = np.flatnonzero(model.components_of_rows_ == piece)
        apart_from = np.linalg.norm(X - x, axis=1)
        nearest = members[np.argsort(apart_from[members])[:5]]
        mixed += set(nearest) != set(np.argsort(apart_from)[:5])
        G = (X[nearest] - x) @ (X[nearest] - x).T
        u = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(5), np.ones(5))
        np.testing.assert_allclose(z, u / u.sum() @ model.embedding_[nearest], atol=1e-8)
    assert mixed > 0


def test_a_piece_of_few_rows_has_fewer_columns(rng):
    X = np.concatenate([rng.standard_normal((3, 2)), rng.standard_normal((50, 2)) + 100])
    model = LLE(4, n_neighbors=2).fit(X)
    np.testing.assert_array_equal(model.component_eigenvalues_[0, 2:], 0)
    np.testing.assert_array_equal(model.embedding_[:3, 2:], 0)
    assert np.linalg.matrix_rank(model.embedding_[:3] - model.embedding_[:3].mean(axis=0)) == 2
    with pytest.raises(NotEnoughData, match="n_components=3 must be at most 2"):
        LLE(3, n_neighbors=2).fit(np.concatenate([X[:3], X[:3] + 1000]))


@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_nobody_names_stays_on_the_map(method, rng):
    X = np.concatenate([rng.uniform(size=(150, 2)), [[1.5, 1.5]]])
    assert not (lowdim.neighbors(X, 8).indices == 150).any()
    Z = LLE(2, method=method, n_neighbors=8).fit_transform(X)
    assert np.abs(Z[150]).max() < 0.9  # it is not a map of its own


@pytest.mark.parametrize("method", METHODS)
def test_duplicates_are_fine(method, rng):
    X = np.repeat(rng.standard_normal((40, 3)), 3, axis=0)
    model = LLE(2, method=method, n_neighbors=12).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X)).all()


def test_counts_that_do_not_fit_are_named(rng):
    X = rng.standard_normal((20, 4))
    with pytest.raises(NotEnoughData, match="at most 19"):
        LLE(n_neighbors=20).fit(X)
    with pytest.raises(
        NotEnoughData, match=r"'hessian' with n_components=2 needs n_neighbors of at least 6; there are 5"
    ):
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


def test_a_graph_remembers_its_rows(rng):
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
def test_distances_do_as_well_as_rows(method, rng):
    X, new = rng.standard_normal((80, 4)), rng.standard_normal((5, 4))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rows, distances = LLE(2, method=method).fit(X), LLE(2, method=method, metric="precomputed").fit(D)
    assert_same_span(rows.embedding_, distances.embedding_)
    signs = np.sign((rows.embedding_ * distances.embedding_).sum(axis=0))
    placed = distances.transform(np.linalg.norm(new[:, None] - X, axis=2))
    np.testing.assert_allclose(rows.transform(new), placed * signs, atol=1e-6)


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
def test_the_number_of_threads_changes_no_bit(method, kind, rng, monkeypatch):
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


def test_an_iteration_that_does_not_converge_is_named(rng, monkeypatch):
    monkeypatch.setattr("lowdim.linalg.sparse_eigen.MAX_PRODUCTS", 20)
    with pytest.raises(LowdimError, match="did not reach"):
        LLE(solver="chebyshev").fit(rng.standard_normal((1100, 8)))


# ---- new rows ----


@pytest.mark.parametrize("metric", ["cosine", "precomputed"])
def test_a_saved_model_places_rows_with_the_same_bits(metric, rng, tmp_path):
    X = rng.uniform(1, 2, (60, 60)).astype(np.float32)
    X = ((X + X.T) * (1 - np.eye(60))).astype(np.float32)
    model = LLE(2, metric=metric, method="ltsa").fit(X)
    lowdim.save(model, tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(loaded.transform(X[:7] * 1.1), model.transform(X[:7] * 1.1))
    model.embedding_ = model.embedding_[:-1]
    with pytest.raises(ModelFileError, match="embedding_ must have 60 rows"):
        lowdim.save(model, tmp_path / "odd.lowdim")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_rows_come_back_as_they_are(method, dtype, rng):
    X = rng.standard_normal((200, 4)).astype(dtype)
    model = LLE(2, method=method).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_new_rows_follow_the_lectures_formula(rng):
    X, new = rng.standard_normal((100, 4)), rng.standard_normal((7, 4))
    model = LLE(2, n_neighbors=6).fit(X)
    for x, z in zip(new, model.transform(new), strict=True):
        nearest = np.argsort(np.linalg.norm(X - x, axis=1))[:6]
        G = (X[nearest] - x) @ (X[nearest] - x).T
        u = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(6), np.ones(6))
        np.testing.assert_allclose(z, u / u.sum() @ model.embedding_[nearest], atol=1e-10)
    np.testing.assert_array_equal(model.transform(new)[3:4], model.transform(new[3:4]))


@pytest.mark.parametrize("method", FLAT)
def test_new_rows_of_a_swiss_roll_land_near_their_truth(method):
    roll = datasets.load("swissroll", n=2400)
    truth = np.column_stack([roll.labels, roll.X[:, 1]])
    model = LLE(2, method=method).fit(roll.X[:2000])
    known = np.column_stack([model.embedding_, np.ones(2000)])
    to_truth = np.linalg.lstsq(known, truth[:2000], rcond=None)[0]
    placed = np.column_stack([model.transform(roll.X[2000:]), np.ones(400)]) @ to_truth
    off = np.abs(placed - truth[2000:]) / np.ptp(truth, axis=0)
    assert np.median(off) < 0.01
    assert np.quantile(off, 0.95) < 0.05


# ---- the lecture's pictures ----


@pytest.mark.parametrize("method", METHODS)
def test_the_spiral_is_unrolled(method):
    spiral = datasets.load("spiral", n=500)
    Z = LLE(1, method=method, n_neighbors=12).fit_transform(spiral.X)
    assert rank_correlation(Z[:, 0], spiral.labels) > 0.99
    assert rank_correlation(lowdim.PCA(1).fit_transform(spiral.X)[:, 0], spiral.labels) < 0.9


@pytest.mark.parametrize("method", FLAT)
@pytest.mark.parametrize("name", ["swissroll", "scurve"])
def test_sheets_are_unrolled(method, name):
    """Both sides of the sheet come out as they are, up to a linear map."""
    sheet = datasets.load(name, n=1500)
    Z = LLE(2, method=method).fit_transform(sheet.X)
    assert left_over(Z, np.column_stack([sheet.labels, sheet.X[:, 1]])).max() < 0.02


@pytest.mark.parametrize("name", ["swissroll", "scurve"])
def test_one_weight_a_neighbour_unrolls_the_length_of_a_sheet(name):
    """Standard weights bend and squeeze the sheet, and still put its rows in order along it, as nothing linear does."""
    sheet = datasets.load(name, n=1500)
    Z = LLE(2, method="standard").fit_transform(sheet.X)
    assert max(rank_correlation(column, sheet.labels) for column in Z.T) > 0.99
