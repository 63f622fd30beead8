"""Quality measures of embeddings that several families share."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.manifold import trustworthiness

from bench.data import MNIST


@cache
def mnist_labels() -> np.ndarray | None:
    """The labels of MNIST, if it is available."""
    if not MNIST.exists():
        return None
    with np.load(MNIST) as archive:
        return archive["y"].astype(np.int64)


def neighbor_recall(near: np.ndarray, true: np.ndarray) -> float:
    """Recall: the share of the true neighbors (m, k) among those in the embedding (m, k)."""
    return float((near[:, :, None] == true[:, None, :]).any(axis=2).mean())


def label_accuracy(near: np.ndarray, labels: np.ndarray, own: np.ndarray) -> float:
    """k-NN accuracy: how often the majority label of the neighbors (m, k) is the row's own label."""
    votes = np.array([np.bincount(line).argmax() for line in labels[near]])
    return float(np.mean(votes == own))


def random_triplets(X: np.ndarray, Z: np.ndarray, per_row: int = 20) -> float:
    """How often the nearer of two random rows is the same in X and in Z: whether global structure is kept."""
    pairs = np.random.default_rng(0).integers(0, len(X), (per_row, 2, len(X)))
    same = [(nearer(X, *pair) == nearer(Z, *pair)).mean() for pair in pairs]
    return float(np.mean(same))


def nearer(table: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Which rows are nearer to the first of two others."""
    squares = [np.square(table - table[other], dtype=np.float64).sum(axis=1) for other in (first, second)]
    return squares[0] < squares[1]


def sampled_trustworthiness(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Trustworthiness on a random sample of 5,000 rows."""
    sample = np.random.default_rng(0).choice(len(X), 5000, replace=False)
    return {"trustworthiness": float(trustworthiness(X[sample], Z[sample], n_neighbors=10))}
