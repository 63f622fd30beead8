"""Moments: additive, accurate for large means, and weights are multiplicities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lowdim
from lowdim.data.rows import SparseRows
from lowdim.errors import BadInput, NotEnoughData


def cuts(n: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, n - 1), max_size=6).map(lambda inner: [0, *sorted(set(inner)), n])


def table(seed: int, n: int = 60, d: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 100 * rng.standard_normal(d)


@given(st.integers(0, 10_000), cuts(60), st.booleans(), st.booleans())
def test_parts_add_to_the_whole(seed, edges, with_classes, with_weights):
    X = table(seed)
    rng = np.random.default_rng(seed)
    y = rng.choice(list("abc"), 60) if with_classes else None
    w = rng.uniform(0, 3, 60) if with_weights else None
    whole = lowdim.moments(X, y, sample_weight=w)
    parts = [
        lowdim.moments(X[a:b], None if y is None else y[a:b], sample_weight=None if w is None else w[a:b])
        for a, b in pairwise(edges)
    ]
    total = sum(parts[1:], start=parts[0])
    assert total.rows == whole.rows
    assert_allclose(total.counts, whole.counts)
    assert_allclose(total.means, whole.means, rtol=1e-12)
    assert_allclose(total.within, whole.within, rtol=1e-9, atol=1e-9)
    assert_allclose(total.total, whole.total, rtol=1e-9, atol=1e-9)


def test_against_the_definitions():
    X, y = table(1), np.repeat([2, 0, 1], 20)
    m = lowdim.moments(X, y)
    within = sum((X[y == c] - X[y == c].mean(0)).T @ (X[y == c] - X[y == c].mean(0)) for c in range(3))
    assert_array_equal(m.classes, [0, 1, 2])
    assert_allclose(m.means, [X[y == c].mean(0) for c in range(3)])
    assert_allclose(m.within, within, rtol=1e-10)
    assert_allclose(m.within + m.between, m.total)
    assert_allclose(m.covariance(), np.cov(X.T), rtol=1e-10)
    assert_allclose(m.covariance(ddof=0), np.cov(X.T, ddof=0), rtol=1e-10)
    assert_allclose(m.correlation(), np.corrcoef(X.T), rtol=1e-10)
    assert_allclose(m.scale(), X.std(0, ddof=1))


def test_addition_leaves_its_operands_alone():
    a, b = lowdim.moments(table(0)), lowdim.moments(table(1))
    before = a.within.copy(), a.means.copy(), b.within.copy()
    _ = a + b
    assert_array_equal(a.within, before[0])
    assert_array_equal(a.means, before[1])
    assert_array_equal(b.within, before[2])


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_a_large_mean_costs_no_digits(offset, rng):
    noise = rng.standard_normal((20_000, 3))
    noise[:, 1] += noise[:, 0]
    X = noise + offset
    expected = np.cov((X - offset).T)  # without the rounding of X itself
    assert_allclose(lowdim.moments(X).covariance(), expected, rtol=1e-7, atol=1e-9)


def test_a_bimodal_column(rng):
    """The rows that estimate a chunk's shift come from one mode only."""
    X = np.zeros((4096, 2))
    X[1::2] = 1e9  # the strided estimate sees one half only
    X += rng.standard_normal(X.shape)
    assert_allclose(lowdim.moments(X).covariance(), np.cov(X.T), rtol=1e-9)


def test_a_poor_shift_is_replaced(rng):
    n = 128 * 8
    X = rng.standard_normal((n, 3))
    X[::8] += 1e9  # exactly the rows that the estimate reads
    assert_allclose(lowdim.moments(X).covariance(), np.cov(X.T), rtol=1e-9)


def test_float32_is_summed_in_float64(rng):
    X = (rng.standard_normal((50_000, 5)) * [1, 2, 3, 4, 5] + 1000).astype(np.float32)
    m = lowdim.moments(X)
    assert m.dtype == np.float32
    assert m.within.dtype == np.float64
    assert_allclose(m.covariance(), np.cov(X.T.astype(np.float64)), rtol=2e-5, atol=2e-4)


def test_weights_are_multiplicities(rng):
    X, w = table(3), rng.integers(0, 4, 60)
    weighted, repeated = lowdim.moments(X, sample_weight=w), lowdim.moments(np.repeat(X, w, axis=0))
    assert weighted.n == repeated.n
    assert_allclose(weighted.mean, repeated.mean)
    assert_allclose(weighted.total, repeated.total, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("density", [0.02, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunk", [50, 1000])
def test_sparse_is_dense(rng, density, weighted, chunk, monkeypatch):
    monkeypatch.setattr(SparseRows, "chunk_rows", chunk)
    S = sp.random(400, 250, density=density, random_state=0, format="csc")
    w = rng.uniform(0, 2, 400) if weighted else None
    sparse, dense = lowdim.moments(S, sample_weight=w), lowdim.moments(S.toarray(), sample_weight=w)
    assert_allclose(sparse.mean, dense.mean, atol=1e-14)
    assert_allclose(sparse.total, dense.total, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_classes_are_dense_classes(rng, weighted, monkeypatch):
    """Without ever being dense; but columns that are full within a class are, as their differences would cancel."""
    S = sp.random(400, 60, density=0.05, random_state=0, format="csr")
    y, w = rng.integers(0, 4, 400), rng.uniform(0, 2, 400) if weighted else None
    dense = lowdim.moments(S.toarray(), y, sample_weight=w)
    wide = S.tolil()
    wide[y == 3, 7] = 1e6
    full, full_dense = (lowdim.moments(rows, y, sample_weight=w) for rows in (wide.tocsr(), wide.toarray()))
    assert_allclose(full.within, full_dense.within, rtol=1e-9, atol=1e-12)
    monkeypatch.setattr("lowdim.summaries.moments._densified", None)
    sparse = lowdim.moments(S, y, sample_weight=w)
    assert_allclose(sparse.means, dense.means, atol=1e-14)
    assert_allclose(sparse.within, dense.within, rtol=1e-9, atol=1e-12)
    assert_array_equal(sparse.counts, dense.counts)


def test_sparse_with_a_full_column_of_large_mean(rng):
    X = np.zeros((300, 4))
    X[:, 0] = 1e8 + rng.standard_normal(300)
    X[::50, 1] = 1.0
    assert_allclose(lowdim.moments(sp.csr_array(X)).covariance(), np.cov(X.T), rtol=1e-6, atol=1e-9)


def test_classes_seen_in_one_part_only():
    X, y = table(5), np.repeat(list("abc"), 20)
    total = lowdim.moments(X[:25], y[:25]) + lowdim.moments(X[25:], y[25:])
    assert_allclose(total.within, lowdim.moments(X, y).within, rtol=1e-9, atol=1e-9)
    assert_array_equal(total.classes, ["a", "b", "c"])


@pytest.mark.parametrize("threads", [2, 4, 8])
def test_same_bits_for_any_number_of_threads(rng, threads):
    X = rng.standard_normal((9000, 900)).astype(np.float32)
    one, many = lowdim.moments(X, n_jobs=1), lowdim.moments(X, n_jobs=threads)
    assert_array_equal(one.within, many.within)
    assert_array_equal(one.means, many.means)


def test_errors_say_what_to_do():
    X = table(0)
    with pytest.raises(BadInput, match=r"row 7, column 2 \(nan\)"):
        bad = X.copy()
        bad[7, 2] = np.nan
        lowdim.moments(bad)
    with pytest.raises(BadInput, match="one label per row"):
        lowdim.moments(X, np.zeros(3))
    with pytest.raises(BadInput, match="not negative"):
        lowdim.moments(X, sample_weight=-np.ones(60))
    with pytest.raises(BadInput, match="can't be added"):
        lowdim.moments(X) + lowdim.moments(X[:, :2])
    with pytest.raises(NotEnoughData, match="ddof"):
        lowdim.moments(X[:1]).covariance()
    with pytest.raises(BadInput, match="overflow"):
        lowdim.moments(X * 1e200)


def test_columns_that_vary_between_classes_alone_have_no_scatter_within():
    y = np.arange(12) % 3
    found = lowdim.moments(np.column_stack([y, 1e-200 * y, y == 9]).astype(float), y)
    assert not np.diagonal(found.within).any()


def test_a_column_whose_squares_vanish_is_not_taken_for_constant(rng):
    X = np.column_stack([rng.normal(size=40), 1e-200 * rng.normal(size=40), np.full(40, 1e-200)])
    for found in (lowdim.moments(X), lowdim.moments(X[:13]) + lowdim.moments(X[13:]), lowdim.moments(sp.csr_array(X))):
        assert 0 < found.within[1, 1] <= 2 * np.finfo(float).tiny and found.within[2, 2] == 0
