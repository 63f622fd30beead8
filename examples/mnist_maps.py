"""All 70,000 handwritten digits of MNIST on two maps.

python examples/mnist_maps.py mnist.npz [folder]

The archive holds X (70000, 784) and y (70000,). t-SNE looks at 50 principal components, UMAP at the pixels.
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


def main(archive: Path, folder: Path) -> None:
    with np.load(archive) as file:
        X, y = file["X"].reshape(-1, 784).astype(np.float32) / 255, file["y"]
    folder.mkdir(parents=True, exist_ok=True)
    maps: dict[str, Callable[[], np.ndarray]] = {
        "t-SNE": lambda: TSNE().fit_transform(PCA(50).fit_transform(X)),
        "UMAP": lambda: UMAP().fit_transform(X),
    }
    for name, fit in maps.items():
        start = time.perf_counter()
        Z = fit()
        seconds = time.perf_counter() - start
        print(f"{name}: {seconds:.1f} s; the 10 nearest on the map tell the digit of {like_its_own(Z, y):.1%} of rows")
        path = folder / f"mnist-{name.lower().replace('-', '')}.png"
        draw(Z, y, f"{name} of {len(X):,} handwritten digits").savefig(path, dpi=110)
        print(f"picture: {path.resolve()}")


def like_its_own(Z: np.ndarray, y: np.ndarray) -> float:
    near = y[neighbors(Z, 10).indices]
    votes = np.apply_along_axis(lambda row: np.bincount(row, minlength=10), 1, near).argmax(axis=1)
    return float((votes == y).mean())


def draw(Z: np.ndarray, y: np.ndarray, title: str) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(6.4, 6.4), layout="constrained")
    lowdim.plot.scatter(Z, y, ax=ax, title=title)
    for digit in np.unique(y):  # its number, where half of its rows lie to each side
        ax.annotate(
            str(digit), np.median(Z[y == digit], axis=0), ha="center", va="center", fontsize=15, weight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )  # fmt: skip
    return figure


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "pictures"))
