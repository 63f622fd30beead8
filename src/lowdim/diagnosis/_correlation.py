"""Correlations of the columns: effective rank, KMO, Bartlett's test of sphericity. Is PCA worthwhile?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from lowdim.diagnosis._sample import Sample, bounds, covariance_values, dense_columns, divided, spreads
from lowdim.linalg.dense_eigen import eigh

__all__ = ["Correlations", "correlations"]

Array = NDArray[np.float64]

# With more columns than this, so many of them, evenly spaced, are compared.
MOST_COLUMNS = 1000


@dataclass(frozen=True)
class Correlations:
    """Correlations between the columns that vary."""

    columns: int  # that were compared
    mean_correlation: float  # of |r| over pairs
    strong: float  # share of the pairs with |r| > 0.5
    largest: float  # r of the pair with the largest |r|
    pair: tuple[str, str]
    effective_rank: float  # exp of the entropy of the eigenvalues' shares (Roy and Vetterli)
    kmo: float | None  # Kaiser–Meyer–Olkin sampling adequacy; None for a singular correlation matrix
    bartlett_p: float | None  # Bartlett's test of sphericity: small for correlated columns; None for too few rows


def correlations(X: Sample, names: list[str], threads: int) -> Correlations | None:
    """Correlations in a sample of complete rows; None with fewer than 3 rows or 2 columns that vary."""
    spread = spreads(X)
    low, high = bounds(X)
    largest = np.maximum(np.abs(low), np.abs(high))
    varying = np.flatnonzero(high - low > 4 * np.finfo(np.float64).eps * largest)
    if len(varying) < 2 or X.shape[0] < 3:
        return None
    used = X if len(varying) == X.shape[1] else X[:, varying]
    values = covariance_values(divided(used, spread[varying]), threads)
    shares = values[values > 0] / values.sum()
    rank = float(np.exp(-(shares * np.log(shares)).sum()))
    if len(varying) > MOST_COLUMNS:
        varying = varying[np.linspace(0, len(varying) - 1, MOST_COLUMNS).astype(int)]
    some = dense_columns(X, varying)
    Z = (some - some.mean(axis=0)) / spread[varying]
    R = Z.T @ Z / len(Z)
    pairs = np.triu_indices(len(varying), 1)
    r = np.clip(R[pairs], -1, 1)
    best = int(np.argmax(np.abs(r)))
    kmo, p = _sampling_adequacy(R, len(Z))
    return Correlations(
        columns=len(varying),
        mean_correlation=float(np.abs(r).mean()),
        strong=float((np.abs(r) > 0.5).mean()),
        largest=float(r[best]),
        pair=(names[varying[pairs[0][best]]], names[varying[pairs[1][best]]]),
        effective_rank=rank,
        kmo=kmo,
        bartlett_p=p,
    )


def _sampling_adequacy(R: Array, n: int) -> tuple[float | None, float | None]:
    """KMO and the p-value of Bartlett's test of sphericity, where the correlation matrix has an inverse."""
    p = len(R)
    if n <= p:
        return None, None
    values, V = eigh(R)
    if values[0] <= 1e-10 * values[-1]:
        return None, None
    inverse = (V / values) @ V.T
    roots = np.sqrt(np.diagonal(inverse))
    off = ~np.eye(p, dtype=bool)
    related, partial = (R[off] ** 2).sum(), ((inverse / np.outer(roots, roots))[off] ** 2).sum()
    kmo = float(related / (related + partial)) if related > 0 else None
    if p**3 > n**2:  # the χ² approximation is poor for so many columns
        return kmo, None
    chi2 = -(n - 1 - (2 * p + 5) / 6) * float(np.log(values).sum())
    return kmo, float(chdtrc(p * (p - 1) / 2, max(chi2, 0.0)))
