"""t-SNE and UMAP of all 70,000 handwritten digits of MNIST.

python examples/mnist_maps.py mnist.npz [folder]

The file holds X (70000, 784) and y (70000,). t-SNE starts from 50 principal components, UMAP from the pixels.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import lowdim
from lowdim import PCA, TSNE, UMAP, neighbors


def main(file: Path, folder: Path) -> None:
    with np.load(file) as arrays:
        X, y = arrays["X"].reshape(-1, 784).astype(np.float32) / 255, arrays["y"]
    folder.mkdir(parents=True, exist_ok=True)
    methods: dict[str, Callable[[], np.ndarray]] = {
        "t-SNE": lambda: TSNE().fit_transform(PCA(50).fit_transform(X)),
        "UMAP": lambda: UMAP().fit_transform(X),
    }
    for name, fit in methods.items():
        start = time.perf_counter()
        Z = fit()
        seconds = time.perf_counter() - start
        print(f"{name}: {seconds:.1f} s, 10-NN accuracy {knn_accuracy(Z, y):.1%}")
        path = folder / f"mnist-{name.lower().replace('-', '')}.png"
        draw(Z, y, f"{name} of {len(X):,} handwritten digits").savefig(path, dpi=110)
        print(f"figure: {path.resolve()}")


def knn_accuracy(Z: np.ndarray, y: np.ndarray) -> float:
    """The share of rows whose label is the most frequent one among their 10 nearest neighbors in the embedding."""
    labels = y[neighbors(Z, 10).indices]
    votes = np.apply_along_axis(lambda row: np.bincount(row, minlength=10), 1, labels).argmax(axis=1)
    return float((votes == y).mean())


def draw(Z: np.ndarray, y: np.ndarray, title: str) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(6.4, 6.4), layout="constrained")
    lowdim.plot.scatter(Z, y, ax=ax, title=title)
    return figure


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "out"))
