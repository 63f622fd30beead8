"""New rows on a map that is there already: only `transform` is timed, on models that each contender fitted before."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from bench.case import Case, Contender, installed, no_worse
from bench.data import mnist, mnist_or_made
from bench.judge import kept, label_accuracy, mnist_labels
from bench.tsne import STEPS, mnist50
from lowdim import TSNE, UMAP, NeighborIndex

FITTED = 60_000
JUDGED = 2000  # of the new rows

Split = tuple[np.ndarray, np.ndarray]  # fitted rows and new ones, or their places
Ready = tuple[Any, np.ndarray]  # a fitted model and new rows


def split(X: np.ndarray) -> Split:
    return X[:FITTED], X[FITTED:]


@cache
def _truth(d: int) -> np.ndarray:
    """The 10 nearest fitted rows of the new ones that are judged."""
    fitted, new = split(mnist50() if d == 50 else mnist())
    return NeighborIndex(fitted, algorithm="exact").query(new[:JUDGED], 10).indices


def quality(data: Split, result: Split) -> dict[str, float]:
    """Share of the 10 nearest fitted rows that are nearest in the map, and how often their majority has the label."""
    places, placed = (np.ascontiguousarray(part, dtype=np.float32) for part in result)
    near = NeighborIndex(places, algorithm="exact").query(placed[:JUDGED], 10).indices
    out = {"recall@10": kept(near, _truth(data[0].shape[1]))}
    labels = mnist_labels()
    if labels is not None:
        out["label accuracy"] = label_accuracy(near, labels, labels[FITTED:][:JUDGED])
    return out


def fitted(make: Callable[[], Any]) -> Callable[[Split], Ready]:
    return lambda data: (make().fit(data[0]), data[1])


def placed(ready: Ready) -> Split:
    """The map of the fitted rows, and the places of the new ones."""
    model, new = ready
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.embedding_, model.transform(new)


def ours(cls: type, **options: Any) -> Contender:
    return Contender("lowdim", placed, role="ours", prepare=fitted(lambda: cls(**options)))


def umap_learn() -> Contender:
    def make() -> Any:
        import umap

        return umap.UMAP()

    return Contender("umap-learn", placed, "umap-learn", prepare=fitted(make))


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
        f"UMAP: 10,000 new rows on the map of {FITTED:,} × 784 ({mnist_or_made()})",
        lambda: split(mnist()),
        (ours(UMAP), *((umap_learn(),) if installed("umap") else ())),
        quality, f"Judged on {JUDGED:,} of the new rows.", repeats=2, equal=EQUAL,
    ),
    Case(
        "tsne-new",
        f"t-SNE: 10,000 new rows on the map of {FITTED:,} × 50 ({mnist_or_made()})",
        lambda: split(mnist50()),
        (ours(TSNE, max_iter=STEPS), *((open_tsne(),) if installed("openTSNE") else ())),
        quality, f"Judged on {JUDGED:,} of the new rows.", repeats=2, equal=EQUAL,
    ),
]  # fmt: skip
