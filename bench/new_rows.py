"""Out-of-sample embedding of new rows: only `transform` is timed, with models fitted in advance."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from bench.case import Case, Contender, installed, no_worse
from bench.data import mnist, mnist_or_synthetic
from bench.judge import label_accuracy, mnist_labels, neighbor_recall
from bench.tsne import ITERATIONS, mnist50
from lowdim import TSNE, UMAP, NeighborIndex

FITTED = 60_000
SAMPLE = 2000  # of the new rows, for the quality measures

Split = tuple[np.ndarray, np.ndarray]  # fitted and new rows, or their embeddings
Ready = tuple[Any, np.ndarray]  # a fitted model and new rows


def split(X: np.ndarray) -> Split:
    return X[:FITTED], X[FITTED:]


@cache
def _truth(d: int) -> np.ndarray:
    """The 10 nearest fitted rows of the sampled new rows."""
    fitted, new = split(mnist50() if d == 50 else mnist())
    return NeighborIndex(fitted, algorithm="exact").query(new[:SAMPLE], 10).indices


def quality(data: Split, result: Split) -> dict[str, float]:
    """Recall of the 10 nearest fitted rows in the embedding, and their k-NN accuracy."""
    embedding, new_embedding = (np.ascontiguousarray(part, dtype=np.float32) for part in result)
    near = NeighborIndex(embedding, algorithm="exact").query(new_embedding[:SAMPLE], 10).indices
    out = {"recall@10": neighbor_recall(near, _truth(data[0].shape[1]))}
    labels = mnist_labels()
    if labels is not None:
        out["label accuracy"] = label_accuracy(near, labels, labels[FITTED:][:SAMPLE])
    return out


def fitted(make: Callable[[], Any]) -> Callable[[Split], Ready]:
    return lambda data: (make().fit(data[0]), data[1])


def transformed(ready: Ready) -> Split:
    """The embeddings of the fitted and of the new rows."""
    model, new = ready
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.embedding_, model.transform(new)


def ours(cls: type, **options: Any) -> Contender:
    return Contender("lowdim", transformed, role="ours", prepare=fitted(lambda: cls(**options)))


def umap_learn() -> Contender:
    def make() -> Any:
        import umap

        return umap.UMAP()

    return Contender("umap-learn", transformed, "umap-learn", prepare=fitted(make))


def open_tsne() -> Contender:
    def make() -> Any:
        import openTSNE

        return openTSNE.TSNE(n_jobs=2, random_state=0, negative_gradient_method="fft")

    def run(ready: Ready) -> Split:
        return np.asarray(ready[0]), np.asarray(ready[0].transform(ready[1]))

    return Contender("openTSNE", run, "openTSNE", prepare=fitted(make))


EQUAL = no_worse(**{"recall@10": -0.01, "label accuracy": -0.01})

CASES = [
    Case(
        "umap-new",
        f"UMAP, transform of 10,000 new rows, fitted to {FITTED:,} × 784 ({mnist_or_synthetic()})",
        lambda: split(mnist()),
        (ours(UMAP), *((umap_learn(),) if installed("umap") else ())),
        quality, f"Quality is measured on {SAMPLE:,} of the new rows.", repeats=2, equal=EQUAL,
    ),
    Case(
        "tsne-new",
        f"t-SNE, transform of 10,000 new rows, fitted to {FITTED:,} × 50 ({mnist_or_synthetic()})",
        lambda: split(mnist50()),
        (ours(TSNE, max_iter=ITERATIONS), *((open_tsne(),) if installed("openTSNE") else ())),
        quality, f"Quality is measured on {SAMPLE:,} of the new rows.", repeats=2, equal=EQUAL,
    ),
]  # fmt: skip
