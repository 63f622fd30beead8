"""t-SNE against openTSNE, scikit-learn and scikit-learn-intelex."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn import datasets

from bench.case import Case, Contender, installed, no_worse
from bench.data import mixture, mnist, mnist_or_synthetic
from bench.judge import label_accuracy, mnist_labels, neighbor_recall, sampled_trustworthiness
from lowdim import PCA, TSNE, Affinities, NeighborIndex, neighbors
from lowdim.neighbor_embedding.tsne.gradient_descent import GradientDescent, TsneOptions

ITERATIONS = 750
SAMPLE = 2000  # rows, for the quality measures


@cache
def mnist50() -> np.ndarray:
    return PCA(50).fit_transform(mnist())


@cache
def digits() -> np.ndarray:
    return datasets.load_digits().data.astype(np.float32)


@cache
def _truth(n: int) -> tuple[GradientDescent, np.ndarray, np.ndarray, np.ndarray | None]:
    """The KL objective, sampled rows, true neighbors and labels of all rows."""
    X = digits() if n == len(digits()) else mnist50()
    graph = neighbors(X, 90)
    rows = np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False)
    labels = datasets.load_digits().target if n == len(digits()) else mnist_labels()
    return GradientDescent(Affinities.from_graph(graph, 30), TsneOptions(), 2), rows, graph.indices[:, :10], labels


def quality(X: np.ndarray, Z: Any) -> dict[str, float]:
    """KL divergence for the same affinities, recall of the 10 nearest neighbors, and k-NN accuracy."""
    Z = np.ascontiguousarray(Z, dtype=np.float32)
    objective, rows, true, labels = _truth(len(X))
    found = NeighborIndex(Z, algorithm="exact").query(Z[rows], 11).indices
    near = np.array([[j for j in line if j != i][:10] for i, line in zip(rows, found, strict=True)])
    out = {"KL": objective.divergence(objective.initial_state(Z)), "recall@10": neighbor_recall(near, true[rows])}
    if labels is not None:
        out["label accuracy"] = label_accuracy(near, labels, labels[rows])
    return out


def open_tsne(repulsion: str) -> Callable[[np.ndarray], np.ndarray]:
    def run(X: np.ndarray) -> np.ndarray:
        import openTSNE

        return np.asarray(openTSNE.TSNE(n_jobs=2, random_state=0, negative_gradient_method=repulsion).fit(X))

    return run


def scikit_learn(X: np.ndarray) -> np.ndarray:
    from sklearn.manifold import TSNE as Peer

    return Peer(max_iter=ITERATIONS, n_jobs=2, random_state=0).fit_transform(X)


def intelex(X: np.ndarray) -> np.ndarray:
    from sklearnex.manifold import TSNE as Peer

    return Peer(max_iter=ITERATIONS, n_jobs=2, random_state=0).fit_transform(X)


def ours(X: np.ndarray) -> np.ndarray:
    return TSNE(max_iter=ITERATIONS).fit_transform(X)


def peers(repulsion: str, bar: float | None) -> tuple[Contender, ...]:
    """The installed peers; openTSNE with its faster negative gradient method for the size."""
    known = (
        ("openTSNE", Contender(f"openTSNE {repulsion}", open_tsne(repulsion), "openTSNE", bar=5)),
        ("sklearnex", Contender("scikit-learn-intelex", intelex, "scikit-learn-intelex", bar=bar)),
    )
    return tuple(contender for module, contender in known if installed(module))


NOTE = "KL refers to the affinities of lowdim (perplexity 30) for all; the affinities of a peer may differ slightly."

EQUAL = no_worse(**{"KL": 0.02, "recall@10": -0.01, "label accuracy": -0.01})

CASES = [
    Case(
        "tsne-mnist",
        f"t-SNE, 70,000 × 50 → 2, {ITERATIONS} iterations, perplexity 30, float32 ({mnist_or_synthetic()})",
        mnist50,
        (Contender("lowdim", ours, role="ours"), *peers("fft", 1.5)),
        quality, NOTE, repeats=1, warm=False, equal=EQUAL,
    ),
    Case(
        "tsne-digits",
        f"t-SNE, 1,797 digits → 2, {ITERATIONS} iterations, perplexity 30, float32",
        digits,
        (
            Contender("lowdim", ours, role="ours"), *peers("bh", None),
            Contender("scikit-learn", scikit_learn, "scikit-learn"),
        ),
        quality, NOTE, repeats=3, equal=EQUAL,
    ),
    Case(
        "tsne-1000k",
        f"t-SNE, 1,000,000 × 50 → 2, {ITERATIONS} iterations, perplexity 30, float32 (synthetic): scaling",
        lambda: mixture(1_000_000),
        (Contender("lowdim", ours, role="ours"),),
        sampled_trustworthiness, repeats=1, warm=False,
    ),
]  # fmt: skip
