"""Classical scaling of geodesic distances: between all rows, or by landmarks (L-Isomap), and out-of-sample rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.decomposition.gower import GowerProjection, fit_gower_projection, residual_variance
from lowdim.linalg.double_centering import double_center_in_place
from lowdim.manifold.isomap.shortest_paths import GeodesicGraph
from lowdim.runtime.progress import report

__all__ = [
    "GeodesicEmbedding",
    "embed_all",
    "embed_by_landmarks",
    "farthest_landmarks",
    "project_points",
    "random_landmarks",
]

Array = NDArray[Any]

POINTS_PER_BLOCK = 1024  # new rows whose geodesic distances to all fitted ones are held at once


@dataclass(frozen=True)
class GeodesicEmbedding:
    """Z (n, k), the projection of further points onto it, and how well it keeps the geodesic distances."""

    Z: NDArray[np.float64]
    projection: GowerProjection
    gram_norm_squared: float  # squared Frobenius norm of the double-centered matrix
    residual_variance: NDArray[np.float64]  # (k,)
    landmarks: NDArray[np.int32] | None = None  # (m,)
    landmark_geodesics: NDArray[np.float32] | None = None  # (m, n) from the landmarks to all rows


def embed_all(graph: GeodesicGraph, k: int, seed: int, threads: int) -> GeodesicEmbedding:
    """Classical scaling of the geodesic distances between all rows (Tenenbaum, de Silva and Langford 2000)."""
    gram = graph.geodesics_from_rows(np.arange(graph.n), threads)
    means, norm_squared = double_center_in_place(gram, threads)
    projection = fit_gower_projection(gram, means, k, seed, threads)
    Z, norms = projection.embedding(), np.diagonal(gram).astype(np.float64)
    # d² = b_ii + b_jj - 2 b_ij recovers the distances from their Gram matrix.
    unexplained = residual_variance(lambda part: gram[part], norms, norms, -2.0, Z, Z, threads)
    return GeodesicEmbedding(Z, projection, norm_squared, unexplained)


def embed_by_landmarks(
    landmarks: Array, geodesics: NDArray[np.float32], k: int, seed: int, threads: int
) -> GeodesicEmbedding:
    """Landmark MDS: classical scaling of the landmarks, and every row projected by its distances to them.

    The embedding is rotated to the principal axes of all rows, which a few landmarks may miss (de Silva and
    Tenenbaum 2004). `geodesics` (m, n) leads from the landmarks (m,) to all rows.
    """
    gram = np.ascontiguousarray(geodesics[:, landmarks])
    means, norm_squared = double_center_in_place(gram, threads)
    projection = fit_gower_projection(gram, means, k, seed, threads)
    projection, Z = projection.rotated(projection.transform(geodesics.T))
    zeros = np.zeros(len(landmarks)), np.zeros(len(Z))
    unexplained = residual_variance(lambda part: np.square(geodesics[part]), *zeros, 1.0, Z[landmarks], Z, threads)
    return GeodesicEmbedding(Z, projection, norm_squared, unexplained, landmarks.astype(np.int32), geodesics)


def random_landmarks(graph: GeodesicGraph, m: int, seed: int, threads: int) -> tuple[Array, NDArray[np.float32]]:
    """Landmarks drawn at random, and the geodesic distances from them to all rows (m, n)."""
    chosen = np.sort(np.random.default_rng(seed).choice(graph.n, m, replace=False))
    return chosen, graph.geodesics_from_rows(chosen, threads)


def farthest_landmarks(graph: GeodesicGraph, m: int, seed: int, threads: int) -> tuple[Array, NDArray[np.float32]]:
    """Landmarks by farthest-point (maxmin) sampling, and the geodesic distances from them to all rows (m, n)."""
    graph.require_memory_for(m)
    geodesics = np.empty((m, graph.n), dtype=np.float32)
    chosen = np.empty(m, dtype=np.int64)
    # The first is the row farthest from a random one: a peripheral row, whichever that was.
    start = int(np.random.default_rng(seed).integers(graph.n))
    nearest = graph.geodesics_from_rows(np.array([start]), threads)[0]
    for i in range(m):
        chosen[i] = int(np.argmax(nearest))
        geodesics[i] = graph.geodesics_from_rows(chosen[i : i + 1], threads)[0]
        nearest = geodesics[i].copy() if i == 0 else np.minimum(nearest, geodesics[i])
        nearest[chosen[: i + 1]] = -1  # never twice, even if other rows are equal
        report("choosing landmarks", i + 1, m)
    return chosen, geodesics


def project_points(
    graph: GeodesicGraph,
    projection: GowerProjection,
    landmark_geodesics: NDArray[np.float32] | None,
    neighbors: Array,
    lengths: Array,
    threads: int,
) -> NDArray[np.float64]:
    """New points by Gower's formula, (q, k): edges to their neighbors (q, s) have these lengths (q, s)."""
    out = np.empty((len(neighbors), projection.axes.shape[1]))
    for start in range(0, len(out), POINTS_PER_BLOCK):
        part = slice(start, start + POINTS_PER_BLOCK)
        if landmark_geodesics is None:
            geodesics = graph.geodesics_from_points(neighbors[part], lengths[part], threads)
        else:
            geodesics = _geodesics_to_landmarks(landmark_geodesics, neighbors[part], lengths[part])
        out[part] = projection.transform(geodesics)
    return out


def _geodesics_to_landmarks(
    landmark_geodesics: NDArray[np.float32], neighbors: Array, lengths: Array
) -> NDArray[np.float32]:
    """Geodesic distances from new points through their neighbors (q, s) to the landmarks, (q, m)."""
    out = np.full((len(neighbors), len(landmark_geodesics)), np.inf, dtype=np.float32)
    for s in range(neighbors.shape[1]):
        np.minimum(out, landmark_geodesics[:, neighbors[:, s]].T + lengths[:, s, None], out=out)
    return out
