"""UMAP against umap-learn: MNIST warm, and the digits in a fresh process."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness

from bench.case import Case, Contender, installed, no_worse
from bench.data import mixture, mnist, mnist_or_made
from bench.judge import kept, label_accuracy, mnist_labels, sampled_trust
from lowdim import UMAP, neighbors

SAMPLE = 5000
COLD = """
import warnings; warnings.simplefilter("ignore")
from sklearn.datasets import load_digits
from {module} import UMAP
UMAP(random_state=0).fit_transform(load_digits().data)
"""


@cache
def _near(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Some rows, and their true neighbours."""
    X = mnist()
    some = np.random.default_rng(0).choice(len(X), SAMPLE, replace=False)
    return some, neighbors(X, k).indices[some]


def judged(X: Any, Z: np.ndarray) -> dict[str, float]:
    """On 5,000 rows: share of the 10 nearest that stay, trustworthiness, label accuracy of the 10 nearest there."""
    some, true = _near(10)
    found = neighbors(np.ascontiguousarray(Z, dtype=np.float32), 10).indices[some]
    trust = trustworthiness(X[some], Z[some], n_neighbors=10)
    out = {"recall@10": kept(found, true), "trustworthiness": float(trust)}
    labels = mnist_labels()
    if labels is not None:
        out["label accuracy"] = label_accuracy(found, labels, labels[some])
    return out


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

CASES = [
    Case(
        "umap",
        f"UMAP 70,000 × 784 → 2, 200 epochs, float32 ({mnist_or_made()}); lowdim seeded, with all threads",
        mnist,
        (
            Contender("lowdim", lambda X: UMAP().fit_transform(X), role="ours"),
            *((Contender("umap-learn, no seed", peer(), "umap-learn", bar=3),) if PEERS else ()),
            *((Contender("manifolds-rs nndescent", rust, "manifolds-rs", bar=2),) if installed("manifolds_rs") else ()),
        ),
        judged,
        "Judged on 5,000 rows, as the mean of three runs; lowdim's map has the same bits for any number of threads.",
        repeats=2, every=True, equal=EQUAL,
    ),
    Case(
        "umap-1000k",
        f"UMAP of 1,000,000 × 50 made rows → 2, {EPOCHS} epochs, float32: growth",
        lambda: mixture(1_000_000),
        (Contender("lowdim", lambda X: UMAP().fit_transform(X), role="ours"),),
        sampled_trust, repeats=1, warm=False,
    ),
    Case(
        "umap-cold",
        "a fresh process: import, and UMAP of the 1,797 digits",
        lambda: None,
        (
            Contender("lowdim", cold("lowdim"), role="ours"),
            *((Contender("umap-learn", cold("umap"), "umap-learn"),) if PEERS else ()),
        ),
        lambda data, result: {}, bar=8, repeats=3,
    ),
]  # fmt: skip
