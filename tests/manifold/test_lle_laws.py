"""Laws of the LLE family: reconstruction weights, alignment matrices and embeddings, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim import LLE, datasets
from lowdim.manifold.lle.alignment import ALIGNMENTS
from lowdim.manifold.lle.neighborhoods import (
    Neighborhoods,
    local_grams,
    local_grams_of_distances,
    reconstruction_weights,
    sum_of_blocks,
)

METHODS = list(ALIGNMENTS)
FLAT = ["modified", "hessian", "ltsa"]  # these recover planes exactly


def neighborhoods_of(X, k):
    indices = lowdim.neighbors(X, k).indices
    return Neighborhoods(indices, local_grams(X, X, indices, 1), 1)


def matrix_of(X, k, method, d=2, reg=1e-3):
    neighborhoods = neighborhoods_of(X, k)
    return sum_of_blocks(neighborhoods.members, ALIGNMENTS[method](neighborhoods, d, reg), 1)


def plane(n=300, d=5, seed=0):
    """Points of a plane in d dimensions, and their coordinates on it."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(size=(n, 2))
    axes = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    return flat @ axes.T + rng.standard_normal(d), flat


def left_over(Z, truth):
    """The fraction of the true coordinates' variance that no linear map of Z explains, (d,)."""
    A = np.column_stack([Z, np.ones(len(Z))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return (rest**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)


def assert_same_span(A, B, tol=1e-6):
    cosines = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1]
    np.testing.assert_allclose(cosines, 1, atol=tol)


# ---- weights ----


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 100))
def test_weights_solve_the_regularized_system(m, k, seed):
    D = np.random.default_rng(seed).standard_normal((m, k, 5))
    G = D @ D.transpose(0, 2, 1)
    w = reconstruction_weights(G, 1e-3, 2)
    for i in range(m):
        u = np.linalg.solve(G[i] + 1e-3 * np.trace(G[i]) * np.eye(k), np.ones(k))
        np.testing.assert_allclose(w[i], u / u.sum(), rtol=1e-9)


def test_weights_reconstruct_a_point_of_an_affine_set_exactly(rng):
    corners = rng.standard_normal((3, 4))
    share = rng.dirichlet(np.ones(3))
    D = corners - share @ corners
    np.testing.assert_allclose(reconstruction_weights((D @ D.T)[None], 0.0, 1)[0], share, atol=1e-9)
    many = rng.standard_normal((20, 2))  # more neighbors than dimensions: many exact weights, one of them
    w = reconstruction_weights((many @ many.T)[None], 1e-12, 1)[0]
    assert w.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(w @ many, 0, atol=1e-9)


def test_weights_of_equal_rows_are_equal():
    np.testing.assert_array_equal(reconstruction_weights(np.zeros((3, 4, 4)), 1e-3, 1), np.full((3, 4), 0.25))


def test_weights_from_distances_that_are_not_euclidean(rng):
    D = rng.uniform(1, 9, (30, 30))
    D = (D + D.T) * (1 - np.eye(30))
    indices = lowdim.neighbors(D, 6, metric="precomputed").indices
    w = reconstruction_weights(local_grams_of_distances(D, D, indices), 1e-3, 1)
    assert np.isfinite(w).all()
    np.testing.assert_allclose(w.sum(axis=1), 1)


# ---- the alignment matrix ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 8), (61, 6, 7), (90, 20, 12)])
def test_the_alignment_matrix_is_semidefinite_and_annihilates_constants(method, n, d, k, rng):
    M = matrix_of(rng.standard_normal((n, d)), k, method).toarray()
    np.testing.assert_allclose(M @ np.ones(n), 0, atol=1e-11 * np.abs(M).max())
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    assert np.linalg.eigvalsh(M).min() > -1e-10


DEGENERATE = {
    "more equal rows than neighbors": np.repeat(np.random.default_rng(0).standard_normal((4, 3)), 20, axis=0),
    "some of them": np.concatenate([np.zeros((30, 3)), np.random.default_rng(1).standard_normal((50, 3))]),
    "a single column": np.random.default_rng(2).standard_normal((80, 1)),
    "a line in space": np.outer(np.random.default_rng(3).uniform(size=80), [1.0, 2.0, -1.0]) + 5,
    "a grid": np.stack(np.meshgrid(np.arange(10.0), np.arange(8.0)), axis=-1).reshape(-1, 2),
    "a circle": np.column_stack([np.cos(t := np.arange(80) * np.pi / 40), np.sin(t)]),
    "all rows equal": np.full((80, 3), 0.1),
}


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2])
def test_degenerate_neighborhoods_keep_the_laws(method, name, d):
    """Every block is semidefinite and annihilates constants; the embedding is finite."""
    neighborhoods = neighborhoods_of(DEGENERATE[name], 10)
    for scale in (1.0, 1e-6):
        B = ALIGNMENTS[method](Neighborhoods(neighborhoods.indices, scale**2 * neighborhoods.grams, 1), d, 1e-3)
        largest = np.abs(B).max()
        np.testing.assert_allclose(B.sum(axis=2), 0, atol=1e-11 * largest)
        np.testing.assert_allclose(B, B.transpose(0, 2, 1), atol=1e-12 * largest)
        assert np.linalg.eigvalsh(B).min() > -1e-11 * largest
    M = matrix_of(DEGENERATE[name], 10, method, d).toarray()
    np.testing.assert_allclose(M @ np.ones(80), 0, atol=1e-11 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > -1e-10 * np.abs(M).max()
    model = LLE(d, method=method, n_neighbors=10).fit(DEGENERATE[name])
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(DEGENERATE[name] + 0.01)).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_tangent_coordinates_are_local_principal_components(d, rng):
    """Orthonormal, centered, along the directions of largest variance; 0 where a neighborhood has fewer."""
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 6))
    neighborhoods = neighborhoods_of(X, 7)
    U = neighborhoods.tangent_coordinates(d)
    np.testing.assert_allclose(U.sum(axis=1), 0, atol=1e-12)
    for i in range(50):
        rows = X[neighborhoods.members[i]]
        widest = np.linalg.svd(rows - rows.mean(axis=0))[0][:, : min(d, 2)]
        np.testing.assert_allclose(U[i] @ U[i].T, widest @ widest.T, atol=1e-9)


def test_dependent_second_derivatives_are_left_out():
    """On a circle x² + y² is constant: two of the three products are left."""
    angle = np.linspace(0, 2 * np.pi, 9)[:-1]
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    indices = np.array([[j for j in range(8) if j != i] for i in range(8)], dtype=np.int32)
    neighborhoods = Neighborhoods(indices, local_grams(X, X, indices, 1), 1)
    B = ALIGNMENTS["hessian"](neighborhoods, 2, 0.0)
    np.testing.assert_allclose(np.trace(B, axis1=1, axis2=2), 2, atol=1e-9)  # a projection on two directions
    np.testing.assert_allclose(B @ B, B, atol=1e-9)


def test_the_standard_matrix_is_its_definition(rng):
    X = rng.standard_normal((50, 4))
    neighborhoods = neighborhoods_of(X, 6)
    W = np.zeros((50, 50))
    np.put_along_axis(W, neighborhoods.indices.astype(np.int64), neighborhoods.weights(1e-3), axis=1)
    M = matrix_of(X, 6, "standard")
    np.testing.assert_allclose(M.toarray(), (np.eye(50) - W).T @ (np.eye(50) - W), atol=1e-13)
    assert M.has_sorted_indices


@pytest.mark.parametrize("method", FLAT)
def test_coordinates_of_a_plane_are_in_the_null_space(method):
    X, flat = plane()
    M = matrix_of(X, 10, method, reg=1e-10)
    assert np.abs(M @ flat).max() < 1e-9


# ---- the embedding ----


@pytest.mark.parametrize("method", FLAT)
@pytest.mark.parametrize("n", [300, 1500])
def test_a_plane_is_recovered(method, n):
    X, flat = plane(n)
    model = LLE(2, method=method, n_neighbors=10, reg=1e-9).fit(X)
    assert left_over(model.embedding_, flat).max() < 1e-6
    assert model.reconstruction_error_ < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_the_embedding_is_orthonormal_centered_and_minimizes_the_objective(method, rng):
    X = rng.standard_normal((150, 5))
    model = LLE(2, method=method, n_neighbors=9).fit(X)
    Z = model.embedding_
    np.testing.assert_allclose(Z.T @ Z, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(Z.sum(axis=0), 0, atol=1e-9)
    M = matrix_of(X, 9, method)
    assert np.trace(Z.T @ (M @ Z)) == pytest.approx(model.reconstruction_error_, rel=1e-8)
    assert (np.diff(model.eigenvalues_) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_invariance_to_similarity_transformations(method, rng):
    X = datasets.load("scurve", n=250).X
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    first = LLE(2, method=method).fit(X)
    second = LLE(2, method=method).fit(37.0 * X @ rotation + 5.0)
    assert_same_span(first.embedding_, second.embedding_, 1e-4)
    np.testing.assert_allclose(first.eigenvalues_, second.eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_invariance_to_the_order_of_the_rows(method, rng):
    X = rng.standard_normal((200, 4))
    order = rng.permutation(200)
    first, second = (LLE(2, method=method).fit(rows) for rows in (X, X[order]))
    assert_same_span(first.embedding_[order], second.embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_every_solver_finds_the_same(method, rng):
    X = rng.standard_normal((600, 6)).astype(np.float64)
    found = {solver: LLE(2, method=method, solver=solver).fit(X) for solver in ("dense", "factor", "chebyshev")}
    for solver, model in found.items():
        assert model.solver_ == solver
        np.testing.assert_allclose(model.eigenvalues_, found["dense"].eigenvalues_, rtol=1e-8, atol=1e-13)
        np.testing.assert_allclose(np.abs((model.embedding_ * found["dense"].embedding_).sum(axis=0)), 1, atol=1e-6)


def test_the_solver_fits_the_shape(rng):
    assert LLE().fit(rng.standard_normal((300, 3))).solver_ == "dense"
    assert LLE().fit(datasets.load("swissroll", n=1500).X).solver_ == "factor"
    assert LLE(method="ltsa").fit(rng.standard_normal((2600, 12))).solver_ == "chebyshev"
