"""Gram: the centered kernel matrix in every form is H K Hᵀ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lowdim
from determinism import assert_same_bits
from lowdim import ClassicalMDS, KernelPCA
from lowdim.decomposition.gram_eigen import largest_of_gram, smallest_of_gram
from lowdim.errors import BadInput, LowdimWarning
from lowdim.kernels import from_distance, rbf
from lowdim.summaries import gram as module
from lowdim.summaries.gram import gram


@pytest.fixture(params=["kept", "computed again"])
def small_strips(request, monkeypatch):
    """Several strips and tiles of a small matrix, with and without room to keep them."""
    monkeypatch.setattr(module, "STRIP", 7)
    monkeypatch.setattr(module, "TILE", 5)
    if request.param == "computed again":
        monkeypatch.setattr(module, "available_bytes", lambda: 0)


def centered(K, weights=None):
    n = len(K)
    w = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    H = np.eye(n) - np.outer(np.ones(n), w)
    G = H @ K @ H.T
    roots = np.ones(n) if weights is None else np.sqrt(weights)
    return roots[:, None] * G * roots


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [rbf(0.3), from_distance("manhattan"), "precomputed"])
def test_every_form_is_the_same_matrix(small_strips, kernel, weighted, rng):
    X = rng.standard_normal((33, 4)) + 5
    K = rbf(0.3)(X) if kernel == "precomputed" else kernel(X)
    weights = rng.integers(1, 4, 33).astype(float) if weighted else None
    found = gram(K if kernel == "precomputed" else X, kernel, sample_weight=weights, n_jobs=2)
    G = centered(K, weights)
    assert_allclose(found.dense(), G, atol=1e-12)
    V = rng.standard_normal((33, 3))
    assert_allclose(found.times(V), G @ V, atol=1e-11)
    assert_allclose(found.rows(5, 9), K[5:9])
    assert_allclose(found.centered_rows(5, 9), centered(K)[5:9] if not weighted else found.centered_rows(0, 33)[5:9])
    assert found.trace == pytest.approx(np.trace(G))
    assert_allclose(found.means, (K @ weights / weights.sum()) if weighted else K.mean(axis=0))


def test_the_linear_kernel_gives_the_gram_matrix_of_centered_rows(rng):
    X = rng.standard_normal((20, 3)) + 2
    P = X - X.mean(axis=0)
    assert_allclose(gram(X, "linear").dense(), P @ P.T, atol=1e-12)


@given(st.integers(0, 1000), st.sampled_from(["dense", "lanczos"]))
def test_top(seed, solver):
    X = np.random.default_rng(seed).standard_normal((60, 3))
    found = gram(X, "rbf", gamma=0.1)
    values, vectors = np.linalg.eigh(found.dense())
    top = largest_of_gram(found, 4, solver=solver)
    assert_allclose(top.values, values[::-1][:4], rtol=1e-8)
    assert_allclose(np.abs(np.sum(top.vectors * vectors[:, ::-1][:, :4], axis=0)), 1, atol=1e-6)


def test_the_smallest_eigenvalue(rng):
    D = rng.uniform(1, 2, (80, 80))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    found = gram(-0.5 * D**2, "precomputed")
    values = np.linalg.eigvalsh(found.dense())
    assert smallest_of_gram(found, float(values[-1])) == pytest.approx(values[0], rel=1e-6)


def test_the_smallest_eigenvalue_stops_at_the_precision_of_the_entries(rng, monkeypatch):
    """Products in float32 reach a residual of 1e-6 at best; a smaller tolerance would use up all passes."""
    from lowdim.decomposition import gram_eigen as solver

    D = rng.uniform(1, 2, (300, 300)).astype(np.float32)
    found = gram(-0.5 * (D + D.T) ** 2, "precomputed")
    values = np.linalg.eigvalsh(found.dense())
    passes = []
    times = found.times
    monkeypatch.setattr(found, "times", lambda V: passes.append(1) or times(V))
    assert smallest_of_gram(found, float(values[-1])) == pytest.approx(values[0], rel=1e-4)
    assert len(passes) < 100
    monkeypatch.setattr(solver, "MAX_PASSES", 3)
    with pytest.warns(LowdimWarning, match="did not converge within 3 passes .* smallest"):
        smallest_of_gram(found, float(values[-1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(3),
        KernelPCA(3, solver="lanczos"),
        KernelPCA(3, solver="nystrom", n_landmarks=200),
        ClassicalMDS(3),
        ClassicalMDS(3, metric="manhattan"),
        ClassicalMDS(3, n_landmarks=100),
    ],
    ids=str,
)
def test_the_same_bits_for_any_number_of_threads(model, dtype, digits):
    X = digits[:1300].astype(dtype)

    def work(threads):
        Z = model.set_params(n_jobs=threads).fit_transform(X)
        assert Z.dtype == dtype
        return Z, model.transform(X[:700])

    assert_same_bits(work)


def test_precomputed_matrices_are_checked():
    for bad, words in ((np.ones((3, 2)), "square"), (np.triu(np.ones((3, 3))), "symmetric"), ([[np.nan]], "NaN")):
        with pytest.raises(BadInput, match=words):
            lowdim.gram(bad, "precomputed")
