"""ICA against scikit-learn's FastICA and python-picard, on mixtures of known sources."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import FastICA

from bench.case import Case, Contender, installed, no_worse
from lowdim import ICA

N, K = 70_000, 30


class Mixture(NamedTuple):
    X: np.ndarray  # (n, k)
    A: np.ndarray  # (k, k) the mixing matrix


def mixture(dtype: Any = np.float64) -> Mixture:
    """Independent sources, super- and sub-Gaussian in turn, mixed by a random matrix."""
    rng = np.random.default_rng(0)
    makers = [
        lambda: rng.laplace(size=N),
        lambda: rng.uniform(-1, 1, N),
        lambda: rng.standard_t(5, N),
        lambda: np.sin(2 * np.pi * rng.random(N)),
        lambda: rng.exponential(size=N),
        lambda: rng.choice([-1.0, 1.0], N),
    ]
    S = np.column_stack([makers[i % len(makers)]() for i in range(K)])
    A = rng.normal(size=(K, K))
    return Mixture((S / S.std(axis=0) @ A.T).astype(dtype), A)


def quality(data: Mixture, unmixing: np.ndarray) -> dict[str, float]:
    """Amari's distance of the unmixing matrix to the truth, from 0 to 1."""
    P = np.abs(np.asarray(unmixing, dtype=np.float64) @ data.A)
    rows, columns = P.sum(axis=1) / P.max(axis=1) - 1, P.sum(axis=0) / P.max(axis=0) - 1
    return {"Amari distance": float((rows.sum() + columns.sum()) / (2 * K * (K - 1)))}


def ours(**options: Any) -> Contender:
    return Contender("lowdim", lambda data: ICA(**options).fit(data.X).components_, role="ours")


def sklearn_fastica(fun: str = "logcosh", algorithm: str = "parallel", bar: float | None = None) -> Contender:
    def run(data: Mixture) -> Any:
        options = {"algorithm": algorithm, "fun": fun, "tol": 1e-4, "max_iter": 500, "random_state": 0}
        return FastICA(whiten="unit-variance", **options).fit(data.X).components_

    return Contender("scikit-learn FastICA", run, "scikit-learn", bar=bar)


def python_picard(ortho: bool, bar: float | None = None) -> tuple[Contender, ...]:
    def run(data: Mixture) -> Any:
        from picard import picard

        K, W, _ = picard(data.X.T, ortho=ortho, extended=True, tol=1e-7, max_iter=500, random_state=0)
        return W @ K

    return (Contender("python-picard", run, "python-picard", bar=bar),) if installed("picard") else ()


SAME = no_worse(**{"Amari distance": 0.01})
SIZE = f"{N:,} × {K}"

CASES = [
    Case(
        "ica-fastica",
        f"FastICA, parallel, logcosh, tol 1e-4, {SIZE}, float64 (synthetic: 30 known sources)",
        mixture, (ours(algorithm="fastica"), sklearn_fastica()), quality, bar=2, equal=SAME,
    ),
    Case(
        "ica-fastica-exp",
        f"FastICA, parallel, exp, tol 1e-4, {SIZE}, float64 (synthetic: 30 known sources)",
        mixture, (ours(algorithm="fastica", fun="exp"), sklearn_fastica("exp")), quality, bar=2, equal=SAME, repeats=3,
    ),
    Case(
        "ica-deflation",
        f"FastICA by deflation, logcosh, tol 1e-4, {SIZE}, float64 (synthetic: 30 known sources)",
        mixture, (ours(algorithm="deflation"), sklearn_fastica(algorithm="deflation")), quality,
        "By deflation the errors depend on the order in which the random start finds the sources.", bar=2, repeats=3,
    ),
    Case(
        "ica",
        f"ICA, Picard-O by default, tol 1e-7, {SIZE}, float64 (synthetic: 30 known sources)",
        mixture, (ours(), sklearn_fastica(bar=2), *python_picard(True, bar=1)), quality, bar=2, equal=SAME,
    ),
    Case(
        "ica-float32",
        f"ICA, Picard-O by default, {SIZE}, float32 (synthetic: 30 known sources)",
        lambda: mixture(np.float32), (ours(), sklearn_fastica(bar=2), *python_picard(True, bar=1)), quality,
        "lowdim's tolerance is 1e-5 in float32, python-picard's 1e-7.", bar=2, equal=SAME,
    ),
    Case(
        "ica-picard",
        f"Picard without constraint, tol 1e-7, {SIZE}, float64 (synthetic: 30 known sources)",
        mixture, (ours(algorithm="picard"), *python_picard(False)), quality, bar=1, equal=SAME, repeats=3,
    ),
]  # fmt: skip
