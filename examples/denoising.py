"""Denoise handwritten digits by PCA and kernel PCA: transform, then reconstruct (Mika et al., 1999).

python examples/denoising.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, KernelPCA, datasets

NOISE = 0.3


def main(folder: Path) -> None:
    digits = datasets.load("digits")
    X = digits.X / 16
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, test = order[:1500], order[1500:]
    noisy = X + NOISE * rng.standard_normal(X.shape)

    # The best number of components for each method. No model is fitted to clean digits.
    pca = PCA(12).fit(noisy[train])
    ridge = KernelPCA(16, kernel="rbf", gamma=0.06, pre_image="ridge", alpha=5.0).fit(noisy[train])
    fixed = KernelPCA(16, kernel="rbf", gamma=0.06, pre_image="fixed_point").fit(noisy[train])
    images = {
        "clean": X[test],
        "noisy": noisy[test],
        "PCA": pca.inverse_transform(pca.transform(noisy[test])),
        "kernel PCA, ridge": ridge.inverse_transform(ridge.transform(noisy[test])),
        "kernel PCA, fixed point": fixed.inverse_transform(fixed.transform(noisy[test])),
    }
    for name, rows in images.items():
        print(f"{name:24s} mean squared error {np.mean((rows - X[test]) ** 2):.4f}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "denoising.png"
    draw(images, digits.labels[test], path)
    print(f"figure: {path.resolve()}")


def draw(images, labels, path: Path) -> None:
    shown = [np.flatnonzero(labels == digit)[0] for digit in range(10)]
    clean = images["clean"]
    figure, axes = plt.subplots(len(images), 10, figsize=(9.2, 4.6), layout="constrained")
    for row, (name, rows) in zip(axes, images.items(), strict=True):
        for ax, i in zip(row, shown, strict=True):
            ax.imshow(rows[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set_xticks([])
            ax.set_yticks([])
        error = np.mean((rows - clean) ** 2)
        row[0].set_ylabel(name if name == "clean" else f"{name}\n{error:.3f}", rotation=0, ha="right", va="center")
    figure.suptitle("Denoised digits (mean squared error)", x=0.01, ha="left", weight="bold")
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
