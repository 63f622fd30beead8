"""UMAP: the same bits for any number of threads, its parameters, degenerate tables, and progress."""

from __future__ import annotations

import dataclasses
import hashlib
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import UMAP, neighbors
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimError, LowdimWarning, NotEnoughData
from lowdim.neighbor_embedding.umap import optimizer
from lowdim.neighbor_embedding.umap.densmap import embedded_radii
from lowdim.neighbor_embedding.umap.find_ab import find_ab
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set


def sha(Z):
    return hashlib.sha256(np.ascontiguousarray(Z).tobytes()).hexdigest()


# ---- the embedding ----


@pytest.mark.parametrize("options", [{}, {"densmap": True}, {"n_components": 5}, {"init": "pca"}], ids=str)
def test_the_same_bits_for_any_number_of_threads(monkeypatch, digits, options):
    """A task is 512 rows, so that eight threads have one each; few edges would be left to one thread."""
    monkeypatch.setattr(optimizer, "SERIAL_EDGES", 0)
    X = np.vstack([digits, digits + 0.25, digits[:600] + 0.5])
    rows = np.vstack([X[:500], X + 0.1])
    hashes = set()
    for jobs in (1, 2, 4, 8):
        model = UMAP(n_epochs=20, n_jobs=jobs, **options).fit(X)
        hashes.add(sha(np.vstack([model.embedding_, model.transform(rows)])))
    assert len(hashes) == 1
    assert sha(UMAP(n_epochs=20, random_state=1, **options).fit_transform(X)) not in hashes


@pytest.mark.parametrize("target", ["categorical", "numeric"])
def test_supervision_update_and_inverse_have_the_same_bits_too(monkeypatch, digits, labels, target):
    monkeypatch.setattr(optimizer, "SERIAL_EDGES", 0)
    X, hashes = digits[:1200], set()
    for jobs in (1, 2, 4, 8):
        supervised = UMAP(n_epochs=20, n_jobs=jobs, target_metric=target).fit(X, labels[:1200])
        grown = UMAP(n_epochs=20, n_jobs=jobs, densmap=target == "numeric").fit(X).update(digits[1200:])
        made = grown.inverse_transform(grown.embedding_[::7] + 0.1)
        hashes.add((sha(supervised.embedding_), sha(grown.embedding_), sha(made)))
    assert len(hashes) == 1


def test_a_swiss_roll_is_not_torn(kept_neighbors):
    """Updates of one row after another, instead of all rows at once, tear it into 31 pieces that keep 0.72."""
    X = lowdim.datasets.load("swissroll", n=2000, height=20.0).X
    Z = UMAP().fit_transform(X)
    assert kept_neighbors(X, Z) > 0.75 and neighbors(Z, 10).components().max() < 12


def test_a_seed_gives_an_embedding_and_another_row_order_another_one(digits, labels, accuracy):
    """Negative samples depend on the row number, so another order acts like another seed: as good, not the same."""
    X = digits[:600]
    order = np.random.default_rng(0).permutation(600)
    plain, permuted = UMAP(n_epochs=200).fit_transform(X), UMAP(n_epochs=200).fit_transform(X[order])
    assert sha(plain) == sha(UMAP(n_epochs=200).fit_transform(X))
    y = labels[:600]
    a, b = accuracy(plain, y), accuracy(permuted, y[order])
    assert abs(a - b) < 0.03 and min(a, b) > 0.93


def test_float32_is_preserved_and_the_input_unchanged(digits):
    X = digits[:200].astype(np.float32)
    before = X.copy()
    model = UMAP(n_epochs=10).fit(X)
    assert model.embedding_.dtype == np.float32 and model.transform(X[:3] + 1).dtype == np.float32
    np.testing.assert_array_equal(X, before)
    wide = UMAP(n_epochs=10).fit_transform(X.astype(np.float64))
    assert wide.dtype == np.float64
    np.testing.assert_array_equal(wide.astype(np.float32), model.embedding_)


def test_rows_a_graph_and_distances_give_one_embedding(digits):
    X = digits[:300]
    graph = neighbors(X, 20)
    by_rows = UMAP(n_epochs=30, init="random").fit(X)
    by_graph = UMAP(n_epochs=30, init="random").fit(graph)
    np.testing.assert_array_equal(by_rows.embedding_, by_graph.embedding_)
    new = X[:9] + 0.5
    np.testing.assert_array_equal(by_graph.transform(new), by_rows.transform(new))
    unknown = UMAP(n_epochs=30, init="random").fit(dataclasses.replace(graph, rows=None))
    np.testing.assert_array_equal(by_rows.embedding_.astype(np.float32), unknown.embedding_)
    with pytest.raises(BadInput, match="fitted to a graph"):
        unknown.transform(X)
    repeated = np.vstack([X[:60], X[:7]])
    tied = UMAP(n_epochs=10).fit(neighbors(repeated, 14))
    np.testing.assert_array_equal(tied.transform(repeated), tied.embedding_)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    given_distances = UMAP(n_epochs=30, init="random", metric="precomputed").fit(distances)
    np.testing.assert_allclose(given_distances.embedding_, by_rows.embedding_, atol=0.5)
    np.testing.assert_array_equal(given_distances.transform(distances), given_distances.embedding_)
    assert np.isfinite(given_distances.transform(distances[:4] + 0.5)).all()


def test_edges_and_weights_are_the_fuzzy_graph(digits):
    model = UMAP(n_epochs=5).fit(digits[:100])
    assert (model.edges_[:, 0] < model.edges_[:, 1]).all()
    W = model.graph_.toarray()
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_array_equal(W[model.edges_[:, 0], model.edges_[:, 1]], model.weights_)
    np.testing.assert_array_equal(
        W, fuzzy_simplicial_set(neighbors(digits[:100], 14), 1.0, 1.0, 1).to_sparse().toarray()
    )


def test_edges_join_the_first_of_equal_rows(rng):
    """Rows 0 to 9 occur three times; an edge names the first of them, and its endpoints are near."""
    X = rng.standard_normal((60, 3))
    model = UMAP(n_epochs=200, n_neighbors=5).fit(np.vstack([X[:10], X, X[:10]]))
    plain = UMAP(n_epochs=200, n_neighbors=5).fit(X)
    first = np.concatenate([np.arange(10), np.arange(20, 70)])
    np.testing.assert_array_equal(model.edges_, first[plain.edges_])
    assert model.graph_.shape == (80, 80)
    np.testing.assert_array_equal(model.graph_.toarray()[np.ix_(first, first)], plain.graph_.toarray())

    def mean_length(edges):
        return np.linalg.norm(model.embedding_[edges[:, 0]] - model.embedding_[edges[:, 1]], axis=1).mean()

    assert mean_length(model.edges_) < 0.5 * mean_length(np.random.default_rng(0).integers(0, 80, (500, 2)))


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20, 28, 40, 100])
def test_any_number_of_components(digits, k):
    Z = UMAP(k, n_epochs=20).fit_transform(digits[:300])
    assert Z.shape == (300, k) and np.isfinite(Z).all()
    assert np.linalg.matrix_rank(Z - Z.mean(axis=0)) == k


def test_separate_blobs_stay_separate(rng, blobs, accuracy):
    X, y = blobs(rng, 5)
    model = UMAP(n_neighbors=8).fit(np.vstack([X, X[:40]]))
    assert accuracy(model.embedding_[:150], y) == 1.0
    assert model.n_connected_components_ == 5  # equal rows are no components of their own
    assert UMAP(n_epochs=5).fit(X[:30]).n_connected_components_ == 1


def test_the_parameters_are_those_of_the_graph_and_the_optimizer(digits, rng):
    """The embedding is the one that the steps give by hand."""
    X, start = digits[:200], 5 * rng.standard_normal((200, 2))
    model = UMAP(
        n_neighbors=8,
        min_dist=0.3,
        spread=1.5,
        metric="manhattan",
        n_epochs=20,
        init=start,
        learning_rate=0.5,
        negative_sample_rate=3,
        repulsion_strength=0.7,
        set_op_mix_ratio=0.4,
        local_connectivity=2.0,
        random_state=11,
    ).fit(X)
    graph = fuzzy_simplicial_set(neighbors(X, 7, metric="manhattan"), 2.0, 0.4, 1)
    np.testing.assert_array_equal(model.graph_.toarray(), graph.to_sparse().toarray())
    assert (model.a_, model.b_, model.n_epochs_) == (*find_ab(0.3, 1.5), 20)
    params = optimizer.UmapParams(
        *find_ab(0.3, 1.5), repulsion_strength=0.7, negative_sample_rate=3, learning_rate=0.5, seed=11
    )
    expected = optimizer.UmapOptimizer(graph, params, 20, 1).run(start)
    np.testing.assert_array_equal(model.embedding_.astype(np.float32), expected)


def test_given_positions_are_taken_as_they_are(rng):
    X = rng.standard_normal((40, 3))
    twice = np.vstack([X, X[:5]])
    start = 3 * rng.standard_normal((45, 2))
    still = {"n_epochs": 1, "learning_rate": 1e-9}
    Z = UMAP(init=start, **still).fit_transform(twice)
    np.testing.assert_allclose(Z[:40], start[:40], atol=1e-6)  # of equal rows, the first one's
    np.testing.assert_allclose(UMAP(init=start.tolist(), **still).fit_transform(twice), Z)
    for init in ("pca", "spectral", "random"):
        Z = UMAP(init=init, **still).fit_transform(X)
        np.testing.assert_allclose((Z.min(axis=0), Z.max(axis=0)), [(0, 0), (10, 10)], atol=1e-5)
    scores = lowdim.PCA(2).fit_transform(X)
    Z = UMAP(init="pca", **still).fit_transform(X)
    np.testing.assert_allclose(Z, 10 * (scores - scores.min(axis=0)) / np.ptp(scores, axis=0), atol=1e-2)


# ---- degenerate tables ----


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize(
    "X",
    [
        np.arange(6.0).reshape(3, 2),
        np.arange(20.0).reshape(10, 2),
        np.repeat(np.eye(3), 20, axis=0),
        np.ones((30, 4)),
        np.vstack([np.random.default_rng(0).standard_normal((60, 3)), [[1e9, 0, 0]]]),
        np.arange(50.0)[:, None] ** 4,
        np.eye(40),
    ],
    ids=["3 rows", "k >= n", "3 rows 20 times", "all equal", "an outlier", "growing gaps", "all at one distance"],
)
@pytest.mark.parametrize("options", [{}, {"densmap": True}, {"init": "pca"}, {"n_components": 3}], ids=str)
def test_degenerate_tables(X, options):
    model = UMAP(n_epochs=30, **options)
    Z = model.fit_transform(X)
    assert np.isfinite(Z).all()
    np.testing.assert_array_equal(model.transform(X), Z)
    assert np.isfinite(model.transform(X + 0.25)).all()
    assert np.isfinite(model.inverse_transform(Z)).all()


def test_a_far_outlier_does_not_squeeze_the_others(rng, kept_neighbors):
    X = rng.standard_normal((300, 3))
    far = np.vstack([X, [[1e9, 0, 0]]])
    for options in ({}, {"densmap": True}, {"init": "random"}):
        without = kept_neighbors(X, UMAP(n_epochs=200, **options).fit_transform(X))
        with_it = kept_neighbors(X, UMAP(n_epochs=200, **options).fit_transform(far)[:-1])
        assert with_it > without - 0.03


def test_equal_rows_share_a_position(rng):
    X = rng.standard_normal((100, 4))
    Z = UMAP(n_epochs=50).fit_transform(np.vstack([X, X[:40], X[:5]]))
    np.testing.assert_array_equal(Z[:40], Z[100:140])
    np.testing.assert_array_equal(Z[:5], Z[140:])
    np.testing.assert_array_equal(Z[:100], UMAP(n_epochs=50).fit_transform(X))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_at_distance_0_share_a_position_and_keep_it(rng, kind):
    order = rng.permutation(np.r_[np.arange(60), np.arange(30), np.full(20, 3)])  # one of them more often than k
    X = rng.standard_normal((60, 4))[order]
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    if kind == "sparse":
        some, own = neighbors(X, 40).to_sparse().tocoo(), np.arange(110)  # and each is at distance 0 of itself
        entries = np.r_[some.row, own], np.r_[some.col, own]
        D = sp.csr_array((np.r_[some.data, np.zeros(110)], entries), shape=(110, 110))
    model = UMAP(n_epochs=50, n_neighbors=10, metric="precomputed").fit(D)
    for row in range(60):
        assert len(np.unique(model.embedding_[order == row], axis=0)) == 1
    assert len(np.unique(model.embedding_, axis=0)) == 60
    np.testing.assert_array_equal(model.transform(D), model.embedding_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_dist": 2.0}, "min_dist must be at most spread"),
        ({"init": np.zeros((3, 2))}, "init must be an array of numbers of shape"),
        ({"init": [[0.0], [1.0, 2.0]]}, "init must be one of"),
        ({"init": np.full((50, 2), 1e9)}, "up to 1e"),
        ({"init": np.zeros((50, 2))}, "all rows at one position"),
        ({"init": np.full((50, 2), np.nan)}, "finite"),
        ({"init": "magic"}, "init must be"),
        ({"n_neighbors": 1}, "n_neighbors must be"),
        ({"metric": "furlongs"}, "metric must be one of"),
    ],
)
def test_parameters_that_break_their_rule(rng, options, words):
    model = UMAP(**options)
    with pytest.raises(BadParameter, match=words):
        model.fit(rng.standard_normal((50, 3)))
    assert not hasattr(model, "embedding_")


def test_a_value_that_is_not_finite_is_named_by_row_and_column(rng):
    """Of the table as given, although equal rows are kept once and fitted ones found by their hash."""
    X = np.repeat(rng.standard_normal((30, 3)), 2, axis=0)
    model = UMAP(n_epochs=5).fit(X)
    before = model.embedding_.copy()
    bad = X.copy()
    bad[41, 2] = np.nan
    for work in (UMAP().fit, model.transform, model.update):
        with pytest.raises(BadInput, match="row 41, column 2"):
            work(bad)
    with pytest.raises(BadInput, match="row 41, column 2"):
        model.update(np.where(np.isnan(bad), np.inf, bad + 1))
    np.testing.assert_array_equal(model.transform(X), before)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_other_errors(rng):
    X = rng.standard_normal((50, 3))
    with pytest.raises(NotEnoughData, match="1 row"):
        UMAP().fit(X[:1])
    with pytest.raises(BadParameter, match="needs rows"):
        UMAP(init="pca").fit(dataclasses.replace(neighbors(X, 5), rows=None))
    with pytest.raises(BadInput, match="Affinities are for TSNE"):
        UMAP().fit(lowdim.Affinities.uniform(neighbors(X, 5)))
    with pytest.raises(BadInput, match="one label per row"):
        UMAP().fit(X, np.zeros(49))
    with pytest.raises(BadInput, match="y contains NaN"):
        UMAP(target_metric="numeric").fit(X, np.full(50, np.nan))
    with pytest.raises(LowdimError, match="has 3 columns, but the model has 2 components"):
        UMAP(n_epochs=3).fit(X).inverse_transform(X)


# ---- progress and model files ----


def test_the_embedding_can_be_watched(digits):
    """Twenty times per run, all rows, equal ones at one position; a snapshot does not change later."""
    X = np.vstack([digits[:100], digits[:7]])
    seen = []

    def look(step):
        if step.task == "UMAP epochs":
            seen.append((step.done, step.total, step.snapshot()))

    with lowdim.watch(look):
        Z = UMAP(n_epochs=40).fit_transform(X)
    assert [(done, total) for done, total, _ in seen] == [(done, 40) for done in range(2, 41, 2)]
    for _, _, snapshot in seen:
        assert snapshot.shape == (107, 2)
        np.testing.assert_array_equal(snapshot[:7], snapshot[100:])
    np.testing.assert_array_equal(seen[-1][2], Z.astype(np.float32))
    np.testing.assert_array_equal(seen[4][2], _after(X, 10, 40))
    moved = [np.linalg.norm(b[2] - a[2], axis=1).mean() for a, b in pairwise(seen)]
    assert min(moved) > 0


def _after(X, epochs, total):
    """The embedding after some of its epochs."""
    snapshots = []

    def stop(step):
        if step.task == "UMAP epochs" and step.done == epochs:
            snapshots.append(step.snapshot())
            return True
        return False

    with pytest.raises(Cancelled), lowdim.watch(stop):
        UMAP(n_epochs=total).fit(X)
    return snapshots[0]


def test_save_and_load(tmp_path, fitted, digits):
    lowdim.save(fitted, tmp_path / "umap.lowdim")
    loaded = lowdim.load(tmp_path / "umap.lowdim")
    np.testing.assert_array_equal(loaded.transform(digits[1400:1600]), fitted.transform(digits[1400:1600]))
    np.testing.assert_array_equal(loaded.graph_.toarray(), fitted.graph_.toarray())


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return np.vstack([rng.standard_normal((100, 10)) + 3 * rng.standard_normal(10) for _ in range(3)])


def test_a_and_b_of_ones_own(groups):
    default = UMAP(n_epochs=20).fit(groups)
    given = UMAP(n_epochs=20, a=default.a_, b=default.b_, min_dist=0.9).fit(groups)  # min_dist is not used
    np.testing.assert_array_equal(given.embedding_, default.embedding_)
    other = UMAP(n_epochs=20, a=3.0, b=0.7).fit(groups)
    assert (other.a_, other.b_) == (3.0, 0.7) and not np.array_equal(other.embedding_, default.embedding_)
    with pytest.raises(BadParameter, match="both a and b"):
        UMAP(a=1.0).fit(groups)


def test_radii_of_densmap(groups):
    X = np.vstack([groups[:80], groups[100:180] * 0.2, groups[:20]])  # some rows twice
    model = UMAP(n_epochs=200, densmap=True, n_neighbors=10).fit(X)
    plain = UMAP(n_epochs=200, n_neighbors=10).fit(X)
    assert plain.rad_orig_ is None and plain.rad_emb_ is None
    assert model.rad_orig_.shape == model.rad_emb_.shape == (len(X),)
    np.testing.assert_array_equal(model.rad_emb_[160:], model.rad_emb_[:20])
    positions = plain.embedding_[plain._state.distinct.first].astype(np.float32)
    without = embedded_radii(positions, 9, 1.0, 1)[plain._state.distinct.inverse]
    with_term, at_random = (np.corrcoef(model.rad_orig_, radii)[0, 1] for radii in (model.rad_emb_, without))
    assert with_term > at_random + 0.1


def test_the_graph_of_new_rows_and_their_start(groups):
    X = np.vstack([groups, groups[:7]])
    model, new = UMAP(n_epochs=30).fit(X), groups[:5] + 0.3
    graph = model.transform_graph(new)
    assert graph.shape == (5, len(X)) and (graph.data > 0).all() and graph.data.max() <= 1
    assert not graph[:, 300:].nnz  # of equal rows, the first has the edges
    D = np.linalg.norm(new[:, None].astype(np.float32) - groups, axis=2)
    nearest = np.sort(np.argsort(D, axis=1)[:, :14], axis=1)
    np.testing.assert_array_equal(graph.indices.reshape(5, 14), nearest)
    np.testing.assert_allclose(graph.sum(axis=1), np.log2(15), rtol=1e-3)
    weights = graph.toarray() / graph.sum(axis=1)[:, None]
    np.testing.assert_allclose(model.transform_init(new), weights @ model.embedding_, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(model.transform_init(X), model.embedding_)
    with pytest.warns(LowdimWarning, match="no neighbor nearer"):
        cut = UMAP(n_epochs=5, disconnection_distance=float(np.median(D[:, :100].min(axis=1)) + 0.5)).fit(X)
    assert 5 <= cut.transform_graph(new).count_nonzero() < graph.nnz
    far = groups[:2] + 1e3  # beyond the distance of all rows, but embedded beside the nearest
    assert np.isfinite(cut.transform(far)).all() and cut.transform_graph(far).count_nonzero() == 2
