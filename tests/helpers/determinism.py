"""The promise that neither the number of threads nor what else runs changes a bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import lowdim
from lowdim.subspace import planted_clusters
from other_estimators import apply, clusterers, fitted_arrays, quick, selectors
from targets import table_for, target_for

THREADS = (1, 2, 4, 8)


def digest(*arrays: Any) -> str:
    """One word for all the bits of arrays or numbers."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def assert_same_bits(work: Callable[[int], Iterable[Any]], threads: Iterable[int] = THREADS) -> None:
    """work(threads) must give arrays of the same bits for any number of them."""
    assert len({digest(*work(count)) for count in threads}) == 1


QUICK = {
    "TSNE": {"max_iter": 40},
    "UMAP": {"n_epochs": 20},
    "MDS": {"max_iter": 10},
    "NonmetricMDS": {"max_iter": 5},
    "ProjectionPursuit": {"n_init": 2, "n_null": 2, "max_iter": 10},
}
VARIANTS = {  # beside every estimator with its defaults: the routes that call LAPACK or BLAS in other ways
    "PCA svd": ("PCA", {"solver": "svd"}),
    "PCA krylov": ("PCA", {"solver": "krylov"}),
    "ICA fastica": ("ICA", {"algorithm": "fastica", "max_iter": 20}),
    "ICA picard": ("ICA", {"algorithm": "picard", "max_iter": 20}),
    "TruncatedSVD krylov": ("TruncatedSVD", {"solver": "krylov"}),
    "TruncatedSVD svd": ("TruncatedSVD", {"solver": "svd"}),
    "MCA greenacre": ("MCA", {"correction": "greenacre"}),
    "LDA gram": ("LDA", {"solver": "gram"}),
    "LDA svd": ("LDA", {"solver": "svd"}),
    "LDA shrinkage": ("LDA", {"shrinkage": "ledoit-wolf"}),
    "SIR permutation": ("SIR", {"order_test": "permutation", "n_permutations": 5}),
    "SIR weighted": ("SIR", {"order_test": "weighted_chi2"}),
    "SAVE shrinkage": ("SAVE", {"shrinkage": "ledoit-wolf"}),
    "KernelPCA nystrom": ("KernelPCA", {"solver": "nystrom", "n_landmarks": 150}),
    "KernelPCA lanczos": ("KernelPCA", {"solver": "lanczos"}),
    "ClassicalMDS distances": ("ClassicalMDS", {"metric": "manhattan"}),
    "ClassicalMDS cailliez": ("ClassicalMDS", {"metric": "manhattan", "correction": "cailliez"}),
    "Isomap mahalanobis": ("Isomap", {"metric": "mahalanobis"}),
    "UMAP gower": ("UMAP", {"metric": "gower"}),
    "LLE modified": ("LLE", {"method": "modified"}),
    "LLE factor": ("LLE", {"solver": "factor"}),
    "MDS sstress": ("MDS", {"loss": "sstress"}),
    "ProjectionPursuit negentropy": ("ProjectionPursuit", {"index": "negentropy"}),
    "MDS sgd": ("MDS", {"solver": "sgd"}),
}


def estimators() -> list[str]:
    """Names for `fit_digest`: every estimator with variants, every selector and every subspace clusterer."""
    return [method.name for method in lowdim.methods()] + list(VARIANTS) + others()


def others() -> list[str]:
    """The selectors and subspace clusterers."""
    return [*selectors(), *clusterers()]


def fit_digest(name: str, n: int = 420) -> str:
    """The bits of an estimator's embedding, and of new rows. So many rows that BLAS would share the work."""
    if name in others():
        model, X, new = fit_other(name, n)
        return digest(*fitted_arrays(model), apply(model, X), apply(model, new))
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 24)), rng.normal(size=(30, 24))
    method, options = VARIANTS.get(name, (name, {}))
    X, new = table_for(method, X), table_for(method, new)
    model = getattr(lowdim, method)(3, **QUICK.get(method, {}), **options)
    return digest(model.fit_transform(X, target_for(method, X)), model.transform(new))


def fit_other(name: str, n: int = 420) -> tuple[Any, np.ndarray, np.ndarray]:
    """A fitted selector or clusterer, its rows and new ones: few columns for one that fits other models."""
    rng, model = np.random.default_rng(0), quick(name)
    if name in clusterers():
        X = planted_clusters(200, 6, 3, 3, width=0.12).X
        return model.fit(X), X, X[:30] + rng.normal(scale=0.01, size=(30, 6))
    d = 5 if "estimator" in model.get_params() else 24
    X, new, y = rng.random((n, d)), rng.random((30, d)), np.arange(n) % 3
    X[:, 0] += y
    return model.fit(X, y), X, new
