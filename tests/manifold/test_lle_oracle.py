"""The LLE family against scikit-learn and against plain NumPy versions of the papers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from sklearn.manifold import LocallyLinearEmbedding, locally_linear_embedding

import lowdim
from lowdim import LLE, datasets
from lowdim.manifold.lle.alignment import ALIGNMENTS
from lowdim.manifold.lle.neighborhoods import Neighborhoods, local_grams, sum_of_blocks

METHODS = list(ALIGNMENTS)
SETS = {
    "roll": datasets.load("swissroll", n=300, noise=0.1).X,
    "cloud": np.random.default_rng(0).standard_normal((200, 9)),
    "wide": np.random.default_rng(1).standard_normal((120, 40)),
}


def reference_standard(X, i, near, d):
    D = X[near] - X[i]
    G = D @ D.T
    w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(len(near)), np.ones(len(near)))
    return [i, *near], np.outer(v := np.concatenate([[1], -w / w.sum()]), v)


def reference_modified(X, i, near, d, eta=None):
    """By the paper's Householder reflection, with the s smallest singular directions."""
    k = len(near)
    D = X[near] - X[i]
    V, sizes, _ = np.linalg.svd(D, full_matrices=True)
    values = np.zeros(k)
    values[: len(sizes)] = sizes**2
    ratios = [values[k - s :].sum() / values[: k - s].sum() for s in range(1, k - d + 1)]
    if eta is None:
        return ratios[-1]
    s = max(1, sum(ratio <= max(eta, 1e-12) for ratio in ratios))
    V = V[:, k - s :]
    reg = 1e-3 * values.sum()
    w = np.linalg.solve(D @ D.T + reg * np.eye(k), np.ones(k))
    w /= w.sum()
    alpha = np.linalg.norm(V.sum(axis=0)) / np.sqrt(s)
    h = alpha - V.sum(axis=0)
    h = h / np.linalg.norm(h) if np.linalg.norm(h) > 1e-12 else h * 0
    W = V @ (np.eye(s) - 2 * np.outer(h, h)) + (1 - alpha) * w[:, None]
    W = np.vstack([-np.ones(s), W])
    return [i, *near], W @ W.T


def tangent(X, members, d):
    D = X[members] - X[members].mean(axis=0)
    return np.linalg.svd(D, full_matrices=False)[0][:, :d]


def reference_ltsa(X, i, near, d, own=True):
    members = [i, *near] if own else list(near)
    G = np.column_stack([np.full(len(members), len(members) ** -0.5), tangent(X, members, d)])
    return members, np.eye(len(members)) - G @ G.T


def reference_hessian(X, i, near, d):
    members = [i, *near]
    U = tangent(X, members, d)
    known = scipy.linalg.orth(np.column_stack([np.ones(len(members)), U]))
    products = np.column_stack([U[:, a] * U[:, b] for a in range(d) for b in range(a, d)])
    H = scipy.linalg.orth(products - known @ (known.T @ products))
    seen = np.column_stack([known, H])
    return members, H @ H.T + 1e-3 * (np.eye(len(members)) - seen @ seen.T)


def reference(X, indices, method, d, **options):
    """M, neighborhood by neighborhood, in plain NumPy."""
    n = len(X)
    if method == "modified":
        options["eta"] = np.median([reference_modified(X, i, indices[i], d) for i in range(n)])
    M = np.zeros((n, n))
    for i in range(n):
        members, block = globals()[f"reference_{method}"](X, i, indices[i].tolist(), d, **options)
        M[np.ix_(members, members)] += block
    return M


def embed(M, d):
    return scipy.linalg.eigh(M)[1][:, 1 : d + 1]


def assert_same_span(A, B, tol=1e-6):
    np.testing.assert_allclose(np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1], 1, atol=tol)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_alignment_matrix_is_the_reference(method, name, d):
    X = SETS[name]
    indices = lowdim.neighbors(X, 12).indices
    neighborhoods = Neighborhoods(indices, local_grams(X, X, indices, 2), 2)
    M = sum_of_blocks(neighborhoods.members, ALIGNMENTS[method](neighborhoods, d, 1e-3), 2).toarray()
    expected = reference(X, indices, method, d)
    np.testing.assert_allclose(M, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("method", "name"), [("standard", "roll"), ("standard", "cloud"), ("standard", "wide"), ("modified", "roll")]
)
def test_the_embedding_is_scikit_learns(method, name):
    """On clouds its modified weights differ: it allows a null space of more than k - d dimensions."""
    X = SETS[name]
    peer = LocallyLinearEmbedding(n_neighbors=12, n_components=2, method=method, eigen_solver="dense").fit(X)
    ours = LLE(2, n_neighbors=12, method=method).fit(X)
    assert_same_span(ours.embedding_, peer.embedding_, 1e-5)
    assert ours.reconstruction_error_ == pytest.approx(peer.reconstruction_error_, rel=1e-5)


@pytest.mark.parametrize("method", ["ltsa", "hessian"])
def test_scikit_learns_neighborhoods_leave_the_row_itself_out(method):
    """Its LTSA is the reference without the row itself; so is its "hessian", which keeps all columns of a full QR."""
    X = SETS["roll"]
    indices = lowdim.neighbors(X, 12).indices
    peer, _ = locally_linear_embedding(X, n_neighbors=12, n_components=2, method=method, eigen_solver="dense")
    assert_same_span(embed(reference(X, indices, "ltsa", 2, own=False), 2), peer)


@pytest.mark.parametrize("method", ["ltsa", "hessian"])
@pytest.mark.parametrize("name", ["swissroll", "scurve"])
def test_on_sheets_the_embedding_is_near_scikit_learns(method, name):
    X = datasets.load(name, n=800).X
    peer, _ = locally_linear_embedding(X, n_neighbors=12, n_components=2, method=method, eigen_solver="dense")
    assert_same_span(LLE(2, n_neighbors=12, method=method).fit_transform(X), peer, 2e-3)


def test_standard_is_not_worse_than_scikit_learn_on_digits(digits):
    peer = LocallyLinearEmbedding(n_neighbors=10, n_components=2).fit(digits)
    ours = LLE(2, n_neighbors=10).fit(digits)
    assert ours.reconstruction_error_ <= peer.reconstruction_error_ * (1 + 1e-6)
