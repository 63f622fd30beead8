"""Initial embeddings of MDS: classical scaling, principal components, random or given points; the best of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.condensed import Pairs
from lowdim.distance.pairwise import MetricRows
from lowdim.errors import BadParameter
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.dense_eigen import Eigenpairs, eigh_largest
from lowdim.linalg.dense_limits import MDS_INIT_ROWS, dense_is_faster
from lowdim.linalg.double_centering import double_centered_times
from lowdim.mds.smacof import MDSResult
from lowdim.runtime.memory import require_memory
from lowdim.runtime.random import normal
from lowdim.runtime.threads import ordered_map

__all__ = ["array_init", "best_of_starts", "classical_init", "initial_embedding", "pca_init", "random_init"]

Array = NDArray[Any]

INIT_TOL = 1e-3  # of the eigenpairs: an initial embedding need not be better
INIT_PASSES = 30
ONE_THREAD_ROWS = 512  # an iteration over their pairs takes less time than waking threads


def best_of_starts(run: Callable[[int, int], MDSResult], starts: int, n: int, threads: int) -> MDSResult:
    """The result of run(number, threads) with the least loss, the first of equals; the starts share the threads."""
    at_once = min(starts, threads)
    inner = max(1, threads // at_once) if n > ONE_THREAD_ROWS else 1
    best: MDSResult | None = None
    # A single run at a time hears Ctrl-C in native code; several are told by their reports (see ordered_map).
    for result in ordered_map(lambda number: run(number, inner), range(starts), at_once):
        if best is None or result.loss < best.loss:
            best = result
    assert best is not None
    return best


def initial_embedding(number: int, init: Any, pairs: Pairs, prepared: MetricRows | None, k: int, seed: int) -> Array:
    """Start 0 is what `init` says, all others are random; (n, k) in the unit of the pairs."""
    n = pairs.n
    if number == 0 and isinstance(init, np.ndarray):
        return array_init(init, n, k) / pairs.unit
    if number == 0 and init == "classical":
        euclidean = prepared is not None and prepared.metric.name == "euclidean" and pairs.weights is None
        if euclidean and prepared is not None and prepared.table.shape[1] < n:
            return pca_init(prepared, k, pairs.unit, seed)
        return classical_init(pairs, k, seed)
    return random_init(n, k, seed, number)


def array_init(init: Array, n: int, k: int) -> Array:
    """A given initial embedding, checked, in its own unit."""
    if init.shape != (n, k) or not np.isfinite(init).all():
        raise BadParameter(f"init must be finite and of shape {(n, k)}; got shape {init.shape}.")
    return np.asarray(init, dtype=np.float64)


def classical_init(pairs: Pairs, k: int, seed: int) -> Array:
    """Classical scaling: the k leading axes of -½ H D² H, (n, k), in the unit of the pairs."""
    n = pairs.n
    require_memory(2 * 4 * n * n, f"the squared distances of {n} rows", "Use init='random'.")
    squares = np.zeros((n, n), dtype=np.float64 if n <= MDS_INIT_ROWS else np.float32)
    for i in range(n - 1):
        squares[i, i + 1 :] = squares[i + 1 :, i] = pairs.distances[pairs.row(i)]
    if pairs.weights is not None and not pairs.weights.all():
        _impute_missing(squares, pairs)
    squares *= squares

    found = _leading_eigenpairs(lambda V: double_centered_times(squares, V), n, min(k, n), seed)
    return _scores(found, n, k)


def pca_init(prepared: MetricRows, k: int, unit: float, seed: int) -> Array:
    """The first k principal components: classical scaling of Euclidean distances, at less cost."""
    table = prepared.table
    n, mean = len(table), table.mean(axis=0, dtype=np.float64).astype(table.dtype)
    ones = np.ones(n, dtype=table.dtype)

    def apply(V: Array) -> Array:
        V = V.astype(table.dtype)
        inner = table.T @ V - np.outer(mean, ones @ V)
        return (table @ inner - np.outer(ones, mean @ inner)).astype(np.float64)

    found = _leading_eigenpairs(apply, n, min(k, n, table.shape[1]), seed)
    return _scores(found, n, k) * (prepared.scale / unit)


def random_init(n: int, k: int, seed: int, stream: int) -> Array:
    """Standard normal points, which depend on the seed and the number of the start alone."""
    return normal((n, k), seed, stream=stream)


def _leading_eigenpairs(apply: Callable[[Array], Array], n: int, k: int, seed: int) -> Eigenpairs:
    """The k largest eigenpairs of an operator: by a few passes, or dense where so many are asked for."""
    if dense_is_faster(n, k, MDS_INIT_ROWS):
        product = apply(np.eye(n))
        return eigh_largest((product + product.T) / 2, k)
    return block_lanczos(apply, n, k, tol=INIT_TOL, max_iter=INIT_PASSES + k // 4, seed=seed)


def _scores(found: Eigenpairs, n: int, k: int) -> Array:
    """Eigenvectors times the roots of their eigenvalues, with columns of zeros where there are fewer than k."""
    out = np.zeros((n, k))
    kept = min(k, found.vectors.shape[1])
    out[:, :kept] = found.vectors[:, :kept] * np.sqrt(np.maximum(found.values[:kept], 0))
    return out - out.mean(axis=0)


def _impute_missing(D: Array, pairs: Pairs) -> None:
    """Replace missing distances by the mean of the known ones of both rows."""
    known = np.zeros(D.shape, dtype=bool)
    assert pairs.weights is not None
    for i in range(pairs.n - 1):
        known[i, i + 1 :] = known[i + 1 :, i] = pairs.weights[pairs.row(i)] > 0
    means = (D * known).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    np.copyto(D, (means[:, None] + means[None, :]) / 2, where=~known)
    np.fill_diagonal(D, 0)
