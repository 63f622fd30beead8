"""Laplacian eigenmaps: known eigenvectors, weights, components, out-of-sample rows, model files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_s_curve
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

import lowdim
from determinism import assert_same_bits
from lowdim import LaplacianEigenmaps
from lowdim.errors import BadInput, BadParameter, Cancelled, ModelFileError, NotEnoughData


def path(n):
    return sp.csr_array(sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]))


def cycle(n):
    return sp.csr_array(path(n) + sp.csr_array(([1.0, 1.0], ([0, n - 1], [n - 1, 0])), shape=(n, n)))


def given(W, k=2, **options):
    return LaplacianEigenmaps(k, affinity="precomputed", **options).fit(W)


def angle(A, B):
    """The sine of the largest angle between two planes."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


@pytest.mark.parametrize("n", [20, 900, 20_000])
def test_eigenvectors_of_a_path(n):
    """Of L: cos(π j (i + ½) / n), with λ = 2 - 2 cos(π j / n)."""
    model = given(path(n), 3, laplacian="unnormalized")
    j = np.arange(1, 4)
    np.testing.assert_allclose(model.eigenvalues_, 2 - 2 * np.cos(np.pi * j / n), rtol=1e-6, atol=1e-15)
    want = np.sqrt(2) * np.cos(np.pi * j * (np.arange(n)[:, None] + 0.5) / n)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(want), atol=1e-5 if n > 500 else 1e-9)


@pytest.mark.parametrize("n", [21, 1200, 20_000])
@pytest.mark.parametrize("form", ["unnormalized", "symmetric", "random_walk"])
def test_eigenvectors_of_a_cycle(n, form):
    """All degrees are 2, so the three forms agree up to that factor: a circle."""
    model = given(cycle(n), 2, laplacian=form)
    want = (1 if form != "unnormalized" else 2) * (1 - np.cos(2 * np.pi / n))
    np.testing.assert_allclose(model.eigenvalues_, want, rtol=1e-6)
    np.testing.assert_allclose((model.embedding_**2).sum(axis=1), 2, rtol=1e-4)
    around = 2 * np.pi * np.arange(n)[:, None] / n
    assert angle(model.embedding_, np.hstack([np.cos(around), np.sin(around)])) < 1e-4


def test_eigenvalues_of_a_grid():
    """Eigenvalues of a product of paths are sums of theirs."""
    a, b = 40, 13
    W = sp.kron(path(a), sp.eye_array(b)) + sp.kron(sp.eye_array(a), path(b))
    model = given(sp.csr_array(W), 4, laplacian="unnormalized")
    of = [2 - 2 * np.cos(np.pi * np.arange(m) / m) for m in (a, b)]
    want = np.sort((of[0][:, None] + of[1]).ravel())[1:5]
    np.testing.assert_allclose(model.eigenvalues_, want, rtol=1e-7)


@pytest.mark.parametrize("form", ["unnormalized", "symmetric", "random_walk"])
def test_the_eigenvalue_equation_holds(form, digits):
    model = LaplacianEigenmaps(3, laplacian=form).fit(digits)
    graph = lowdim.neighbors(digits, 10)
    coo = graph.symmetrize("union").tocoo()
    sigma = graph.distances[:, -1].astype(float)
    weights = np.exp(-(coo.data.astype(float) ** 2) / (sigma[coo.coords[0]] * sigma[coo.coords[1]]))
    W = sp.csr_array((weights, coo.coords), shape=coo.shape)
    d = np.asarray(W.sum(axis=1)).ravel()
    Z, values = model.embedding_, model.eigenvalues_
    if form == "symmetric":
        root = np.sqrt(d)[:, None]
        image, right, trivial = Z - (W @ (Z / root)) / root, Z * values, np.sqrt(d)
    else:
        image, right = d[:, None] * Z - W @ Z, values * (d[:, None] * Z if form == "random_walk" else Z)
        trivial = d if form == "random_walk" else np.ones(len(d))
    assert np.linalg.norm(image - right, axis=0).max() < 1e-6 * np.linalg.norm(d[:, None] * Z)
    np.testing.assert_allclose(trivial @ Z / np.linalg.norm(trivial), 0, atol=1e-7)
    share = d / d.sum() if form == "random_walk" else np.full(len(d), 1 / len(d))
    np.testing.assert_allclose(Z.T @ (share[:, None] * Z), np.eye(3), atol=1e-6)


def test_diffusion_scales_the_eigenvectors(rng):
    X = rng.standard_normal((150, 3))
    plain = LaplacianEigenmaps(3).fit(X)
    for t in (0, 1, 2.5):
        scaled = LaplacianEigenmaps(3, diffusion_time=t).fit(X)
        np.testing.assert_allclose(scaled.embedding_, plain.embedding_ * (1 - plain.eigenvalues_) ** t, rtol=1e-9)
    with pytest.raises(BadParameter, match="diffusion_time needs"):
        LaplacianEigenmaps(diffusion_time=1, laplacian="unnormalized").fit(X)


def test_diffusion_distances_are_those_of_the_random_walk(rng):
    """With all eigenvectors, distances are those between rows of Pᵗ, weighted by 1/π (Coifman and Lafon)."""
    W = np.exp(-(cdist(*[rng.standard_normal((12, 2))] * 2) ** 2))
    np.fill_diagonal(W, 0)
    model = given(W, 11, diffusion_time=2)
    share = W.sum(axis=1) / W.sum()
    steps = np.linalg.matrix_power(W / W.sum(axis=1, keepdims=True), 2)
    want = cdist(steps / np.sqrt(share), steps / np.sqrt(share))
    on_map = np.linalg.eigvalsh(W / np.sqrt(np.outer(W.sum(1), W.sum(1))))[:-1]
    if (on_map > 0).all():
        np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), want, atol=1e-8)
    else:  # negative steps are left at 0
        kept = np.flatnonzero(1 - model.eigenvalues_ > 0)
        assert (model.embedding_[:, np.setdiff1d(np.arange(11), kept)] == 0).all()
        assert (cdist(model.embedding_, model.embedding_) <= want + 1e-8).all()


def test_alpha_one_removes_the_density(rng):
    """Rows denser toward one end of a line: only with α = 1 is the first eigenvector that of a uniform line."""
    t = np.sort(np.log1p(rng.random(1000) * np.expm1(4)) / 4)  # the density grows as e^(4 t)
    uniform = np.linspace(0.1, 0.9, 100)
    correlation = {}
    for alpha in (0.0, 1.0):
        z = given(np.exp(-1000 * (t[:, None] - t) ** 2), 1, alpha=alpha).embedding_[:, 0]
        correlation[alpha] = abs(np.corrcoef(np.interp(uniform, t, z), np.cos(np.pi * uniform))[0, 1])
    assert correlation[1.0] > 0.99
    assert correlation[0.0] < 0.9


@pytest.mark.parametrize("form", ["unnormalized", "symmetric", "random_walk"])
@pytest.mark.parametrize("options", [{}, {"alpha": 0.7}, {"diffusion_time": 3}], ids=str)
def test_rows_with_their_own_weights_get_their_own_positions(form, options, rng):
    """The Nyström formula is the eigenvalue equation, solved for one row."""
    if form == "unnormalized":
        options = {key: value for key, value in options.items() if key != "diffusion_time"}
    W = np.exp(-(cdist(*[rng.standard_normal((80, 3))] * 2) ** 2)) * (rng.random((80, 80)) < 0.3)
    W = W + W.T
    np.fill_diagonal(W, 0)
    model = given(W, 3, laplacian=form, **options)
    np.testing.assert_allclose(model.transform(W), model.embedding_, atol=1e-8)
    np.testing.assert_allclose(model.transform(sp.csr_array(W)[:7]), model.embedding_[:7], atol=1e-8)


def test_fitted_rows_get_their_own_positions(digits):
    for options in ({}, {"gamma": "median"}, {"affinity": "binary"}, {"laplacian": "symmetric", "alpha": 1}):
        model = LaplacianEigenmaps(2, **options).fit(digits)
        np.testing.assert_array_equal(model.transform(digits[:300]), model.embedding_[:300])


@pytest.mark.parametrize("form", ["unnormalized", "symmetric", "random_walk"])
@pytest.mark.parametrize("options", [{}, {"gamma": "median"}, {"affinity": "binary"}, {"alpha": 0.5}], ids=str)
def test_new_rows_get_the_positions_that_a_fit_would_give(form, options):
    X, along = make_s_curve(1200, random_state=0)
    model = LaplacianEigenmaps(1, laplacian=form, **options).fit(X[:1000])
    good = 0.95 if form == "symmetric" else 0.99  # whose eigenvectors also depend on the degrees
    assert abs(spearmanr(model.embedding_[:, 0], along[:1000])[0]) > good
    Z = model.transform(X[1000:])
    error = Z - model.embedding_[cdist(X[1000:], X[:1000]).argmin(axis=1)]
    assert abs(spearmanr(Z[:, 0], along[1000:])[0]) > good
    assert np.abs(error).mean() < 2 * (1 - good) + 0.03


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_components_are_side_by_side(rng):
    A, B, C = rng.random((60, 2)), rng.random((200, 2)) + 9, rng.random((14, 2)) - 9
    X = np.vstack([A, B, C])
    labels = np.repeat([0, 1, 2], [60, 200, 14])
    for form in ("random_walk", "symmetric", "unnormalized"):
        model = LaplacianEigenmaps(2, n_neighbors=6, laplacian=form).fit(X)
        np.testing.assert_array_equal(model.component_labels_, labels)
        edges = [(model.embedding_[labels == c, 0].min(), model.embedding_[labels == c, 0].max()) for c in range(3)]
        assert edges[0][1] < edges[1][0]
        assert edges[1][1] < edges[2][0]
        # Each is the embedding of its own rows, up to scale and offset.
        alone = LaplacianEigenmaps(2, n_neighbors=6, laplacian=form).fit(B)
        part = model.embedding_[labels == 1] - [model._state.offsets[1], 0]
        np.testing.assert_allclose(np.abs(part), np.abs(alone.embedding_) * np.sqrt(200 / 274), atol=1e-6)
        np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, atol=1e-8)
        new = model.transform(np.vstack([A[:5], B[:5], C[:5]]) + 0.01)
        for c in range(3):
            inside = new[5 * c : 5 * c + 5, 0]
            assert ((edges[c][0] - 0.3 < inside) & (inside < edges[c][1] + 0.3)).all()
    with pytest.raises(BadInput, match="3 connected components"):
        LaplacianEigenmaps(disconnected="error", n_neighbors=6).fit(X)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_rows_without_weights_are_components_of_their_own():
    W = np.zeros((7, 7))
    W[:5, :5] = 1 - np.eye(5)
    model = given(W, 3)
    assert model.n_connected_components_ == 3
    assert np.isfinite(model.embedding_).all()
    with pytest.raises(BadInput, match="no positive weight to any fitted row"):
        model.transform(np.zeros((1, 7)))


def test_a_graph_distances_and_rows_give_the_same_embedding(rng):
    X = rng.standard_normal((120, 4)).astype(np.float32)
    want = LaplacianEigenmaps(2).fit(X)
    from_graph = LaplacianEigenmaps(2, n_neighbors=10).fit(lowdim.neighbors(X, 12))
    np.testing.assert_array_equal(from_graph.embedding_, want.embedding_)
    whole = LaplacianEigenmaps(2).fit(lowdim.neighbors(X, 12))
    np.testing.assert_array_equal(whole.embedding_, LaplacianEigenmaps(2, n_neighbors=12).fit(X).embedding_)
    new = rng.standard_normal((9, 4)).astype(np.float32)
    found = lowdim.NeighborIndex(X).query(new, 10)
    np.testing.assert_array_equal(from_graph.transform(found), want.transform(new))
    np.testing.assert_array_equal(from_graph.transform(new), want.transform(new))
    D = cdist(X.astype(float), X.astype(float))
    by_distance = LaplacianEigenmaps(2, metric="precomputed").fit(D)
    np.testing.assert_allclose(by_distance.embedding_, want.embedding_, atol=1e-4)
    near = by_distance.transform(cdist(new.astype(float), X.astype(float)))
    np.testing.assert_allclose(near, want.transform(new), atol=1e-4)


def test_the_same_bits_for_any_number_of_threads(digits, monkeypatch):
    monkeypatch.setattr("lowdim.linalg.chebyshev.ENTRIES_PER_THREAD", 10_000)  # so that they have work

    def work(threads):
        model = LaplacianEigenmaps(3, n_jobs=threads).fit(digits)
        return model.embedding_, model.transform(digits[:50] + 0.5)

    assert_same_bits(work)


def test_it_can_be_watched_and_cancelled(rng):
    X = rng.standard_normal((1500, 8))
    steps = []
    model = LaplacianEigenmaps(2)
    with lowdim.watch(steps.append):
        model.fit(X)
    reports = [step for step in steps if step.task == "eigenvectors"]
    assert reports[-1].info["error"] <= 1 < reports[0].info["error"]
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "eigenvectors"):
        model.fit(X)
    assert not hasattr(model, "embedding_")


def test_invalid_requests(rng):
    X = rng.random((20, 3))
    with pytest.raises(NotEnoughData, match="less than the number of rows, 20; got 20"):
        LaplacianEigenmaps(20).fit(X)
    with pytest.raises(BadParameter, match="gamma must be"):
        LaplacianEigenmaps(gamma="nonsense").fit(X)
    for bad, words in [(X, "square"), (X[:3] - 1, "nonnegative"), (np.triu(np.ones((5, 5))), "symmetric")]:
        with pytest.raises(BadInput, match=words):
            given(bad)


@pytest.mark.parametrize("options", [{}, {"gamma": "median", "alpha": 0.5}, {"affinity": "binary"}], ids=str)
def test_a_model_file_keeps_every_bit(options, tmp_path, rng):
    X = rng.standard_normal((80, 3)).astype(np.float32)
    model = LaplacianEigenmaps(2, **options).fit(X)
    lowdim.save(model, tmp_path / "model")
    loaded = lowdim.load(tmp_path / "model")
    assert loaded.transform(X).dtype == np.float32
    np.testing.assert_array_equal(loaded.transform(X + 0.1), model.transform(X + 0.1))


@pytest.mark.parametrize("source", ["weights", "distances", "graph"])
def test_a_model_without_rows_comes_back(source, tmp_path, rng):
    X = rng.standard_normal((60, 3))
    D = cdist(X, X)
    fits = {
        "weights": (LaplacianEigenmaps(affinity="precomputed"), np.exp(-D) - np.eye(60)),
        "distances": (LaplacianEigenmaps(metric="precomputed"), D),
        "graph": (LaplacianEigenmaps(), replace(lowdim.neighbors(X, 10), rows=None)),
    }
    estimator, data = fits[source]
    model = estimator.fit(data)
    assert model.X_fit_ is None
    lowdim.save(model, tmp_path / "model")
    loaded = lowdim.load(tmp_path / "model")
    new = lowdim.NeighborIndex(X).query(X[:5] + 0.1, 10) if source == "graph" else data[:5]
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))


def test_a_model_that_contradicts_itself_is_refused(tmp_path, rng):
    X = rng.standard_normal((60, 3))
    good = LaplacianEigenmaps(2).fit(X)
    lies = [
        {"sigma": np.ones(59)},
        {"sigma": None},
        {"density": -np.ones(60)},
        {"degrees": np.full(60, np.inf)},
        {"degrees": None},
        {"offsets": np.zeros(2)},
        {"seed": 2**64},
    ]
    for name, value in [
        ("X_fit_", X[:50]),
        ("X_fit_", X[:, :2]),
        ("X_fit_", None),
        ("embedding_", good.embedding_[:59]),
        ("component_eigenvalues_", np.zeros((1, 3))),
        ("component_labels_", np.ones(60, np.int32)),
        ("component_labels_", np.zeros(60)),
        ("n_connected_components_", 2),
        ("gamma_", -1.0),
        ("_state", None),
        *[("_state", replace(good._state, **changed)) for changed in lies],
    ]:
        model = LaplacianEigenmaps(2).fit(X)
        setattr(model, name, value)
        with pytest.raises(ModelFileError, match="contradicts itself"):
            lowdim.save(model, tmp_path / "model")


# ---- pieces ----


def k_means(Z, clusters):
    with threadpool_limits(1):  # the tests run side by side
        return KMeans(clusters, n_init=4, random_state=0).fit_predict(Z)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, lowdim.LLE])
@pytest.mark.parametrize("n_neighbors", [4, 5])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_k_means_finds_the_pieces_of_a_graph(cls, n_neighbors, n_components):
    """The blobs of scikit-learn's own test of spectral embedding, a little smaller, so that they are apart."""
    centers = [[0, 5, 0, 0, 0], [0, 0, 4, 0, 0], [1, 0, 0, 5, 1]]
    X, labels = make_blobs(600, centers=centers, cluster_std=0.7, random_state=42)
    model = cls(n_components, n_neighbors=n_neighbors).fit(X)
    assert model.n_connected_components_ == 3
    found = k_means(model.embedding_, 3)
    assert normalized_mutual_info_score(found, labels) == pytest.approx(1.0)


def test_blobs_that_touch_are_found_as_well_as_by_scikit_learn():
    centers = [[0, 5, 0, 0, 0], [0, 0, 4, 0, 0], [1, 0, 0, 5, 1]]
    X, labels = make_blobs(1000, centers=centers, cluster_std=1.0, random_state=42)
    for n_neighbors in (4, 5):
        Z = LaplacianEigenmaps(3, n_neighbors=n_neighbors).fit_transform(X)
        found = k_means(Z, 3)
        assert normalized_mutual_info_score(found, labels) > 0.985  # scikit-learn's test asks for 2 decimals


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, lowdim.LLE])
@pytest.mark.parametrize("sizes", [(40, 40), (100, 60, 30), (20, 20, 20, 20, 20)])
def test_pieces_of_any_sizes_are_found(cls, sizes, rng):
    X = np.vstack([rng.normal(size=(size, 3)) + np.array([100 * i, 0, 0]) for i, size in enumerate(sizes)])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    model = cls(2, n_neighbors=8).fit(X)
    assert model.n_connected_components_ == len(sizes)
    found = k_means(model.embedding_, len(sizes))
    assert normalized_mutual_info_score(found, labels) == pytest.approx(1.0)
