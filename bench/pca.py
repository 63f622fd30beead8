"""PCA against the solvers of scikit-learn and the bare BLAS product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition

from bench.case import Case, Contender
from bench.clothes import clothes_images
from bench.data import low_rank, memory_map, mnist, mnist_or_synthetic, sparse_counts, tfidf
from lowdim import PCA, TruncatedSVD, moments

K = 50
_best: dict[int, tuple[np.ndarray, np.ndarray]] = {}


def quality_of(data: Any, components: np.ndarray) -> dict[str, float]:
    """The share of the optimal explained variance that is missed, in float64, and the error of orthonormality."""
    V = np.linalg.qr(np.asarray(components, dtype=np.float64).T)[0]
    scatter = _scatter(data)
    if id(data) not in _best:
        _best[id(data)] = scatter, np.sort(np.linalg.eigvalsh(scatter))[::-1][:K]
    best = _best[id(data)][1].sum()
    error = np.abs(components @ components.T - np.eye(len(components))).max()
    return {"variance missed": max(0.0, 1 - np.einsum("ij,ij->", V, scatter @ V) / best), "orthonormality error": error}


def _scatter(data: Any) -> np.ndarray:
    """The exact covariance."""
    if id(data) in _best:
        return _best[id(data)][0]
    if sp.issparse(data):
        return moments(data).covariance()
    return moments(np.asarray(data, dtype=np.float64)).covariance()


def good(quality: dict[str, float]) -> bool:
    return quality.get("variance missed", 1.0) <= 1e-4


def sklearn_pca(solver: str) -> Contender:
    def run(X: Any) -> Any:
        return decomposition.PCA(K, svd_solver=solver, random_state=0).fit(X).components_

    return Contender(f"scikit-learn {solver}", run, "scikit-learn")


def sklearn_svd(algorithm: str, **options: Any) -> Contender:
    def run(X: Any) -> Any:
        return decomposition.TruncatedSVD(K, algorithm=algorithm, random_state=0, **options).fit(X).components_

    steps = f", {options['n_iter']} iterations" if options else ""
    return Contender(f"scikit-learn {algorithm}{steps}", run, "scikit-learn")


def sklearn_covariance() -> Any:
    return decomposition.PCA(K, svd_solver="covariance_eigh")


def fitted_scores(model: Any, X: Any) -> Any:
    model.fit_transform(X)
    return model.components_


def ours(**options: Any) -> Contender:
    return Contender("lowdim", lambda X: PCA(K, **options).fit(X).components_, role="ours")


def floor(product: Callable[[Any], Any]) -> Contender:
    def run(X: Any) -> None:
        product(X)

    return Contender("floor", run, role="floor")


def incremental(X: Any) -> Any:
    return decomposition.IncrementalPCA(K, batch_size=5000).fit(X).components_


def column_sums_of_file(X: Any) -> None:
    for start in range(0, len(X), 20_000):
        np.asarray(X[start : start + 20_000]).sum(axis=0)


NOTE = "Peers that miss more than 1e-4 of the variance that 50 components can explain are not compared."

CASES = [
    Case(
        "pca-tall",
        f"PCA, 70,000 × 784 → 50, float32 ({mnist_or_synthetic()}); floor: XᵀX",
        mnist,
        (ours(), sklearn_pca("covariance_eigh"), sklearn_pca("randomized"), floor(lambda X: X.T @ X)),
        quality_of, NOTE, bar=1.2, good=good, repeats=15,
    ),
    Case(
        "pca-clothes",
        "PCA, 70,000 × 784 → 50, fit and transform, float32 (synthetic clothes); floor: XᵀX and XV",
        clothes_images,
        (
            Contender("lowdim", lambda X: fitted_scores(PCA(K), X), role="ours"),
            Contender("scikit-learn covariance_eigh", lambda X: fitted_scores(sklearn_covariance(), X), "scikit-learn"),
            floor(lambda X: (X.T @ X, X @ np.ones((X.shape[1], K), dtype=X.dtype))),
        ),
        quality_of, NOTE, bar=1.2, good=good, repeats=15,
    ),
    Case(
        "pca-wide",
        "PCA, 500 × 20,000 → 50, float32 (synthetic); floor: XXᵀ",
        lambda: low_rank(500, 20_000),
        (
            ours(), sklearn_pca("auto"), sklearn_pca("full"), sklearn_pca("arpack"), sklearn_pca("randomized"),
            floor(lambda X: X @ X.T),
        ),
        lambda X, V: quality_of_wide(X, V), NOTE, bar=3, good=good, repeats=5,
    ),
    Case(
        "pca-square",
        "PCA, 5,000 × 5,000 → 50, float32 (synthetic); floor: XᵀX",
        lambda: low_rank(5000, 5000),
        (ours(), sklearn_pca("auto"), sklearn_pca("arpack"), sklearn_pca("covariance_eigh"), floor(lambda X: X.T @ X)),
        quality_of, NOTE, good=good, repeats=3,
    ),
    Case(
        "pca-sparse",
        "PCA, 20,000 × 5,000 sparse counts, density 1% → 50, float64 (synthetic); floor: the products XV and XᵀU",
        lambda: sparse_counts(20_000, 5000, 0.01),
        (
            ours(), sklearn_pca("arpack"), sklearn_pca("covariance_eigh"),
            floor(lambda X: X.T @ (X @ np.ones((X.shape[1], K)))),
        ),
        quality_of, NOTE, good=good, repeats=3,
    ),
    Case(
        "svd-tfidf",
        "TruncatedSVD, 20,000 × 10,000 TF-IDF, density 0.5% → 50, float64 (synthetic); floor: the products XV and XᵀU",
        lambda: tfidf(20_000, 10_000, 0.005),
        (
            Contender("lowdim", lambda X: TruncatedSVD(K).fit(X).components_, role="ours"),
            sklearn_svd("randomized"), sklearn_svd("randomized", n_iter=20), sklearn_svd("arpack"),
            floor(lambda X: X.T @ (X @ np.ones((X.shape[1], K)))),
        ),
        lambda X, V: quality_of_svd(X, V), NOTE.replace("variance", "sum of squares"), good=good, repeats=3,
    ),
    Case(
        "pca-streamed",
        "PCA of a memory map, 70,000 × 784 → 50, float32 (synthetic, 0.2 GB), in one pass; floor: column sums",
        lambda: memory_map(0.2045),
        (ours(), Contender("scikit-learn IncrementalPCA", incremental, "scikit-learn"), floor(column_sums_of_file)),
        quality_of, NOTE + " IncrementalPCA is an approximation.", good=lambda quality: True, repeats=3,
    ),
    Case(
        "pca-4gb",
        "PCA of a memory map, 1,369,000 × 784 → 50, float32 (synthetic, 4 GB), in one pass; peak memory below 1 GB",
        lambda: memory_map(4.0),
        (ours(), floor(column_sums_of_file)),
        lambda X, V: {"orthonormality error": float(np.abs(V @ V.T - np.eye(K)).max())}, repeats=1,
    ),
]  # fmt: skip


def quality_of_wide(X: np.ndarray, components: np.ndarray) -> dict[str, float]:
    """The same for n < d, from the Gram matrix."""
    centered = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    best = np.sort(np.linalg.eigvalsh(centered @ centered.T))[::-1][:K].sum()
    V = np.linalg.qr(np.asarray(components, dtype=np.float64).T)[0]
    error = np.abs(components @ components.T - np.eye(len(components))).max()
    return {"variance missed": max(0.0, 1 - ((centered @ V) ** 2).sum() / best), "orthonormality error": error}


def quality_of_svd(X: Any, components: np.ndarray) -> dict[str, float]:
    """The share of the largest sum of squares of 50 scores that is missed, without centering."""
    if id(X) not in _best:
        _best[id(X)] = np.empty(0), sp.linalg.svds(X, K, tol=0, return_singular_vectors=False) ** 2
    V = np.linalg.qr(np.asarray(components, dtype=np.float64).T)[0]
    error = np.abs(components @ components.T - np.eye(len(components))).max()
    missed = 1 - float(((X @ V) ** 2).sum()) / float(_best[id(X)][1].sum())
    return {"variance missed": max(0.0, missed), "orthonormality error": error}
