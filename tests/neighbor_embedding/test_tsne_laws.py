"""t-SNE: its repulsion, its affinities and its gradient descent are what the formulas say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lowdim import TSNE, Affinities, Graph, _native, neighbors, watch
from lowdim.errors import BadInput, BadParameter
from lowdim.neighbor_embedding.tsne import repulsion
from lowdim.neighbor_embedding.tsne.affinities import conditional_probabilities
from lowdim.neighbor_embedding.tsne.fft_repulsion import FFTRepulsion, mesh_for
from lowdim.neighbor_embedding.tsne.gradient_descent import MAX_STEP_NORM, MOMENTUM, GradientDescent, TsneOptions
from lowdim.neighbor_embedding.tsne.out_of_sample import RepulsionField
from lowdim.neighbor_embedding.tsne.repulsion import BarnesHutRepulsion, ExactRepulsion


def exact_forces(Y, dof=1.0):
    """The sums over all pairs, as they are written, in float64."""
    Y = np.asarray(Y, dtype=np.float64)
    difference = Y[:, None] - Y[None]
    base = 1 + (difference**2).sum(axis=2) / dof
    kernel = base ** (-(dof + 1) / 2)
    np.fill_diagonal(kernel, 0)
    return ((kernel / base)[:, :, None] * difference).sum(axis=1), kernel.sum()


def divergence(P, Y, dof=1.0):
    """KL(P ‖ Q), as it is written."""
    Y = np.asarray(Y, dtype=np.float64)
    kernel = (1 + ((Y[:, None] - Y[None]) ** 2).sum(axis=2) / dof) ** (-(dof + 1) / 2)
    np.fill_diagonal(kernel, 0)
    Q, some = kernel / kernel.sum(), P > 0
    return float((P[some] * np.log(P[some] / Q[some])).sum())


@pytest.fixture(scope="module")
def graph():
    return neighbors(np.random.default_rng(1).standard_normal((80, 5)), 30)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("dof", [1.0, 0.6, 4.0])
def test_exact_repulsion(rng, axes, dof):
    Y = (5 * rng.standard_normal((301, axes))).astype(np.float32)
    forces, total = ExactRepulsion(dof, 2)(Y)
    expected, expected_total = exact_forces(Y, dof)
    np.testing.assert_allclose(forces, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    assert total == pytest.approx(expected_total, rel=1e-5)


def errors(forces, expected):
    """Relative errors of the forces, (n,). The descent centers the embedding, so a common shift does not count."""
    forces = forces - forces.mean(axis=0) + expected.mean(axis=0)
    size = np.linalg.norm(expected, axis=1)
    return np.linalg.norm(forces - expected, axis=1) / np.maximum(size, 0.05 * size.mean())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 8.0, 30.0])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("dof", [1.0, 0.5, 3.0])
def test_fft_and_barnes_hut_are_close_to_exact_repulsion(rng, axes, scale, dof):
    """Mean error at most 2%, 99th percentile at most 15%, for embeddings of any width."""
    Y = (scale * rng.standard_normal((3000, axes))).astype(np.float32)
    forces, total = (BarnesHutRepulsion if axes == 3 else FFTRepulsion)(dof, 2)(Y)
    expected, expected_total = ExactRepulsion(dof, 2)(Y)
    error = errors(forces, expected)
    assert error.mean() < 0.02
    assert np.quantile(error, 0.99) < 0.15
    assert total == pytest.approx(expected_total, rel=3e-3)


@pytest.mark.parametrize("groups", [1, 40])
def test_the_widest_cells_of_the_mesh(rng, groups):
    """An embedding as wide as that of 70,000 rows, in one cluster or in many, has the widest cells."""
    centers = 30 * rng.standard_normal((groups, 2)) * (groups > 1)
    Y = centers[rng.integers(groups, size=6000)] + (30 if groups == 1 else 3) * rng.standard_normal((6000, 2))
    Y = Y.astype(np.float32)
    assert mesh_for(Y, 1.0).spacing == 0.44
    forces, total = FFTRepulsion(1.0, 2)(Y)
    expected, expected_total = ExactRepulsion(1.0, 2)(Y)
    error = errors(forces, expected)
    assert error.mean() < 0.02
    assert np.quantile(error, 0.99) < 0.15
    assert total == pytest.approx(expected_total, rel=1e-3)


@pytest.mark.parametrize("shape", ["clusters", "ties", "outlier", "line", "one point"])
def test_barnes_hut_copes_with_any_embedding(rng, shape):
    Y = 4 * rng.standard_normal((2500, 3))
    if shape == "clusters":
        Y = 20 * rng.standard_normal((30, 3))[rng.integers(30, size=2500)] + rng.standard_normal((2500, 3))
    if shape == "ties":  # many rows at one position
        Y = Y[rng.integers(50, size=2500)]
    if shape == "outlier":
        Y[7] = 1e5
    if shape == "line":
        Y[:, 1:] = 0
    if shape == "one point":
        Y[:] = Y[0]
    Y = Y.astype(np.float32)
    forces, total = BarnesHutRepulsion(1.0, 2)(Y)
    expected, expected_total = ExactRepulsion(1.0, 2)(Y)
    assert total == pytest.approx(expected_total, rel=3e-3)
    if shape == "one point":
        np.testing.assert_array_equal(forces, 0)
    else:  # a few positions with many rows are the worst case of a node: no errors cancel
        assert errors(forces, expected).mean() < (0.1 if shape == "ties" else 0.02)


def test_barnes_hut_with_every_node_opened_is_exact(rng):
    Y = (4 * rng.standard_normal((700, 3))).astype(np.float32)
    out = np.empty_like(Y)
    total = _native.repulsion_barnes_hut(Y, 1.0, 1e-12, 0.0, out, 2)
    expected, expected_total = ExactRepulsion(1.0, 1)(Y)
    np.testing.assert_allclose(out, expected, atol=1e-4 * np.abs(expected).max())
    assert total == pytest.approx(expected_total, rel=1e-5)
    with pytest.raises(ValueError, match="three dimensions"):
        _native.repulsion_barnes_hut(Y[:, :2].copy(), 1.0, 0.5, 0.0, out[:, :2].copy(), 1)


@pytest.mark.parametrize("dof", [1.0, 0.5, 4.0])
def test_a_far_node_acts_by_its_points_and_their_variance(dof):
    """Against the mean of the kernel over a small round cluster: the error is of fourth order in its size."""
    cluster = np.vstack([np.eye(3), -np.eye(3)])
    worst = []
    for size in (0.4, 0.2):
        Y = np.vstack([np.repeat(size * cluster, 2, axis=0), np.tile([1.5, 1.2, 0.9], (40, 1))]).astype(np.float32)
        out = np.empty_like(Y)
        _native.repulsion_barnes_hut(Y, dof, 1.0, 0.0, out, 1)
        expected = exact_forces(Y, dof)[0]
        worst.append(np.linalg.norm(out[-1] - expected[-1]) / np.linalg.norm(expected[-1]))
    assert worst[0] < 0.02
    assert worst[1] < worst[0] / 8


@pytest.mark.parametrize("dof", [1.0, 2.0])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_step_follows_the_gradient_of_the_divergence(graph, axes, dof):
    """From rest, gains grow to 1.2, and a step at rate 1 is -1.2 × gradient / 4, against finite differences of KL."""
    P = Affinities.from_graph(graph, 10)
    Y = np.random.default_rng(2).standard_normal((80, axes)).astype(np.float32)
    descent = GradientDescent(P, TsneOptions(((750, 1.0),), learning_rate=1.0, dof=dof), 1)
    state = descent.step(descent.initial_state(Y), 0)
    velocity = state["velocity"]
    dense, h = P.to_sparse().toarray().astype(np.float64), 1e-4
    for i, a in ((0, 0), (17, axes - 1), (79, 0)):
        up, down = Y.astype(np.float64), Y.astype(np.float64)
        up[i, a] += h
        down[i, a] -= h
        slope = (divergence(dense, up, dof) - divergence(dense, down, dof)) / (2 * h)
        assert velocity[i, a] / -1.2 == pytest.approx(slope / 4, rel=2e-3, abs=2e-6)
    np.testing.assert_allclose(state["embedding"], Y + velocity - (Y + velocity).mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("dof", [1.0, 2.0])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_new_row_follows_the_gradient_of_its_part_of_the_divergence(axes, dof, rng):
    """One step descends ν/2 Σ p log(1 + d²/ν) + ν/(ν+1) S / mean S, with S = Σ (1 + d²/ν)^-(ν+1)/2 over all rows."""
    Y, z = (2 * rng.standard_normal((n, axes)).astype(np.float32) for n in (50, 4))
    columns = np.array([rng.permutation(50)[:7] for _ in z], dtype=np.int32)
    p = rng.dirichlet(np.ones(7), 4).astype(np.float32)
    mean, rate = exact_forces(Y, dof)[1] / 50, 0.01
    out = z.copy()
    mesh = None, [], np.zeros(0, np.float32), 1.0
    how = (dof, 1 / mean, rate, 0.8, 5.0, 1, 0.0, 0.0)
    starts = np.arange(5, dtype=np.int64) * 7
    _native.tsne_out_of_sample(starts, columns.ravel(), p.ravel(), Y, *mesh, how, out, 2)

    def loss(i, z_i):
        base = 1 + ((z_i - Y.astype(float)) ** 2).sum(axis=1) / dof
        return dof / 2 * (p[i] @ np.log(base[columns[i]])) + dof / (dof + 1) * (base ** (-(dof + 1) / 2)).sum() / mean

    for i, z_i in enumerate(z.astype(float)):
        steps = 1e-5 * np.eye(axes)
        slope = [(loss(i, z_i + step) - loss(i, z_i - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose((out[i] - z[i]) / rate, -np.array(slope), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("few", [4000, 10])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_repulsion_of_new_rows_is_normalized_by_the_mean_of_the_fitted_ones(axes, few, rng, monkeypatch):
    """The sum over all pairs, divided by the number of rows, for every algorithm."""
    monkeypatch.setattr(repulsion, "EXACT_ROWS", few)
    Y = (6 * rng.standard_normal((900, axes))).astype(np.float32)
    field = RepulsionField(Y, 1.0, 2)
    assert field.mean_sum_q == pytest.approx(exact_forces(Y)[1] / 900, rel=3e-3)
    assert (field.fields is not None, field.barnes_hut[0] > 0) == (few == 10 and axes < 3, few == 10 and axes == 3)


@pytest.mark.parametrize(("exaggeration", "rate"), [(1.0, 1.0), (4.0, 500.0)])
def test_momentum_gains_and_the_maximum_step_norm(graph, exaggeration, rate):
    P = Affinities.uniform(graph)
    rng = np.random.default_rng(3)
    Y, before, gains = (rng.standard_normal((80, 2)).astype(np.float32) for _ in range(3))
    gains = np.abs(gains) + 0.5
    descent = GradientDescent(P, TsneOptions(((750, exaggeration),), learning_rate=rate), 1)
    state = descent.step({**descent.initial_state(Y), "velocity": before, "gains": gains}, 0)
    forces, sum_q = exact_forces(Y)
    difference = Y[:, None].astype(float) - Y[None]
    attraction = P.to_sparse().toarray() / (1 + (difference**2).sum(axis=2))
    gradient = exaggeration * (attraction[:, :, None] * difference).sum(axis=1) - forces / sum_q
    grown = np.where(np.sign(gradient) != np.sign(before), gains + 0.2, gains * 0.8 + 0.01)
    np.testing.assert_allclose(state["gains"], grown, rtol=1e-5)
    step = MOMENTUM * before - rate * grown * gradient
    norm = np.linalg.norm(step, axis=1, keepdims=True)
    assert (norm.max() > MAX_STEP_NORM) == (rate > 1)
    np.testing.assert_allclose(state["velocity"], step * np.minimum(1, MAX_STEP_NORM / norm), rtol=1e-3, atol=1e-5)


def test_divergence_is_the_formula(graph, rng):
    P = Affinities.from_graph(graph, 10)
    for dof in (1.0, 3.0):
        descent = GradientDescent(P, TsneOptions(dof=dof), 1)
        Y = 3 * rng.standard_normal((80, 2)).astype(np.float32)
        expected = divergence(P.to_sparse().toarray().astype(np.float64), Y, dof)
        assert descent.divergence(descent.initial_state(Y)) == pytest.approx(expected, rel=1e-5)


@given(st.integers(2, 60), st.floats(1.1, 15), st.floats(1e-3, 1e3), st.integers(0, 2**32))
def test_perplexity_is_reached(k, perplexity, scale, seed):
    d = np.sort(np.random.default_rng(seed).random((4, k)) + 0.1, axis=1).astype(np.float32) * np.float32(scale)
    perplexity = min(perplexity, 0.9 * k)
    if perplexity <= 1.05:
        return
    p = conditional_probabilities(d, perplexity, 1).astype(np.float64)
    entropy = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), perplexity, rtol=1e-5)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    assert (np.diff(p, axis=1) <= 1e-9).all()
    # Gaussian: log p is linear in the squared distance
    some = p[0] > 1e-20
    if some.sum() > 2:
        squares, logs = d[0][some].astype(float) ** 2, np.log(p[0][some])
        line = np.polyfit(squares, logs, 1)
        np.testing.assert_allclose(np.polyval(line, squares), logs, atol=1e-3 * max(1, np.ptp(logs)))


def test_ties_and_zeros_have_finite_probabilities():
    for d in ([0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [0, 1e-20, 1, 1e18], [1e-30, 2e-30, 3e-30, 4e-30]):
        p = conditional_probabilities(np.array([d], dtype=np.float32), 2.0, 1)
        assert np.isfinite(p).all() and p.sum() == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(conditional_probabilities(np.zeros((1, 5), np.float32), 2.0, 1), 0.2, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@given(st.integers(3, 40), st.integers(1, 12), st.integers(0, 2**32))
def test_joint_probabilities_are_symmetric_and_sum_to_one(n, k, seed):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    for P in (Affinities.from_graph(neighbors(X, min(k, n - 1)), 5), Affinities.uniform(neighbors(X, min(k, n - 1)))):
        dense = P.to_sparse().toarray()
        np.testing.assert_array_equal(dense, dense.T)
        assert dense.sum() == pytest.approx(1, rel=1e-5)
        assert (np.diagonal(dense) == 0).all()
        assert (np.diff(P.starts) >= min(k, n - 1)).all()


def test_joint_probabilities_are_the_mean_of_both_conditional_ones(graph):
    nearest = graph.nearest(24)  # three times the perplexity
    A = np.zeros((80, 80))
    weights = conditional_probabilities(nearest.distances, 8.0, 1)
    np.put_along_axis(A, nearest.indices.astype(np.int64), weights, axis=1)
    joint = Affinities.from_graph(graph, 8.0, n_jobs=2).to_sparse()
    np.testing.assert_allclose(joint.toarray(), (A + A.T) / 160, rtol=1e-6)
    for begin, end in zip(joint.indptr[:-1], joint.indptr[1:], strict=True):
        assert (np.diff(joint.indices[begin:end]) > 0).all()  # every column once, in order


def test_several_perplexities_are_averaged():
    X = np.random.default_rng(0).standard_normal((200, 4))
    distances = neighbors(X, 90).distances
    each = [conditional_probabilities(distances, p, 1) for p in (10, 30)]
    both = conditional_probabilities(distances, (10, 30), 1)
    np.testing.assert_allclose(both, (each[0] + each[1]) / 2, atol=1e-9, rtol=1e-4)


def test_affinities_of_your_own(rng):
    A = rng.random((30, 30))
    P = Affinities.from_matrix(A).to_sparse().toarray()
    S = A + A.T
    np.fill_diagonal(S, 0)
    np.testing.assert_allclose(P, S / S.sum(), rtol=1e-5)
    model = TSNE(max_iter=30).fit(Affinities.from_matrix(A))
    assert np.isfinite(model.embedding_).all()
    for bad in (-A, np.eye(3), np.full((3, 3), np.nan), np.ones((2, 3))):
        with pytest.raises(BadInput):
            Affinities.from_matrix(bad)
    with pytest.raises(BadParameter, match="perplexity"):
        Affinities.from_graph(Graph(np.array([[1], [0]]), np.ones((2, 1))), -1)


def test_given_arrays_are_checked(graph):
    P = Affinities.from_graph(graph, 10)
    parts = {"starts": P.starts, "columns": P.columns, "values": P.values}
    again = Affinities(P.starts.astype(np.uint32), P.columns.tolist(), P.values.astype(np.float64))
    for name, part in parts.items():
        np.testing.assert_array_equal(getattr(again, name), part)
        assert getattr(again, name).dtype == part.dtype

    def changed(name, index, value):
        part = parts[name].copy()
        part[index] = value
        return {**parts, name: part}

    uneven = P.values.copy()
    uneven[:40] *= 2
    uneven /= uneven.sum()
    diagonal = P.columns.copy()
    diagonal[0] = 0
    for bad, message in (
        (changed("columns", 3, 80), "from 0 to 79"),
        (changed("columns", 3, -1), "from 0 to 79"),
        (changed("starts", 5, 10**6), "increase"),
        (changed("starts", -1, 3), "increase"),
        (changed("values", 3, np.nan), "finite"),
        (changed("values", 3, -1), "nonnegative"),
        ({**parts, "values": P.values[:-1]}, "increase"),
        ({**parts, "values": 2 * P.values}, "sum to 1"),
        ({**parts, "values": uneven}, "symmetric"),
        ({**parts, "columns": diagonal}, "symmetric"),
        ({**parts, "columns": P.columns.astype(float)}, "three one-dimensional arrays"),
        ({**parts, "starts": P.starts[:, None]}, "three one-dimensional arrays"),
        ({"starts": np.array([0]), "columns": P.columns[:0], "values": P.values[:0]}, "2 rows"),
    ):
        with pytest.raises(BadInput, match=message):
            Affinities(**bad)


def test_kernels_refuse_rows_out_of_range(graph):
    """Of arrays that circumvent the checks of Affinities."""
    P = Affinities.from_graph(graph, 10)
    with pytest.raises(ValueError, match="read-only"):
        P.columns[5] = 80
    columns = P.columns.copy()
    columns[5] = 80
    with pytest.raises(ValueError, match="out of range"):
        GradientDescent(Affinities._unchecked(P.starts, columns, P.values), TsneOptions(), 2)
    starts = P.starts.copy()
    starts[4] = -7
    with pytest.raises(ValueError, match="ascend"):
        GradientDescent(Affinities._unchecked(starts, P.columns, P.values), TsneOptions(), 2)


def test_affinities_that_change_while_the_descent_runs_change_nothing(graph):
    """Neither what was given to Affinities nor what a callback finds in them is read again."""
    P = Affinities.from_graph(graph, 10)
    parts = {"starts": P.starts.copy(), "columns": P.columns.copy(), "values": P.values.copy()}
    wanted = TSNE(max_iter=40).fit(Affinities(**parts)).embedding_

    def spoil(step):
        parts["columns"][:], parts["starts"][:], parts["values"][:] = 2**31 - 1, 2**62, np.nan

    given = Affinities(**parts)
    with watch(spoil):
        found = TSNE(max_iter=40).fit(given).embedding_
    assert np.isnan(parts["values"]).all()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(given.columns, P.columns)


def test_reordered_affinities_are_the_permuted_matrix(graph, rng):
    P = Affinities.from_graph(graph, 10)
    order = rng.permutation(80).astype(np.int32)
    expected = P.to_sparse().toarray()[np.ix_(order, order)]
    once = _native.AffinityMatrix(P.starts, P.columns, P.values, 1).reordered(order, 2)
    found = sp.csr_array((once.values, once.columns, once.starts), shape=(80, 80))
    np.testing.assert_array_equal(found.toarray(), expected)
    again = rng.permutation(80).astype(np.int32)
    both, twice = (
        _native.AffinityMatrix(P.starts, P.columns, P.values, 1).reordered(order[again], 2),
        once.reordered(again, 1),
    )
    for one, other in zip(
        (both.starts, both.columns, both.values), (twice.starts, twice.columns, twice.values), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_an_outlier_does_not_enlarge_the_mesh(rng):
    """The other points get the forces that they have without it."""
    Y = (10 * rng.standard_normal((3000, 2))).astype(np.float32)
    far = np.vstack([Y, np.float32([[1e5, -1e5]])])
    assert np.prod(mesh_for(far, 1.0).cells) <= 2048**2
    near, total = FFTRepulsion(1.0, 1)(far)
    expected, expected_total = ExactRepulsion(1.0, 1)(far)
    error = errors(near[:-1], expected[:-1])
    assert error.mean() < 0.02
    assert np.quantile(error, 0.99) < 0.15
    assert total == pytest.approx(expected_total, rel=3e-3)
    np.testing.assert_array_equal(near[-1], 0)
    wide = (rng.uniform(-1, 1, (3000, 2)) * 1e6).astype(np.float32)
    assert np.prod(mesh_for(wide, 1.0).cells) <= 2048**2
    assert np.isfinite(FFTRepulsion(1.0, 1)(wide)[0]).all()
    sizes = {
        (box.spacing, box.padded) for box in (mesh_for(wide * np.float32(s), 1.0) for s in np.linspace(1, 1.2, 30))
    }
    assert len(sizes) <= 6  # so that kernel spectra are seldom computed again


def test_far_clusters_have_meshes_of_their_own(rng):
    """Points outside the mesh still repel each other."""
    Y = np.vstack([10 * rng.standard_normal((7000, 2)), 4 * rng.standard_normal((68, 2)) + [5000, -9000]])
    Y = rng.permutation(Y).astype(np.float32)
    forces, total = FFTRepulsion(1.0, 2)(Y)
    expected, expected_total = ExactRepulsion(1.0, 2)(Y)
    assert total == pytest.approx(expected_total, rel=1e-3)
    for group in (Y[:, 0] > 1000, Y[:, 0] < 1000):
        assert errors(forces[group], expected[group]).mean() < 0.02


def test_an_outlier_does_not_spoil_the_embedding_by_fft(monkeypatch):
    """The other rows keep as many neighbors, and the divergence is the exact one."""
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    rng = np.random.default_rng(5)
    X = np.vstack([rng.standard_normal((120, 8)) + 5 * rng.standard_normal(8) for _ in range(5)])
    outlier = np.vstack([X, np.full((1, 8), 1e4)])

    def kept(Z):
        true, found = neighbors(X, 10).indices, neighbors(Z, 10).indices
        return np.mean([len(np.intersect1d(a, b)) for a, b in zip(true, found, strict=True)]) / 10

    alone, beside = TSNE(max_iter=300).fit(X), TSNE(max_iter=300).fit(outlier)
    assert kept(beside.embedding_[:-1]) > kept(alone.embedding_) - 0.02
    monkeypatch.undo()
    judge = GradientDescent(Affinities.from_graph(neighbors(outlier, 90), 30), TsneOptions(), 1)
    state = judge.initial_state(beside.embedding_)
    assert judge.divergence(state) == pytest.approx(beside.kl_divergence_, rel=3e-3)


@pytest.mark.parametrize("few", [4000, 10])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_permuted_rows_give_the_permuted_embedding(axes, few, monkeypatch):
    """Up to rounding errors, which grow with the steps."""
    monkeypatch.setattr(repulsion, "EXACT_ROWS", few)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 6)) * [3, 2.5, 2, 1, 1, 1]
    X = np.vstack([X, X[:20]])
    order = rng.permutation(170)
    options = {"n_components": axes, "max_iter": 12, "perplexity": 15}
    Z = TSNE(**options).fit_transform(X)
    np.testing.assert_allclose(TSNE(**options).fit_transform(X[order]), Z[order], atol=2e-3 * np.abs(Z).max())
