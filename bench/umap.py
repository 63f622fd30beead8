"""UMAP against umap-learn: MNIST after a warm-up, and the digits in a new process."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness

from bench.case import Case, Contender, installed, no_worse
from bench.clothes import clothes_images, clothes_labels
from bench.data import mixture, mnist, mnist_or_synthetic
from bench.judge import label_accuracy, mnist_labels, neighbor_recall, random_triplets, sampled_trustworthiness
from lowdim import UMAP, neighbors

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
