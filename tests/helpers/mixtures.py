"""Known mixtures for independent component analysis, and the Amari distance to their truth."""

from __future__ import annotations

import numpy as np

__all__ = ["amari", "mixture", "same_sources"]


def mixture(kinds, n, seed=0):
    """Sources S (n, k) of the given kinds, a mixing matrix A (k, k), and X = S Aᵀ + offset."""
    rng = np.random.default_rng(seed)
    at = np.arange(n)
    makers = {
        "laplace": lambda: rng.laplace(size=n),
        "uniform": lambda: rng.uniform(-1, 1, n),
        "student": lambda: rng.standard_t(4, n),
        "sine": lambda: np.sin(at * rng.uniform(0.05, 0.5)),
        "square": lambda: np.sign(np.sin(at * rng.uniform(0.01, 0.2) + 0.1)),
        "binary": lambda: rng.choice([-1.0, 1.0], n),
        "exponential": lambda: rng.exponential(size=n),
    }
    S = np.column_stack([makers[kind]() for kind in kinds])
    A = rng.normal(size=(len(kinds), len(kinds)))
    return S, A, S @ A.T + rng.normal(size=len(kinds))


def amari(U, A):
    """Amari's distance of an unmixing matrix to the inverse of a mixing matrix, in 0…1, whatever order and scale."""
    P = np.abs(np.asarray(U, dtype=np.float64) @ A)
    rows, columns = P.sum(axis=1) / P.max(axis=1) - 1, P.sum(axis=0) / P.max(axis=0) - 1
    return float((rows.sum() + columns.sum()) / (2 * len(P) * (len(P) - 1)))


def same_sources(U, V, C):
    """The largest 1 - |correlation| between the sources of two unmixing matrices, matched, under the covariance C."""
    scales = [np.sqrt(np.einsum("ij,jk,ik->i", M, C, M)) for M in (U, V)]
    correlation = np.abs(U @ C @ V.T) / np.outer(*scales)
    assert (np.sort(correlation.argmax(axis=1)) == np.arange(len(U))).all()
    return float((1 - correlation.max(axis=1)).max())
