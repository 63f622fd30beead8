"""UMAP against umap-learn: MNIST after a warm-up, and the digits in a new process."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness

from bench.case import Case, Contender, installed, no_worse
from bench.clothes import clothes_images, clothes_labels
from bench.data import cells, mixture, mnist, mnist_or_synthetic
from bench.judge import label_accuracy, mnist_labels, neighbor_recall, random_triplets, sampled_trustworthiness
from lowdim import PCA, UMAP, neighbors

SAMPLE = 5000
COLD = """
import warnings; warnings.simplefilter("ignore")
from sklearn.datasets import load_digits
from {module} import UMAP
UMAP(random_state=0).fit_transform(load_digits().data)
"""


@cache
def _near(source: Callable[[], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A sample of rows and their true neighbors."""
    X = source()
    sample = np.random.default_rng(0).choice(len(X), SAMPLE, replace=False)
    return sample, neighbors(X, 10).indices[sample]


def quality(source: Callable[[], np.ndarray], labels: Callable[[], np.ndarray | None]) -> Any:
    """On 5,000 rows: recall of the 10 nearest neighbors, trustworthiness, random triplets, k-NN accuracy."""

    def measure(X: Any, Z: np.ndarray) -> dict[str, float]:
        sample, true = _near(source)
        found = neighbors(np.ascontiguousarray(Z, dtype=np.float32), 10).indices[sample]
        trust = trustworthiness(X[sample], Z[sample], n_neighbors=10)
        out = {"recall@10": neighbor_recall(found, true), "trustworthiness": float(trust)}
        out["random triplets"] = random_triplets(X[sample], Z[sample])
        known = labels()
        if known is not None:
            out["label accuracy"] = label_accuracy(found, known, known[sample])
        return out

    return measure


def peer(**options: Any) -> Any:
    def run(X: Any) -> np.ndarray:
        import umap

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return umap.UMAP(**options).fit_transform(X)

    return run


def rust(X: Any) -> Any:
    import manifolds_rs

    model = manifolds_rs.UMAP(n_neighbors=15, min_dist=0.1, n_epochs=EPOCHS, ann="nndescent", seed=0)
    return model.fit_transform(X)


def cold(module: str) -> Any:
    def run(_: Any) -> None:
        subprocess.run([sys.executable, "-c", COLD.format(module=module)], check=True)

    return run


EPOCHS = 200
PEERS = installed("umap")

EQUAL = no_worse(**{"recall@10": -0.01, "trustworthiness": -0.01, "label accuracy": -0.01})


SEEDS, ROWS = 5, 12_000  # above 10,000 rows, both take 200 epochs

# About two standard errors of the difference between two means of five runs, as they differ here.
WITHIN_NOISE = no_worse(
    **{"recall@10": -0.003, "trustworthiness": -0.003, "label accuracy": -0.006, "random triplets": -0.02}
)


def some_rows(table: np.ndarray) -> np.ndarray:
    """Rows at regular intervals."""
    return table[np.linspace(0, len(table) - 1, ROWS).round().astype(int)]


@cache
def cell_scores() -> np.ndarray:
    """50 principal components of log-normalized counts of genes."""
    counts = some_rows(cells()[0])
    return PCA(50).fit_transform(np.log1p(counts * (1000 / np.maximum(counts.sum(axis=1, keepdims=True), 1))))


@cache
def some_digits() -> np.ndarray:
    return some_rows(mnist())


@cache
def some_clothes() -> np.ndarray:
    return some_rows(clothes_images())


def with_next_seed(seeds: count[int], X: np.ndarray) -> np.ndarray:
    """The map of another seed each time."""
    return UMAP(random_state=next(seeds)).fit_transform(X)


def five_seeds(name: str, what: str, source: Callable[[], np.ndarray], labels: Callable[[], np.ndarray]) -> Case:
    return Case(
        f"umap-seeds-{name}",
        f"quality of UMAP, {ROWS:,} rows of {what} → 2, 200 epochs, float32; lowdim with seeds 0 to {SEEDS - 1}",
        source,
        (
            Contender("lowdim", partial(with_next_seed, count()), role="ours"),
            *((Contender("umap-learn, no seed", peer(), "umap-learn"),) if PEERS else ()),
        ),
        quality(source, lambda: some_rows(labels())),
        f"Quality is measured on {SAMPLE:,} rows: mean ± standard deviation over {SEEDS} runs.",
        repeats=SEEDS, every=True, deviations=True, warm=False, memory=False, equal=WITHIN_NOISE,
    )  # fmt: skip


def side_by_side(
    name: str, what: str, source: Callable[[], np.ndarray], labels: Callable[[], np.ndarray | None]
) -> Case:
    return Case(
        name,
        f"UMAP, 70,000 × 784 → 2, 200 epochs, float32 ({what}); lowdim with a seed and all threads",
        source,
        (
            Contender("lowdim", lambda X: UMAP().fit_transform(X), role="ours"),
            *((Contender("umap-learn, no seed", peer(), "umap-learn", bar=3),) if PEERS else ()),
            *((Contender("manifolds-rs nndescent", rust, "manifolds-rs", bar=2),) if installed("manifolds_rs") else ()),
        ),
        quality(source, labels),
        "Quality is measured on 5,000 rows, mean of three runs; lowdim is reproducible for any number of threads.",
        repeats=2, every=True, equal=EQUAL,
    )  # fmt: skip


CASES = [
    side_by_side("umap", mnist_or_synthetic(), mnist, mnist_labels),
    side_by_side("umap-clothes", "synthetic clothes", clothes_images, clothes_labels),
    *((five_seeds("mnist", "MNIST", some_digits, mnist_labels),) if mnist_labels() is not None else ()),
    five_seeds("clothes", "synthetic clothes", some_clothes, clothes_labels),
    five_seeds("cells", "50 principal components of gene counts", cell_scores, lambda: cells()[1]),
    Case(
        "umap-1000k",
        f"UMAP, 1,000,000 × 50 → 2, {EPOCHS} epochs, float32 (synthetic): scaling",
        lambda: mixture(1_000_000),
        (Contender("lowdim", lambda X: UMAP().fit_transform(X), role="ours"),),
        sampled_trustworthiness, repeats=1, warm=False,
    ),
    Case(
        "umap-cold",
        "new process: import and UMAP of the 1,797 digits",
        lambda: None,
        (
            Contender("lowdim", cold("lowdim"), role="ours"),
            *((Contender("umap-learn", cold("umap"), "umap-learn"),) if PEERS else ()),
        ),
        lambda data, result: {}, bar=8, repeats=3,
    ),
]  # fmt: skip
