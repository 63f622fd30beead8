"""Out-of-sample extension of t-SNE: new rows descend, each by itself, against the fixed embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Rows
from lowdim.errors import BadInput
from lowdim.knn.fitted import FittedRows
from lowdim.knn.index import Neighbors
from lowdim.neighbor_embedding.tsne.affinities import conditional_probabilities, neighbor_count
from lowdim.neighbor_embedding.tsne.fft_repulsion import FFTRepulsion, MeshFields
from lowdim.neighbor_embedding.tsne.gradient_descent import MAX_STEP_NORM, MOMENTUM
from lowdim.neighbor_embedding.tsne.repulsion import BarnesHutRepulsion, choose_repulsion
from lowdim.runtime.cached_property import cached_property

__all__ = ["RepulsionField", "TsneOutOfSample"]

Floats = NDArray[np.float32]

START_NEIGHBORS = 10  # nearest rows whose median position a new row starts from
STEPS = 100
LEARNING_RATE = 1.0  # that of the fit's last steps


class RepulsionField:
    """The repulsion of a fixed embedding at any point: by FFT on a mesh, by Barnes-Hut, or summed over all rows."""

    def __init__(self, Y: Floats, dof: float, threads: int) -> None:
        repulsion = choose_repulsion(len(Y), Y.shape[1], dof, threads)
        self.fields: MeshFields | None = None
        self.barnes_hut = repulsion.criterion if isinstance(repulsion, BarnesHutRepulsion) else (0.0, 0.0)
        if isinstance(repulsion, FFTRepulsion):
            self.fields = repulsion.fields(Y)
        self.mean_sum_q = max(repulsion(Y)[1], 1e-12) / len(Y)  # of the kernel sums over the rows of the embedding


@dataclass(frozen=True)
class TsneOutOfSample:
    """Embeds new rows into a fixed embedding; the position of one does not depend on the others.

    What takes long (the neighbor index, the row hashes, the repulsion field) is made once, on first use.
    """

    fitted_rows: FittedRows  # searched exactly
    positions: Floats  # of the fitted rows, (n, k)
    perplexity: tuple[float, ...]
    dof: float

    def __call__(self, rows: Rows) -> Floats:
        """Positions of rows, (m, k); fitted rows keep theirs."""
        return self.fitted_rows.embed(rows, self.positions, self.n_neighbors, self._embed)

    @property
    def n_neighbors(self) -> int:
        """Fitted rows that a new one is attracted to."""
        if not self.perplexity:
            raise BadInput(
                "this TSNE was fitted to Affinities that do not say how to weight new rows. Fit it to a table, or to "
                "Affinities.from_graph(lowdim.neighbors(X, k), perplexity)."
            )
        return neighbor_count(self.perplexity)

    def weights(self, found: Neighbors) -> Floats:
        """Conditional probabilities of the neighbors of new rows, (m, k)."""
        return conditional_probabilities(found.distances, self.perplexity, self.fitted_rows.spec.threads)

    def start(self, found: Neighbors) -> Floats:
        """The median position of the nearest rows, (m, k)."""
        nearest = found.indices[:, : min(START_NEIGHBORS, found.indices.shape[1])]
        return np.ascontiguousarray(np.median(self.positions[nearest], axis=1), dtype=np.float32)

    def _embed(self, found: Neighbors) -> Floats:
        """From its start, by gradient descent against the fixed embedding."""
        field, Y, threads = self._repulsion_field, self.positions, self.fitted_rows.spec.threads
        weights, out = self.weights(found), self.start(found)
        starts = np.arange(len(out) + 1, dtype=np.int64) * found.indices.shape[1]
        columns, values = np.ascontiguousarray(found.indices).ravel(), np.ascontiguousarray(weights).ravel()
        how = (self.dof, 1 / field.mean_sum_q, LEARNING_RATE, MOMENTUM, MAX_STEP_NORM, STEPS, *field.barnes_hut)
        _native.tsne_out_of_sample(starts, columns, values, Y, *_mesh_arguments(field.fields), how, out, threads)
        return out

    @cached_property
    def _repulsion_field(self) -> RepulsionField:
        return RepulsionField(self.positions, self.dof, self.fitted_rows.spec.threads)


def _mesh_arguments(fields: MeshFields | None) -> tuple[Floats | None, list[int], Floats, float]:
    """Values, cells, origin and spacing, as the kernel takes them; those of no mesh are empty."""
    if fields is None:
        return None, [], np.zeros(0, dtype=np.float32), 1.0
    return fields.values, list(fields.mesh.cells), fields.mesh.origin, fields.mesh.spacing
