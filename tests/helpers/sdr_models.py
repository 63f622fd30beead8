"""Regression models with a known central subspace, and the angle to it."""

from __future__ import annotations

import numpy as np

__all__ = ["inverse_model", "largest_angle", "linear_model", "rational_model", "symmetric_model"]


def largest_angle(components: np.ndarray, basis: np.ndarray) -> float:
    """The largest principal angle between the rows of components and the columns of a basis, in degrees."""
    A, B = np.linalg.qr(np.asarray(components, dtype=float).T)[0], np.linalg.qr(basis)[0]
    smallest = np.linalg.svd(A.T @ B, compute_uv=False).min()
    return float(np.degrees(np.arccos(np.clip(smallest, -1, 1))))


def inverse_model(n: int, seed: int = 0, d: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lectures' model X = μ + Γ ν(y) + ε with isotropic noise: rows, response and Γ (d, 2)."""
    rng = np.random.default_rng(seed)
    gamma = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    y = rng.uniform(-1, 1, size=n)
    nu = np.column_stack([2 * y, 3 * (y**2 - 1 / 3)])
    return 4 + nu @ gamma.T + 0.5 * rng.normal(size=(n, d)), y, gamma


def linear_model(n: int, seed: int = 0, d: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = exp(βᵀx) + noise on correlated columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    beta = rng.normal(size=(d, 1))
    score = X @ beta[:, 0] / np.std(X @ beta)
    return X, np.exp(score) + 0.2 * rng.normal(size=n), beta


def rational_model(n: int, seed: int = 0, d: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Li's (1991) y = x₁ / (0.5 + (x₂ + 1.5)²) + noise, of two directions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)
    return X, y, np.eye(d)[:, :2]


def symmetric_model(n: int, seed: int = 0, d: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = (βᵀx)² + noise, in which no slice mean moves."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    beta = np.linalg.qr(rng.normal(size=(d, 1)))[0]
    return X, (X @ beta[:, 0]) ** 2 + 0.2 * rng.normal(size=n), beta
