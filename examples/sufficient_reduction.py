"""PCA, discriminant analysis and SIR as sufficient reductions: the angle to the true directions as n grows.

python examples/sufficient_reduction.py [folder]

The inverse model of lecture 2 is X = μ + Γ ν(y) + ε. All that X tells of y is in Γᵀ Σ⁻¹ X, where Σ is the covariance of
the noise ε. With isotropic noise that is Γᵀ X, and the principal axes of X estimate Γ although PCA never sees y. With
correlated noise they do not, and discriminant analysis, which divides by the covariance, still does. Its axes are those
of SIR on the classes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from lowdim import PCA, SIR, DirectionalRegression, plot

SIZES = (100, 200, 400, 800, 1600, 3200, 6400, 12800)
REPLICATES = 10
COLUMNS = 10


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", sharey=True)
    for ax, noise in zip(axes, ("isotropic", "correlated"), strict=True):
        angles = {name: [] for name in reductions()}
        for n in SIZES:
            found = [measure(n, noise, seed) for seed in range(REPLICATES)]
            for name in angles:
                angles[name].append(np.mean([one[name] for one in found]))
        draw(ax, angles, f"{noise} noise")
        print(f"{noise} noise, mean angle to the true directions in degrees")
        print(f"{'n':>28s}" + "".join(f"{n:8d}" for n in SIZES))
        for name, values in angles.items():
            print(f"{name:>28s}" + "".join(f"{value:8.2f}" for value in values))
    axes[0].set_ylabel("largest principal angle, degrees")
    axes[1].legend(frameon=False, fontsize=8)
    path = folder / "sufficient_reduction.png"
    figure.savefig(path, dpi=150)
    print(f"figure: {path.resolve()}")

    X, y, _ = inverse_model(800, "correlated", 0)
    model = SIR("test").fit(X, y)
    p_values = ", ".join(f"{p:.2g}" for p in model.order_p_values_[:3])
    print(f"SIR finds {model.n_components_} directions: the p-values of 0, 1 and 2 are {p_values}")
    summary = plot.sufficient_summary(model, X, y, title="What X tells of y, by SIR", response="y")
    print(f"figure: {plot.save(summary, folder / 'sufficient_summary.png').resolve()}")


def reductions():
    """Each takes rows and the response, and gives two directions."""
    return {
        "PCA": lambda X, y: PCA(2).fit(X),
        "discriminants of 5 classes": lambda X, y: SIR(2).fit(X, np.digitize(y, [-0.6, -0.2, 0.2, 0.6])),
        "SIR": lambda X, y: SIR(2).fit(X, y),
        "directional regression": lambda X, y: DirectionalRegression(2, n_slices=5).fit(X, y),
    }


def inverse_model(n: int, noise: str, seed: int):
    """Rows, response, and a basis of the sufficient directions Σ⁻¹Γ."""
    fixed, rng = np.random.default_rng(1), np.random.default_rng(seed + 1000)
    gamma = np.linalg.qr(fixed.normal(size=(COLUMNS, 2)))[0]
    root = np.linalg.qr(fixed.normal(size=(COLUMNS, COLUMNS)))[0] * np.geomspace(0.3, 3, COLUMNS)
    root = 0.5 * np.eye(COLUMNS) if noise == "isotropic" else root
    y = rng.uniform(-1, 1, size=n)
    nu = np.column_stack([2 * y, 3 * (y**2 - 1 / 3)])
    X = 4 + nu @ gamma.T + rng.normal(size=(n, COLUMNS)) @ root.T
    return X, y, np.linalg.solve(root @ root.T, gamma)


def measure(n: int, noise: str, seed: int) -> dict[str, float]:
    X, y, basis = inverse_model(n, noise, seed)
    return {name: angle(reduce(X, y).components_, basis) for name, reduce in reductions().items()}


def angle(components, basis) -> float:
    """The largest principal angle between two subspaces, in degrees."""
    A, B = np.linalg.qr(components.T)[0], np.linalg.qr(basis)[0]
    return float(np.degrees(np.arccos(np.clip(np.linalg.svd(A.T @ B, compute_uv=False).min(), 0, 1))))


def draw(ax, angles, title) -> None:
    for name, color in zip(angles, plot.palette(len(angles)), strict=True):
        ax.plot(SIZES, angles[name], color=color, marker="o", markersize=4, label=name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_yticks([1, 3, 10, 30, 90], ["1", "3", "10", "30", "90"])
    ax.minorticks_off()
    ax.set_xlabel("rows")
    ax.set_title(title, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.9", linewidth=0.6)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
