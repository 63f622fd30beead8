"""Writes the golden model files of one schema: python tests/persistence/golden/write_golden.py FOLDER [MODEL …]

Run it once, with the lowdim that introduces a schema, and commit the folder (schema1 was written by lowdim 0.1.0 before
the fitted state moved into one dataclass). Files of an earlier schema are never written again: that they still load,
and still give the same numbers, is what they are for. Models of a method that is new in a schema are named: they are
added to the folder, with their results in files of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim import (
    CA,
    FAMD,
    ICA,
    LDA,
    LLE,
    LSIR,
    MCA,
    MDS,
    PCA,
    PHD,
    SAVE,
    SIR,
    TSNE,
    UMAP,
    ClassicalMDS,
    DirectionalRegression,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    NonmetricMDS,
    ProjectionPursuit,
    Standardized,
    TruncatedSVD,
    select,
    subspace,
)


def tables() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30, 3)) * (1, 2, 3) + 5, rng.normal(size=(4, 3)) * (1, 2, 3) + 5
    X[7] = X[3]  # equal rows
    distances = np.abs(X[:, None] - X).sum(axis=2)
    return {
        "X": X,
        "new": new,
        "narrow": X.astype(np.float32),
        "new_narrow": new.astype(np.float32),
        "distances": distances,
        "new_distances": np.abs(new[:, None] - X).sum(axis=2),
    }


def models(t: dict[str, np.ndarray]) -> dict[str, tuple[object, str]]:
    """Fitted models, each with the name of the table that it transforms."""
    X, narrow, D = t["X"], t["narrow"], t["distances"]
    y = X[:, 0] + X[:, 1] ** 2
    return {
        "pca": (PCA(2).fit(X), "new"),
        "pca_partial": (PCA(2, whiten=True, standardize=True).partial_fit(narrow), "new_narrow"),
        "truncated_svd": (TruncatedSVD(2).fit(X), "new"),
        "ca": (CA(2).fit(np.abs(X)), "new"),
        "mca": (MCA(2).fit(np.vstack([X, t["new"]])), "new"),
        "famd": (
            FAMD(2, categorical=[2], handle_unknown="ignore").fit(np.column_stack([X[:, :2], X[:, 2] > 5])),
            "new",
        ),
        "ica": (ICA(2).fit(X), "new"),
        "lda": (LDA().fit(X, np.arange(30) % 3), "new"),
        "lda_partial": (LDA().partial_fit(narrow, np.arange(30) % 3), "new_narrow"),
        "projection_pursuit": (ProjectionPursuit(2, n_null=0).fit(X), "new"),
        "sir": (SIR(2, n_slices=5).fit(X, y), "new"),
        "sir_classes": (SIR(2).fit(narrow, np.array(["a", "b", "c"])[np.arange(30) % 3]), "new_narrow"),
        "save": (SAVE(2, n_slices=3, order_test="weighted_chi2").fit(X, y), "new"),
        "phd": (PHD(2).fit(X, y), "new"),
        "directional_regression": (DirectionalRegression(2, n_slices=3, ridge=0.1).fit(X, y), "new"),
        "lsir": (LSIR(2, n_slices=3, n_neighbors=4).fit(X, y), "new"),
        "kernel_pca": (KernelPCA(2).fit(X), "new"),
        "kernel_pca_nystrom": (KernelPCA(2, kernel="laplacian", solver="nystrom", n_landmarks=9).fit(X), "new"),
        "classical_mds": (ClassicalMDS(2).fit(narrow), "new_narrow"),
        "classical_mds_manhattan": (ClassicalMDS(2, metric="manhattan", correction="lingoes").fit(X), "new"),
        "classical_mds_distances": (ClassicalMDS(2, metric="precomputed", n_landmarks=20).fit(D), "new_distances"),
        "mds": (MDS(2).fit(X), "new"),
        "mds_sstress": (MDS(2, loss="sstress").fit(X), "new"),
        "nonmetric_mds": (NonmetricMDS(2).fit(X), "new"),
        "isomap": (Isomap(2, n_neighbors=6).fit(X), "new"),
        "isomap_landmarks": (Isomap(2, n_neighbors=6, n_landmarks=12, conformal=True).fit(X), "new"),
        "laplacian_eigenmaps": (LaplacianEigenmaps(2, alpha=1.0).fit(X), "new"),
        "lle": (LLE(2, n_neighbors=6).fit(X), "new"),
        "lle_distances": (LLE(2, n_neighbors=6, metric="precomputed").fit(D), "new_distances"),
        "tsne": (TSNE(2, perplexity=5, max_iter=100).fit(X), "new"),
        "umap": (UMAP(2, n_neighbors=5, n_epochs=50).fit(narrow), "new_narrow"),
        "umap_densmap": (UMAP(2, n_neighbors=5, n_epochs=50, densmap=True).fit(X), "new"),
        "standardized": (Standardized(UMAP(2, n_neighbors=5, n_epochs=50)).fit(X), "new"),
    } | {name: (model, "X") for name, model in selectors_and_clusterers(X).items()}


def selectors_and_clusterers(X: np.ndarray) -> dict[str, object]:
    """Fitted selectors and subspace clusterers: what they are asked is X itself."""
    y, positive = (X[:, 1] > X[:, 1].mean()).astype(int), np.abs(X)
    wrapped = {"estimator": None, "cv": 2}
    return {
        "select_variance": select.VarianceThreshold(2).fit(X),
        "select_correlation": select.CorrelationPruning(0.1).fit(X),
        "select_f": select.FTest(2).fit(X, y),
        "select_fisher": select.FisherScore(2).fit(X, y),
        "select_chi2": select.ChiSquared(2).fit(positive, y),
        "select_mutual_information": select.MutualInformation(2).fit(X, y),
        "select_mrmr": select.MRMR(2).fit(X, y),
        "select_hsic_lasso": select.HSICLasso(2).fit(X, y),
        "select_relieff": select.ReliefF(2).fit(X, y),
        "select_surf": select.SURF(2).fit(X, y),
        "select_multisurf": select.MultiSURF(2).fit(X, y),
        "select_laplacian": select.LaplacianScore(2).fit(X),
        "select_principal_features": select.PrincipalFeatureAnalysis(2).fit(X),
        "select_sequential": select.SequentialSelection(1, **wrapped).fit(X, y),
        "select_rfe": select.RFE(1, **wrapped).fit(X, y),
        "select_boruta": select.Boruta(max_iter=3, tentative=True).fit(X, y),
        "subspace_clique": subspace.CLIQUE(3, 0.1, redundancy=1.0).fit(X),
        "subspace_proclus": subspace.PROCLUS(2, n_init=2).fit(X),
        "subspace_pcluster": subspace.PCluster(1.0, min_rows=4).fit(X),
        "subspace_subclu": subspace.SUBCLU(1.5, 4).fit(X),
        "subspace_doc": subspace.DOC(0.2, width=1.0).fit(X),
        "subspace_mineclus": subspace.MineClus(0.2, width=1.0).fit(X),
    }


def answer(model: Any, table: np.ndarray) -> np.ndarray:
    """What a model says of rows: scores, selected columns, or clusters."""
    return model.transform(table) if hasattr(model, "transform") else model.predict(table)


def add(folder: Path, names: list[str]) -> None:
    known = tables()
    fitted = models(known)
    for name in names:
        model, table = fitted[name]
        lowdim.save(model, folder / f"{name}.lowdim")
        np.savez(folder / f"{name}.npz", **{f"{name} of {table}": answer(model, known[table])})


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    known = tables()
    results = dict(known)
    for name, (model, table) in models(known).items():
        lowdim.save(model, folder / f"{name}.lowdim")
        results[f"{name} of {table}"] = answer(model, known[table])
    graph = lowdim.neighbors(known["X"], 4)
    lowdim.save(graph, folder / "graph.lowdim")
    results |= {"graph indices": graph.indices, "graph distances": graph.distances}
    np.savez(folder / "transforms.npz", **results)


if __name__ == "__main__":
    if sys.argv[2:]:
        add(Path(sys.argv[1]), sys.argv[2:])
    else:
        main(Path(sys.argv[1]))
