"""Isomap and Laplacian eigenmaps against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import procrustes
from sklearn import manifold

from bench.case import Case, Contender
from bench.data import mnist, mnist_or_synthetic
from lowdim import Isomap, LaplacianEigenmaps, neighbors
from lowdim.manifold.laplacian.edge_weights import edge_weights

_truth: dict[int, np.ndarray] = {}


def ours_isomap(k: int, **options: Any) -> Contender:
    return Contender("lowdim", lambda X: Isomap(2, n_neighbors=k, **options).fit(X).embedding_, role="ours")


def sklearn_isomap(k: int) -> Contender:
    def run(X: Any) -> Any:
        return manifold.Isomap(n_components=2, n_neighbors=k, n_jobs=-1).fit(X).embedding_

    return Contender("scikit-learn", run, "scikit-learn")


def procrustes_disparity(k: int) -> Any:
    """The Procrustes disparity to the embedding of scikit-learn: after translation, rotation and scaling."""

    def quality(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
        if k not in _truth:
            _truth[k] = sklearn_isomap(k).run(X)
        return {"Procrustes disparity": float(procrustes(_truth[k], Z)[2])}

    return quality


def residual_variance(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """1 - R² between the geodesic distances from 50 rows and the embedding distances."""
    from lowdim.manifold.isomap.shortest_paths import GeodesicGraph

    rows = np.arange(0, len(X), len(X) // 50)
    geodesics = GeodesicGraph.from_sparse(neighbors(X, 5).symmetrize()).geodesics_from_rows(rows, 2)
    embedded = np.linalg.norm(Z[rows][:, None].astype(float) - Z, axis=2)
    return {"residual variance": float(1 - np.corrcoef(geodesics.ravel(), embedded.ravel())[0, 1] ** 2)}


def ours_laplacian() -> Contender:
    def run(X: Any) -> Any:
        return LaplacianEigenmaps(2, affinity="binary", n_neighbors=10).fit(X).embedding_, None

    return Contender("lowdim", run, role="ours")


def sklearn_laplacian(solver: str) -> Contender:
    def run(X: Any) -> Any:
        model = manifold.SpectralEmbedding(2, n_neighbors=11, eigen_solver=solver, random_state=0, n_jobs=-1).fit(X)
        return model.embedding_, model.affinity_matrix_

    return Contender(f"scikit-learn {solver}", run, "scikit-learn")


def residuals(X: np.ndarray, found: tuple[np.ndarray, Any]) -> dict[str, float]:
    """The largest eigenpair residual, each for the normalized Laplacian of the contender's own weights."""
    Z, W = found
    W = edge_weights(neighbors(X, 10), "binary", "local").matrix if W is None else sp.csr_array(W)
    W = W - sp.diags_array(W.diagonal())
    root = np.sqrt(np.asarray(W.sum(axis=1)).ravel())[:, None]
    U = np.asarray(Z, dtype=np.float64) * root
    U /= np.linalg.norm(U, axis=0)
    image = U - (W @ (U / root)) / root
    values = (U * image).sum(axis=0)
    return {"residual": float(np.linalg.norm(image - U * values, axis=0).max()), "λ₁": float(values[0])}


CASES = [
    *(
        Case(
            f"isomap-{k}",
            f"Isomap, 5,000 × 784 → 2, {k} neighbors, float32 ({mnist_or_synthetic()})",
            lambda: mnist()[:5000],
            (ours_isomap(k), sklearn_isomap(k)),
            procrustes_disparity(k), "The embeddings must agree up to a disparity of 1e-4.", bar=5,
            good=lambda quality: quality.get("Procrustes disparity", 1.0) <= 1e-4, repeats=3,
        )
        for k in (5, 10)
    ),
    Case(
        "isomap-landmarks",
        f"landmark Isomap, 70,000 × 784 → 2, 5 neighbors, 500 landmarks, float32 ({mnist_or_synthetic()})",
        mnist,
        (ours_isomap(5, n_landmarks=500),),
        residual_variance, "No peer implements this.", repeats=1,
    ),
    Case(
        "laplacian",
        f"Laplacian eigenmaps, 10,000 × 784 → 2, 10 neighbors, 0/1 weights, float32 ({mnist_or_synthetic()})",
        lambda: mnist()[:10_000],
        (ours_laplacian(), sklearn_laplacian("lobpcg"), sklearn_laplacian("arpack")),
        residuals, "An edge that is in one of the two neighbor lists only has weight ½ in scikit-learn, 1 in lowdim.",
        bar=2.5, repeats=3,
        good=lambda quality: quality["residual"] < 1e-3, equal=lambda ours, peer: ours["residual"] < 1e-6,
    ),
]  # fmt: skip
