"""UMAP: out-of-sample embedding, update, inverse transform, supervision and densMAP."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lowdim
from lowdim import UMAP, neighbors
from lowdim.data.duplicates import DistinctRows
from lowdim.data.rows import open_rows
from lowdim.errors import BadInput
from lowdim.neighbor_embedding.umap.densmap import embedding_radii, original_radii
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set, smooth_knn_distances
from lowdim.neighbor_embedding.umap.supervision import numeric_intersection

# ---- new rows ----


def test_fitted_rows_keep_their_positions_bit_for_bit(fitted, digits):
    np.testing.assert_array_equal(fitted.transform(digits[:1500]), fitted.embedding_)
    order = np.random.default_rng(0).permutation(1500)[:77]
    np.testing.assert_array_equal(fitted.transform(digits[order]), fitted.embedding_[order])


def test_new_digits_are_embedded_well(embeds_new_digits_well):
    embeds_new_digits_well(UMAP(n_jobs=2))


def test_a_new_row_does_not_depend_on_the_others(fitted, digits):
    together = fitted.transform(digits[1490:1530])
    alone = np.vstack([fitted.transform(row[None]) for row in digits[1490:1530]])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together[::-1], fitted.transform(digits[1490:1530][::-1]))


def test_update_moves_the_fitted_rows_little(fitted, digits, labels, accuracy):
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
    assert accuracy(model.embedding_, labels) > 0.96
    np.testing.assert_array_equal(model.transform(digits), model.embedding_)


def density_correlation(X):
    """The correlation of the radii in an embedding of the rows X with the original ones: a function of the model."""
    fuzzy = fuzzy_simplicial_set(neighbors(X, 14), 1.0, 1.0, 1)
    wanted = original_radii(fuzzy.rows, fuzzy.weights, fuzzy.lengths, fuzzy.n)

    def correlation(model):
        Z = np.ascontiguousarray(model.embedding_, dtype=np.float32)
        radii = embedding_radii(Z, None, fuzzy.starts, fuzzy.columns, model.a_, model.b_, 1)[1]
        return np.corrcoef(radii, wanted)[0, 1]

    return correlation


def test_update_of_a_densmap_keeps_densities(rng):
    """Of the new rows, too, as a fit to all rows does."""
    X = np.vstack([s * rng.standard_normal((100, 4)) + 40 * i for i, s in enumerate((0.2, 1.0, 4.0))])
    order = rng.permutation(300)
    X = X[order]
    correlation = density_correlation(X)
    grown = UMAP(n_epochs=200, densmap=True).fit(X[:200]).update(X[200:])
    assert correlation(grown) > 0.8
    np.testing.assert_array_equal(grown.transform(X), grown.embedding_)
    fresh = UMAP(n_epochs=200, densmap=True).fit(X)
    for name in ("original_mean", "original_std"):
        assert getattr(grown._state.density, name) == pytest.approx(getattr(fresh._state.density, name), rel=1e-5)
    np.testing.assert_array_equal(grown.graph_.toarray(), fresh.graph_.toarray())


def test_inverse_transform_gives_rows_back(fitted, digits):
    np.testing.assert_array_equal(fitted.inverse_transform(fitted.embedding_[:50]), digits[:50])
    new = digits[1500:]
    positions = fitted.transform(new)
    made = fitted.inverse_transform(positions)
    error = ((made - new) ** 2).sum(axis=1).mean()
    random_row = ((digits[np.random.default_rng(0).integers(0, 1500, len(new))] - new) ** 2).sum(axis=1).mean()
    assert error < 0.4 * random_row
    np.testing.assert_array_equal(fitted.inverse_transform(positions[3:4]), made[3:4])
    far = fitted.inverse_transform(1e6 + positions[:5])
    assert np.abs(far).max() < 100  # values are from 0 to 16


def weighted_mean(model, Z):
    """The mean of the nearest rows, weighted by their membership strengths."""
    found = lowdim.NeighborIndex(model.embedding_).query(Z, 15)
    weights = smooth_knn_distances(found.distances, 1.0, 1).weights.astype(float)
    return np.einsum("ij,ijd->id", weights / weights.sum(axis=1, keepdims=True), model.X_fit_[found.indices])


@pytest.mark.parametrize("table", ["digits", "swiss roll"])
def test_inverse_transform_is_closer_than_the_mean_of_the_neighbors(digits, table):
    from sklearn.datasets import make_swiss_roll

    X = digits if table == "digits" else make_swiss_roll(1500, random_state=0)[0]
    held = np.arange(len(X)) % 5 == 0
    model = UMAP(n_jobs=2).fit(X[~held])
    Z = model.transform(X[held])
    error = ((model.inverse_transform(Z) - X[held]) ** 2).sum()
    assert error < ((weighted_mean(model, Z) - X[held]) ** 2).sum()


def test_points_that_are_not_finite_are_refused(fitted):
    for bad in (np.nan, np.inf):
        with pytest.raises(BadInput, match="Z contains"):
            fitted.inverse_transform([[0.0, bad]])


# ---- supervision and densMAP ----


def test_classes_separate_better_if_supervised(digits, labels, accuracy):
    X, y = digits[:800], labels[:800]
    plain, supervised = UMAP(n_epochs=200).fit(X), UMAP(n_epochs=200).fit(X, y)
    assert accuracy(supervised.embedding_, y) >= max(0.99, accuracy(plain.embedding_, y))
    half = np.where(np.arange(800) % 2, y, -1)
    partly = UMAP(n_epochs=200).fit(X, half).embedding_
    assert accuracy(partly, y) > 0.93
    names = np.array([f"digit {c}" for c in y], dtype=object)
    assert UMAP(n_epochs=200).fit(X, names).embedding_.shape == (800, 2)


def test_a_numeric_target_orders_the_embedding(rng):
    X = rng.standard_normal((300, 6))
    y = X[:, 0] + 0.1 * rng.standard_normal(300)

    def difference(Z):
        found = neighbors(Z, 10).indices
        return np.abs(y[found] - y[:, None]).mean()

    supervised = UMAP(n_epochs=200, target_metric="numeric", target_weight=0.8).fit_transform(X, y)
    assert difference(supervised) < 0.7 * difference(UMAP(n_epochs=200).fit_transform(X))


def test_densmap_keeps_densities(rng):
    X = np.vstack([s * rng.standard_normal((150, 4)) + 40 * i for i, s in enumerate((0.2, 1.0, 4.0))])
    correlation = density_correlation(X)
    plain, dense = UMAP(n_epochs=300).fit(X), UMAP(n_epochs=300, densmap=True).fit(X)
    assert correlation(dense) > correlation(plain) + 0.1
    assert correlation(dense) > 0.8
    np.testing.assert_array_equal(dense.transform(X), dense.embedding_)
    assert np.isfinite(dense.transform(X + 0.01)).all()


def test_a_numeric_target_keeps_the_lengths_of_edges(rng):
    """densMAP needs them; an edge of y alone is as long as the longest at its endpoints."""
    X = rng.standard_normal((80, 3))
    fuzzy = fuzzy_simplicial_set(neighbors(X, 6), 1.0, 1.0, 1)
    joint = numeric_intersection(fuzzy, rng.standard_normal(80), DistinctRows.all_of(80), 0.5, 6, 1)
    true = np.linalg.norm(X[joint.rows] - X[joint.columns], axis=1)
    known = fuzzy.to_sparse().toarray()[joint.rows, joint.columns] > 0
    assert 0.1 < known.mean() < 0.9
    np.testing.assert_allclose(joint.lengths[known], true[known], rtol=1e-5)
    L = np.zeros((80, 80))
    L[fuzzy.rows, fuzzy.columns] = fuzzy.lengths
    longest = np.maximum(L.max(axis=1)[joint.rows], L.max(axis=1)[joint.columns])
    np.testing.assert_allclose(joint.lengths[~known], longest[~known], rtol=1e-6)
    assert 0.5 < np.median(joint.lengths[~known] / true[~known]) < 1


def test_densmap_embeds_new_rows_by_their_densities(rng):
    """Each by itself: sparse rows are sparse in the embedding, by as much as fitted ones."""

    def sample(n):
        return np.vstack([s * rng.standard_normal((n, 4)) + 40 * i for i, s in enumerate((0.2, 1.0, 4.0))])

    X, new = sample(150), sample(50)
    model = UMAP(n_epochs=300, densmap=True).fit(X)
    positions = model.embedding_.astype(np.float32)

    def radii(rows, Z, found):
        """Original and embedded, over edges to the 14 nearest rows."""
        m, k = found.indices.shape
        weights = smooth_knn_distances(found.distances, 1.0, 1).weights.ravel()
        Z = np.ascontiguousarray(Z, dtype=np.float32)
        starts = np.arange(m + 1) * k
        mapped = embedding_radii(Z, positions, starts, found.indices.ravel(), model.a_, model.b_, 1)[1]
        return original_radii(np.repeat(np.arange(m), k), weights, found.distances.ravel(), m), mapped

    found = lowdim.NeighborIndex(X).query(new, 14)
    dense = model.transform(new)
    np.testing.assert_array_equal(dense[7:8], model.transform(new[7:8]))
    plain = replace(model._out_of_sample, density=None)(open_rows(new))
    of_fitted, embedded = radii(X, positions, neighbors(X, 14))
    line = np.polyfit(of_fitted, embedded, 1)

    def fidelity(Z):
        wanted, got = radii(new, Z, found)
        return np.corrcoef(wanted, got)[0, 1], np.abs(got - np.polyval(line, wanted)).mean()

    (with_it, error), (without, plain_error) = fidelity(dense), fidelity(plain)
    assert with_it > max(without, 0.8)
    assert error < plain_error
    far = model.transform(new + 1000.0)  # sparser than any fitted row: clipped to the sparsest
    assert np.abs(far - positions.mean(axis=0)).max() < 3 * np.ptp(positions, axis=0).max()


def test_the_density_correlation_of_new_rows_is_over_directed_edges(rng):
    """A fitted row, taken as a new one, has the radius that the correlation was computed with."""
    X = rng.standard_normal((200, 3)) * rng.gamma(1.0, size=(200, 1))
    model = UMAP(n_epochs=60, densmap=True).fit(X)
    graph = neighbors(X, 14)
    weights = smooth_knn_distances(graph.distances, 1.0, 1).weights.astype(float)
    wanted = np.log((weights * graph.distances.astype(float) ** 2).sum(axis=1) / weights.sum(axis=1) + 1e-8)
    kept = model._state.density
    assert kept.original_mean == pytest.approx(wanted.mean(), rel=1e-5)
    assert kept.original_std == pytest.approx(np.sqrt(wanted.var() + 0.1), rel=1e-5)
    assert (kept.original_min, kept.original_max) == pytest.approx((wanted.min(), wanted.max()), rel=1e-5)
    beyond = kept.gradient_terms(np.array([kept.original_max + 5, kept.original_max]), np.ones(2), np.zeros(2))
    np.testing.assert_array_equal(beyond[:2], beyond[2:])
