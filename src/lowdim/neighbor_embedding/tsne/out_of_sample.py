"""New rows on a frozen t-SNE map: each is drawn to its neighbours and pushed by the whole map, by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Rows
from lowdim.errors import BadInput
from lowdim.knn.fitted import FittedRows
from lowdim.knn.index import Neighbors
from lowdim.neighbor_embedding.tsne.affinities import conditional, neighbor_count
from lowdim.neighbor_embedding.tsne.barnes_hut import TreeRepulsion
from lowdim.neighbor_embedding.tsne.fft_repulsion import Fields, MeshRepulsion
from lowdim.neighbor_embedding.tsne.gradient_descent import LONGEST, MOMENTUM
from lowdim.neighbor_embedding.tsne.repulsion import repulsion_for

__all__ = ["Placing"]

Floats = NDArray[np.float32]

START = 10  # nearest rows whose middle a new row starts from
STEPS = 100
RATE = 1.0  # that of the fitted map's last steps


class Push:
    """The repulsion of a map at any place, ready to be asked: fields of a mesh, a tree, or the sum over all rows."""

    def __init__(self, Y: Floats, dof: float, threads: int) -> None:
        repulsion = repulsion_for(len(Y), Y.shape[1], dof, threads)
        self.fields: Fields | None = None
        self.tree = repulsion.rule if isinstance(repulsion, TreeRepulsion) else (0.0, 0.0)
        if isinstance(repulsion, MeshRepulsion):
            self.fields = repulsion.fields(Y)
        self.mean = max(repulsion(Y)[1], 1e-12) / len(Y)  # of the kernel's sums over the rows of the map


@dataclass(frozen=True)
class Placing:
    """How new rows find their places on a map that stays as it is, each by itself.

    What takes long (the search index, the marks of rows, the fields) is made once, when it is first needed.
    """

    known: FittedRows  # the rows of the map, to be searched exactly: a row's place does not depend on those beside it
    places: Floats  # where they are, (n, k)
    perplexity: tuple[float, ...]
    dof: float

    def __call__(self, rows: Rows) -> Floats:
        """Places of rows, (m, k); those that are known are where they were."""
        if not self.perplexity:
            raise BadInput(
                "this map was fitted to Affinities, which do not say how new rows are weighed. Fit it to a table."
            )
        return self.known.embed(rows, self.places, neighbor_count(self.perplexity), self._moved)

    def _moved(self, found: Neighbors) -> Floats:
        """From the middle of the nearest, some steps against the map."""
        push, Y, threads = self._push, self.places, self.known.spec.threads
        weights = conditional(found.distances, self.perplexity, threads)
        first = found.indices[:, : min(START, found.indices.shape[1])]
        out = np.ascontiguousarray(np.median(Y[first], axis=1), dtype=np.float32)
        starts = np.arange(len(out) + 1, dtype=np.int64) * found.indices.shape[1]
        columns, pulls = np.ascontiguousarray(found.indices).ravel(), np.ascontiguousarray(weights).ravel()
        cells: list[int] = [] if push.fields is None else list(push.fields.box.cells)
        origin = np.zeros(0, dtype=np.float32) if push.fields is None else push.fields.box.origin
        spacing = 1.0 if push.fields is None else push.fields.box.spacing
        values = None if push.fields is None else push.fields.values
        how = (self.dof, 1 / push.mean, RATE, MOMENTUM, LONGEST, STEPS, *push.tree)
        _native.place_rows(starts, columns, pulls, Y, values, cells, origin, spacing, how, out, threads)
        return out

    @cached_property
    def _push(self) -> Push:
        return Push(self.places, self.dof, self.known.spec.threads)
