"""Classical scaling at the edges of precision, rows against distances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from lowdim import ClassicalMDS
from lowdim.decomposition import gram_eigen
from lowdim.errors import NotEnoughData

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
