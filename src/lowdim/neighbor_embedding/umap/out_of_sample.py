"""Out-of-sample extension of UMAP: new rows are optimized, each by itself, against the fixed embedding."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.knn.fitted import FittedRows
from lowdim.knn.index import Neighbors
from lowdim.neighbor_embedding.umap.densmap import (
    DensityCorrelation,
    embedding_radii,
    first_density_epoch,
    original_radii,
)
from lowdim.neighbor_embedding.umap.fuzzy_graph import smooth_knn_distances
from lowdim.neighbor_embedding.umap.optimizer import REPORTS, DensityTerms, EdgeSchedule, UmapParams
from lowdim.neighbor_embedding.umap.output_space import OutputSpace
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.progress import report

__all__ = ["UmapOutOfSample"]

Array = NDArray[Any]


@dataclass(frozen=True)
class UmapOutOfSample:
    """Embeds new rows into a fixed embedding; the position of one does not depend on the others."""

    fitted_rows: FittedRows
    positions: NDArray[np.float32]  # of the fitted rows, (n, k)
    n_neighbors: int
    local_connectivity: float
    params: UmapParams
    n_epochs: int
    space: OutputSpace
    density: DensityCorrelation | None = None  # of densMAP
    disconnection_distance: float | None = None

    def __call__(self, rows: Rows) -> NDArray[np.float32]:
        """Positions of rows, (m, k); fitted rows keep theirs."""
        return self.fitted_rows.embed(rows, self.positions, self.n_neighbors, self._embed)

    def weights(self, found: Neighbors) -> NDArray[np.float32]:
        """Membership strengths of the neighbors of new rows, (m, k); the nearest is never disconnected."""
        threads = self.fitted_rows.spec.threads
        weights = smooth_knn_distances(found.distances, self.local_connectivity, threads).weights
        if self.disconnection_distance is not None:
            weights[:, 1:][found.distances[:, 1:] >= self.disconnection_distance] = 0
        return weights

    def start(self, found: Neighbors) -> NDArray[np.float32]:
        """The mean of the neighbors' positions, by their membership strengths, (m, k)."""
        weights = self.weights(found)
        normalized = weights / weights.sum(axis=1, keepdims=True)
        return self.space.coordinates(self.space.mean(normalized, self._points[found.indices]))

    def _embed(self, found: Neighbors) -> NDArray[np.float32]:
        """From its start, by SGD against the fixed embedding."""
        weights, start = self.weights(found), self.start(found)
        m, k = weights.shape
        radii = None
        if self.density is not None:
            radii = original_radii(np.repeat(np.arange(m), k), weights.ravel(), found.distances.ravel(), m)
        return self._optimize(start, np.arange(m + 1) * k, found.indices.ravel(), weights.ravel(), radii)

    def _optimize(self, start: Array, starts: Array, columns: Array, weights: Array, radii: Array | None) -> Array:
        """Positions after all epochs, (m, k); the edges lead from new rows to fitted ones, with weights of at most 1.

        `radii` are those of the new rows in the original space, for densMAP.
        """
        positions = np.array(self.space.points(start), order="C")
        n_epochs = self.n_epochs
        schedule = EdgeSchedule.of(starts, columns, weights, n_epochs, max_weight=1.0, fixed=True)
        inverse_weights = (1 / weights[schedule.edges]).astype(np.float32)  # of edges that are sampled, so above 0
        switch = n_epochs if self.density is None else first_density_epoch(n_epochs)
        bounds = [*range(0, switch, max(1, n_epochs // REPORTS)), *range(switch, n_epochs + 1)]
        for first, last in pairwise(bounds):
            density: DensityTerms = (None, None)
            if first >= switch:
                density = self._gradient_terms(positions, starts, columns, radii), inverse_weights
            epochs = first, last, n_epochs
            schedule.run(positions, self._points, epochs, self.params, density, self.fitted_rows.spec.threads)
            report("UMAP epochs of new rows", last, n_epochs)
        return self.space.coordinates(positions)

    @cached_property
    def _points(self) -> NDArray[np.float32]:
        return self.space.points(self.positions)

    def _gradient_terms(self, positions: Array, starts: Array, columns: Array, radii: Array | None) -> Array:
        assert self.density is not None and radii is not None
        a, b, threads = self.params.a, self.params.b, self.fitted_rows.spec.threads
        phi_sums, embedded = embedding_radii(positions, self.positions, starts, columns, a, b, threads)
        return self.density.gradient_terms(radii, phi_sums, embedded)
