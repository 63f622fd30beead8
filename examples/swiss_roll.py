"""Unroll the Swiss roll: what each method makes of a sheet that was rolled up.

python examples/swiss_roll.py [folder]

Colour is the arc length along the sheet. A method that unrolls it shows a rectangle (or a stretched one) in which the
colours run from one side to the other; R² says how much of the sheet's two coordinates an affine map of the
picture gives back.
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

TRIES = {
    "PCA": (PCA(2), "a projection; layers overlap"),
    "Isomap": (Isomap(2, n_neighbors=10), "distances along the graph"),
    "Isomap, 100 landmarks": (Isomap(2, n_neighbors=10, n_landmarks=100), "ways from 5 % of the rows"),
    "LLE": (LLE(2, n_neighbors=12), "one weight a neighbour"),
    "Modified LLE": (LLE(2, n_neighbors=12, method="modified"), "several weights a neighbour"),
    "Hessian LLE": (LLE(2, n_neighbors=12, method="hessian"), "no second derivative"),
    "LTSA": (LLE(2, n_neighbors=12, method="ltsa"), "tangent planes, aligned"),
    "Laplacian eigenmaps": (LaplacianEigenmaps(2, n_neighbors=10), "the second wave repeats the first"),
    "Diffusion map": (
        LaplacianEigenmaps(2, n_neighbors=10, diffusion_time=1.0, alpha=1.0),
        "the same, density cancelled",
    ),
    "t-SNE": (TSNE(2), "neighbours together; may tear"),
    "UMAP": (UMAP(2, n_neighbors=30, min_dist=0.5), "neighbours together; may tear"),
}


def main(folder: Path) -> None:
    X, angle = make_swiss_roll(ROWS, random_state=0)
    along = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2  # arc length of the spiral r = angle
    along -= along.min()
    sheet = np.stack([along, X[:, 1]], axis=1)
    rows = -(-(len(TRIES) + 1) // COLUMNS)
    figure = plt.figure(figsize=(3.1 * COLUMNS, 3.5 * rows + 1.1), dpi=150)
    figure.subplots_adjust(left=0.015, right=0.985, bottom=0.075, top=0.895, wspace=0.06, hspace=0.21)
    figure.suptitle("A rolled-up sheet, laid flat", x=0.015, y=0.985, ha="left", fontsize=15, weight="bold")
    words = "Colour: arc length along the sheet. R²: how much of the sheet an affine map of the picture gives back."
    figure.text(0.015, 0.953, words, fontsize=9.5, color="0.35", va="top")
    draw_roll(figure.add_subplot(rows, COLUMNS, 1, projection="3d"), X, along)
    for place, (name, (model, idea)) in enumerate(TRIES.items(), start=2):
        start = perf_counter()
        Z = model.fit_transform(X)
        found = recovered(Z, sheet)
        print(f"{name:<22} R² = {found:.4f}   {perf_counter() - start:.2f} s")
        draw_map(figure.add_subplot(rows, COLUMNS, place), upright(Z, sheet), along, name, f"{idea}   R² = {found:.2f}")
    colors = plt.cm.ScalarMappable(plt.Normalize(0, along.max()), COLORS)
    bar = figure.colorbar(colors, cax=figure.add_axes((0.3, 0.038, 0.4, 0.01)), orientation="horizontal")
    bar.set_label("arc length along the sheet", fontsize=9, color="0.3")
    bar.ax.tick_params(labelsize=8, color="0.6", labelcolor="0.3")
    bar.outline.set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "swiss_roll.png"
    figure.savefig(path)
    print(f"picture: {path.resolve()}")


def recovered(Z: np.ndarray, sheet: np.ndarray) -> float:
    """The share of the variance of the sheet's two coordinates that an affine map of Z explains."""
    target = (sheet - sheet.mean(axis=0)) / sheet.std(axis=0)
    design = np.column_stack([Z, np.ones(len(Z))])
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(1 - left.var() / target.var())


def upright(Z: np.ndarray, sheet: np.ndarray) -> np.ndarray:
    """The map with the axis that follows the roll along x, and signs as on the sheet: a turn and mirrors only."""
    r = np.corrcoef(np.hstack([Z, sheet]).T)[:2, 2:]
    if abs(r[1, 0]) + abs(r[0, 1]) > abs(r[0, 0]) + abs(r[1, 1]):
        Z, r = Z[:, ::-1], r[::-1]
    return Z * np.where(np.diagonal(r) < 0, -1, 1)


def draw_roll(ax, X: np.ndarray, along: np.ndarray) -> None:
    ax.scatter(X[:, 0], X[:, 1], X[:, 2], c=along, s=5, cmap=COLORS, linewidth=0, depthshade=False)
    ax.view_init(elev=14, azim=-68)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.2)
    ax.set_axis_off()
    titled(ax, f"{len(X):,} rows in three columns", "a sheet, rolled up")


def draw_map(ax, Z: np.ndarray, along: np.ndarray, name: str, told: str) -> None:
    ax.scatter(Z[:, 0], Z[:, 1], c=along, s=5, cmap=COLORS, linewidth=0)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_box_aspect(1)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    for spine in ax.spines.values():
        spine.set_color("0.85")
    titled(ax, name, told)


def titled(ax, name: str, told: str) -> None:
    ax.set_title(name, loc="left", weight="bold", fontsize=10, pad=18)
    place = (0, 1.03)
    if hasattr(ax, "text2D"):
        ax.text2D(*place, told, transform=ax.transAxes, fontsize=8.5, color="0.35")
    else:
        ax.text(*place, told, transform=ax.transAxes, fontsize=8.5, color="0.35")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
