"""Duplicate rows: hashes of rows, the distinct rows of a table, and rows found among others."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from lowdim.data import duplicates
from lowdim.data.duplicates import DistinctRows, RowHashes, distinct_rows, find_rows, row_hashes


def test_hashes_are_the_same_for_dense_and_sparse_rows(rng):
    X = rng.integers(-1, 2, (60, 20)) * rng.standard_normal((60, 20))
    hashes = row_hashes(X, 1)
    assert len(np.unique(hashes)) == 60
    for index in (np.int32, np.int64):
        csr = sp.csr_array(X)
        csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
        np.testing.assert_array_equal(row_hashes(csr, 2), hashes)
    np.testing.assert_array_equal(
        row_hashes(sp.csr_array(X.astype(np.float32)), 1), row_hashes(X.astype(np.float32), 1)
    )
    assert row_hashes(X[:, :1], 1).tolist() != row_hashes(X[:, 1:2], 1).tolist()


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
            wrong = RowHashes(hashes.values, np.roll(hashes.rows, 1))  # hashes of other rows: the values decide
            assert (find_rows(A, B, wrong, 1) == -1).all()


def test_distinct_rows_extended_by_more():
    some = DistinctRows(np.array([0, 2]), np.array([0, 0, 1]))
    others = DistinctRows(np.array([0, 2]), np.array([0, 0, 1]))  # of the three rows that are not among them
    both = some.extended(np.array([1, -1, -1, 0, -1]), others)
    np.testing.assert_array_equal(both.first, [0, 2, 4, 7])
    np.testing.assert_array_equal(both.inverse, [0, 0, 1, 1, 2, 2, 0, 3])


def test_rows_of_one_hash_are_told_apart_by_their_values(monkeypatch, rng):
    """Hashes of 64 bits hardly ever collide; if they do, no row is taken for another."""
    X = rng.integers(0, 3, (40, 3)).astype(float)
    monkeypatch.setattr(duplicates, "row_hashes", lambda X, threads: np.zeros(len(X), np.uint64))
    found = distinct_rows(X, 1)
    np.testing.assert_array_equal(X[found.first][found.inverse], X)
    found_at = find_rows(X, X[5:], RowHashes.of(X[5:], 1), 1)
    hit = found_at >= 0
    assert hit.any()
    np.testing.assert_array_equal(X[hit], X[5:][found_at[hit]])
