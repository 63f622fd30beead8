"""PROCLUS' three phases: greedy medoids, hill climbing over sets of medoids, refinement with outliers.

Distances are Manhattan segmental distances: the mean of |x_j - m_j| over the dimensions of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.progress import report

__all__ = ["ProclusOptions", "ProclusResult", "assign_rows", "find_dimensions", "proclus", "robust_limit"]

Array = NDArray[Any]
Dimensions = list[NDArray[np.intp]]  # of each cluster
Gaps = dict[int, NDArray[np.float64]]  # by medoid: the distance of every row from it

BLOCK_VALUES = 1 << 20  # of a block of rows


@dataclass(frozen=True)
class ProclusOptions:
    """What a search needs to know; names as in the paper."""

    k: int  # clusters
    l: float  # average number of dimensions of a cluster  # noqa: E741
    sample_factor: int  # A: rows sampled per cluster
    pool_factor: int  # B: medoids in the pool per cluster
    min_deviation: float  # clusters below this share of n / k are bad
    max_stale: int  # iterations without an improvement
    spread: float | None  # rows beyond so many robust deviations of their cluster are outliers; None: as in the paper


@dataclass(frozen=True, eq=False)
class ProclusResult:
    """The best medoids of one search, refined."""

    medoids: NDArray[np.intp]  # (k,) rows
    dimensions: Dimensions
    labels: NDArray[np.int64]  # (n,), -1 for outliers
    spheres: NDArray[np.float64]  # (k,) of influence: beyond all of them is an outlier
    objective: float  # mean segmental distance of all rows to the centroids of their clusters
    n_iter: int


def proclus(X: Array, options: ProclusOptions, rng: np.random.Generator) -> ProclusResult:
    """One search from one seed."""
    pool = greedy_medoids(X, options, rng)
    medoids, labels, n_iter = _climb(X, pool, options, rng)
    localities = [np.flatnonzero(labels == i) for i in range(options.k)]
    dimensions = find_dimensions(X, medoids, localities, options.l)
    return _refine(X, medoids, dimensions, options.spread, n_iter)


def greedy_medoids(X: Array, options: ProclusOptions, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows of a random sample, each the farthest from those before it."""
    n = len(X)
    sample = rng.choice(n, min(n, options.sample_factor * options.k), replace=False)
    count = min(len(sample), options.pool_factor * options.k)
    chosen = [int(rng.integers(len(sample)))]
    distance = _mean_gap(X[sample], X[sample[chosen[0]]])
    while len(chosen) < count:
        distance[chosen] = -1  # rows may be equal
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, _mean_gap(X[sample], X[sample[chosen[-1]]]))
    return np.asarray(sample[chosen])


def _climb(
    X: Array, pool: NDArray[np.intp], options: ProclusOptions, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64], int]:
    """The best medoids found, the clusters that they form, and the number of iterations."""
    n, k = len(X), options.k
    current = rng.permutation(pool)[:k]
    best, best_labels, best_objective = current, np.zeros(n, dtype=np.int64), np.inf
    stale = n_iter = 0
    gaps: Gaps = {}  # most medoids stay from one iteration to the next
    while stale < options.max_stale:
        dimensions = find_dimensions(X, current, localities(X, current, gaps), options.l)
        labels, _ = assign_rows(X, X[current], dimensions)
        objective = mean_deviation(X, labels, dimensions)
        n_iter, stale = n_iter + 1, stale + 1
        if objective < best_objective:
            best, best_labels, best_objective, stale = current, labels, objective, 0
        report("PROCLUS: medoids", n_iter, objective=best_objective)
        others = np.setdiff1d(pool, best)
        bad = _bad_medoids(np.bincount(best_labels, minlength=k), n, options.min_deviation)
        if not len(others):
            break
        current = best.copy()
        replaced = bad[: len(others)]
        current[replaced] = rng.choice(others, len(replaced), replace=False)
    return best, best_labels, n_iter


def _bad_medoids(sizes: NDArray[np.intp], n: int, min_deviation: float) -> NDArray[np.intp]:
    """The medoid of the smallest cluster, and those of clusters below a share of n / k."""
    bad = sizes < n / len(sizes) * min_deviation
    bad[np.argmin(sizes)] = True
    return np.flatnonzero(bad)


def localities(X: Array, medoids: NDArray[np.intp], gaps: Gaps) -> list[NDArray[np.intp]]:
    """For each medoid, the rows that are no farther from it than its nearest other medoid, in all dimensions.

    `gaps` holds the distances of all rows from the medoids of the last call, and then those of this one.
    """
    known = {medoid: gaps[medoid] if medoid in gaps else _mean_gap(X, X[medoid]) for medoid in medoids.tolist()}
    gaps.clear()
    gaps.update(known)
    found = []
    for i, medoid in enumerate(medoids.tolist()):
        others = np.delete(medoids, i)
        radius = known[medoid][others].min() if len(others) else np.inf
        found.append(np.flatnonzero(known[medoid] <= radius))
    return found


def find_dimensions(X: Array, medoids: NDArray[np.intp], members: list[NDArray[np.intp]], average: float) -> Dimensions:
    """The dimensions, k · l in all and at least two per medoid, in which its rows are closest to it.

    Close is relative to the other dimensions of the same medoid: a z-score of the mean distances.
    """
    k, d = len(medoids), X.shape[1]
    scores = np.zeros((k, d))
    for i, (medoid, rows) in enumerate(zip(medoids, members, strict=True)):
        spread = np.abs(X[rows].astype(np.float64) - X[medoid]).mean(axis=0) if len(rows) else np.zeros(d)
        deviation = spread.std(ddof=1) if d > 1 else 0.0
        if deviation > 0:
            scores[i] = (spread - spread.mean()) / deviation
    fewest = min(2, d)
    chosen = np.zeros((k, d), dtype=bool)
    np.put_along_axis(chosen, np.argsort(scores, axis=1, kind="stable")[:, :fewest], True, axis=1)
    total = min(max(round(k * average), k * fewest), k * d)
    rest = np.argsort(np.where(chosen, np.inf, scores).ravel(), kind="stable")
    chosen.ravel()[rest[: total - k * fewest]] = True
    return [np.flatnonzero(row) for row in chosen]


def assign_rows(X: Array, medoids: Array, dimensions: Dimensions) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest medoid (k, d) of each row by segmental distance, and all distances (n, k)."""
    gaps = [_mean_gap(X, medoid, own) for medoid, own in zip(medoids, dimensions, strict=True)]
    distances = np.stack(gaps, axis=1)
    return np.argmin(distances, axis=1).astype(np.int64), distances


def mean_deviation(X: Array, labels: NDArray[np.int64], dimensions: Dimensions) -> float:
    """PROCLUS' objective: the mean segmental distance of the rows to the centroids of their clusters."""
    total = 0.0
    for i, own in enumerate(dimensions):
        rows = np.flatnonzero(labels == i)
        if len(rows):
            members = X[np.ix_(rows, own)].astype(np.float64)
            total += float(np.abs(members - members.mean(axis=0)).mean(axis=1).sum())
    return total / len(X)


def _refine(
    X: Array, medoids: NDArray[np.intp], dimensions: Dimensions, spread: float | None, n_iter: int
) -> ProclusResult:
    """Assign all rows once more; those beyond the spheres of influence of all medoids are outliers."""
    spheres = np.array([_sphere(X[medoids], i, own) for i, own in enumerate(dimensions)])
    labels, distances = assign_rows(X, X[medoids], dimensions)
    objective = mean_deviation(X, labels, dimensions)
    if spread is not None:
        for i in range(len(medoids)):
            own = distances[(labels == i) & (distances[:, i] <= spheres[i]), i]
            spheres[i] = min(spheres[i], robust_limit(own, spread)) if len(own) else spheres[i]
    labels[(distances > spheres).all(axis=1)] = -1
    return ProclusResult(medoids, dimensions, labels, spheres, objective, n_iter)


def robust_limit(distances: NDArray[np.float64], spread: float) -> float:
    """The median of the distances of a cluster's rows, and `spread` standard deviations by the median deviation.

    Spheres reach to the next medoid: noise within them is far from the medoid, compared with the rows around it.
    """
    middle = float(np.median(distances))
    return middle + spread * 1.4826 * float(np.median(np.abs(distances - middle)))


def _sphere(medoids: Array, i: int, own: NDArray[np.intp]) -> float:
    """The segmental distance from medoid i to the nearest other one, in its own dimensions."""
    others = np.delete(medoids, i, axis=0)
    return float(_mean_gap(others, medoids[i], own).min()) if len(others) else np.finfo(np.float64).max


def _mean_gap(rows: Array, point: Array, own: Any = slice(None)) -> NDArray[np.float64]:
    """The segmental distance: the mean of |x_j - p_j| over the columns `own`, for each row."""
    out = np.empty(len(rows))
    size = max(1, BLOCK_VALUES // rows.shape[1])
    for start in range(0, len(rows), size):
        out[start : start + size] = np.abs(rows[start : start + size, own] - point[own]).mean(axis=1, dtype=np.float64)
    return out
