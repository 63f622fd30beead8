"""Map the 1,797 handwritten digits of scikit-learn by PCA, and draw them.

python examples/digits_map.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lowdim import PCA

# Okabe and Ito's colours, which most kinds of colour-blind readers can tell apart, and two greys.
COLORS = [
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#B8A800", "#000000", "#8C510A", "#999999",
]  # fmt: skip


def main(folder: Path) -> None:
    digits = load_digits()
    model = PCA(2)
    Z = model.fit_transform(digits.data)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "digits-pca.png"
    draw(Z, digits.target, model.explained_variance_ratio_, path)
    share = model.explained_variance_ratio_.sum()
    print(f"{len(Z)} digits, {digits.data.shape[1]} columns -> 2, which keep {share:.1%} of the variance")
    print(f"picture: {path.resolve()}")


def draw(Z, target, shares, path: Path) -> None:
    figure, ax = plt.subplots(figsize=(7.2, 6.4), dpi=150, layout="constrained")
    for digit, color in enumerate(COLORS):
        rows = Z[target == digit]
        ax.scatter(*rows.T, s=14, color=color, alpha=0.75, linewidth=0, label=str(digit))
    for digit, color in enumerate(COLORS):
        x, y = (float(v) for v in middle(Z[target == digit]))
        badge = {"boxstyle": "circle,pad=0.25", "facecolor": color, "edgecolor": "white", "linewidth": 1.2}
        ax.text(x, y, str(digit), color="white", fontsize=13, weight="bold", ha="center", va="center", bbox=badge)
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"component 1 ({shares[0]:.1%} of the variance)")
    ax.set_ylabel(f"component 2 ({shares[1]:.1%})")
    ax.set_title("Handwritten digits by PCA", loc="left", weight="bold")
    figure.savefig(path)
    plt.close(figure)


def middle(rows):
    """The middle of a cloud, which outliers do not pull."""
    return np.median(rows, axis=0)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
