"""Two rings: no straight axis tells them apart, the first axis of kernel PCA does (lecture 3).

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
    plot.scatter(X, ring, ax=panels[0], title="two rings", axis_names=("x", "y"))
    for model, ax, title in ((linear, panels[1], "PCA turns them"), (kernel, panels[2], "kernel PCA parts them")):
        axes = [f"axis {i + 1} ({share:.0%})" for i, share in enumerate(model.explained_variance_ratio_)]
        plot.scatter(model.transform(X), ring, ax=ax, title=title, axis_names=axes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "rings.png"
    figure.savefig(path, dpi=150)
    print(f"told apart by one threshold on the first axis: PCA {split(linear.transform(X)[:, 0], ring):.1%}, "
          f"kernel PCA {split(kernel.transform(X)[:, 0], ring):.1%}")  # fmt: skip
    print(f"picture: {path.resolve()}")


def split(scores, ring):
    """The best share of rows on their right side of any threshold."""
    inner = (ring == "inner")[np.argsort(scores)]
    left = np.concatenate([[0], np.cumsum(inner)]) + np.concatenate([np.cumsum(~inner[::-1])[::-1], [0]])
    return max(left.max(), len(inner) - left.min()) / len(inner)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
