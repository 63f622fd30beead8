"""The memory that fits were estimated to take, beside the peaks that they reach."""

from __future__ import annotations

import gc
import json
import os
import warnings
from typing import Any

import numpy as np

import lowdim
from bench.case import Case, Contender
from bench.measure import peak_of

SHAPES = (
    ("PCA", {}, 400_000, 300, "f4"),
    ("PCA", {}, 20_000, 2000, "f8"),
    ("TruncatedSVD", {}, 20_000, 2000, "f8"),
    ("LDA", {}, 20_000, 1500, "f8"),
    ("SIR", {}, 20_000, 1000, "f8"),
    ("ICA", {"n_components": 20}, 300_000, 40, "f4"),
    ("ICA", {"n_components": 20}, 100_000, 40, "f8"),
    ("KernelPCA", {}, 8000, 20, "f8"),
    ("KernelPCA", {}, 12_000, 50, "f4"),
    ("ClassicalMDS", {"metric": "manhattan"}, 6000, 20, "f8"),
    ("Isomap", {}, 5000, 50, "f4"),
    ("Isomap", {}, 8000, 20, "f8"),
    ("MDS", {"max_iter": 2, "solver": "smacof"}, 4000, 20, "f8"),
    ("NonmetricMDS", {"max_iter": 2}, 4000, 20, "f8"),
    ("LaplacianEigenmaps", {}, 60_000, 50, "f4"),
    ("LLE", {}, 30_000, 50, "f8"),
    ("TSNE", {"max_iter": 20}, 60_000, 50, "f4"),
    ("TSNE", {"max_iter": 20}, 40_000, 200, "f8"),
    ("UMAP", {"n_epochs": 5}, 150_000, 50, "f4"),
    ("UMAP", {"n_epochs": 5}, 60_000, 200, "f8"),
)

OTHER_SHAPES = (  # with other settings, and of other proportions
    ("PCA", {"n_components": 50}, 30_000, 784, "f4"),
    ("PCA", {}, 1_000, 8000, "f8"),
    ("TruncatedSVD", {"n_components": 50}, 60_000, 784, "f4"),
    ("LDA", {}, 60_000, 784, "f4"),
    ("LDA", {}, 300_000, 100, "f8"),
    ("SIR", {}, 100_000, 200, "f8"),
    ("SAVE", {}, 30_000, 300, "f8"),
    ("ICA", {"n_components": 50, "max_iter": 5}, 60_000, 200, "f4"),
    ("ICA", {"n_components": 10, "max_iter": 5}, 200_000, 20, "f8"),
    ("KernelPCA", {"n_components": 10}, 4_000, 784, "f8"),
    ("KernelPCA", {"n_components": 2, "solver": "nystrom", "n_landmarks": 1000}, 200_000, 50, "f4"),
    ("ClassicalMDS", {"metric": "manhattan", "n_components": 5}, 9_000, 100, "f4"),
    ("ClassicalMDS", {}, 50_000, 50, "f4"),
    ("Isomap", {"n_landmarks": 500}, 60_000, 20, "f4"),
    ("Isomap", {"n_neighbors": 30}, 6_000, 200, "f8"),
    ("Isomap", {}, 12_000, 100, "f4"),
    ("MDS", {"solver": "smacof", "max_iter": 2}, 6_000, 100, "f4"),
    ("NonmetricMDS", {"max_iter": 2}, 2_500, 100, "f4"),
    ("LaplacianEigenmaps", {}, 20_000, 10, "f8"),
    ("LaplacianEigenmaps", {"n_neighbors": 50}, 60_000, 20, "f4"),
    ("LLE", {}, 60_000, 20, "f4"),
    ("LLE", {"n_neighbors": 30}, 15_000, 100, "f4"),
    ("TSNE", {"max_iter": 10, "perplexity": 100}, 30_000, 50, "f8"),
    ("TSNE", {"max_iter": 10}, 15_000, 784, "f4"),
    ("UMAP", {"n_epochs": 5, "n_neighbors": 50}, 60_000, 50, "f4"),
    ("UMAP", {"n_epochs": 5}, 20_000, 784, "f4"),
)

HELD_OUT = (  # to which no number was fitted, though two terms were found by looking at them
    ("PCA", {}, 5_000, 1200, "f8"),
    ("PCA", {"n_components": 10}, 700, 30_000, "f4"),
    ("TruncatedSVD", {"n_components": 20}, 200_000, 200, "f4"),
    ("LDA", {}, 40_000, 400, "f4"),
    ("ICA", {"n_components": 15, "max_iter": 5}, 150_000, 60, "f4"),
    ("KernelPCA", {}, 7_000, 200, "f8"),
    ("ClassicalMDS", {"metric": "manhattan"}, 8_000, 30, "f4"),
    ("MDS", {"solver": "smacof", "max_iter": 2}, 5_000, 40, "f8"),
    ("Isomap", {}, 7_000, 30, "f8"),
    ("Isomap", {"n_neighbors": 12}, 10_000, 50, "f4"),
    ("Isomap", {"n_landmarks": 300}, 90_000, 10, "f8"),
    ("LaplacianEigenmaps", {}, 100_000, 30, "f4"),
    ("LaplacianEigenmaps", {"n_neighbors": 25}, 30_000, 100, "f8"),
    ("LaplacianEigenmaps", {"n_neighbors": 15}, 45_000, 20, "f8"),
    ("LLE", {}, 45_000, 30, "f4"),
    ("LLE", {"n_neighbors": 20}, 25_000, 60, "f8"),
    ("LLE", {"n_neighbors": 8}, 60_000, 40, "f4"),
    ("TSNE", {"max_iter": 10}, 90_000, 30, "f4"),
    ("TSNE", {"max_iter": 10, "perplexity": 50}, 40_000, 100, "f4"),
    ("TSNE", {"max_iter": 10, "perplexity": 15}, 50_000, 60, "f8"),
    ("UMAP", {"n_epochs": 5}, 100_000, 30, "f4"),
    ("UMAP", {"n_epochs": 5, "n_neighbors": 30}, 40_000, 100, "f8"),
    ("UMAP", {"n_epochs": 5, "n_neighbors": 100}, 25_000, 50, "f4"),
)


def rows_of(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """A mixture of 20 clusters, and which of them each row is of."""
    random = np.random.default_rng(0)
    centers, labels = 5 * random.standard_normal((20, d)), random.integers(0, 20, n)
    X = np.empty((n, d), dtype=dtype)
    for start in range(0, n, 10_000):
        part = labels[start : start + 10_000]
        X[start : start + len(part)] = centers[part] + random.standard_normal((len(part), d))
    return X, labels


def measure(name: str, settings: dict[str, Any], n: int, d: int, dtype: str) -> tuple[float, float]:
    """MiB that a fit was estimated to take, and those that it took at its peak, in a fork of this process."""
    model = getattr(lowdim, name)(**settings)
    small, few = rows_of(200, 8, "f8")
    getattr(lowdim, name)(**_small(settings)).fit(
        small, few if model._method.supervised else None
    )  # imports what is imported lazily
    X, y = rows_of(n, d, dtype)
    gc.collect()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        warnings.simplefilter("ignore")
        found = peak_of(lambda: model.fit(X, y if model._method.supervised else None))[1]
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    peak = json.loads(os.read(reading, 100).decode())
    os.close(reading)
    os.waitpid(pid, 0)
    return model.estimate_memory(X) / 2**20, peak


def _small(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings for a table of 200 rows and 8 columns."""
    most = {"n_neighbors": 20, "n_landmarks": 50, "perplexity": 30, "n_components": 2}
    return {key: min(value, most[key]) if key in most else value for key, value in settings.items()}


def measure_all(shapes: Any) -> list[tuple[float, float]]:
    warnings.simplefilter("ignore")
    found = []
    for shape in shapes:
        estimate, peak = measure(*shape)
        print(
            f"{shape[0]:<20} {shape[2]:>7} × {shape[3]:<5} {shape[4]}  {estimate:6.0f} MiB estimated, {peak:6.0f} used"
        )
        found.append((estimate, peak))
    return found


def agreement(shapes: Any, found: list[tuple[float, float]]) -> dict[str, float]:
    ratios = np.array([estimate / peak for estimate, peak in found])
    inside = int((np.abs(ratios - 1) <= 0.25).sum())
    others = ratios[-len(HELD_OUT) :]
    return {
        "shapes": len(ratios),
        "within 25%": inside,
        "lowest ratio": ratios.min(),
        "highest ratio": ratios.max(),
        "held out": len(others),
        "held out, within 25%": int((np.abs(others - 1) <= 0.25).sum()),
    }


ALL_SHAPES = SHAPES + OTHER_SHAPES + HELD_OUT

CASES = [
    Case(
        "memory-estimates",
        f"Memory estimated before fits, divided by the peak that they reached: {len(ALL_SHAPES)} shapes",
        lambda: ALL_SHAPES,
        (Contender("lowdim", measure_all, role="ours"),),
        agreement,
        repeats=1,
        warm=False,
        memory=False,
    ),
]
