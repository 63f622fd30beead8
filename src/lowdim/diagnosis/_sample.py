"""Columns of a sample of rows, which is an array or a CSR matrix without stored zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.choose._table import spectrum
from lowdim.runtime.threads import interruptible

__all__ = ["Sample", "bounds", "covariance_values", "dense_columns", "divided", "spreads", "zero_shares"]

Array = NDArray[np.float64]
Sample = Any  # (n, d)


def bounds(X: Sample) -> tuple[Array, Array]:
    """The smallest and the largest value of every column, (d,) each."""
    if not sp.issparse(X):
        return X.min(axis=0), X.max(axis=0)
    return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()


def spreads(X: Sample) -> Array:
    """Standard deviations (ddof 0) of the columns, (d,)."""
    if not sp.issparse(X):
        return np.asarray(X.std(axis=0))
    n, d = X.shape
    means = np.bincount(X.indices, X.data, d) / n
    zeros = n - np.bincount(X.indices, minlength=d)
    squares = np.bincount(X.indices, (X.data - means[X.indices]) ** 2, d) + zeros * means**2
    return np.sqrt(squares / n)


def zero_shares(X: Sample) -> Array:
    """The share of zeros in every column, (d,)."""
    if not sp.issparse(X):
        return np.asarray((X == 0).mean(axis=0))
    return 1 - np.bincount(X.indices, minlength=X.shape[1]) / X.shape[0]


def dense_columns(X: Sample, columns: NDArray[np.intp]) -> Array:
    """Some columns, as an array."""
    part = X[:, columns]
    return np.asarray(part.toarray() if sp.issparse(part) else part)


def divided(X: Sample, unit: Array) -> Sample:
    """The columns, each divided by its unit."""
    if not sp.issparse(X):
        return np.divide(X, unit, order="C")  # sums depend on the layout
    return sp.csr_array((X.data / unit[X.indices], X.indices, X.indptr), shape=X.shape)


def covariance_values(X: Sample, threads: int) -> Array:
    """All eigenvalues of the covariance matrix that may differ from zero, largest first."""
    n, d = X.shape
    if d < n and not sp.issparse(X):
        return np.asarray(spectrum(X, n_jobs=threads).values, dtype=np.float64)
    if sp.issparse(X):
        G = np.asarray((X @ X.T).toarray())
    else:
        centered = X - X.mean(axis=0)
        G = centered @ centered.T
    return gram_values(G)


def gram_values(G: Array) -> Array:
    """Eigenvalues of the covariance of n rows with these inner products, (n, n), largest first; there are n - 1."""
    n = len(G)
    G = G - G.mean(axis=0)
    G -= G.mean(axis=1, keepdims=True)
    values = interruptible(lambda: scipy.linalg.eigvalsh(G, check_finite=False))
    return np.maximum(values[:0:-1], 0) / max(n - 1, 1)
