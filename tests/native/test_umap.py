"""The kernels of the layout against NumPy twins that follow the formulas word by word."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native
from lowdim.knn.index import neighbors
from lowdim.neighbor_embedding.umap.densmap import EPSILON, DensityTarget, embedding_radii
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, fuzzy_simplicial_set
from lowdim.neighbor_embedding.umap.optimizer import EdgeSchedule, UmapOptimizer, UmapParams

A, B = 1.577, 0.895
SAMPLES_PER_TURN = 2  # umap_samples_per_turn


def graph_of(rng, n=60, k=6, d=3):
    X = rng.standard_normal((n, d)).astype(np.float32)
    return fuzzy_simplicial_set(neighbors(X, k), 1.0, 1.0, 1)


@pytest.mark.parametrize("b", [0.2, 0.5, 0.895, 1.0, 1.7, 2.5])
def test_the_fast_power_is_within_a_hundred_thousandth(b):
    x = np.concatenate([np.geomspace(1e-12, 1e6, 20_003), np.linspace(0.5, 2, 1001)]).astype(np.float32)
    out = np.empty_like(x)
    _native.fast_powers(x, b, out)
    truth = x.astype(np.float64) ** float(np.float32(b))
    inside = (truth > 2.0**-118) & (truth < 2.0**58)
    assert np.abs(out / truth - 1)[inside].max() < 1e-5
    assert (np.diff(out[:20_003]) >= -1e-5 * out[1:20_003]).all()


def test_the_fast_power_of_extremes_is_finite():
    x = np.array([0.0, 1e-45, 1e-38, 3e38], dtype=np.float32)
    out = np.empty_like(x)
    _native.fast_powers(x, 2.5, out)
    assert np.isfinite(out).all() and (out > 0).all()


def attraction_loss(z, others):
    """Σ log(1 + a d^2b): its slope is what one turn of every edge should follow, times -1."""
    return np.log1p(A * ((z - others) ** 2).sum(axis=1) ** B).sum()


def one_epoch(positions, tails, *, negatives=0, repulsion=1.0, frozen=None, crowding=None, inverse=None):
    """The kernel on rows whose every edge has its turn: one pull beside a frozen map, two among moving rows."""
    starts = np.concatenate([[0], np.cumsum([len(t) for t in tails])]).astype(np.int64)
    columns = np.concatenate(tails).astype(np.int32)
    rates = np.full(len(columns), 2**32 - 1, dtype=np.uint32)
    out = positions.copy()
    forces = np.array([A, B, repulsion], dtype=np.float32)
    # the second of two epochs: a rate of 2^32 - 1 carries for the first time then
    _native.umap_epochs(out, frozen, starts, columns, rates, 1, 2, 2, 1e-3, forces, negatives, 0, crowding, inverse, 1)
    return (out - positions) / 5e-4  # alpha falls to half


@pytest.mark.parametrize("dims", [1, 2, 3, 5])
def test_an_edge_moves_its_owner_down_the_slope(rng, dims):
    place = rng.standard_normal((1, dims)).astype(np.float32)
    frozen = (2 * rng.standard_normal((1, dims))).astype(np.float32)
    step = one_epoch(place, [[0]], frozen=frozen)
    wanted = np.empty(dims)
    for c in range(dims):
        up, down = place.astype(float), place.astype(float)
        up[0, c] += 1e-5
        down[0, c] -= 1e-5
        wanted[c] = -(attraction_loss(up, frozen) - attraction_loss(down, frozen)) / 2e-5
    np.testing.assert_allclose(step[0], wanted, rtol=2e-3, atol=2e-3)
    both = one_epoch(np.vstack([place, frozen]), [[1], [0]])
    np.testing.assert_allclose(both, 2 * np.array([wanted, -wanted]), rtol=4e-3, atol=8e-3)


def test_a_random_row_pushes_along_the_slope(rng):
    """-log(1 - 1 / (1 + a d^2b)) falls with distance; the 0.001 in the force keeps it finite at d = 0."""
    place, frozen = np.zeros((1, 2), np.float32), np.array([[1.5, -0.5]], np.float32)
    pushed = one_epoch(place, [[0]], frozen=frozen, negatives=3) - one_epoch(place, [[0]], frozen=frozen)

    def loss(z):
        d = ((z - frozen[0]) ** 2).sum()
        return -np.log(1 - 1 / (1 + A * d**B))

    eye = np.eye(2) * 1e-5
    slope = np.array([(loss(e) - loss(-e)) / 2e-5 for e in eye])
    np.testing.assert_allclose(pushed[0], -3 * slope, rtol=5e-3)
    none = one_epoch(place, [[0]], frozen=frozen, negatives=3, repulsion=0.0) - one_epoch(place, [[0]], frozen=frozen)
    assert np.abs(none).max() < 1e-3


def test_forces_are_clipped_and_vanish_at_zero():
    far = one_epoch(np.zeros((1, 2), np.float32), [[0]], frozen=np.array([[1e-3, 0]], np.float32), negatives=1)
    assert np.abs(far).max() <= 4.001 + 4
    same = one_epoch(np.ones((2, 2), np.float32), [[1], [0]], negatives=4)
    assert not same.any()


def twin(positions, graph, total):
    """The layout word by word, in double precision: turns of blocks of rows, which see where the others were before."""
    z = positions.astype(np.float64)
    heaviest = graph.weights.max()
    rates = [min(round(float(w) * 2**32 / float(heaviest)), 2**32 - 1) for w in graph.weights]
    ends = np.add.reduceat(rates, graph.starts[:-1])
    tasks = np.array_split(np.argsort(-ends, kind="stable"), range(128, graph.n, 128))
    for epoch in range(total):
        tick, alpha = epoch + 1, 1 - epoch / total
        lists = []
        for row in range(graph.n):
            edges = range(graph.starts[row], graph.starts[row + 1])
            alive = [p for p in edges if rates[p] * total >= 2**32]
            lists.append([graph.columns[p] for p in alive if (tick * rates[p]) % 2**32 < rates[p]])
        for first in range(0, max(map(len, lists)), SAMPLES_PER_TURN):
            for rows in tasks * 2:  # up to 32 of them, each is a block; all have a second turn
                before = z.copy()
                for row in rows:
                    for tail in lists[row][first : first + SAMPLES_PER_TURN]:
                        apart = z[row] - before[tail]
                        square = (apart**2).sum()
                        pull = -2 * A * B * square ** (B - 1) / (1 + A * square**B) if square > 0 else 0.0
                        z[row] += alpha * np.clip(pull * apart, -4, 4)
    return z


@pytest.mark.parametrize("n", [60, 600])
def test_the_layout_is_its_twin(rng, n):
    graph = graph_of(rng, n)
    start = (3 * rng.standard_normal((n, 2))).astype(np.float32)
    forces = UmapParams(A, B, negative_sample_rate=0)
    run = UmapOptimizer(graph, forces, 3, 1)
    state = run.loop(start).run().state
    np.testing.assert_allclose(state["embedding"], twin(start, graph, 3), atol=5e-3)


def test_every_edge_has_as_many_turns_as_its_weight_says(rng):
    graph = graph_of(rng)
    epochs = 50
    turns = EdgeSchedule.of(graph.starts, graph.columns, graph.weights, epochs)
    ticks = np.arange(1, epochs + 1, dtype=np.uint64)[:, None]
    counts = ((ticks * turns.frequencies) % 2**32 < turns.frequencies).sum(axis=0)
    expected = epochs * graph.weights[turns.edges] / graph.weights.max()
    assert np.abs(counts - expected).max() <= 1 + 1e-6
    assert len(turns.edges) == (graph.weights / graph.weights.max() * epochs >= 1 - 1e-6).sum()
    assert sorted(turns.order) == list(range(60))


def test_the_random_rows_are_uniform():
    """How often each of 50 far rows pushes a row in the middle, told apart by direction."""
    n = 50
    angle = 2 * np.pi * np.arange(n) / n
    middle = np.zeros((1, 2))  # the neighbor, which neither pulls nor pushes from there
    ring = np.vstack([np.column_stack([np.cos(angle), np.sin(angle)]), middle]).astype(np.float32)
    starts, columns = np.array([0, 1], np.int64), np.array([n], np.int32)
    rates = np.array([2**32 - 1], np.uint32)
    forces = np.array([A, B, 1.0], np.float32)
    counts = np.zeros(n)
    for seed in range(30 * (n + 1)):
        out = np.zeros((1, 2), np.float32)
        _native.umap_epochs(out, ring, starts, columns, rates, 1, 2, 2, 1.0, forces, 1, seed, None, None, 1)
        if out.any():
            counts[int(np.rint(np.arctan2(-out[0, 1], -out[0, 0]) / (2 * np.pi) * n)) % n] += 1
    assert ((counts - 30) ** 2 / 30).sum() < 90  # χ² with 49 degrees of freedom: beyond 90 in 3 of 10,000


def test_moving_rows_draw_all_others_equally_often():
    """Negative samples of rows that move together are adjacent; each by itself is uniform, the last rows included."""
    n, epochs = 21, 600  # more than one block of negative samples, and not a multiple of it
    angle = 2 * np.pi * np.arange(n) / n
    ring = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    apart = ring[:, None] - ring[None]
    lengths = np.linalg.norm(apart, axis=2)
    directions = apart / np.where(lengths > 0, lengths, 1)[:, :, None]
    starts, itself = np.arange(n + 1, dtype=np.int64), np.arange(n, dtype=np.int32)
    rates = np.full(n, 2**32 - 1, np.uint32)
    forces = np.array([A, B, 1.0], np.float32)
    counts = np.zeros((n, n))
    for seed in range(epochs):
        out = ring.copy()
        _native.umap_epochs(out, None, starts, itself, rates, 1, 2, 2, 2.0, forces, 1, seed, None, None, 1)
        step = out - ring  # away from the row that was drawn, and none if that was the row itself
        moved = np.flatnonzero(np.abs(step).max(axis=1) > 0)
        drawn = np.einsum("ijc,ic->ij", directions, step).argmax(axis=1)
        counts[moved, drawn[moved]] += 1
    counts[np.arange(n), np.arange(n)] = epochs - counts.sum(axis=1)
    surprise = ((counts - epochs / n) ** 2 / (epochs / n)).sum(axis=1)  # χ² with 20 degrees of freedom in each row
    assert surprise.max() < 55  # beyond it, one row in 25,000


def test_radii_are_those_of_the_definition(rng):
    graph = graph_of(rng)
    Z = rng.standard_normal((60, 3)).astype(np.float32)
    shares, radii = embedding_radii(Z, None, graph.starts, graph.columns, A, B, 2)
    W = graph.to_sparse().toarray() > 0
    D = ((Z[:, None].astype(float) - Z[None]) ** 2).sum(axis=2)
    phi = np.where(W, 1 / (1 + A * D**B), 0)
    np.testing.assert_allclose(shares, phi.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(radii, np.log(EPSILON + (phi * D).sum(axis=1) / phi.sum(axis=1)), rtol=1e-4, atol=1e-5)


def test_the_slope_of_crowding_is_that_of_the_correlation(rng):
    """One turn of every edge, each divided by its weight, climbs cov(r, R) / sqrt(var r + 0.1)."""
    graph = graph_of(rng, n=20, k=4)
    crowding = DensityTarget.of(graph, 1.0)
    standard = (crowding.radii - crowding.radii.mean()) / np.sqrt(crowding.radii.var() + 0.1)
    Z = (2 * rng.standard_normal((20, 2))).astype(np.float32)

    def correlation(z):
        W = graph.to_sparse().toarray() > 0
        D = ((z[:, None] - z[None]) ** 2).sum(axis=2)
        phi = np.where(W, 1 / (1 + A * D**B), 0)
        radii = np.log(EPSILON + (phi * D).sum(axis=1) / phi.sum(axis=1))
        return (radii @ standard) / (graph.n - 1) / np.sqrt(radii.var() + 0.1)

    tails = np.split(graph.columns, graph.starts[1:-1])
    numbers = crowding.gradient_terms(Z, graph, A, B, 1)
    inverse = np.ones(len(graph.columns), np.float32)
    climbed = (one_epoch(Z, tails, crowding=numbers, inverse=inverse) - one_epoch(Z, tails)) / 2  # two halves
    slope = np.empty((20, 2))
    for i in range(20):
        for c in range(2):
            up, down = Z.astype(float), Z.astype(float)
            up[i, c] += 1e-5
            down[i, c] -= 1e-5
            slope[i, c] = (correlation(up) - correlation(down)) / 2e-5
    expected = slope * (graph.n - 1) * crowding.strength
    cosine = (climbed * expected).sum() / np.linalg.norm(climbed) / np.linalg.norm(expected)
    assert cosine > 0.98
    assert np.linalg.norm(climbed) == pytest.approx(np.linalg.norm(expected), rel=0.15)


def directed_graph(rng, n=70, k=5):
    """Directed edges in compressed rows, columns in any order, some rows without."""
    counts = rng.integers(0, k, n)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    columns = np.concatenate([rng.permutation(np.delete(np.arange(n), i))[:c] for i, c in enumerate(counts)])
    weights, lengths = rng.random((2, len(columns))).astype(np.float32)
    return starts, columns.astype(np.int32), weights, lengths


@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_both_views_of_an_edge_become_one(rng, mix):
    n, (starts, columns, weights, lengths) = 70, directed_graph(rng)
    W, L = np.zeros((2, n, n))
    rows = np.repeat(np.arange(n), np.diff(starts))
    W[rows, columns], L[rows, columns] = weights, lengths
    wanted = mix * (W + W.T - W * W.T) + (1 - mix) * W * W.T
    seen = []
    for threads in (1, 2, 4, 8, 16):
        parts = _native.symmetrize_memberships(starts, columns, weights, lengths, mix, threads)
        seen.append(b"".join(part.tobytes() for part in parts))
    assert len(set(seen)) == 1
    graph = FuzzyGraph(*parts)
    np.testing.assert_allclose(graph.to_sparse().toarray(), wanted, atol=1e-6)
    assert len(graph.columns) == (wanted > 0).sum()
    np.testing.assert_array_equal(graph.lengths, np.maximum(L, L.T)[graph.rows, graph.columns].astype(np.float32))
    assert (np.diff(graph.columns)[np.diff(graph.rows) == 0] > 0).all()


def test_affinities_are_joined_by_the_same_sum(rng):
    n, k = 90, 6
    indices = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)], dtype=np.int32)
    weights = rng.random((n, k)).astype(np.float32)
    A = np.zeros((n, n))
    np.put_along_axis(A, indices.astype(np.int64), weights, axis=1)
    seen = []
    for threads in (1, 2, 8):
        starts, columns, values = _native.symmetrize_affinities(indices, weights, 0.5, threads)
        seen.append(starts.tobytes() + columns.tobytes() + values.tobytes())
    assert len(set(seen)) == 1
    rows = np.repeat(np.arange(n), np.diff(starts))
    np.testing.assert_allclose(values, (0.5 * (A + A.T))[rows, columns], rtol=1e-6)
    assert len(values) == ((A + A.T) > 0).sum()


def test_a_graph_without_edges_stays_one():
    nothing = np.empty(0, np.float32)
    parts = _native.symmetrize_memberships(np.zeros(4, np.int64), np.empty(0, np.int32), nothing, nothing, 1.0, 2)
    np.testing.assert_array_equal(parts[0], np.zeros(4))
    assert [len(part) for part in parts[1:]] == [0, 0, 0]
    one_way = np.array([0, 1, 1], np.int64), np.array([1], np.int32), np.ones(1, np.float32), np.ones(1, np.float32)
    assert [len(part) for part in _native.symmetrize_memberships(*one_way, 0.0, 1)] == [3, 0, 0, 0]
    with pytest.raises(ValueError):
        _native.symmetrize_memberships(one_way[0], np.array([2], np.int32), *one_way[2:], 0.0, 1)


def test_marks_tell_rows_apart(rng):
    X = rng.integers(0, 2, (500, 9)).astype(np.float64)
    marks = np.empty(500, np.uint64)
    _native.hash_rows(X, marks, 2)
    same = (X[:, None] == X[None]).all(axis=2)
    np.testing.assert_array_equal(marks[:, None] == marks[None], same)
    narrow, signed = np.empty(500, np.uint64), np.empty(500, np.uint64)
    _native.hash_rows(X.astype(np.float32), narrow, 1)
    _native.hash_rows(np.where(X == 0, -0.0, X), signed, 1)
    np.testing.assert_array_equal(marks, narrow)
    np.testing.assert_array_equal(marks, signed)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_filter_step(rng, width):
    graph = graph_of(rng)
    x, z = rng.standard_normal((2, 60, width)).astype(np.float32)
    out = np.empty_like(x)
    _native.three_term_step(graph.starts, graph.columns, graph.weights, x, z, out, 2.0, -0.5, 0.25, 2)
    np.testing.assert_allclose(out, 2 * (graph.to_sparse() @ x) - 0.5 * x + 0.25 * z, rtol=1e-4, atol=1e-5)


def test_bad_arrays_are_refused(rng):
    graph = graph_of(rng)
    assert isinstance(graph, FuzzyGraph)
    x = np.zeros((60, 2), np.float32)
    rates = np.ones(len(graph.columns), np.uint32)
    forces = np.ones(3, np.float32)

    def call(positions=x, columns=graph.columns, rates=rates, last=1):
        _native.umap_epochs(positions, None, graph.starts, columns, rates, 0, last, 1, 1.0, forces, 5, 0, None, None, 1)

    call()
    for wrong in (
        {"columns": graph.columns + 60},
        {"rates": rates[:-1]},
        {"last": 2},
        {"positions": x[:-1].copy()},
    ):
        with pytest.raises(ValueError):
            call(**wrong)
