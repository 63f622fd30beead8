"""Maps from geodesics: of all rows, or of landmarks with the other rows placed among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.decomposition.gower import Scaling, residual_variance, scaling_of
from lowdim.linalg.double_centering import double_center_in_place
from lowdim.manifold.isomap.shortest_paths import Roads
from lowdim.runtime.progress import report

__all__ = ["GeodesicMap", "farthest_landmarks", "map_all", "map_by_landmarks", "random_landmarks", "ways_over"]

Array = NDArray[Any]


@dataclass(frozen=True)
class GeodesicMap:
    """Z (n, k), how it came about, and how well it keeps the geodesics."""

    Z: NDArray[np.float64]
    scaling: Scaling
    gram_square: float  # Σ of the squares of the centred Gram matrix
    residual_variance: NDArray[np.float64]
    landmarks: NDArray[np.int32] | None = None  # (m,)
    ways: NDArray[np.float32] | None = None  # (m, n) from the landmarks to all


def map_all(roads: Roads, k: int, seed: int, threads: int) -> GeodesicMap:
    """Classical scaling of the geodesics between all rows."""
    gram = roads.from_rows(np.arange(roads.n), threads)
    means, gram_square = double_center_in_place(gram, threads)
    scaling = scaling_of(gram, means, k, seed, threads)
    Z, lengths = scaling.embedding(), np.diagonal(gram).astype(np.float64)
    # d² = b_ii + b_jj - 2 b_ij brings the distances back out of their Gram matrix.
    left = residual_variance(lambda part: gram[part], lengths, lengths, -2.0, Z, Z, threads)
    return GeodesicMap(Z, scaling, gram_square, left)


def map_by_landmarks(landmarks: Array, ways: NDArray[np.float32], k: int, seed: int, threads: int) -> GeodesicMap:
    """Classical scaling of the landmarks; every row is placed by its distances to them (de Silva, Tenenbaum 2004).

    The map is turned to the principal axes of all rows, which a few landmarks may miss.
    """
    gram = np.ascontiguousarray(ways[:, landmarks])
    means, gram_square = double_center_in_place(gram, threads)
    scaling = scaling_of(gram, means, k, seed, threads)
    scaling, Z = scaling.turned(scaling.place(ways.T))
    nothing = np.zeros(len(landmarks)), np.zeros(len(Z))
    left = residual_variance(lambda part: np.square(ways[part]), *nothing, 1.0, Z[landmarks], Z, threads)
    return GeodesicMap(Z, scaling, gram_square, left, landmarks.astype(np.int32), ways)


def random_landmarks(roads: Roads, m: int, seed: int, threads: int) -> tuple[Array, NDArray[np.float32]]:
    """Rows drawn at random, and the ways from them to all rows (m, n)."""
    chosen = np.sort(np.random.default_rng(seed).choice(roads.n, m, replace=False))
    return chosen, roads.from_rows(chosen, threads)


def farthest_landmarks(roads: Roads, m: int, seed: int, threads: int) -> tuple[Array, NDArray[np.float32]]:
    """Rows, each as far as possible along the graph from those before it, and their ways to all rows (m, n)."""
    roads.require_room(m)
    ways = np.empty((m, roads.n), dtype=np.float32)
    chosen = np.empty(m, dtype=np.int64)
    # The first is the end of the longest way from a row: a corner, whatever row that was.
    start = int(np.random.default_rng(seed).integers(roads.n))
    nearest = roads.from_rows(np.array([start]), threads)[0]
    for i in range(m):
        chosen[i] = int(np.argmax(nearest))
        ways[i] = roads.from_rows(chosen[i : i + 1], threads)[0]
        nearest = ways[i].copy() if i == 0 else np.minimum(nearest, ways[i])
        nearest[chosen[: i + 1]] = -1  # never twice, though other rows may lie at the same place
        report("choosing landmarks", i + 1, m)
    return chosen, ways


def ways_over(ways: NDArray[np.float32], near: Array, lengths: Array) -> NDArray[np.float32]:
    """Lengths of the shortest ways from new rows over their neighbours (q, s) to the landmarks, (q, m)."""
    out = np.full((len(near), len(ways)), np.inf, dtype=np.float32)
    for s in range(near.shape[1]):
        np.minimum(out, ways[:, near[:, s]].T + lengths[:, s, None], out=out)
    return out
