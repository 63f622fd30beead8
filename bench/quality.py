"""Quality of maps: the measures that ZADU has too, and five maps of MNIST at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bench import data
from bench.case import Case, Contender, installed
from bench.judge import mnist_labels
from lowdim import PCA, quality
from lowdim.runtime.random import normal

K = 15
# ZADU's names of the measures that both have, with the settings that make them the same.
SHARED = [
    ("tnc", {"k": K}),
    ("mrre", {"k": K}),
    ("lcmc", {"k": K}),
    ("nh", {"k": K}),
    ("l_tnc", {}),
    ("srho", {}),
    ("sn_stress", {}),
]


@cache
def some_digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """10,000 images of MNIST, their map by PCA, and their labels."""
    X, y = data.mnist(), mnist_labels()
    rows = np.linspace(0, len(X) - 1, 10_000).round().astype(int)
    X = np.ascontiguousarray(X[rows], dtype=np.float32)
    Z = PCA(2).fit_transform(X)
    return X, Z, (np.arctan2(Z[:, 1], Z[:, 0]) * 3).round().astype(int) if y is None else y[rows]


@cache
def five_maps() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """MNIST and five maps of it that need no long fit: principal axes by pairs, a random projection, random numbers."""
    X = data.mnist()
    X = np.ascontiguousarray(X, dtype=np.float32)
    axes = PCA(6).fit_transform(X)
    maps = {f"PCA {j + 1}, {j + 2}": np.ascontiguousarray(axes[:, j : j + 2]) for j in (0, 2, 4)}
    maps["projection"] = X @ normal((X.shape[1], 2), 0, 1, np.float32, 2)
    maps["random"] = normal((len(X), 2), 0, 2, np.float32, 2)
    return X, maps


def ours(given: Any) -> dict[str, float]:
    X, Z, y = given
    found = quality.measure(X, Z, labels=y, k=K, baselines=())
    return {measure.name: measure.value for measure in found}


def zadu(given: Any) -> dict[str, float]:
    from zadu import ZADU

    X, Z, y = given
    scores = ZADU([{"id": name, "params": settings} for name, settings in SHARED], X).measure(Z, y)
    joined: dict[str, float] = {}
    for one in scores:
        joined |= one
    return {
        "trustworthiness": joined["trustworthiness"],
        "continuity": joined["continuity"],
        "mrre_false": joined["mrre_false"],
        "lcmc": joined["lcmc"],
        "neighborhood_hit": joined["neighborhood_hit"],
        "shepard_correlation": joined["spearman_rho"],
    }


def compiled(given: Any) -> Any:
    """The same data, after ZADU's just-in-time compiler has seen a small part of them."""
    X, Z, y = given
    zadu((X[:300], Z[:300], y[:300]))
    return given


def all_maps(given: Any) -> dict[str, float]:
    X, maps = given
    found = quality.table(X, maps, k=K)
    return {name: found[name]["r_nx_auc"].value for name in maps}


def same_figures(given: Any, result: dict[str, float]) -> dict[str, float]:
    names = ("trustworthiness", "continuity", "lcmc", "neighborhood_hit", "shepard_correlation")
    return {name.replace("_", " "): result[name] for name in names}


CASES = [
    Case(
        "quality-zadu",
        "trustworthiness, continuity, MRRE, LCMC, neighborhood hit, label trustworthiness and continuity, Shepard "
        f"correlation and stress of one map, 10,000 × 784 ({data.mnist_or_synthetic()}), float32",
        some_digits,
        (
            Contender("lowdim", ours, role="ours"),
            *([Contender("ZADU", zadu, "zadu", prepare=compiled)] if installed("zadu") else []),
        ),
        same_figures,
        "lowdim computes all its other measures in the same pass (R_NX and its curve, triplets, steadiness and "
        "cohesiveness, values of every point); its Shepard correlation is that of 200,000 pairs. One run each, "
        "because ZADU takes minutes; its compiler's time is not counted.",
        bar=5, repeats=1, warm=False, memory=False,
    ),
    Case(
        "quality-mnist",
        "every measure of five maps at once, beside a random map and PCA, 70,000 × 784 "
        f"({data.mnist_or_synthetic()}), float32",
        five_maps,
        (Contender("lowdim", all_maps, role="ours"),),
        lambda given, result: result,
        "The figures are the areas under the R_NX curves. The bar is a minute on two cores.",
        repeats=1, warm=False, memory=False,
    ),
]  # fmt: skip
