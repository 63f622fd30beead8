"""How good a map is: measures that several families share."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.manifold import trustworthiness

from bench.data import MNIST


@cache
def mnist_labels() -> np.ndarray | None:
    """The digits of MNIST, where the machine has them."""
    if not MNIST.exists():
        return None
    with np.load(MNIST) as archive:
        return archive["y"].astype(np.int64)


def kept(near: np.ndarray, true: np.ndarray) -> float:
    """Share of the true neighbours (m, k) that are among those in the map (m, k)."""
    return float((near[:, :, None] == true[:, None, :]).any(axis=2).mean())


def label_accuracy(near: np.ndarray, labels: np.ndarray, own: np.ndarray) -> float:
    """How often the majority of the neighbours (m, k), numbers of rows that have `labels`, has the row's own label."""
    votes = np.array([np.bincount(line).argmax() for line in labels[near]])
    return float(np.mean(votes == own))


def sampled_trust(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Trustworthiness of a map on 5,000 of its rows."""
    some = np.random.default_rng(0).choice(len(X), 5000, replace=False)
    return {"trustworthiness": float(trustworthiness(X[some], Z[some], n_neighbors=10))}
