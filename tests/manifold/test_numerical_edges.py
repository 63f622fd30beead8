"""Numerical edges of the graph and MDS methods, each with a bound: few rows, one column, ties, offsets, scales.

Distances are compared, because an embedding is known up to a rotation; coordinates where the method fixes the rotation.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim import LLE, MDS, TSNE, UMAP, ClassicalMDS, Isomap, LaplacianEigenmaps, NonmetricMDS
from lowdim.errors import LowdimError

# Embeddings in the unit of the data, and those that depend on ratios of distances alone.
IN_UNITS = [Isomap(2), MDS(2), NonmetricMDS(2), ClassicalMDS(2, metric="manhattan")]
UNIT_FREE = [LaplacianEigenmaps(2), LLE(2), UMAP(2, n_epochs=20, init="random"), TSNE(2, max_iter=20, init="random")]
NEIGHBORS = [Isomap(2), *UNIT_FREE]
ALL = [*IN_UNITS, *UNIT_FREE]


def name(model):
    return f"{type(model).__name__}{'' if model.metric == 'euclidean' else ' ' + model.metric}"


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lowdim.errors.LowdimWarning)
        yield


def fit(model, X):
    return type(model)(**model.get_params()).fit(X)


def longdouble_distances(X):
    wide = X.astype(np.longdouble)
    return np.sqrt(((wide[:, None] - wide) ** 2).sum(axis=2))


# ---- neighbors against longdouble ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-28, 1e-12, 1.0, 1e12, 1e28])
@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12])
def test_neighbors_are_those_of_longdouble(dtype, scale, offset, rng):
    """Any spread that float32 distances can tell, anywhere: the k-th distance is right to rounding."""
    if dtype is np.float32 and scale * offset > 1e38:
        return
    X = (scale * (rng.normal(size=(60, 3)) + offset)).astype(dtype)
    D = longdouble_distances(X) + np.diag(np.full(60, np.inf, dtype=np.longdouble))
    found = lowdim.neighbors(X, 7)
    want = np.sort(D, axis=1)[:, :7]
    np.testing.assert_allclose(found.distances, want.astype(np.float64), rtol=1e-6, atol=0)
    at = np.take_along_axis(D, found.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(at.astype(np.float64), found.distances, rtol=1e-6, atol=0)


@pytest.mark.parametrize("n", [2, 3, 5, 17, 50])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "sqeuclidean"])
def test_ties_are_ordered_by_row(n, metric, rng):
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    D = {"euclidean": 2, "sqeuclidean": 2, "manhattan": 1, "chebyshev": np.inf}[metric]
    table = np.linalg.norm(X[:, None] - X, ord=D, axis=2) ** (2 if metric == "sqeuclidean" else 1)
    table = np.round(table, 6) + np.diag(np.full(n, np.inf))
    k = min(n - 1, 6)
    want = np.lexsort((np.broadcast_to(np.arange(n), (n, n)), table), axis=1)[:, :k]
    np.testing.assert_array_equal(lowdim.neighbors(X, k, metric=metric).indices, want)


# ---- scales and offsets ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40, 1e-20, 1e20, 1e-150, 1e150, 1e-300, 1e300])
@pytest.mark.parametrize("model", ALL, ids=name)
def test_a_scaled_table_has_the_scaled_embedding(model, scale, dtype, X):
    """Or the same one, where only ratios count; or the range is too wide for the method, and an error says so."""
    if dtype is np.float32 and not 1e-30 < scale < 1e30:
        return
    Z = fit(model, X.astype(dtype)).embedding_.astype(np.float64)
    scaled = X.astype(dtype) * dtype(scale)
    try:
        found = fit(model, scaled).embedding_.astype(np.float64)
    except LowdimError as error:
        assert scale < 1e-12 or scale > 1e12, error
        assert any(word in str(error) for word in ("Rescale", "rescale")), error
        return
    found = found / scale if model.__class__ in {type(one) for one in IN_UNITS} else found
    np.testing.assert_allclose(pdist(found), pdist(Z), atol=2e-3 * pdist(Z).max())


@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("model", ALL, ids=name)
def test_an_offset_changes_nothing_but_the_rounding_of_the_rows(model, offset, X):
    moved = X + offset  # what is left of X, exactly representable without the offset
    Z, found = fit(model, moved - offset).embedding_, fit(model, moved).embedding_
    np.testing.assert_allclose(pdist(found), pdist(Z), atol=1e-4 * pdist(Z).max())


# ---- few rows, one column ----


@pytest.mark.parametrize("model", ALL, ids=name)
def test_any_number_of_rows(model, rng):
    """From 1 to 50: finite, one position per row, fitted rows found again, or an error that says what is missing."""
    for n in (1, 2, 3, 4, 5, 6, 8, 12, 20, 35, 50):
        for d in (1, 4):
            X = rng.normal(size=(n, d))
            try:
                fitted = fit(model, X)
            except LowdimError as error:
                assert n <= 4, error
                continue
            assert fitted.embedding_.shape == (n, 2) and np.isfinite(fitted.embedding_).all()
            Z = fitted.transform(X)
            np.testing.assert_allclose(Z, fitted.embedding_, atol=2e-3 * max(np.abs(fitted.embedding_).max(), 1e-9))


@pytest.mark.parametrize("n", [3, 4, 7, 20, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_line_is_embedded_exactly(n, dtype, rng):
    """One column: geodesics, distances and ranks are those of the line."""
    X = np.sort(rng.uniform(0, 1, size=(n, 1)), axis=0).astype(dtype)
    rel = 1e-4 if dtype is np.float32 else 1e-5
    for model in (Isomap(1, n_neighbors=2), MDS(1), ClassicalMDS(1), ClassicalMDS(1, metric="manhattan")):
        Z = model.fit(X).embedding_
        assert Z.dtype == dtype
        np.testing.assert_allclose(pdist(Z), pdist(X), atol=rel * np.ptp(X))
    assert NonmetricMDS(1).fit(X).stress1_ < 1e-3


@pytest.mark.parametrize("model", NEIGHBORS, ids=name)
def test_ties_everywhere(model):
    """A grid, and the same grid in another order: finite, equal rows together."""
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    X = np.vstack([grid, grid[:6]])
    fitted = fit(model, X)
    assert np.isfinite(fitted.embedding_).all()
    if not isinstance(model, LLE | LaplacianEigenmaps):
        gap = np.linalg.norm(fitted.embedding_[:6] - fitted.embedding_[36:], axis=1)
        assert gap.max() <= 1e-4 * pdist(fitted.embedding_).max()


# ---- weights ----


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
def test_weights_of_pairs_are_repeated_pairs(cls, X):
    """A pair of weight 4 counts as four pairs: doubling every row is the fit with weights of 4 between them."""
    X = X[:12]
    D = squareform(pdist(X))
    twice = np.repeat(np.repeat(D, 2, axis=0), 2, axis=1)
    start = np.random.default_rng(1).normal(size=(12, 2))
    options = {"metric": "precomputed", "tol": 1e-12, "max_iter": 3000}
    once = cls(2, init=start, **options).fit(D, weights=np.full((12, 12), 4.0))
    plain = cls(2, init=start, **options).fit(D)
    np.testing.assert_allclose(once.embedding_, plain.embedding_, atol=1e-6)
    assert once.stress_ == pytest.approx(4 * plain.stress_, rel=1e-6)
    if cls is MDS:
        repeated = MDS(2, init=np.repeat(start, 2, axis=0), **options).fit(twice)
        assert repeated.stress_ == pytest.approx(4 * plain.stress_, rel=1e-4)
        np.testing.assert_allclose(pdist(repeated.embedding_[::2]), pdist(plain.embedding_), atol=1e-3)


# ---- rank deficiency, chunks ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dimensions_that_are_not_there_are_zero(dtype, rng):
    """A line in three columns, embedded in two dimensions: the second is rounding."""
    t = np.sort(rng.uniform(0, 1, 30))
    X = np.outer(t, [1.0, 2.0, 2.0]).astype(dtype)  # of length 3 per unit of t
    for model in (Isomap(2, n_neighbors=2), MDS(2), ClassicalMDS(2), ClassicalMDS(2, metric="chebyshev")):
        Z = model.fit(X).embedding_
        assert np.abs(Z[:, 1]).max() <= 2e-3 * np.ptp(Z[:, 0])
        factor = 2 if model.metric == "chebyshev" else 3
        np.testing.assert_allclose(pdist(Z), factor * pdist(t[:, None]), atol=1e-4 * factor)


@pytest.mark.parametrize("model", ALL, ids=name)
def test_new_rows_in_chunks_are_the_whole(model, monkeypatch, X, rng):
    fitted, new = fit(model, X), rng.normal(size=(50, 3))
    whole = fitted.transform(new)
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1)  # 16 rows
    np.testing.assert_allclose(fitted.transform(new), whole, atol=1e-9 * np.abs(whole).max())
