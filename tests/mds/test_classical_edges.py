"""Classical scaling at the edges of precision, rows against distances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from lowdim import ClassicalMDS
from lowdim.decomposition import gram_eigen
from lowdim.errors import BadInput, NotEnoughData

EPS = np.finfo(np.float64).eps


def test_more_dimensions_than_columns_are_zero(rng):
    """Rows and their distances give the same embedding, of as many dimensions as were asked for."""
    X = rng.normal(size=(10, 2))
    for k in (3, 10):
        rows, distances = ClassicalMDS(k).fit(X), ClassicalMDS(k, metric="precomputed").fit(cdist(X, X))
        assert rows.embedding_.shape == distances.embedding_.shape == (10, k)
        assert_array_equal(rows.embedding_[:, 2:], 0)
        assert_array_equal(rows.transform(X), rows.embedding_)
        assert_allclose(np.abs(rows.embedding_), np.abs(distances.embedding_), atol=1e-9)
        assert len(rows.eigenvalues_) >= k
        assert_allclose(rows.eigenvalues_[:2], distances.eigenvalues_[:2], rtol=1e-12)
    for metric, table in (("euclidean", X), ("precomputed", cdist(X, X))):
        with pytest.raises(NotEnoughData, match="at most the number of rows, 10"):
            ClassicalMDS(11, metric=metric).fit(table)


@pytest.mark.parametrize("shape", [(10, 20), (10, 3), (2, 1), (1, 4), (50, 1)])
def test_all_dimensions_are_those_of_positive_eigenvalues(shape, rng):
    X = rng.normal(size=shape)
    rows, distances = ClassicalMDS(None).fit(X), ClassicalMDS(None, metric="precomputed").fit(cdist(X, X))
    want = max(1, min(shape[0] - 1, shape[1]))
    assert rows.embedding_.shape == distances.embedding_.shape == (shape[0], want)
    assert_allclose(cdist(rows.embedding_, rows.embedding_), cdist(X, X), atol=1e-12)


@pytest.mark.parametrize(("dtype", "power"), [(np.float64, -664), (np.float64, -996), (np.float32, -83)])
@pytest.mark.parametrize("shape", [(40, 3), (8, 20)])
def test_vanishing_squares_do_not_change_the_embedding(dtype, power, shape, rng):
    X = (rng.normal(size=shape) * np.arange(1, shape[1] + 1)).astype(dtype)
    plain, tiny = ClassicalMDS(2).fit(X), ClassicalMDS(2).fit(np.ldexp(X, power))
    tol = 1e-12 if dtype == np.float64 else 1e-5
    assert_allclose(np.ldexp(tiny.embedding_, -power), plain.embedding_, atol=tol * np.abs(plain.embedding_).max())
    assert_allclose(tiny.goodness_of_fit_, plain.goodness_of_fit_, rtol=tol)
    assert_allclose(tiny.transform(np.ldexp(X, power)), tiny.embedding_, rtol=1e-6)


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_offsets_cost_no_more_than_their_rounding(offset, rng):
    X = rng.normal(size=(60, 4)) * [4, 3, 2, 1] + offset
    near = X - offset  # exact, as they lie so close
    far = ClassicalMDS(4).fit(X)
    assert_allclose(far.eigenvalues_, ClassicalMDS(4).fit(near).eigenvalues_, rtol=1e-9)
    assert_allclose(cdist(far.embedding_, far.embedding_), cdist(near, near), atol=16 * EPS * offset)


def test_the_goodness_of_fit_of_many_distances_does_not_depend_on_the_dimensions(monkeypatch, rng):
    X = rng.normal(size=(300, 5))
    D = cdist(X, X, "chebyshev")
    exact = [ClassicalMDS(k, metric="precomputed").fit(D) for k in (1, 3)]
    monkeypatch.setattr(gram_eigen, "GRAM_ROWS", 100)
    for k, dense in zip((1, 3), exact, strict=True):
        found = ClassicalMDS(k, metric="precomputed").fit(D)
        assert_allclose(found.goodness_of_fit_, dense.goodness_of_fit_, rtol=0.02)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_eigenvalues_ten_orders_below_the_largest(metric, rng):
    """Rows keep them to their relative rounding, distances to that of the largest square."""
    Q = np.linalg.qr(np.c_[np.ones(40), rng.normal(size=(40, 6))])[0][:, 1:]  # centered
    values = 10.0 ** np.arange(0, -12, -2)
    X = Q * np.sqrt(values)
    model = ClassicalMDS(6, metric=metric).fit(X if metric == "euclidean" else cdist(X, X))
    bound = 1e-9 * values if metric == "euclidean" else 16 * EPS * 40 * np.ones(6)
    assert (np.abs(model.eigenvalues_[:6] - values) <= bound).all()


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_tied_eigenvalues_span_the_space(metric):
    """The corners of a regular simplex: three equal eigenvalues, and all distances as they were."""
    X = np.eye(4)
    model = ClassicalMDS(3, metric=metric).fit(X if metric == "euclidean" else cdist(X, X))
    assert_allclose(model.eigenvalues_[:3], 1, rtol=1e-12)
    assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float64, s) for s in (1e-300, 1e-150, 1e150, 1e300)] + [(np.float32, s) for s in (1e-30, 1e15, 1e30)],
)
def test_any_scale_is_right_or_refused(metric, dtype, scale, rng):
    X = rng.normal(size=(20, 3)).astype(dtype)
    table = cdist(X, X).astype(dtype) if metric == "precomputed" else X
    plain = ClassicalMDS(2, metric=metric).fit(table)
    try:
        scaled = ClassicalMDS(2, metric=metric).fit(table * dtype(scale))
    except BadInput as error:
        assert "escale" in str(error) and scale > 1
        return
    tol = 1e-9 if dtype == np.float64 else 1e-4
    bound = tol * np.abs(plain.embedding_).max()
    assert_allclose(scaled.embedding_ / dtype(scale), plain.embedding_, atol=bound)
    assert_allclose(scaled.transform(table * dtype(scale)) / dtype(scale), plain.embedding_, atol=bound)


@pytest.mark.parametrize(
    ("dtype", "offset"),
    [(np.float32, 1e4), (np.float32, 1e6), (np.float64, 1e4), (np.float64, 1e8), (np.float64, 1e12)],
)
def test_the_rows_of_any_dtype_have_the_embedding_of_what_their_rounding_left(dtype, offset, rng):
    X = (rng.normal(size=(40, 3)) * [4, 2, 1] + offset).astype(dtype)
    wide = X.astype(np.float64)
    for metric in ("euclidean", "manhattan"):
        found, want = ClassicalMDS(3, metric=metric).fit(X), ClassicalMDS(3, metric=metric).fit(wide - wide[0])
        bound = (1e-3 if dtype == np.float32 else 1e-10) * float(want.eigenvalues_[0])
        assert_allclose(found.eigenvalues_[:3], want.eigenvalues_[:3], atol=bound)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_weights_are_repeated_rows(metric, rng):
    X, weights = rng.normal(size=(25, 3)) + 1e4, rng.integers(1, 4, 25)
    once = ClassicalMDS(3, metric=metric).fit(X, sample_weight=weights)
    repeated = ClassicalMDS(3, metric=metric).fit(np.repeat(X, weights, axis=0))
    assert_allclose(once.eigenvalues_[:3], repeated.eigenvalues_[:3], rtol=1e-9)
    assert_allclose(np.abs(once.embedding_), np.abs(repeated.transform(X)), atol=1e-7)


def test_new_rows_in_chunks_are_the_whole(monkeypatch, rng):
    X = rng.normal(size=(200, 3)) + 1e4
    for metric in ("euclidean", "manhattan"):
        model = ClassicalMDS(2, metric=metric).fit(X)
        whole = model.transform(X)
        with monkeypatch.context() as patch:
            patch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1)  # 16 rows
            assert_allclose(model.transform(X), whole, atol=1e-11 * np.abs(whole).max())
