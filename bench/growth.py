"""Growth with the number of rows: 10,000 to 10,000,000 made rows, and a sparse table of a million documents."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import lowdim
from bench.case import Case, Contender
from bench.data import mixture
from bench.judge import neighbor_recall, sampled_trustworthiness
from bench.measure import peak_of

CHUNK = 100_000
WARM_ROWS = 2_000  # of a first run, which imports and starts threads
MANY = (10_000, 100_000, 1_000_000)


@dataclass
class Growth:
    """Runs of one method on more and more rows, each in this process, since a second run would take as long again."""

    name: str
    run: Callable[[np.ndarray], Any]
    quality: Callable[[np.ndarray, Any], dict[str, float]]
    sizes: tuple[int, ...]
    seconds: dict[int, float] = field(default_factory=dict)
    peaks: dict[int, float] = field(default_factory=dict)  # MiB

    def case(self, what: str) -> Case:
        contenders = tuple(
            Contender(
                f"{n:,} rows", self.measured, role="ours" if n == self.sizes[-1] else "size", prepare=self.rows(n)
            )
            for n in self.sizes
        )
        return Case(
            f"growth-{self.name}",
            f"{what} of made rows × 50, float32: time and peak memory as the number of rows grows",
            lambda: None,
            contenders,
            self.judged,
            "An exponent is the slope of a straight line through the logarithms, of this and all smaller sizes.",
            repeats=1,
            warm=False,
            memory=False,
        )

    def rows(self, n: int) -> Callable[[Any], np.ndarray]:
        return lambda _: mixture(n)

    def measured(self, X: np.ndarray) -> tuple[np.ndarray, Any]:
        if not self.seconds:
            self.run(X[:WARM_ROWS])
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what earlier runs freed counts as free
        start = time.perf_counter()
        found, self.peaks[len(X)] = peak_of(lambda: self.run(X))
        self.seconds[len(X)] = time.perf_counter() - start
        return X, found

    def judged(self, data: None, result: tuple[np.ndarray, Any]) -> dict[str, float]:
        X, found = result
        n = len(X)
        return {
            "run s": self.seconds[n],
            "µs per row": 1e6 * self.seconds[n] / n,
            "peak MiB of the run": self.peaks[n],
            "bytes per row": self.peaks[n] * 2**20 / n,
            **exponents(self.seconds, n, "time"),
            **exponents(self.peaks, n, "memory"),
            **self.quality(X, found),
        }


def exponents(measured: dict[int, float], n: int, what: str) -> dict[str, float]:
    """The fitted exponent of growth up to n rows."""
    sizes = [size for size in measured if size <= n]
    if len(sizes) < 2:
        return {}
    slope = np.polyfit(np.log(sizes), np.log([measured[size] for size in sizes]), 1)[0]
    return {f"exponent of {what}": float(slope)}


def share(X: np.ndarray, model: Any) -> dict[str, float]:
    return {"share of variance": float(model.explained_variance_ratio_.sum())}


@cache
def _true_neighbors(n: int) -> tuple[np.ndarray, np.ndarray]:
    """200 rows of the mixture and their 15 true neighbors, in double precision."""
    X = mixture(n)
    sample = np.random.default_rng(0).choice(n, 200, replace=False)
    squares, indices = np.full((200, 16), np.inf), np.zeros((200, 16), dtype=np.int64)
    for start in range(0, n, CHUNK):
        found = cdist(X[sample].astype(np.float64), X[start : start + CHUNK].astype(np.float64), "sqeuclidean")
        near = np.argpartition(found, 16, axis=1)[:, :16]
        squares = np.hstack([squares, np.take_along_axis(found, near, axis=1)])
        indices = np.hstack([indices, near + start])
        best = np.argsort(squares, axis=1, kind="stable")[:, :16]
        squares, indices = np.take_along_axis(squares, best, axis=1), np.take_along_axis(indices, best, axis=1)
    return sample, indices[:, 1:]  # the first is the row itself


def recall(X: np.ndarray, indices: np.ndarray) -> dict[str, float]:
    sample, true = _true_neighbors(len(X))
    return {"recall": neighbor_recall(indices[sample], true)}


@cache
def documents(n: int = 1_000_000, d: int = 30_000, words: int = 40) -> sp.csr_matrix:
    """TF-IDF weights of documents drawn from 60 topics, each of unit length: n × d, float32."""
    from sklearn.feature_extraction.text import TfidfTransformer

    random = np.random.default_rng(0)
    sums = np.cumsum(random.gamma(0.05, size=(60, d)), axis=1)
    topics, drawn = random.integers(0, 60, n), np.empty((n, words), dtype=np.int32)
    for topic in range(60):
        rows = np.flatnonzero(topics == topic)
        found = np.searchsorted(sums[topic], random.random((len(rows), words)) * sums[topic, -1])
        drawn[rows] = np.minimum(found, d - 1)
    counts = sp.csr_matrix(
        (np.ones(drawn.size, dtype=np.float32), drawn.ravel(), np.arange(0, drawn.size + 1, words)), shape=(n, d)
    )
    counts.sum_duplicates()
    return TfidfTransformer().fit_transform(counts)


@cache
def document_scores() -> np.ndarray:
    """Scores of the documents on 50 axes of their truncated SVD, (1,000,000, 50)."""
    return lowdim.TruncatedSVD(50).fit(documents()).transform(documents())


def sparse_run(model: Callable[[], Any]) -> Callable[[Any], tuple[Any, float]]:
    return lambda X: peak_of(lambda: model().fit(X))


def sparse_quality(X: Any, found: tuple[Any, float]) -> dict[str, float]:
    return {"share of variance": float(found[0].explained_variance_ratio_.sum()), "peak of the run MiB": found[1]}


def sparse_case(name: str, what: str, model: Callable[[], Any]) -> Case:
    return Case(
        name,
        f"{what} of a sparse 1,000,000 × 30,000 TF-IDF matrix (made documents of 40 words), float32",
        documents,
        (Contender("lowdim", sparse_run(model), role="ours"),),
        sparse_quality,
        "A dense copy would take 111 GiB.",
        repeats=1,
        warm=False,
        memory=False,
    )


CASES = [
    Growth("pca", lambda X: lowdim.PCA(10).fit(X), share, (*MANY, 10_000_000)).case("PCA(10)"),
    Growth("neighbors", lambda X: lowdim.neighbors(X, 15).indices, recall, (*MANY, 10_000_000)).case("15 neighbors"),
    Growth("umap", lambda X: lowdim.UMAP().fit_transform(X), sampled_trustworthiness, MANY).case("UMAP"),
    Growth("tsne", lambda X: lowdim.TSNE().fit_transform(X), sampled_trustworthiness, MANY).case("t-SNE"),
    sparse_case("sparse-svd-1m", "TruncatedSVD(50)", lambda: lowdim.TruncatedSVD(50)),
    sparse_case("sparse-pca-1m", "PCA(50)", lambda: lowdim.PCA(50)),
    Case(
        "sparse-umap-1m",
        "UMAP of the scores of that sparse matrix on 50 axes of its truncated SVD, 1,000,000 × 50, float32",
        document_scores,
        (Contender("lowdim", lambda Z: peak_of(lambda: lowdim.UMAP().fit_transform(Z)), role="ours"),),
        lambda Z, found: {**sampled_trustworthiness(Z, found[0]), "peak of the run MiB": found[1]},
        repeats=1,
        warm=False,
        memory=False,
    ),
]
