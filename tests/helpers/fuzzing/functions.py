"""Attempts with functions: quality, advice, comparisons, metrics, kernels and summaries of any table."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim
from fuzzing.values import any_table, healthy, tell
from lowdim import choose, kernels, quality, select, subspace
from lowdim.distance.metrics import METRICS
from targets import target_for

__all__ = ["make", "make_metric"]

GRAPH_METHODS = ["Isomap", "LLE", "LaplacianEigenmaps", "ClassicalMDS", "UMAP"]


def _rows(X: Any) -> int:
    shape = np.shape(X) if isinstance(X, np.ndarray) else getattr(X, "shape", ())
    return int(shape[0]) if isinstance(shape, tuple) and shape else 5


def _map_of(r: random.Random, X: Any) -> Any:
    """A map of X, mostly with as many rows."""
    if r.random() < 0.2:
        return any_table(r)
    Z = np.random.default_rng(r.getrandbits(32)).normal(size=(_rows(X), r.choice([1, 2, 3])))
    return Z * r.choice([1, 1, 0, 1e-300, 1e300]) if r.random() < 0.3 else Z


def _labels(r: random.Random, n: int) -> Any:
    options: list[Any] = [None, None, np.arange(n) % 3, np.arange(n), np.zeros(n), ["a"] * n, np.arange(n) / 7]
    options += [np.full(n, np.nan), np.arange(n + 1) % 2, [None] * n, "species", {"a": 1}, np.ones((n, 2)), [{}] * n]
    return r.choice(options)


def _measured(r: random.Random, X: Any) -> Any:
    found = quality.measure(X, _map_of(r, X), labels=_labels(r, _rows(X)), k=r.choice([1, 3, 15]))
    found.to_dict(), str(found), found.verdict(), found.words()
    return np.array([measure.value for measure in found.measures.values()])


def _compared(r: random.Random, X: Any) -> Any:
    names = [method.name for method in lowdim.methods() if method.name not in ("ProjectionPursuit", "MDS")]
    chosen = r.sample(names, 2)
    found = lowdim.compare(X, chosen, y=_labels(r, _rows(X)), k=r.choice([1, 5]), baselines=("random",))
    found.to_dict(), str(found)
    return tuple(found.maps.values())


def _recommended(r: random.Random, X: Any) -> None:
    n = _rows(X)
    found = lowdim.recommend(X, _labels(r, n), target=_labels(r, n) if r.random() < 0.5 else None)
    found.to_dict(), str(found)


FUNCTIONS: dict[str, Callable[[random.Random, Any], Any]] = {
    "neighbors": lambda r, X: lowdim.neighbors(X, r.choice([1, 3, 10])).distances,
    "neighbors cosine": lambda r, X: lowdim.neighbors(X, 2, metric="cosine").distances,
    "moments": lambda r, X: lowdim.moments(X).within,
    "gram": lambda r, X: lowdim.gram(X, r.choice(["rbf", "linear", "laplacian"])) and None,
    "diagnose": lambda r, X: lowdim.diagnose(X) and None,
    "parallel analysis": lambda r, X: lowdim.PCA(choose.parallel_analysis()).fit_transform(X),
    "share": lambda r, X: lowdim.PCA(0.9).fit_transform(X),
    "rbf": lambda r, X: kernels.rbf()(X),
    "linear kernel": lambda r, X: kernels.linear()(X, X),
    "is_psd": lambda r, X: kernels.is_psd(X) and None,
    "is_euclidean": lambda r, X: kernels.is_euclidean(X) and None,
    "precomputed": lambda r, X: getattr(lowdim, r.choice(GRAPH_METHODS))(1, metric="precomputed").fit_transform(X),
    "PCA em": lambda r, X: lowdim.PCA(1, missing="em").fit_transform(X),
    "quality.measure": _measured,
    "quality.table": lambda r, X: (
        quality.table(X, {"a": _map_of(r, X), "b": _map_of(r, X)}, k=r.choice([1, 4])).to_dict() and None
    ),
    "quality.quick_verdict": lambda r, X: str(quality.quick_verdict(X, _map_of(r, X), k=r.choice([1, 5]))) and None,
    "quality.co_ranking": lambda r, X: (
        quality.co_ranking(X, _map_of(r, X), bins=r.choice([None, 1, 4, 0, 10**9])).matrix
    ),
    "quality.null": lambda r, X: str(quality.null(lowdim.PCA(1), X, k=r.choice([1, 4]))) and None,
    "quality.stability": lambda r, X: (
        str(quality.stability(lowdim.UMAP(1, n_epochs=5), X, runs=2, resample=r.choice([None, 0.5]))) and None
    ),
    "recommend": _recommended,
    "compare": _compared,
    "choose.table": lambda r, X: str(choose.table(X)) and None,
    "select.compare": lambda r, X: (
        str(select.compare(X, target_for("LDA", X, 2), filters=["f", "relieff", "mrmr"], n_resamples=2, cv=2)) and None
    ),
    "select.stability": lambda r, X: str(select.stability(X)) and None,
    "subspace.scores": lambda r, X: str(subspace.scores(X, [(range(3), [0])])) and None,
    "varimax": lambda r, X: lowdim.varimax(X),
    "quartimax": lambda r, X: lowdim.quartimax(X),
    "correlation loadings": lambda r, X: lowdim.correlation_loadings(lowdim.PCA(1).fit(X), X),
    "sphere": lambda r, X: lowdim.sphere(X),
    "grand tour": lambda r, X: np.concatenate([frame.ravel() for frame, _ in zip(_tour(r, X), range(3), strict=False)]),
}


def _tour(r: random.Random, X: Any) -> Any:
    frames = r.choice([lowdim.grand_tour, lowdim.guided_tour])(X)
    return (np.asarray(frame) for frame in getattr(frames, "frames", frames))


def make(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A function of lowdim, given any table."""
    X = any_table(r)
    name, function = r.choice(list(FUNCTIONS.items()))
    return f"{name} {tell(X)}", lambda: function(r, X)


PARAMETERS: list[Any] = [None, 0, 1, 2, 3.5, -1, np.inf, np.nan, 1e300, 1e-300, "text", [], [1.0], [1, 2, 3], {}, (0,)]
PARAMETERS += [np.ones(3), np.zeros(3), -np.ones(3), np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.nan), [True] * 3]
PARAMETERS += [np.array(["a"] * 3), [[1, 2], [3]], {0: 1}, "euclidean", 10**400, np.ones(3, dtype=complex)]
PARAMETER_NAMES = ["p", "V", "VI", "weights", "categorical", "ordinal", "asymmetric", "range", "levels", "low"]
PARAMETER_NAMES += ["center", "categories", "x"]


def make_metric(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """Any metric with any parameters, for numbers, sets, counts and extremes of three columns."""
    metric = r.choice(sorted(METRICS))
    params = {r.choice(PARAMETER_NAMES): r.choice(PARAMETERS) for _ in range(r.choice([0, 0, 1, 1, 2]))} or None
    X = _three_columns(r)
    new = _three_columns(r)
    use = r.choice(["neighbors", "UMAP", "ClassicalMDS", "Isomap", "quality", "LLE"])

    def work() -> Any:
        if use == "neighbors":
            return lowdim.neighbors(X, 2, metric=metric, metric_params=params).distances
        if use == "quality":
            Z = np.random.default_rng(0).normal(size=(_rows(X), 2))
            return str(quality.measure(X, Z, k=2, metric=metric, metric_params=params)) and None
        options = {"n_epochs": 8} if use == "UMAP" else {}
        model = getattr(lowdim, use)(1, metric=metric, metric_params=params, **options)
        return model.fit_transform(X), model.transform(new)

    return f"{use} {metric} {params} {tell(X)}", work


def _three_columns(r: random.Random) -> Any:
    rng = np.random.default_rng(r.getrandbits(32))
    kinds = [
        lambda: rng.normal(size=(12, 3)),
        lambda: (rng.random((12, 3)) < 0.5).astype(float),
        lambda: rng.random((12, 3)) < 0.5,
        lambda: rng.integers(0, 4, (12, 3)),
        lambda: np.zeros((12, 3)),
        lambda: rng.random((12, 3)) * r.choice([1e-300, 1e300, 1e150, 1e-160]),
        lambda: np.where(rng.random((12, 3)) < 0.2, np.nan, rng.random((12, 3))),
        lambda: rng.random((12, 3)).astype(np.float32),
        lambda: healthy(r),
    ]
    return r.choice(kinds)()
