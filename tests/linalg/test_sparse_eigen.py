"""The smallest eigenpairs of sparse matrices: every way against LAPACK and against spectra that are known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim.errors import NotConverged
from lowdim.linalg import sparse_eigen as module
from lowdim.linalg.chebyshev import Polynomial
from lowdim.linalg.components import by_pieces, side_by_side
from lowdim.linalg.sparse_eigen import SOLVERS, Way, smoothest, widest_level
from lowdim.runtime.threads import single_blas


def path(n):
    return sp.csr_array(sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]))


def cycle(n):
    ring = np.arange(n)
    half = sp.csr_array((np.ones(n), (ring, (ring + 1) % n)), shape=(n, n))
    return sp.csr_array(half + half.T)


def laplacian(W):
    return sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


def cloud(n, rng):
    """Weighted neighbours in six dimensions: no factor of it is sparse."""
    W = lowdim.neighbors(rng.uniform(size=(n, 6)), 8).symmetrize()
    return sp.csr_array((np.exp(-W.data.astype(float)), W.indices, W.indptr), shape=W.shape)


@pytest.fixture(autouse=True)
def one_thread():
    """As within a fit."""
    with single_blas():
        yield


def way(solver="auto", tol=1e-10):
    return Way(solver, tol, 0, 1)


def sine(A, B):
    """Of the largest angle between two planes."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 5, 20])
def test_every_way_is_lapacks(solver, k, rng):
    L = laplacian(cloud(900, rng))
    found = smoothest(L, k, np.ones(900), way(solver))
    values, vectors = np.linalg.eigh(L.toarray())
    assert found.solver == solver
    np.testing.assert_allclose(found.values, values[1 : k + 1], rtol=1e-9)
    assert sine(found.vectors, vectors[:, 1 : k + 1]) < 1e-6
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("known", [True, False])
def test_the_null_vector_need_not_be_constant(solver, known, rng):
    """That of a normalised Laplacian is √degree, and its values are at most 2."""
    W = cloud(700, rng)
    roots = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    A = sp.csr_array(sp.eye_array(700) - sp.diags_array(1 / roots) @ W @ sp.diags_array(1 / roots))
    found = smoothest(A, 4, roots, way(solver), high=2.0 if known else None)
    values, vectors = np.linalg.eigh(A.toarray())
    np.testing.assert_allclose(found.values, values[1:5], rtol=1e-8)
    assert sine(found.vectors, vectors[:, 1:5]) < 1e-6
    np.testing.assert_allclose(roots @ found.vectors, 0, atol=1e-10 * np.linalg.norm(roots))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_root_does_as_well_as_its_square(solver, rng):
    W = sp.random_array((800, 800), density=0.01, rng=rng, format="csr")
    W = sp.csr_array(W + path(800))
    A = sp.csr_array(sp.eye_array(800) - sp.diags_array(1 / np.asarray(W.sum(axis=1)).ravel()) @ W)
    M = sp.csr_array(A.T @ A)
    plain, by_root = (smoothest(M, 3, np.ones(800), way(solver), root=root) for root in (None, A))
    np.testing.assert_allclose(by_root.values, plain.values, rtol=1e-8)
    assert sine(by_root.vectors, plain.vectors) < 1e-6


@pytest.mark.parametrize("n", [1000, 20_000])
def test_waves_of_a_long_path(n):
    """cos(π j (i + ½) / n) with λ = 2 - 2 cos(π j / n), as small as 1e-8 of the largest."""
    j = np.arange(1, 4)
    found = smoothest(laplacian(path(n)), 3, np.ones(n), way(tol=1e-7))
    want = np.cos(np.pi * j * (np.arange(n)[:, None] + 0.5) / n)
    assert found.solver == "factor"
    np.testing.assert_allclose(found.values, 4 * np.sin(np.pi * j / (2 * n)) ** 2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(want) * np.sqrt(2 / n), atol=1e-5 * n**-0.5)


@pytest.mark.parametrize("n", [1000, 20_000])
def test_waves_of_a_long_cycle(n):
    """Values come in pairs, and only their planes are known."""
    found = smoothest(laplacian(cycle(n)), 4, np.ones(n), way(tol=1e-7))
    around = 2 * np.pi * np.arange(n)[:, None] / n
    np.testing.assert_allclose(found.values, 4 * np.sin(np.pi * np.array([1, 1, 2, 2]) / n) ** 2, rtol=1e-6)
    for j in (1, 2):
        plane = np.hstack([np.cos(j * around), np.sin(j * around)])
        assert sine(found.vectors[:, 2 * j - 2 : 2 * j], plane) < 1e-5


def test_the_tolerance_is_relative_to_the_value(rng):
    """A hundred times smaller matrix gives the same vectors, bit for bit but for the scale's rounding."""
    L = laplacian(cloud(900, rng))
    plain, small = (smoothest(scale * L, 3, np.ones(900), way("chebyshev", 1e-6)) for scale in (1.0, 2.0**-30))
    np.testing.assert_allclose(small.vectors, plain.vectors, atol=1e-9)
    residual = L @ plain.vectors - plain.vectors * plain.values
    assert (np.linalg.norm(residual, axis=0) <= 1e-6 * plain.values).all()


def test_the_way_fits_the_shape(rng):
    assert smoothest(laplacian(path(300)), 2, np.ones(300), way()).solver == "dense"
    assert smoothest(laplacian(path(900)), 2, np.ones(900), way()).solver == "factor"
    assert smoothest(laplacian(cloud(900, rng)), 2, np.ones(900), way()).solver == "chebyshev"
    assert smoothest(laplacian(path(90)), 80, np.ones(90), way("chebyshev")).solver == "dense"  # no room for a basis


@given(st.integers(1, 12), st.integers(1, 9))
def test_levels_of_a_grid(a, b):
    """From a corner, steps reach whole diagonals: none is longer than the shorter side."""
    W = sp.kron(path(a) if a > 1 else sp.csr_array((1, 1)), sp.eye_array(b))
    W = sp.csr_array(W + sp.kron(sp.eye_array(a), path(b) if b > 1 else sp.csr_array((1, 1))))
    assert widest_level(sp.csr_array(W + sp.eye_array(a * b))) == min(a, b)


def test_where_one_way_fails_the_next_is_tried(rng, monkeypatch):
    L = laplacian(cloud(900, rng))
    want = np.linalg.eigvalsh(L.toarray())[1:4]
    monkeypatch.setattr(module, "PRODUCTS_FOR_DENSE", 0)
    assert smoothest(L, 3, np.ones(900), way()).solver == "dense"
    monkeypatch.setattr(module, "DENSE_ROWS", 0)
    monkeypatch.setattr(module, "MOST_PRODUCTS", 60)
    found = smoothest(L, 3, np.ones(900), way(tol=1e-9))
    assert found.solver == "factor"
    np.testing.assert_allclose(found.values, want, rtol=1e-8)
    with pytest.raises(NotConverged, match="did not reach tol=1e-09"):
        smoothest(L, 3, np.ones(900), way("chebyshev", 1e-9))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_polynomial_is_that_of_the_spectrum(threads, rng, monkeypatch):
    monkeypatch.setattr("lowdim.linalg.chebyshev.ENTRIES_A_THREAD", 100)
    A = sp.csr_array(sp.random_array((300, 300), density=0.05, rng=rng))
    M = sp.csr_array(A.T @ A)
    values, vectors = np.linalg.eigh(M.toarray())
    V = rng.standard_normal((300, 5))
    T = np.polynomial.chebyshev.Chebyshev([0, 0, 0, 0, 0, 1], domain=[0.5, 3])(values)
    for polynomial in (Polynomial(M, None, threads), Polynomial(M, A, threads)):
        assert polynomial.threads == threads
        np.testing.assert_allclose(polynomial.times(V), M @ V, atol=1e-12 * np.abs(M @ V).max())
        want = vectors @ (T[:, None] * (vectors.T @ V))
        np.testing.assert_allclose(polynomial.chebyshev(V, (0.5, 3.0), 5), want, atol=1e-9 * np.abs(want).max())


# ---- pieces ----


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 5))
def test_pieces_are_solved_by_themselves(names, k):
    _, labels = np.unique(names, return_inverse=True)
    asked = []

    def solve(rows, most):
        asked.append(rows)
        return np.full(most, float(labels[rows[0]])), rows[:, None] + 100.0 * np.arange(1, most + 1)

    Z, values = by_pieces(labels, k, solve)
    for rows in asked:
        assert (labels[rows] == labels[rows[0]]).all()
    for piece in range(labels.max() + 1):
        rows = np.flatnonzero(labels == piece)
        most = min(k, len(rows) - 1)
        np.testing.assert_array_equal(values[piece], [piece] * most + [0] * (k - most))
        np.testing.assert_array_equal(Z[rows, :most], rows[:, None] + 100.0 * np.arange(1, most + 1))
        assert (Z[rows, most:] == 0).all()


@given(st.integers(0, 1000), st.integers(2, 6))
def test_pieces_side_by_side_do_not_overlap_and_keep_their_shape(seed, pieces):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(pieces), rng.integers(0, pieces, 60)])
    Z = rng.standard_normal((len(labels), 2))
    laid, offsets = side_by_side(Z, labels)
    edge = -np.inf
    for piece in range(pieces):
        rows = labels == piece
        share = np.sqrt(rows.mean())
        np.testing.assert_allclose(laid[rows] - [offsets[piece], 0], Z[rows] * share, atol=1e-12)
        assert laid[rows, 0].min() > edge
        edge = laid[rows, 0].max()
    np.testing.assert_array_equal(side_by_side(Z, np.zeros(len(labels), dtype=int))[0], Z)
