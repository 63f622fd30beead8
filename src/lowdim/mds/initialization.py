"""Where maps start: Torgerson's classical solution, points drawn at random, or given ones; and the best of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.condensed import Measure, Pairs
from lowdim.errors import BadParameter
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_largest
from lowdim.linalg.dense_limits import MDS_INIT_ROWS, dense_is_faster
from lowdim.linalg.double_centering import double_centered_times
from lowdim.mds.smacof import Layout
from lowdim.runtime.memory import require_memory
from lowdim.runtime.random import normal
from lowdim.runtime.threads import ordered_map

__all__ = ["best_of", "classical_start", "given_start", "principal_start", "random_start", "start_of"]

Array = NDArray[Any]

ROUGH = 1e-3  # a start need not be better
PASSES = 30
FEW_ROWS = 512  # a step over their pairs takes less time than waking threads


def best_of(run: Callable[[int, int], Layout], starts: int, n: int, threads: int) -> Layout:
    """The best of run(number, threads), which share the threads; of equals the first. Others are let go of at once."""
    at_once = min(starts, threads)
    inner = max(1, threads // at_once) if n > FEW_ROWS else 1
    best: Layout | None = None
    # One run at a time has its signals heard in native code; several are told by their reports (see ordered_map).
    for layout in ordered_map(lambda number: run(number, inner), range(starts), at_once):
        if best is None or layout.loss < best.loss:
            best = layout
    assert best is not None
    return best


def start_of(number: int, init: Any, pairs: Pairs, measure: Measure | None, k: int, seed: int) -> Array:
    """Start number 0 is what `init` says, all others are random; (n, k) in the unit of the pairs."""
    n = pairs.n
    if number == 0 and isinstance(init, np.ndarray):
        return given_start(init, n, k) / pairs.unit
    if number == 0 and init == "classical":
        euclidean = measure is not None and measure.metric.name == "euclidean" and pairs.weights is None
        if euclidean and measure is not None and measure.table.shape[1] < n:
            return principal_start(measure, k, pairs.unit, seed)
        return classical_start(pairs, k, seed)
    return random_start(n, k, seed, number)


def given_start(init: Array, n: int, k: int) -> Array:
    """A start that was given, in its own unit."""
    if init.shape != (n, k) or not np.isfinite(init).all():
        raise BadParameter(f"init must be finite and of shape {(n, k)}; got shape {init.shape}.")
    return np.asarray(init, dtype=np.float64)


def classical_start(pairs: Pairs, k: int, seed: int) -> Array:
    """The k best axes of -½ H D² H, (n, k), in the unit of the pairs. A missing distance counts as its rows' mean."""
    n = pairs.n
    require_memory(2 * 4 * n * n, f"the square of the distances of {n} rows", "Use init='random'.")
    squares = np.zeros((n, n), dtype=np.float64 if n <= MDS_INIT_ROWS else np.float32)
    for i in range(n - 1):
        squares[i, i + 1 :] = squares[i + 1 :, i] = pairs.distances[pairs.row(i)]
    if pairs.weights is not None and not pairs.weights.all():
        _fill(squares, pairs)
    squares *= squares

    return _scores(_best_axes(lambda V: double_centered_times(squares, V), n, min(k, n), seed), n, k)


def principal_start(measure: Measure, k: int, unit: float, seed: int) -> Array:
    """The first k principal components of rows: the classical solution of Euclidean data, at less cost."""
    table = measure.table
    n, mean = len(table), table.mean(axis=0, dtype=np.float64).astype(table.dtype)
    ones = np.ones(n, dtype=table.dtype)

    def apply(V: Array) -> Array:
        V = V.astype(table.dtype)
        inner = table.T @ V - np.outer(mean, ones @ V)
        return (table @ inner - np.outer(ones, mean @ inner)).astype(np.float64)

    return _scores(_best_axes(apply, n, min(k, n, table.shape[1]), seed), n, k) * (measure.scale / unit)


def random_start(n: int, k: int, seed: int, stream: int) -> Array:
    """Standard normal points: they depend on the seed and the number of the start alone."""
    return normal((n, k), seed, stream=stream)


def _best_axes(apply: Callable[[Array], Array], n: int, k: int, seed: int) -> Eigenpairs:
    """The k largest eigenpairs: by a few passes, unless they are so many that all cost no more."""
    if dense_is_faster(n, k, MDS_INIT_ROWS):
        product = apply(np.eye(n))
        return eigh_largest((product + product.T) / 2, k)
    return block_lanczos(apply, n, k, tol=ROUGH, max_iter=PASSES + k // 4, seed=seed)


def _scores(found: Eigenpairs, n: int, k: int) -> Array:
    """Vectors times the roots of their values, with empty columns where there is no more to find."""
    out = np.zeros((n, k))
    kept = min(k, found.vectors.shape[1])
    out[:, :kept] = found.vectors[:, :kept] * np.sqrt(np.maximum(found.values[:kept], 0))
    return out - out.mean(axis=0)


def _fill(D: Array, pairs: Pairs) -> None:
    """Missing distances become the mean of the known ones of both rows."""
    known = np.zeros(D.shape, dtype=bool)
    assert pairs.weights is not None
    for i in range(pairs.n - 1):
        known[i, i + 1 :] = known[i + 1 :, i] = pairs.weights[pairs.row(i)] > 0
    means = (D * known).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    np.copyto(D, (means[:, None] + means[None, :]) / 2, where=~known)
    np.fill_diagonal(D, 0)
