"""δ-pClusters against brute force: all and only the maximal ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.errors import BadInput, SearchTooLarge
from lowdim.subspace import PCluster
from lowdim.subspace._windows import window_ends


def is_pcluster(X, rows, columns, delta):
    """By the definition: every 2 × 2 part."""
    return all(
        abs((X[i, a] - X[i, b]) - (X[j, a] - X[j, b])) <= delta
        for i, j in combinations(rows, 2)
        for a, b in combinations(columns, 2)
    )


def brute_force(X, delta, min_rows, min_columns):
    n, d = X.shape
    every = [
        (frozenset(rows), frozenset(columns))
        for r in range(2, n + 1)
        for rows in combinations(range(n), r)
        for c in range(2, d + 1)
        for columns in combinations(range(d), c)
        if is_pcluster(X, rows, columns, delta)
    ]
    return {
        (rows, columns)
        for rows, columns in every
        if len(rows) >= min_rows
        and len(columns) >= min_columns
        and not any((rows <= r and columns <= c) and (rows, columns) != (r, c) for r, c in every)
    }


@settings(max_examples=60)
@given(
    st.integers(0, 100_000),
    st.integers(2, 6),
    st.integers(2, 5),
    st.integers(0, 2),
    st.integers(2, 3),
    st.integers(2, 3),
)
def test_against_brute_force(seed, n, d, delta, min_rows, min_columns):
    X = np.random.default_rng(seed).integers(0, 5, (n, d)).astype(float)
    model = PCluster(delta, min_rows=min_rows, min_columns=min_columns).fit(X)
    found = [(frozenset(c.rows.tolist()), frozenset(c.dimensions.tolist())) for c in model.clusters_]
    assert len(found) == len(set(found))
    assert set(found) == brute_force(X, delta, min_rows, min_columns)


def test_scaling_patterns_through_logarithms():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 100, (30, 8))
    profile = rng.uniform(1, 10, 5)
    X[:6, :5] = np.outer([1, 2, 5, 10, 0.5, 7], profile)  # rows that differ by a factor
    model = PCluster(1e-9, min_rows=4, min_columns=4, pattern="scaling").fit(X)
    (cluster,) = model.clusters_
    np.testing.assert_array_equal(cluster.rows, np.arange(6))
    np.testing.assert_array_equal(cluster.dimensions, np.arange(5))
    assert not PCluster(1e-9, min_rows=4, min_columns=4).fit(X).clusters_
    assert model.predict([[*(3 * profile), 1, 1, 1], [*(3 * profile[:4]), 1, 1, 1, 1]]).tolist() == [0, -1]
    with pytest.raises(BadInput, match="row 2, column 1 is -1"):
        model.fit(np.where(np.arange(240).reshape(30, 8) == 17, -1, X))


def test_a_planted_shifting_pattern():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 100, (200, 12))
    columns = [1, 4, 5, 9, 11]
    X[np.ix_(range(40), columns)] = rng.uniform(0, 100, 5) + rng.uniform(0, 50, (40, 1)) + rng.uniform(0, 0.4, (40, 5))
    (cluster,) = PCluster(1.0, min_rows=20, min_columns=4).fit(X).clusters_
    np.testing.assert_array_equal(cluster.rows, np.arange(40))
    np.testing.assert_array_equal(cluster.dimensions, columns)


def test_biclusters_of_scikit_learn():
    X = np.array([[0.0, 1, 5], [1, 2, 9], [5, 6, 7], [3, 9, 1]])
    model = PCluster(0, min_rows=2, min_columns=2).fit(X)
    rows, columns = model.biclusters_
    assert rows.shape == (len(model.clusters_), 4) and columns.shape == (len(model.clusters_), 3)
    assert model.get_shape(0) == (3, 2)
    np.testing.assert_array_equal(model.get_submatrix(0, X), X[:3, :2])


def test_the_search_is_bounded():
    with pytest.raises(SearchTooLarge, match="max_nodes=50"):
        PCluster(10.0, min_rows=2, min_columns=2, max_nodes=50).fit(np.random.default_rng(0).normal(size=(20, 10)) * 9)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.floats(0, 500))
def test_windows_are_decided_by_the_rounded_difference(values, width):
    line = np.sort(np.array(values))
    expected = [int(np.flatnonzero(line - value <= width).max()) + 1 for value in line]
    np.testing.assert_array_equal(window_ends(line, width), expected)
