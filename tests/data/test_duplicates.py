"""Duplicate rows: found by hashes, told apart by their values, and averaged where they are tied."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim.data import duplicates
from lowdim.data.duplicates import (
    DistinctRows,
    RowHashes,
    TiedRows,
    average_tied,
    distinct_rows,
    find_rows,
    row_hashes,
)


def test_hashes_are_the_same_for_dense_and_sparse_rows(rng):
    X = rng.integers(-1, 2, (60, 20)) * rng.standard_normal((60, 20))
    hashes = row_hashes(X, 1)
    assert len(np.unique(hashes)) == 60
    for index in (np.int32, np.int64):
        csr = sp.csr_array(X)
        csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
        np.testing.assert_array_equal(row_hashes(csr, 2), hashes)
    narrow = X.astype(np.float32)
    np.testing.assert_array_equal(row_hashes(sp.csr_array(narrow), 1), row_hashes(narrow, 1))
    assert row_hashes(X[:, :1], 1).tolist() != row_hashes(X[:, 1:2], 1).tolist()


def test_negative_zero_equals_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert distinct_rows(X, 1).inverse.tolist() == [0, 0]


def test_equal_sparse_rows_are_found(rng):
    X = rng.integers(0, 2, (80, 5)).astype(float)
    dense, sparse = distinct_rows(X, 1), distinct_rows(sp.csr_array(X), 1)
    np.testing.assert_array_equal(dense.first, sparse.first)
    np.testing.assert_array_equal(dense.inverse, sparse.inverse)
    among = X[dense.first]
    expected = find_rows(X, among, RowHashes.of(among, 1), 1)
    np.testing.assert_array_equal(expected, dense.inverse)
    for A in (X, sp.csr_array(X)):
        for B in (among, sp.csr_array(among)):
            hashes = RowHashes.of(B, 1)
            np.testing.assert_array_equal(find_rows(A, B, hashes, 1), expected)
            wrong = RowHashes(hashes.values, np.roll(hashes.rows, 1))  # hashes of other rows: values decide
            assert (find_rows(A, B, wrong, 1) == -1).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_distinct_rows_are_those_of_numpy_in_the_order_of_the_rows(rng, threads):
    X = rng.integers(0, 3, (200, 3)).astype(float)
    found = distinct_rows(X, threads)
    np.testing.assert_array_equal(X[found.first][found.inverse], X)
    np.testing.assert_array_equal(found.first, np.sort(np.unique(X, axis=0, return_index=True)[1]))
    assert not found.all_distinct and distinct_rows(X[found.first], threads).all_distinct


def test_rows_of_one_hash_are_told_apart_by_their_values(monkeypatch, rng):
    """Hashes of 64 bits hardly ever collide; when they do, no row is taken for another."""
    X = rng.integers(0, 3, (40, 3)).astype(float)
    monkeypatch.setattr(duplicates, "row_hashes", lambda X, threads: np.zeros(len(X), np.uint64))
    found = distinct_rows(X, 1)
    np.testing.assert_array_equal(X[found.first][found.inverse], X)
    places = find_rows(X, X[5:], RowHashes.of(X[5:], 1), 1)
    hit = places >= 0
    assert hit.any()
    np.testing.assert_array_equal(X[hit], X[5:][places[hit]])


def test_distinct_rows_and_more():
    some = DistinctRows(np.array([0, 2]), np.array([0, 0, 1]))
    others = DistinctRows(np.array([0, 2]), np.array([0, 0, 1]))  # of the three rows that are not known
    both = some.extended(np.array([1, -1, -1, 0, -1]), others)
    np.testing.assert_array_equal(both.first, [0, 2, 4, 7])
    np.testing.assert_array_equal(both.inverse, [0, 0, 1, 1, 2, 2, 0, 3])


def test_tied_rows_are_put_at_their_mean(rng):
    inverse = np.array([0, 1, 0, 2, 1, 0])
    positions = rng.normal(size=(6, 2)).astype(np.float32)
    want = np.array([positions[inverse == group].mean(axis=0) for group in inverse])
    average_tied(positions, inverse)
    np.testing.assert_allclose(positions, want, rtol=1e-6)
    for group in range(3):
        assert len(np.unique(positions[inverse == group], axis=0)) == 1
    assert TiedRows.of(np.arange(5)) is None
