"""The smallest eigenpairs of sparse matrices: every solver against LAPACK and against known spectra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim.errors import NotConverged
from lowdim.linalg import sparse_eigen as module
from lowdim.linalg.sparse_eigen import SOLVERS, EigenOptions, smallest_eigenpairs, widest_level
from lowdim.runtime.blas import single_blas


def path(n):
    return sp.csr_array(sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]))


def cycle(n):
    ring = np.arange(n)
    half = sp.csr_array((np.ones(n), (ring, (ring + 1) % n)), shape=(n, n))
    return sp.csr_array(half + half.T)


def laplacian(W):
    return sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


def cloud(n, rng):
    """Weighted neighbors in six dimensions: no factor of it is sparse."""
    W = lowdim.neighbors(rng.uniform(size=(n, 6)), 8).symmetrize()
    return sp.csr_array((np.exp(-W.data.astype(float)), W.indices, W.indptr), shape=W.shape)


@pytest.fixture(autouse=True)
def one_thread():
    """As within a fit."""
    with single_blas():
        yield


def options(solver="auto", tol=1e-10):
    return EigenOptions(solver, tol, 0, 1)


def sine(A, B):
    """Of the largest angle between two planes."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 5, 20])
def test_every_solver_agrees_with_lapack(solver, k, rng):
    L = laplacian(cloud(900, rng))
    found = smallest_eigenpairs(L, k, np.ones(900), options(solver))
    values, vectors = np.linalg.eigh(L.toarray())
    assert found.solver == solver
    np.testing.assert_allclose(found.values, values[1 : k + 1], rtol=1e-9)
    assert sine(found.vectors, vectors[:, 1 : k + 1]) < 1e-6
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("known", [True, False])
def test_the_null_vector_need_not_be_constant(solver, known, rng):
    """That of a normalized Laplacian is √degree, and its values are at most 2."""
    W = cloud(700, rng)
    roots = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    A = sp.csr_array(sp.eye_array(700) - sp.diags_array(1 / roots) @ W @ sp.diags_array(1 / roots))
    found = smallest_eigenpairs(A, 4, roots, options(solver), high=2.0 if known else None)
    values, vectors = np.linalg.eigh(A.toarray())
    np.testing.assert_allclose(found.values, values[1:5], rtol=1e-8)
    assert sine(found.vectors, vectors[:, 1:5]) < 1e-6
    np.testing.assert_allclose(roots @ found.vectors, 0, atol=1e-10 * np.linalg.norm(roots))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_factor_gives_the_pairs_of_its_square(solver, rng):
    W = sp.random_array((800, 800), density=0.01, rng=rng, format="csr")
    W = sp.csr_array(W + path(800))
    A = sp.csr_array(sp.eye_array(800) - sp.diags_array(1 / np.asarray(W.sum(axis=1)).ravel()) @ W)
    M = sp.csr_array(A.T @ A)
    plain, by_factor = (smallest_eigenpairs(M, 3, np.ones(800), options(solver), factor=factor) for factor in (None, A))
    np.testing.assert_allclose(by_factor.values, plain.values, rtol=1e-8)
    assert sine(by_factor.vectors, plain.vectors) < 1e-6


@pytest.mark.parametrize("n", [1000, 20_000])
def test_laplacian_of_a_long_path(n):
    """cos(π j (i + ½) / n) with λ = 2 - 2 cos(π j / n), as small as 1e-8 of the largest."""
    j = np.arange(1, 4)
    found = smallest_eigenpairs(laplacian(path(n)), 3, np.ones(n), options(tol=1e-7))
    want = np.cos(np.pi * j * (np.arange(n)[:, None] + 0.5) / n)
    assert found.solver == "factor"
    np.testing.assert_allclose(found.values, 4 * np.sin(np.pi * j / (2 * n)) ** 2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(want) * np.sqrt(2 / n), atol=1e-5 * n**-0.5)


@pytest.mark.parametrize("n", [1000, 20_000])
def test_laplacian_of_a_long_cycle(n):
    """Values come in pairs, and only their planes are known."""
    found = smallest_eigenpairs(laplacian(cycle(n)), 4, np.ones(n), options(tol=1e-7))
    around = 2 * np.pi * np.arange(n)[:, None] / n
    np.testing.assert_allclose(found.values, 4 * np.sin(np.pi * np.array([1, 1, 2, 2]) / n) ** 2, rtol=1e-6)
    for j in (1, 2):
        plane = np.hstack([np.cos(j * around), np.sin(j * around)])
        assert sine(found.vectors[:, 2 * j - 2 : 2 * j], plane) < 1e-5


def test_the_tolerance_is_relative_to_the_value(rng):
    """A hundred times smaller matrix gives the same vectors, bit for bit but for the scale's rounding."""
    L = laplacian(cloud(900, rng))
    plain, small = (
        smallest_eigenpairs(scale * L, 3, np.ones(900), options("chebyshev", 1e-6)) for scale in (1.0, 2.0**-30)
    )
    np.testing.assert_allclose(small.vectors, plain.vectors, atol=1e-9)
    residual = L @ plain.vectors - plain.vectors * plain.values
    assert (np.linalg.norm(residual, axis=0) <= 1e-6 * plain.values).all()


def test_the_solver_fits_the_shape(rng):
    assert smallest_eigenpairs(laplacian(path(300)), 2, np.ones(300), options()).solver == "dense"
    assert smallest_eigenpairs(laplacian(path(900)), 2, np.ones(900), options()).solver == "factor"
    assert smallest_eigenpairs(laplacian(cloud(900, rng)), 2, np.ones(900), options()).solver == "chebyshev"
    assert (
        smallest_eigenpairs(laplacian(path(90)), 80, np.ones(90), options("chebyshev")).solver == "dense"
    )  # no room for a basis


@given(st.integers(1, 12), st.integers(1, 9))
def test_levels_of_a_grid(a, b):
    """From a corner, steps reach whole diagonals: none is longer than the shorter side."""
    W = sp.kron(path(a) if a > 1 else sp.csr_array((1, 1)), sp.eye_array(b))
    W = sp.csr_array(W + sp.kron(sp.eye_array(a), path(b) if b > 1 else sp.csr_array((1, 1))))
    assert widest_level(sp.csr_array(W + sp.eye_array(a * b))) == min(a, b)


def test_where_one_solver_fails_the_next_is_tried(rng, monkeypatch):
    L = laplacian(cloud(900, rng))
    want = np.linalg.eigvalsh(L.toarray())[1:4]
    monkeypatch.setattr(module, "PRODUCTS_FOR_DENSE", 0)
    assert smallest_eigenpairs(L, 3, np.ones(900), options()).solver == "dense"
    monkeypatch.setattr(module, "LAPLACIAN_FALLBACK_ROWS", 0)
    monkeypatch.setattr(module, "MAX_PRODUCTS", 60)
    found = smallest_eigenpairs(L, 3, np.ones(900), options(tol=1e-9))
    assert found.solver == "factor"
    np.testing.assert_allclose(found.values, want, rtol=1e-8)
    with pytest.raises(NotConverged, match="did not reach tol=1e-09"):
        smallest_eigenpairs(L, 3, np.ones(900), options("chebyshev", 1e-9))
