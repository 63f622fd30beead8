"""Locally linear embedding unrolls a spiral into one dimension; PCA cannot.

python examples/spiral.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from lowdim import LLE, PCA, datasets


def main(folder: Path) -> None:
    spiral = datasets.load("spiral", n=500)
    embeddings = {
        "PCA": PCA(1).fit_transform(spiral.X)[:, 0],
        "LLE": LLE(1, n_neighbors=12).fit_transform(spiral.X)[:, 0],
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "spiral-lle.png"
    draw(spiral, embeddings, path)
    for name, z in embeddings.items():
        print(f"{name}: rank correlation with the arc length {rank_correlation(z, spiral.labels):.3f}")
    print(f"figure: {path.resolve()}")


def rank_correlation(z, length) -> float:
    """The absolute Spearman correlation of the coordinate with the arc length."""
    return abs(float(spearmanr(z, length).statistic))


def draw(spiral, embeddings, path: Path) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), dpi=150, layout="constrained")
    colors = {"c": spiral.labels, "cmap": "viridis", "s": 12, "linewidth": 0}
    points = axes[0].scatter(*spiral.X.T, **colors)
    axes[0].set_aspect("equal")
    axes[0].set(title="Spiral", xlabel="x", ylabel="y")
    for ax, (name, z) in zip(axes[1:], embeddings.items(), strict=True):
        z = z * np.sign(np.corrcoef(z, spiral.labels)[0, 1])  # the sign of an embedding is arbitrary
        ax.scatter(spiral.labels, z, **colors)
        ax.set(
            title=f"{name}: rank correlation {rank_correlation(z, spiral.labels):.3f}",
            xlabel="arc length",
            ylabel=f"{name} 1",
        )
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.title.set(weight="bold")
    figure.colorbar(points, ax=axes, label="arc length", shrink=0.9)
    figure.savefig(path)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
