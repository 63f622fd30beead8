"""The kernels of geodesics and Gram matrices against their NumPy twins."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import dijkstra

from lowdim import _native
from lowdim.manifold.isomap.shortest_paths import GeodesicGraph


def random_graph(n, degree, rng, pieces=1):
    """A symmetric graph of float32 lengths, some of them 0; in pieces if wanted."""
    row = np.repeat(np.arange(n), degree)
    column = (row + pieces * rng.integers(1, n, len(row))) % (n - n % pieces)
    kept = (row != column) & (row < n - n % pieces)
    length = np.where(rng.random(len(row)) < 0.05, 0, rng.random(len(row))).astype(np.float32)
    pairs = {}
    for i, j, w in zip(row[kept], column[kept], length[kept], strict=True):
        pairs[min(i, j), max(i, j)] = w
    ends = np.array(list(pairs))
    both = np.concatenate([ends, ends[:, ::-1]])
    lengths = np.tile(np.array(list(pairs.values()), dtype=np.float32), 2)
    return sp.csr_array((lengths, both.T), shape=(n, n))


def shortest_paths(matrix, seeds, lengths):
    """Bellman and Ford's way, in float32: the same least fixed point, bit for bit."""
    coo = matrix.tocoo()
    out = np.full((len(seeds), matrix.shape[0]), np.inf, dtype=np.float32)
    for query, (nodes, starts) in enumerate(zip(seeds, lengths, strict=True)):
        reach = out[query]
        np.minimum.at(reach, nodes, starts)
        while True:
            before = reach.copy()
            np.minimum.at(reach, coo.coords[1], before[coo.coords[0]] + coo.data)
            if np.array_equal(before, reach):
                break
    return out


@pytest.mark.parametrize(("n", "degree", "pieces"), [(2, 1, 1), (40, 2, 1), (90, 4, 3), (50, 8, 1)])
def test_geodesics_have_the_bits_of_the_reference(n, degree, pieces, rng):
    matrix = random_graph(n, degree, rng, pieces)
    want = shortest_paths(matrix, np.arange(n)[:, None], np.zeros((n, 1), dtype=np.float32))
    assert_array_equal(GeodesicGraph.from_sparse(matrix).geodesics_from_rows(np.arange(n), 2), want)
    near = rng.integers(0, n, (37, 3))
    lengths = rng.random((37, 3)).astype(np.float32)
    assert_array_equal(
        GeodesicGraph.from_sparse(matrix).geodesics_from_points(near, lengths, 2), shortest_paths(matrix, near, lengths)
    )


def test_geodesics_are_dijkstras(rng):
    matrix = random_graph(300, 3, rng)
    matrix.data[matrix.data == 0] = 0.5  # which SciPy would not count as an edge
    got = GeodesicGraph.from_sparse(matrix).geodesics_from_rows(np.arange(300), 2)
    assert_allclose(got, dijkstra(matrix, directed=False), rtol=1e-5)


def test_sources_that_stand_far_apart(rng):
    """A long path, sources all over it: too many sweeps, so each is found by itself."""
    n = 3000
    order = rng.permutation(n)
    length = rng.random(n - 1).astype(np.float32)
    matrix = sp.csr_array((length, (order[:-1], order[1:])), shape=(n, n))
    matrix = sp.csr_array(matrix + matrix.T)
    rows = order[:: n // 32][:32]
    got = GeodesicGraph.from_sparse(matrix).geodesics_from_rows(rows, 1)
    place = np.empty(n, dtype=int)
    place[order] = np.arange(n)
    along = np.concatenate([[0], np.cumsum(length, dtype=float)])[place]
    assert_allclose(got, np.abs(along[rows][:, None] - along), rtol=1e-3, atol=1e-3)


def test_the_node_order_is_a_permutation_that_keeps_neighbors_near(rng):
    graph = GeodesicGraph.from_sparse(random_graph(500, 2, rng))
    assert_array_equal(np.sort(graph.order), np.arange(500))
    shuffle = rng.permutation(1000)
    path = sp.diags_array([np.ones(999), np.ones(999)], offsets=[-1, 1]).tocsr()[shuffle][:, shuffle]
    graph = GeodesicGraph.from_sparse(sp.csr_array(path))
    steps = np.abs(graph.columns - np.repeat(np.arange(1000), np.diff(graph.starts)))
    assert np.median(steps) <= 2


def test_gram_of_distances(rng):
    n, k = 37, 11
    D = rng.random((n, n)).astype(np.float32)
    squares = np.square(D)
    J = np.eye(n) - 1 / n
    B = -0.5 * (squares - squares.mean(axis=1, keepdims=True) - squares.mean(axis=1) + squares.mean())
    work, means, totals = D.copy(), np.empty(n), np.empty(n)
    _native.square_distances(work, means, 2)
    assert_array_equal(work, squares)
    assert_allclose(means, squares.mean(axis=1, dtype=float), rtol=1e-12)
    _native.double_center(work, means, float(means.mean()), totals, 2)
    assert_allclose(work, B, atol=1e-6)
    assert_allclose(totals, np.square(work, dtype=float).sum(axis=1), rtol=1e-5)
    symmetric = (D + D.T) / 2
    work = symmetric.copy()
    _native.square_distances(work, means, 1)
    _native.double_center(work, means, float(means.mean()), totals, 1)
    assert_allclose(work, -0.5 * J @ np.square(symmetric, dtype=float) @ J, atol=1e-6)
    V, out = rng.standard_normal((n, k)), np.empty((n, k))
    _native.gram_times(work, V, out, 2)
    assert_allclose(out, work.astype(float) @ V, rtol=1e-12, atol=1e-12)


def test_pair_sums(rng):
    m, n, k = 5, 700, 3
    table, own, other = rng.random((m, n)).astype(np.float32), rng.random(m) + 2, rng.random(n) + 2
    at, Z = rng.standard_normal((m, k)), rng.standard_normal((n, k))
    out = np.empty((m, 2 + 3 * k))
    _native.correlation_sums(table, own, other, -2.0, at, np.ascontiguousarray(Z.T), out, 2)
    g = np.sqrt(np.maximum(own[:, None] + other - 2 * table.astype(float), 0))
    assert_allclose(out[:, 0], g.sum(axis=1), rtol=1e-12)
    assert_allclose(out[:, 1], (g**2).sum(axis=1), rtol=1e-12)
    for c in range(k):
        e = np.sqrt(((at[:, None, : c + 1] - Z[None, :, : c + 1]) ** 2).sum(axis=2))
        want = np.stack([e.sum(axis=1), (e**2).sum(axis=1), (g * e).sum(axis=1)], axis=1)
        assert_allclose(out[:, 2 + 3 * c : 5 + 3 * c], want, rtol=1e-12)


def test_what_does_not_fit_is_refused(rng):
    graph = GeodesicGraph.from_sparse(random_graph(20, 2, rng))
    out = np.empty((1, 20), dtype=np.float32)
    zero = np.zeros((1, 1), dtype=np.float32)
    good = [graph.starts, graph.columns, graph.lengths, graph.order]
    for bad in (-1, 20):
        with pytest.raises(ValueError, match="out of range"):
            _native.shortest_paths(*good, np.array([[bad]], dtype=np.int32), zero, np.zeros(1, dtype=np.int32), out, 1)
    with pytest.raises(ValueError, match="negative"):
        _native.shortest_paths(*good, np.zeros((1, 1), dtype=np.int32), zero - 1, np.zeros(1, dtype=np.int32), out, 1)
    with pytest.raises(ValueError, match="begin with 0"):
        _native.locality_order(graph.starts + 1, graph.columns, graph.lengths, graph.order.copy())


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_in_every_instruction_set(isa):
    if os.environ.get("LOWDIM_ISA") == isa:
        pytest.skip("this is that run")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        "not instruction_set",
    ]
    done = subprocess.run(command, env=os.environ | {"LOWDIM_ISA": isa}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
