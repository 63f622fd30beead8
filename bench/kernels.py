"""Kernel PCA and classical MDS against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import eigsh
from sklearn import decomposition, manifold
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from bench.case import Case, Contender
from bench.data import mnist, mnist_or_synthetic
from lowdim import ClassicalMDS, KernelPCA

K, GAMMA = 10, 1 / 784
_exact: dict[int, np.ndarray] = {}


def rows(n: int, dtype: Any = np.float32) -> Any:
    """The first n rows, rescaled to the spread of pixels in 0…1, which γ assumes."""

    def load() -> np.ndarray:
        X = mnist()[:n]
        return (X * (0.3 / X.std())).astype(dtype)

    return load


def angle(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """The largest principal angle to the exact components (ARPACK in float64 on the centered kernel matrix)."""
    if id(X) not in _exact:
        G = KernelCenterer().fit_transform(rbf_kernel(X.astype(np.float64), gamma=GAMMA))
        _exact[id(X)] = eigsh((G + G.T) / 2, K, which="LA", tol=0, v0=np.random.default_rng(0).standard_normal(len(G)))[
            1
        ]
    return {"subspace angle": float(subspace_angles(np.asarray(Z, dtype=np.float64), _exact[id(X)]).max())}


def explained_variance(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """The variance of the scores, summed over the components."""
    return {"explained variance": float(np.square(Z, dtype=np.float64).sum() / len(Z))}


def explained_variance_ratio(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """The share of the total variance in the embedding; its maximum is classical MDS."""
    centered = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    return {"explained variance ratio": float(np.square(Z, dtype=np.float64).sum() / np.square(centered).sum())}


def sklearn_kernel_pca(solver: str) -> Contender:
    def run(X: Any) -> Any:
        model = decomposition.KernelPCA(K, kernel="rbf", gamma=GAMMA, eigen_solver=solver, random_state=0)
        return model.fit_transform(X)

    return Contender(f"scikit-learn {solver}", run, "scikit-learn")


def ours(**options: Any) -> Contender:
    return Contender("lowdim", lambda X: KernelPCA(K, gamma=GAMMA, **options).fit_transform(X), role="ours")


def half_product(X: np.ndarray) -> None:
    """The inner products that every kernel matrix needs: half of XXᵀ."""
    for start in range(0, len(X), 2048):
        X[start : start + 2048] @ X[: start + 2048].T


def nystroem(X: Any) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    return make_pipeline(
        Nystroem(gamma=GAMMA, n_components=1000, random_state=0), decomposition.PCA(K, svd_solver="covariance_eigh")
    ).fit_transform(X)


FLOOR = Contender("floor", half_product, role="floor")
PEERS = (sklearn_kernel_pca("arpack"), sklearn_kernel_pca("randomized"))

CASES = [
    Case(
        "kernel-pca",
        f"kernel PCA, 10,000 × 784 → 10, Gaussian kernel, float32 ({mnist_or_synthetic()}); floor: half of XXᵀ",
        rows(10_000), (ours(), *PEERS, FLOOR), angle,
        "Subspace angle to the components found by SciPy's ARPACK in float64.",
        bar=2.5, good=lambda quality: quality.get("subspace angle", 1.0) <= 1e-5, repeats=3,
    ),
    Case(
        "kernel-pca-double",
        f"kernel PCA, 10,000 × 784 → 10, Gaussian kernel, float64 ({mnist_or_synthetic()}); floor: half of XXᵀ",
        rows(10_000, np.float64), (ours(), *PEERS, FLOOR), angle,
        bar=2.5, good=lambda quality: quality.get("subspace angle", 1.0) <= 1e-8, repeats=1,
    ),
    Case(
        "kernel-pca-nystrom",
        f"Nyström kernel PCA, 70,000 × 784 → 10, 1,000 landmarks, Gaussian kernel, float32 ({mnist_or_synthetic()})",
        rows(70_000),
        (
            ours(solver="nystrom", landmarks="uniform"),
            Contender("scikit-learn Nystroem + PCA", nystroem, "scikit-learn"),
        ),
        explained_variance, repeats=2,
    ),
    Case(
        "classical-mds",
        f"classical MDS, 5,000 × 784 → 2, float32 ({mnist_or_synthetic()})",
        rows(5000),
        (
            Contender("lowdim", lambda X: ClassicalMDS(2).fit_transform(X), role="ours"),
            Contender("scikit-learn", lambda X: manifold.ClassicalMDS(2).fit_transform(X), "scikit-learn"),
        ),
        explained_variance_ratio, bar=50, repeats=2,
    ),
]  # fmt: skip
