"""Shepard diagrams of nine US cities and of handwritten digits, by metric and nonmetric MDS.

python examples/shepard.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lowdim import MDS, NonmetricMDS, datasets, plot


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    cities(folder / "shepard-cities.png")
    digits(folder / "shepard-digits.png")


def cities(path: Path) -> None:
    """The embedding of the cities, and its Shepard diagram."""
    table = datasets.load("cities")
    model = MDS(metric="precomputed", n_init=4, tol=1e-12).fit(table.X)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5), dpi=150, layout="constrained")
    east, north = orient(model.embedding_, table.names)
    left.scatter(east, north, s=28, color="#0072B2")
    for name, x, y in zip(table.names, east, north, strict=True):
        left.annotate(name, (x, y), textcoords="offset points", xytext=(8, -4))
    left.set_aspect("equal")
    left.margins(0.2, 0.12)
    left.spines[["top", "right"]].set_visible(False)
    left.set_xlabel("miles east of the center")
    left.set_ylabel("miles north of the center")
    left.set_title(f"Nine US cities, stress-1 = {model.stress1_:.4f}", loc="left", weight="bold")
    plot.shepard(table.X, model.embedding_, ax=right, title="Shepard diagram")
    figure.savefig(path)
    plt.close(figure)
    print(f"cities: raw stress {model.stress_:.3f}, stress-1 {model.stress1_:.6f}, {model.n_iter_} iterations")
    print(f"figure: {path.resolve()}")


def digits(path: Path) -> None:
    """Embedding distances of 800 digits against their given distances, with the disparities of each method."""
    X = load_digits().data[:800]
    figure, axes = plt.subplots(1, 3, figsize=(15, 5), dpi=150, layout="constrained", sharey=True)
    methods = {
        "metric": MDS(),
        "monotone spline": MDS(transformation="spline"),
        "nonmetric": NonmetricMDS(),
    }
    highest = 0.0
    for ax, (name, model) in zip(axes, methods.items(), strict=True):
        shown = model.fit(X).shepard(X)
        ax.hexbin(shown.distances, shown.mapped, gridsize=70, bins="log", cmap="Blues", mincnt=1, linewidths=0)
        order = np.argsort(shown.distances)
        ax.plot(shown.distances[order], shown.disparities[order], color="#D55E00", linewidth=2, label="disparities")
        ax.set_title(f"{name}: stress-1 = {model.stress1_:.3f}", loc="left", weight="bold")
        ax.set_xlabel("given distance")
        ax.spines[["top", "right"]].set_visible(False)
        highest = max(highest, shown.mapped.max(), shown.disparities.max())
        print(f"digits, {name}: stress-1 {model.stress1_:.4f}, {model.n_iter_} iterations")
        ax.set_xlim(0, None)
    axes[0].set_ylim(0, 1.02 * highest)
    axes[0].set_ylabel("embedding distance")
    axes[0].legend(frameon=False, loc="upper left")
    figure.savefig(path)
    plt.close(figure)
    print(f"figure: {path.resolve()}")


def orient(Z, names):
    """Reflect the embedding so that Boston is in the east and Seattle in the north."""
    names = list(names)
    east, north = Z.T
    east = east * np.sign(east[names.index("Boston")])
    north = north * np.sign(north[names.index("Seattle")])
    return east, north


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
