"""UMAP: the same bits for any threads, new rows, supervision, density, and tables that are hard to map."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim import UMAP, neighbors
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimError, NotEnoughData
from lowdim.solve.crowding import map_radii, table_radii
from lowdim.solve.membership import membership_curve
from lowdim.solve.umap_layout import Forces
from lowdim.solve.umap_start import boxed, principal, slow_vectors, spectral
from lowdim.summaries.fuzzy import fuzzy_of, smooth


def sha(Z):
    return hashlib.sha256(np.ascontiguousarray(Z).tobytes()).hexdigest()


def blobs(rng, centres, each=30, d=5, spread=0.1):
    middle = 10 * rng.standard_normal((centres, d))
    X = np.vstack([c + spread * rng.standard_normal((each, d)) for c in middle])
    return X, np.repeat(np.arange(centres), each)


@pytest.fixture(scope="module")
def labels():
    from sklearn.datasets import load_digits

    return load_digits().target


@pytest.fixture(scope="module")
def fitted(digits):
    """The first 1,500 digits; the rest are new."""
    return UMAP(n_jobs=2).fit(digits[:1500])


def accuracy(Z, y, new, wanted):
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(10).fit(Z, y).score(new, wanted)


# ---- the fuzzy graph ----


def test_the_published_curve():
    np.testing.assert_allclose(membership_curve(0.1, 1.0), (1.577, 0.895), atol=5e-4)


@given(st.floats(0, 1), st.floats(0.1, 10))
def test_the_curve_scales_with_the_map(share, spread):
    """Distances × spread is a × spread^-2b, with the same b."""
    a, b = membership_curve(share, 1.0)
    scaled_a, scaled_b = membership_curve(share * spread, spread)
    assert scaled_b == pytest.approx(b, rel=1e-4)
    assert scaled_a == pytest.approx(a * spread ** (-2 * b), rel=1e-3)


def test_memberships_sum_to_log_k(rng):
    d = np.sort(rng.gamma(3, size=(50, 14)), axis=1)
    belonging = smooth(d, 1.0, 1)
    np.testing.assert_allclose(belonging.weights.sum(axis=1), np.log2(15), atol=2e-4)
    np.testing.assert_allclose(belonging.cores, d[:, 0], rtol=1e-6)
    by_hand = np.exp(-(d - d[:, :1]) / belonging.widths[:, None].astype(float))
    np.testing.assert_allclose(belonging.weights, by_hand, rtol=1e-4)


@given(st.integers(-20, 20))
def test_memberships_do_not_depend_on_the_unit(power):
    d = np.sort(np.random.default_rng(1).gamma(3, size=(9, 8)), axis=1).astype(np.float32)
    np.testing.assert_array_equal(smooth(d, 1.0, 1).weights, smooth(d * np.float32(2.0**power), 1.0, 1).weights)


def test_duplicates_and_zeros_belong_wholly():
    d = np.array([[0, 0, 0, 1.0], [0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
    weights = smooth(d, 1.0, 1).weights
    np.testing.assert_array_equal(weights, np.ones((3, 4)))


def test_the_union_is_a_probability(rng):
    graph = neighbors(rng.standard_normal((80, 4)), 7)
    W = np.zeros((80, 80))
    np.put_along_axis(W, graph.indices.astype(np.int64), smooth(graph.distances, 1.0, 1).weights, axis=1)
    for mix in (0.0, 0.4, 1.0):
        expected = mix * (W + W.T - W * W.T) + (1 - mix) * W * W.T
        fuzzy = fuzzy_of(graph, 1.0, mix, 1)
        np.testing.assert_allclose(fuzzy.to_sparse().toarray(), expected, atol=1e-6)
        assert (np.diff(fuzzy.columns)[np.diff(fuzzy.rows) == 0] > 0).all()


# ---- the start ----


def test_the_spectral_start_is_the_eigenvectors(digits):
    fuzzy = fuzzy_of(neighbors(digits[:500], 14), 1.0, 1.0, 1)
    W = fuzzy.to_sparse().toarray().astype(np.float64)
    root = np.sqrt(W.sum(axis=1))
    V = np.linalg.eigh(W / np.outer(root, root))[1][:, ::-1][:, 1:4]
    Z = np.linalg.qr(slow_vectors(fuzzy, 3, 0, 2))[0]
    assert np.linalg.svd(V.T @ Z)[1].min() > 0.999
    small = slow_vectors(fuzzy_of(neighbors(digits[:100], 9), 1.0, 1.0, 1), 2, 0, 1)  # solved outright
    np.testing.assert_allclose(small.T @ small, np.eye(2), atol=1e-6)


def test_components_do_not_cover_each_other(rng):
    X, piece = blobs(rng, 7)
    fuzzy = fuzzy_of(neighbors(X, 9), 1.0, 1.0, 1)
    Z = spectral(fuzzy, 2, 0, 1, X)
    low = np.array([Z[piece == c].min(axis=0) for c in range(7)])
    high = np.array([Z[piece == c].max(axis=0) for c in range(7)])
    for axis in range(2):
        order = np.argsort(low[:, axis])
        assert (low[order[1:], axis] >= high[order[:-1], axis] - 1e-9).all()


def test_a_start_is_in_its_box_and_no_two_rows_coincide(rng):
    Z = boxed(np.zeros((50, 2)), 0, 1)
    assert Z.min() == 0 and Z.max() == 10 and len(np.unique(Z, axis=0)) == 50
    X = rng.standard_normal((30, 2)) * [5, 1]
    scores = principal(X, 3, 0, 1)
    assert scores.shape == (30, 3) and abs(np.corrcoef(scores[:, 0], X[:, 0])[0, 1]) > 0.99


# ---- the map ----


@pytest.mark.parametrize("options", [{}, {"densmap": True}, {"n_components": 5}, {"init": "pca"}], ids=str)
def test_the_same_bits_for_any_number_of_threads(digits, options):
    X = digits[:1300]
    hashes = {sha(UMAP(n_epochs=20, n_jobs=jobs, **options).fit_transform(X)) for jobs in (1, 2, 4, 8)}
    assert len(hashes) == 1
    assert sha(UMAP(n_epochs=20, random_state=1, **options).fit_transform(X)) not in hashes


def test_threads_share_a_map_of_many_edges(monkeypatch, digits):
    from lowdim.solve import umap_layout

    monkeypatch.setattr(umap_layout, "FEW_EDGES", 0)
    hashes = {sha(UMAP(n_epochs=15, n_jobs=jobs).fit_transform(digits)) for jobs in (1, 2, 3, 8)}
    assert len(hashes) == 1


def test_a_seed_is_a_map_and_row_order_is_part_of_it(digits, labels):
    """Rows draw by their number, so another order is as another seed: a map as good, not the same."""
    X = digits[:600]
    order = np.random.default_rng(0).permutation(600)
    plain, turned = UMAP(n_epochs=200).fit_transform(X), UMAP(n_epochs=200).fit_transform(X[order])
    assert sha(plain) == sha(UMAP(n_epochs=200).fit_transform(X))
    y = labels[:600]
    a, b = accuracy(plain, y, plain, y), accuracy(turned, y[order], turned, y[order])
    assert abs(a - b) < 0.03 and min(a, b) > 0.93


def test_float32_stays_and_the_input_is_left_alone(digits):
    X = digits[:200].astype(np.float32)
    before = X.copy()
    model = UMAP(n_epochs=10).fit(X)
    assert model.embedding_.dtype == np.float32 and model.transform(X[:3] + 1).dtype == np.float32
    np.testing.assert_array_equal(X, before)
    wide = UMAP(n_epochs=10).fit_transform(X.astype(np.float64))
    assert wide.dtype == np.float64
    np.testing.assert_array_equal(wide.astype(np.float32), model.embedding_)


def test_a_graph_serves_as_well_as_the_rows(digits):
    X = digits[:300]
    graph = neighbors(X, 20)
    by_rows = UMAP(n_epochs=30, init="random").fit(X)
    by_graph = UMAP(n_epochs=30, init="random").fit(graph)
    np.testing.assert_array_equal(by_rows.embedding_.astype(np.float32), by_graph.embedding_)
    with pytest.raises(BadInput, match="Graph"):
        by_graph.transform(X)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    given_distances = UMAP(n_epochs=30, init="random", metric="precomputed").fit(distances)
    np.testing.assert_allclose(given_distances.embedding_, by_rows.embedding_, atol=0.5)
    np.testing.assert_array_equal(given_distances.transform(distances), given_distances.embedding_)
    assert np.isfinite(given_distances.transform(distances[:4] + 0.5)).all()


def test_the_edges_are_for_drawing(digits):
    model = UMAP(n_epochs=5).fit(digits[:100])
    assert (model.edges_[:, 0] < model.edges_[:, 1]).all()
    W = model.graph_.toarray()
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_array_equal(W[model.edges_[:, 0], model.edges_[:, 1]], model.weights_)
    np.testing.assert_array_equal(W, fuzzy_of(neighbors(digits[:100], 14), 1.0, 1.0, 1).to_sparse().toarray())


@pytest.mark.parametrize("k", [1, 2, 3, 7, 40])
def test_any_number_of_axes(digits, k):
    Z = UMAP(k, n_epochs=20).fit_transform(digits[:300])
    assert Z.shape == (300, k) and np.isfinite(Z).all()
    assert np.linalg.matrix_rank(Z - Z.mean(axis=0)) == k


def test_separate_clouds_stay_separate(rng):
    X, y = blobs(rng, 5)
    Z = UMAP(n_neighbors=8).fit_transform(X)
    assert accuracy(Z, y, Z, y) == 1.0


# ---- hard tables ----


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
def test_hard_tables(X, options):
    model = UMAP(n_epochs=30, **options)
    Z = model.fit_transform(X)
    assert np.isfinite(Z).all()
    np.testing.assert_array_equal(model.transform(X), Z)
    assert np.isfinite(model.transform(X + 0.25)).all()
    assert np.isfinite(model.inverse_transform(Z)).all()


def test_equal_rows_share_a_place(rng):
    X = rng.standard_normal((100, 4))
    Z = UMAP(n_epochs=50).fit_transform(np.vstack([X, X[:40], X[:5]]))
    np.testing.assert_array_equal(Z[:40], Z[100:140])
    np.testing.assert_array_equal(Z[:5], Z[140:])
    np.testing.assert_array_equal(Z[:100], UMAP(n_epochs=50).fit_transform(X))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_dist": 2.0}, "min_dist must be at most spread"),
        ({"init": np.zeros((3, 2))}, "init must be an array of shape"),
        ({"init": np.full((50, 2), 1e9)}, "within 1e"),
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


def test_named_errors(rng):
    X = rng.standard_normal((50, 3))
    with pytest.raises(NotEnoughData, match="1 sample"):
        UMAP().fit(X[:1])
    with pytest.raises(BadParameter, match="needs rows"):
        UMAP(init="pca").fit(neighbors(X, 5))
    with pytest.raises(BadInput, match="one label a row"):
        UMAP().fit(X, np.zeros(49))
    with pytest.raises(BadInput, match="y contains NaN"):
        UMAP(target_metric="numeric").fit(X, np.full(50, np.nan))
    with pytest.raises(LowdimError, match="columns and the map"):
        UMAP(n_epochs=3).fit(X).inverse_transform(X)


# ---- new rows ----


def test_fitted_rows_come_back_bit_equal(fitted, digits):
    np.testing.assert_array_equal(fitted.transform(digits[:1500]), fitted.embedding_)
    order = np.random.default_rng(0).permutation(1500)[:77]
    np.testing.assert_array_equal(fitted.transform(digits[order]), fitted.embedding_[order])


def test_new_rows_land_among_their_like(fitted, digits, labels):
    before = fitted.embedding_.copy()
    new = fitted.transform(digits[1500:])
    own = accuracy(fitted.embedding_, labels[:1500], fitted.embedding_, labels[:1500])
    held_out = accuracy(fitted.embedding_, labels[:1500], new, labels[1500:])
    from sklearn.neighbors import KNeighborsClassifier

    possible = KNeighborsClassifier(10).fit(digits[:1500], labels[:1500]).score(digits[1500:], labels[1500:])
    assert held_out >= min(own, possible) - 0.02
    np.testing.assert_array_equal(fitted.embedding_, before)


def test_a_new_row_does_not_mind_its_company(fitted, digits):
    together = fitted.transform(digits[1490:1530])
    alone = np.vstack([fitted.transform(row[None]) for row in digits[1490:1530]])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together[::-1], fitted.transform(digits[1490:1530][::-1]))


def test_update_keeps_the_old_rows_near(fitted, digits, labels):
    import copy

    model = copy.deepcopy(fitted)
    old = model.embedding_.copy()
    model.update(digits[1500:])
    assert model.embedding_.shape == (1797, 2)
    size = old.std(axis=0).mean()
    moved = np.linalg.norm(model.embedding_[:1500] - old, axis=1)
    assert np.median(moved) < 0.5 * size
    fresh = UMAP(random_state=5).fit_transform(digits)[:1500]
    assert np.median(moved) < 0.5 * np.median(np.linalg.norm(fresh - old, axis=1))
    assert accuracy(model.embedding_, labels, model.embedding_, labels) > 0.96
    np.testing.assert_array_equal(model.transform(digits), model.embedding_)


def test_inverse_gives_rows_back(fitted, digits):
    np.testing.assert_array_equal(fitted.inverse_transform(fitted.embedding_[:50]), digits[:50])
    new = digits[1500:]
    made = fitted.inverse_transform(fitted.transform(new))
    error = ((made - new) ** 2).sum(axis=1).mean()
    any_row = ((digits[np.random.default_rng(0).integers(0, 1500, len(new))] - new) ** 2).sum(axis=1).mean()
    assert error < 0.4 * any_row
    assert made.min() >= 0 and made.max() <= 16.001  # a mean of rows


# ---- supervision and density ----


def between(Z, y):
    """Share of the variance that lies between classes."""
    total = ((Z - Z.mean(axis=0)) ** 2).sum()
    within = sum(((Z[y == c] - Z[y == c].mean(axis=0)) ** 2).sum() for c in np.unique(y))
    return 1 - within / total


def test_classes_separate_better_with_their_labels(digits, labels):
    X, y = digits[:800], labels[:800]
    plain, told = UMAP(n_epochs=200).fit(X), UMAP(n_epochs=200).fit(X, y)
    assert accuracy(told.embedding_, y, told.embedding_, y) >= accuracy(plain.embedding_, y, plain.embedding_, y)
    assert accuracy(told.embedding_, y, told.embedding_, y) > 0.99
    half = np.where(np.arange(800) % 2, y, -1)
    partly = UMAP(n_epochs=200).fit(X, half).embedding_
    assert accuracy(partly, y, partly, y) > 0.93
    names = np.array([f"digit {c}" for c in y], dtype=object)
    assert UMAP(n_epochs=200).fit(X, names).embedding_.shape == (800, 2)


def test_numbers_order_the_map(rng):
    X = rng.standard_normal((300, 6))
    y = X[:, 0] + 0.1 * rng.standard_normal(300)

    def kept(Z):
        found = neighbors(Z, 10).indices
        return np.abs(y[found] - y[:, None]).mean()

    told = UMAP(n_epochs=200, target_metric="numeric", target_weight=0.8).fit_transform(X, y)
    assert kept(told) < 0.7 * kept(UMAP(n_epochs=200).fit_transform(X))


def test_densmap_keeps_what_is_crowded_crowded(rng):
    X = np.vstack([s * rng.standard_normal((150, 4)) + 40 * i for i, s in enumerate((0.2, 1.0, 4.0))])
    fuzzy = fuzzy_of(neighbors(X, 14), 1.0, 1.0, 1)

    wanted = table_radii(fuzzy.rows, fuzzy.weights, fuzzy.lengths, fuzzy.n)

    def agreement(model):
        Z = np.ascontiguousarray(model.embedding_, dtype=np.float32)
        radii = map_radii(Z, None, fuzzy.starts, fuzzy.columns, Forces(model.a_, model.b_), 1)[1]
        return np.corrcoef(radii, wanted)[0, 1]

    plain, dense = UMAP(n_epochs=300).fit(X), UMAP(n_epochs=300, densmap=True).fit(X)
    assert agreement(dense) > agreement(plain) + 0.1
    assert agreement(dense) > 0.8
    np.testing.assert_array_equal(dense.transform(X), dense.embedding_)
    assert np.isfinite(dense.transform(X + 0.01)).all()


def test_densmap_places_new_rows_by_how_crowded_they_are(rng):
    """Each new row by itself, among a map that stays: lonely ones are to be lonelier there."""

    def table(n):
        return np.vstack([s * rng.standard_normal((n, 4)) + 40 * i for i, s in enumerate((0.2, 1.0, 4.0))])

    X, new = table(150), table(30)
    model = UMAP(n_epochs=300, densmap=True).fit(X)
    found = model._index.query(new, 14)
    wanted = np.log((found.distances**2).mean(axis=1))

    def agreement(Z):
        gaps = np.linalg.norm(Z[:, None] - model.embedding_[found.indices], axis=2)
        return np.corrcoef(np.log((gaps**2).mean(axis=1)), wanted)[0, 1]

    dense = model.transform(new)
    np.testing.assert_array_equal(dense[7:8], model.transform(new[7:8]))
    kept, model.crowding_ = model.crowding_, None
    plain = model.transform(new)
    model.crowding_ = kept
    assert agreement(dense) > max(agreement(plain), 0.8)


# ---- long runs ----


def test_a_stopped_layout_goes_on_to_the_same_bits(tmp_path, digits):
    X, path = digits[:300], tmp_path / "layout"
    whole = UMAP(n_epochs=60).fit_transform(X)
    model = UMAP(n_epochs=60, checkpoint=path)

    def stop(step):
        return step.task == "UMAP" and step.done >= 55

    with pytest.raises(Cancelled), lowdim.watch(stop):
        model.fit(X)
    assert path.exists() and not hasattr(model, "embedding_")
    with pytest.raises(BadInput, match="other data or other parameters"):
        UMAP(n_epochs=60, checkpoint=path, random_state=3).fit(X)
    np.testing.assert_array_equal(model.fit_transform(X), whole)
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(BadInput, match="not a checkpoint"):
        model.fit(X)


def test_progress_is_reported(digits):
    seen = []
    with lowdim.watch(lambda step: seen.append((step.task, step.done, step.total))):
        UMAP(n_epochs=40).fit(digits[:100])
    steps = [done for task, done, _ in seen if task == "UMAP"]
    assert steps == list(range(2, 41, 2))


def test_save_and_load(tmp_path, fitted, digits):
    lowdim.save(fitted, tmp_path / "map.lowdim")
    loaded = lowdim.load(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(loaded.transform(digits[1400:1600]), fitted.transform(digits[1400:1600]))
    np.testing.assert_array_equal(loaded.graph_.toarray(), fitted.graph_.toarray())


def test_rows_with_one_mark_are_told_apart_by_their_values(monkeypatch, rng):
    """Marks of 64 bits hardly ever meet by chance; when they do, no row takes another's place."""
    from lowdim.summaries import distinct

    X = rng.integers(0, 3, (40, 3)).astype(float)
    monkeypatch.setattr(distinct, "row_marks", lambda X, threads: np.zeros(len(X), np.uint64))
    found = distinct.distinct_rows(X, 1)
    np.testing.assert_array_equal(X[found.first][found.which], X)
    places = distinct.find_rows(X, X[5:], np.zeros(35, np.uint64), 1)
    hit = places >= 0
    assert hit.any()
    np.testing.assert_array_equal(X[hit], X[5:][places[hit]])
