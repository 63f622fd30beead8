"""The space of UMAP's embedding: Euclidean, Manhattan, the unit sphere or the hyperbolic plane.

On the sphere an embedding is given by latitude and longitude, but optimized as unit vectors: neither the poles nor the
line where longitudes jump are special there. On the hyperboloid x_0² - |x|² = 1 the coordinates x stand for a point,
and x_0 follows from them. Means are those of the surrounding space, projected onto the manifold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.duplicates import DistinctRows
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.initialization import umap_init
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph

__all__ = ["EUCLIDEAN", "OUTPUT_METRICS", "OutputSpace"]

Array = NDArray[Any]
Floats = NDArray[np.float32]

CURVED = ("haversine", "hyperboloid")
OUTPUT_METRICS = ("euclidean", "haversine", "hyperboloid", "manhattan")
HYPERBOLIC_RADIUS = 2.0  # of the initial positions: circles grow exponentially, so they need little room
CURVED_STEP = 0.1  # curvature sets a scale: the radius of the sphere over the side of the box of other embeddings
TINY = 1e-30


@dataclass(frozen=True)
class OutputSpace:
    """Coordinates of the embedding as users see them, and the points that the optimizer moves."""

    metric: str
    k: int = 2  # dimensions of the embedding

    @classmethod
    def of(cls, metric: str, k: int, densmap: bool) -> OutputSpace:
        """The space of an output metric; raises BadParameter where it does not go with the other parameters."""
        if metric == "haversine" and k != 2:
            raise BadParameter(
                f"UMAP: output_metric='haversine' embeds on a sphere, so n_components must be 2; got {k}."
            )
        if metric != "euclidean" and densmap:
            raise BadParameter(
                f"UMAP: densmap=True needs output_metric='euclidean'; got {metric!r}. Leave one of them out."
            )
        return cls(metric, k)

    @property
    def number(self) -> int:
        """As the native kernels count the spaces."""
        return OUTPUT_METRICS.index(self.metric)

    @property
    def step_size(self) -> float:
        """The factor of the learning rate: steps as long as in the box would tear the sphere, and scatter a disk."""
        return CURVED_STEP if self.metric in CURVED else 1.0

    @property
    def axes(self) -> int:
        """Coordinates of the points that the optimizer moves."""
        return 3 if self.metric == "haversine" else self.k

    def start(
        self, init: Any, graph: FuzzyGraph, table: Any, distinct: DistinctRows, seed: int, threads: int
    ) -> Floats:
        """Initial points of the distinct rows, (m, axes)."""
        if not isinstance(init, str):
            return self.points(umap_init(init, graph, table, distinct, self.k, seed, threads))
        return self.from_box(umap_init(init, graph, table, distinct, self.axes, seed, threads))

    def from_box(self, box: Array) -> Floats:
        """Points for positions (m, axes) in a box: directions from its center, or a disk of hyperbolic radius 2."""
        if self.metric not in CURVED:
            return np.asarray(box, dtype=np.float32)
        centered = box - box.mean(axis=0, dtype=np.float64)
        if self.metric == "haversine":
            return self.projected(centered)
        length = np.sqrt((centered**2).sum(axis=1, keepdims=True))
        scaled = length * (HYPERBOLIC_RADIUS / max(float(length.max(initial=0.0)), TINY))
        return np.asarray(centered / np.maximum(length, TINY) * np.sinh(scaled), dtype=np.float32)

    def flat(self, Z: Array, asker: str) -> Array:
        """Points for coordinates Z in a Euclidean space, where the nearest ones are those of this space."""
        if self.metric == "haversine":
            return self._unit_vectors(Z).astype(Z.dtype)
        if self.metric != "euclidean":
            raise BadParameter(
                f"{asker} needs output_metric='euclidean' or 'haversine'; this UMAP has {self.metric!r}."
            )
        return Z

    def projected(self, points: Array) -> Floats:
        """Unit vectors of the same direction, where the embedding is on the sphere, else the points."""
        if self.metric != "haversine":
            return np.asarray(points, dtype=np.float32)
        wide = np.asarray(points, dtype=np.float64)
        length = np.sqrt((wide**2).sum(axis=1, keepdims=True))
        north = np.array([0.0, 0.0, 1.0])  # opposite points have no mean
        return np.where(length > 0, wide / np.where(length > 0, length, 1.0), north).astype(np.float32)

    def points(self, Z: Array) -> Floats:
        """The points (n, axes) at coordinates Z (n, k)."""
        if self.metric != "haversine":
            return np.ascontiguousarray(Z, dtype=np.float32)
        return self._unit_vectors(Z).astype(np.float32)

    @staticmethod
    def _unit_vectors(Z: Array) -> NDArray[np.float64]:
        latitude, longitude = np.asarray(Z, dtype=np.float64).T
        flat = np.cos(latitude)
        xyz = flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)
        return np.stack(xyz, axis=1)

    def coordinates(self, points: Array) -> Floats:
        """Coordinates (n, k) of the points (n, axes)."""
        if self.metric != "haversine":
            return np.asarray(points, dtype=np.float32)
        x, y, z = np.asarray(points, dtype=np.float64).T
        return np.stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)], axis=1).astype(np.float32)

    def mean(self, weights: Array, points: Array) -> Floats:
        """Weighted means of the points (m, k, axes), by weights (m, k) that sum to 1; points (m, axes)."""
        mean = np.einsum("ij,ijc->ic", weights, points)
        if self.metric != "hyperboloid":
            return self.projected(mean)
        first = np.einsum("ij,ij->i", weights, np.sqrt(1 + (points.astype(np.float64) ** 2).sum(axis=2)))
        return np.asarray(mean / np.sqrt(np.maximum(first**2 - (mean**2).sum(axis=1), 1.0))[:, None], dtype=np.float32)

    def recentered(self, points: Array) -> Array:
        """Hyperbolic points moved as a whole so that their mean is the origin, near which coordinates are fine."""
        if self.metric != "hyperboloid":
            return points
        wide = points.astype(np.float64)
        first = np.sqrt(1 + (wide**2).sum(axis=1))
        mean, mean_first = wide.mean(axis=0), float(first.mean())
        norm = np.sqrt(max(mean_first**2 - float(mean @ mean), 1.0))
        mean, mean_first = mean / norm, mean_first / norm
        boosted = wide + np.outer(wide @ mean / (1 + mean_first) - first, mean)
        return boosted.astype(np.float32)


EUCLIDEAN = OutputSpace("euclidean")
