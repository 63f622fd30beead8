"""The Swiss roll by eleven methods: which of them unroll it?

python examples/swiss_roll.py [folder]

Color is the arc length along the sheet. A method that unrolls it shows a rectangle, possibly stretched, in which the
color changes from one side to the other. R² is the share of the variance of the two sheet coordinates that a linear
regression on the embedding explains.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from lowdim import LLE, PCA, TSNE, UMAP, Isomap, LaplacianEigenmaps

ROWS = 2000
COLORS = "viridis"
COLUMNS = 4

METHODS = {
    "PCA": (PCA(2), "a linear projection"),
    "Isomap": (Isomap(2, n_neighbors=10), "geodesic distances"),
    "Isomap, 100 landmarks": (Isomap(2, n_neighbors=10, n_landmarks=100), "geodesics from 5% of the rows"),
    "LLE": (LLE(2, n_neighbors=12), "one weight per neighbor"),
    "Modified LLE": (LLE(2, n_neighbors=12, method="modified"), "several weights per neighbor"),
    "Hessian LLE": (LLE(2, n_neighbors=12, method="hessian"), "minimal second derivatives"),
    "LTSA": (LLE(2, n_neighbors=12, method="ltsa"), "aligned tangent spaces"),
    "Laplacian eigenmaps": (LaplacianEigenmaps(2, n_neighbors=10), "both axes follow the arc length"),
    "Diffusion map": (
        LaplacianEigenmaps(2, n_neighbors=10, diffusion_time=1.0, alpha=1.0),
        "the same without density",
    ),
    "t-SNE": (TSNE(2), "preserves neighbors; may tear"),
    "UMAP": (UMAP(2, n_neighbors=30, min_dist=0.5), "preserves neighbors; may tear"),
}


def main(folder: Path) -> None:
    X, angle = make_swiss_roll(ROWS, random_state=0)
    along = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2  # arc length of the spiral r = angle
    along -= along.min()
    sheet = np.stack([along, X[:, 1]], axis=1)
    rows = -(-(len(METHODS) + 1) // COLUMNS)
    figure = plt.figure(figsize=(3.1 * COLUMNS, 3.5 * rows + 1.1), dpi=150)
    figure.subplots_adjust(left=0.015, right=0.985, bottom=0.075, top=0.895, wspace=0.06, hspace=0.21)
    figure.suptitle("The Swiss roll, unrolled", x=0.015, y=0.985, ha="left", fontsize=15, weight="bold")
    note = "Color: arc length along the sheet. R²: variance of the sheet coordinates explained by the embedding."
    figure.text(0.015, 0.953, note, fontsize=9.5, color="0.35", va="top")
    draw_roll(figure.add_subplot(rows, COLUMNS, 1, projection="3d"), X, along)
    for position, (name, (model, idea)) in enumerate(METHODS.items(), start=2):
        start = perf_counter()
        Z = model.fit_transform(X)
        r2 = explained_variance(Z, sheet)
        print(f"{name:<22} R² = {r2:.4f}   {perf_counter() - start:.2f} s")
        draw_embedding(
            figure.add_subplot(rows, COLUMNS, position), align(Z, sheet), along, name, f"{idea}   R² = {r2:.2f}"
        )
    colors = plt.cm.ScalarMappable(plt.Normalize(0, along.max()), COLORS)
    bar = figure.colorbar(colors, cax=figure.add_axes((0.3, 0.038, 0.4, 0.01)), orientation="horizontal")
    bar.set_label("arc length along the sheet", fontsize=9, color="0.3")
    bar.ax.tick_params(labelsize=8, color="0.6", labelcolor="0.3")
    bar.outline.set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "swiss_roll.png"
    figure.savefig(path)
    print(f"figure: {path.resolve()}")


def explained_variance(Z: np.ndarray, sheet: np.ndarray) -> float:
    """R² of a linear regression of the two sheet coordinates on Z."""
    target = (sheet - sheet.mean(axis=0)) / sheet.std(axis=0)
    design = np.column_stack([Z, np.ones(len(Z))])
    residuals = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(1 - residuals.var() / target.var())


def align(Z: np.ndarray, sheet: np.ndarray) -> np.ndarray:
    """Swap and reflect the axes of the embedding so that they match the sheet."""
    r = np.corrcoef(np.hstack([Z, sheet]).T)[:2, 2:]
    if abs(r[1, 0]) + abs(r[0, 1]) > abs(r[0, 0]) + abs(r[1, 1]):
        Z, r = Z[:, ::-1], r[::-1]
    return Z * np.where(np.diagonal(r) < 0, -1, 1)


def draw_roll(ax, X: np.ndarray, along: np.ndarray) -> None:
    ax.scatter(X[:, 0], X[:, 1], X[:, 2], c=along, s=5, cmap=COLORS, linewidth=0, depthshade=False)
    ax.view_init(elev=14, azim=-68)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.2)
    ax.set_axis_off()
    set_title(ax, f"{len(X):,} rows", "a sheet rolled up in 3-D")


def draw_embedding(ax, Z: np.ndarray, along: np.ndarray, name: str, note: str) -> None:
    ax.scatter(Z[:, 0], Z[:, 1], c=along, s=5, cmap=COLORS, linewidth=0)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_box_aspect(1)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    for spine in ax.spines.values():
        spine.set_color("0.85")
    set_title(ax, name, note)


def set_title(ax, name: str, note: str) -> None:
    ax.set_title(name, loc="left", weight="bold", fontsize=10, pad=18)
    position = (0, 1.03)
    if hasattr(ax, "text2D"):
        ax.text2D(*position, note, transform=ax.transAxes, fontsize=8.5, color="0.35")
    else:
        ax.text(*position, note, transform=ax.transAxes, fontsize=8.5, color="0.35")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
