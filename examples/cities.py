"""Classical MDS draws a map of nine US cities from the distances between them.

python examples/cities.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np

from lowdim import ClassicalMDS, datasets, plot
from lowdim.kernels import is_euclidean


def main(folder: Path) -> None:
    cities = datasets.load("cities")
    model = ClassicalMDS(2, metric="precomputed").fit(cities.X)
    check = is_euclidean(cities.X)
    print("eigenvalues:", np.array2string(model.eigenvalues_, precision=0, suppress_small=True))
    print(f"Euclidean: {bool(check)} (smallest eigenvalue {check.smallest:,.0f})")
    print(
        "goodness of fit of two dimensions: {:.1%} of the absolute eigenvalues, {:.1%} of the positive ones".format(
            *model.goodness_of_fit_
        )
    )

    Z = upright(model.embedding_, list(cities.ids))
    ax = plot.scatter(
        Z,
        ids=cities.ids,
        title="US cities, from their distances only",
        axis_names=("miles east", "miles north"),
    )
    ax.figure.set_size_inches(9, 5)
    ax.margins(0.12, 0.18)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cities.png"
    ax.figure.savefig(path, dpi=150, bbox_inches="tight")
    print(f"figure: {path.resolve()}")


def upright(Z, names):
    """Rotate and reflect the embedding to north up; distances do not determine the orientation."""
    east = Z[names.index("Boston")] + Z[names.index("New York")] - Z[names.index("San Francisco")]
    angle = np.arctan2(east[1], east[0]) - np.radians(12)  # Boston lies a little north of east of San Francisco
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    Z = Z @ rotation
    south = Z[names.index("Miami"), 1] - Z[names.index("Boston"), 1]
    return Z if south < 0 else Z * [1, -1]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
