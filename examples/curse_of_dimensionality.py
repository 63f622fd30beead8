"""Lecture 4: the curse of dimensionality, and clusters that exist in some subspaces only.

As dimensions are added, a unit bin holds fewer and fewer of the objects, and all distances become alike. Clusters that
are plain in a few of the columns can't be seen in all of them; subspace clustering finds them.

python examples/curse_of_dimensionality.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist

from lowdim import PCA, plot, subspace

OBJECTS = 20
DIMENSIONS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
BLUE, ORANGE, GREEN = plot.palette(3)
GRAY = "#c4c4c4"


def main(folder: Path) -> None:
    rng = np.random.default_rng(8)
    figure, panels = plt.subplot_mosaic(
        [["one", "two", "three"], ["share", "distances", "contrast"], ["pca", "first", "second"]],
        per_subplot_kw={"three": {"projection": "3d"}},
        figsize=(13.5, 12),
        layout="constrained",
    )
    unit_bins(panels, 2 * rng.uniform(size=(OBJECTS, 3)))
    share_in_a_bin(panels["share"], rng)
    equidistance(panels["distances"], panels["contrast"], rng)
    clusters_in_subspaces(panels)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "curse_of_dimensionality.png"
    figure.savefig(path, dpi=150)
    print(f"figure: {path.resolve()}")


def unit_bins(panels, X):
    """The same objects in one, two and three dimensions: fewer and fewer share the unit bin."""
    inside = [(X[:, :d] < 1).all(axis=1) for d in (1, 2, 3)]
    colors = [np.where(one, BLUE, GRAY) for one in inside]
    one, two, three = panels["one"], panels["two"], panels["three"]
    one.axvspan(0, 1, color=BLUE, alpha=0.12)
    one.scatter(X[:, 0], np.zeros(OBJECTS), c=colors[0], zorder=3)
    one.set(yticks=[], xlim=(0, 2), ylim=(-1, 1), xlabel="a")
    two.add_patch(plt.Rectangle((0, 0), 1, 1, color=BLUE, alpha=0.12))
    two.scatter(X[:, 0], X[:, 1], c=colors[1], zorder=3)
    two.set(xlim=(0, 2), ylim=(0, 2), xlabel="a", aspect="equal")
    two.set_ylabel("b", labelpad=10)
    for fixed in (0, 1):  # the faces of the bin
        u, v = np.meshgrid([0, 1], [0, 1])
        w = np.full_like(u, fixed)
        for face in ((u, v, w), (u, w, v), (w, u, v)):
            three.plot_surface(*face, color=BLUE, alpha=0.08)
    three.scatter(*X.T, c=colors[2], depthshade=False)
    three.set(xlim=(0, 2), ylim=(0, 2), zlim=(0, 2), xlabel="a", ylabel="b", zlabel="c")
    for d, ax in enumerate((one, two, three)):
        ax.set_title(f"{d + 1}-D: {inside[d].sum()} of {OBJECTS} objects in one unit bin", loc="left", weight="bold")
        ax.xaxis.set_major_locator(plt.MultipleLocator(1))
    two.yaxis.set_major_locator(plt.MultipleLocator(1))


def share_in_a_bin(ax, rng):
    """The share of uniform objects in the bin that has most of them, with 2, 3 and 10 bins per dimension."""
    X = rng.uniform(size=(100_000, 10))
    dimensions = range(1, 11)
    for bins, color in ((2, BLUE), (3, ORANGE), (10, GREEN)):
        shares = [share_of_fullest(np.floor(bins * X[:, :d]).astype(np.int64), bins) for d in dimensions]
        ax.plot(dimensions, shares, "o-", color=color, label=f"{bins} bins per dimension")
        ax.plot(dimensions, 1 / float(bins) ** np.array(dimensions), ":", color=color)
    ax.axhline(1e-5, color=GRAY, linewidth=1)
    ax.text(1, 1.15e-5, "one object", color="gray", fontsize=9)
    ax.set(yscale="log", ylim=(4e-6, 1), xlabel="dimensions", ylabel="share of 100,000 objects")
    ax.set_title("Objects in the fullest bin (dotted: $k^{-d}$)", loc="left", weight="bold")
    ax.legend(frameon=False)


def share_of_fullest(cells, bins):
    keys = cells @ bins ** np.arange(cells.shape[1])
    return np.unique(keys, return_counts=True)[1].max() / len(cells)


def equidistance(histogram, contrast, rng):
    """Distances between uniform objects relative to their mean, and the contrast of the farthest to the nearest."""
    ratios = []
    for d in DIMENSIONS:
        distances = pdist(rng.uniform(size=(500, d)))
        ratios.append((distances.max() - distances.min()) / distances.min())
        if d in (1, 2, 10, 100, 500):
            shade = plt.get_cmap("viridis")(0.9 - 0.2 * (1, 2, 10, 100, 500).index(d))
            bins = np.linspace(0, 2.6, 131)
            histogram.hist(
                distances / distances.mean(), bins, histtype="step", density=True, color=shade, label=f"{d}-D"
            )
    histogram.set(xlabel="distance / mean distance", ylabel="density", yscale="log", ylim=(0.03, 40))
    histogram.set_title("Distances become alike", loc="left", weight="bold")
    histogram.legend(frameon=False, ncols=2)
    contrast.plot(DIMENSIONS, ratios, "o-", color=BLUE)
    contrast.axhline(1, color=GRAY, linewidth=1)
    contrast.set(xscale="log", yscale="log", xlabel="dimensions", ylabel="(farthest - nearest) / nearest")
    contrast.set_title("Contrast of 500 objects vanishes", loc="left", weight="bold")


def clusters_in_subspaces(panels):
    """Five clusters in three columns each of twenty: PCA mixes them, CLIQUE finds them and says where they are."""
    planted = subspace.planted_clusters(8000, 20, 5, 3, width=0.12, noise=0.3, random_state=2)
    found = subspace.CLIQUE(grid="adaptive", alpha=0.8, beta=0.35).fit(planted.X)
    colors = np.array([*plot.palette(len(found.clusters_)), GRAY])[found.labels_]
    some = np.arange(0, 8000, 4)
    Z = PCA(2).fit_transform(planted.X)
    panels["pca"].scatter(*Z[some].T, c=colors[some], s=5)
    panels["pca"].set(xlabel="axis 1", ylabel="axis 2")
    panels["pca"].set_title("PCA of 20 columns: 5 clusters overlap", loc="left", weight="bold")
    for name, cluster in zip(("first", "second"), found.clusters_, strict=False):
        a, b = cluster.dimensions[:2]
        panels[name].scatter(planted.X[some, a], planted.X[some, b], c=colors[some], s=5)
        panels[name].set(xlabel=f"x{a}", ylabel=f"x{b}")
        text = ", ".join(cluster.names)
        panels[name].set_title(f"CLIQUE: {cluster.size} rows in {{{text}}}", loc="left", weight="bold")
    print(f"five clusters of 3 of 20 columns, 30% noise, by CLIQUE: {subspace.scores(found, planted)}")
    for cluster in found.clusters_:
        print(f"  {cluster}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
