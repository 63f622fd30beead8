"""The LLE family against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.manifold import LocallyLinearEmbedding

from bench.case import Case, Contender, no_worse
from bench.data import mnist, mnist_or_synthetic
from lowdim import LLE, datasets, neighbors
from lowdim.manifold.lle.alignment import ALIGNMENTS
from lowdim.manifold.lle.neighborhoods import Neighborhoods, local_grams, sum_of_blocks

K = 12
NOTE = "Objective: tr(ZᵀMZ) subject to ZᵀZ = I, with the same M for all; smaller is better."
EQUAL = no_worse(objective=1e-3)
_matrices: dict[tuple[int, str], sp.csr_array] = {}


def subset(n: int) -> Callable[[], np.ndarray]:
    return lambda: np.ascontiguousarray(mnist()[:: 70_000 // n][:n])


def objective(method: str) -> Callable[[np.ndarray, Any], dict[str, float]]:
    def quality(X: np.ndarray, Z: Any) -> dict[str, float]:
        key = (id(X), method)
        if key not in _matrices:
            indices = neighbors(X, K).indices
            neighborhoods = Neighborhoods(indices, local_grams(X, X, indices, 2), 2)
            _matrices[key] = sum_of_blocks(neighborhoods.members, ALIGNMENTS[method](neighborhoods, 2, 1e-3), 2)
        basis = np.linalg.qr(np.asarray(Z, dtype=np.float64))[0]
        return {"objective": float(np.trace(basis.T @ (_matrices[key] @ basis)))}

    return quality


def contenders(method: str) -> tuple[Contender, ...]:
    def peer(X: np.ndarray) -> Any:
        return LocallyLinearEmbedding(n_neighbors=K, method=method, random_state=0, n_jobs=-1).fit_transform(X)

    def ours(X: np.ndarray) -> Any:
        return LLE(2, n_neighbors=K, method=method).fit_transform(X)

    return Contender("lowdim", ours, role="ours"), Contender("scikit-learn", peer, "scikit-learn")


def mnist_case(method: str) -> Case:
    work = f"LLE ({method}), 10,000 × 784 → 2, {K} neighbors, float32 ({mnist_or_synthetic()})"
    compared, quality = contenders(method), objective(method)
    return Case(
        f"lle-{method}", work, subset(10_000), compared, quality, NOTE, bar=6.0, repeats=1, warm=False, equal=EQUAL
    )


CASES = [
    mnist_case("standard"),
    mnist_case("modified"),
    Case(
        "lle-roll",
        f"LLE (modified), Swiss roll of 20,000 rows → 2, {K} neighbors, float64",
        lambda: datasets.load("swissroll", n=20_000).X,
        contenders("modified"),
        objective("modified"),
        NOTE,
        repeats=1,
    ),
]
