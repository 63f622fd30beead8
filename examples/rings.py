"""Two concentric rings: PCA cannot separate them, the first component of kernel PCA does.

python examples/rings.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, KernelPCA, datasets, plot


def main(folder: Path) -> None:
    rings = datasets.load("rings", n=600)
    X, ring = rings.X, np.where(rings.labels == 0, "inner", "outer")
    linear, kernel = PCA(2).fit(X), KernelPCA(2).fit(X)

    figure, panels = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
    plot.scatter(X, ring, ax=panels[0], title="Two rings", axis_names=("x", "y"))
    for model, ax, title in (
        (linear, panels[1], "PCA only rotates them"),
        (kernel, panels[2], "Kernel PCA separates them"),
    ):
        axes = [f"axis {i + 1} ({share:.0%})" for i, share in enumerate(model.explained_variance_ratio_)]
        plot.scatter(model.transform(X), ring, ax=ax, title=title, axis_names=axes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "rings.png"
    figure.savefig(path, dpi=150)
    print(f"separated by a threshold on the first component: PCA {best_accuracy(linear.transform(X)[:, 0], ring):.1%}, "
          f"kernel PCA {best_accuracy(kernel.transform(X)[:, 0], ring):.1%}")  # fmt: skip
    print(f"figure: {path.resolve()}")


def best_accuracy(scores, ring):
    """The accuracy of the best threshold."""
    inner = (ring == "inner")[np.argsort(scores)]
    correct = np.concatenate([[0], np.cumsum(inner)]) + np.concatenate([np.cumsum(~inner[::-1])[::-1], [0]])
    return max(correct.max(), len(inner) - correct.min()) / len(inner)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
