"""Unroll the Swiss roll: what each method makes of a sheet that was rolled up.

python examples/swiss_roll.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll

import lowdim

ROWS = 2000
# Methods to try, with their options; those that this lowdim does not have are left out.
TRIES = {
    "PCA": {},
    "Isomap": {"n_neighbors": 10},
    "LaplacianEigenmaps": {"n_neighbors": 10},
    "LLE": {"n_neighbors": 12},
    "UMAP": {"n_neighbors": 15},
    "TSNE": {},
}


def main(folder: Path) -> None:
    X, along = make_swiss_roll(ROWS, random_state=0)
    known = {method.name: method for method in lowdim.methods()}
    tries = {name: options for name, options in TRIES.items() if name in known}
    columns = 2 if len(tries) <= 3 else 3
    rows = -(-(len(tries) + 1) // columns)
    figure = plt.figure(figsize=(4.6 * columns, 4.4 * rows), dpi=130, layout="constrained")
    draw_roll(figure.add_subplot(rows, columns, 1, projection="3d"), X, along)
    for place, (name, options) in enumerate(tries.items(), start=2):
        Z = known[name].cls(2, **options).fit_transform(X)
        follows = max(abs(spearmanr(z, along)[0]) for z in Z.T)
        print(f"{name}: an axis follows the roll with rank correlation {follows:.4f}")
        draw_map(figure.add_subplot(rows, columns, place), Z, along, f"{name}\n{known[name].title}", follows)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "swiss-roll.png"
    figure.savefig(path)
    print(f"picture: {path.resolve()}")


def draw_roll(ax, X: np.ndarray, along: np.ndarray) -> None:
    ax.scatter(X[:, 0], X[:, 1], X[:, 2], c=along, s=7, cmap="viridis", linewidth=0)
    ax.view_init(elev=12, azim=-76)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.2)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_zticks([])
    ax.set_title(f"{len(X):,} rows of a rolled-up sheet", loc="left", weight="bold", fontsize=10)


def draw_map(ax, Z: np.ndarray, along: np.ndarray, title: str, follows: float) -> None:
    ax.scatter(Z[:, 0], Z[:, 1], c=along, s=7, cmap="viridis", linewidth=0)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title, loc="left", weight="bold", fontsize=10)
    ax.set_xlabel(f"rank correlation with the way along the sheet: {follows:.3f}", fontsize=9, color="0.35")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
