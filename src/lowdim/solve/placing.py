"""New rows on a frozen t-SNE map: each is drawn to its neighbours and pushed by the whole map, by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.check import finite_error
from lowdim.data.rows import Rows, open_rows
from lowdim.distances import Metric
from lowdim.errors import BadInput
from lowdim.progress import report
from lowdim.solve.descent import LONGEST, MOMENTUM, repulsion_for
from lowdim.solve.mesh import Fields, MeshRepulsion
from lowdim.solve.tree import TreeRepulsion
from lowdim.summaries import given
from lowdim.summaries.affinities import conditional, neighbor_count
from lowdim.summaries.distinct import find_rows, row_marks
from lowdim.summaries.known import table_of
from lowdim.summaries.neighbors import Found, NeighborIndex

__all__ = ["Placer", "Placing"]

Array = NDArray[Any]
Floats = NDArray[np.float32]

START = 10  # nearest rows whose middle a new row starts from
STEPS = 100
RATE = 1.0  # that of the fitted map's last steps


@dataclass(frozen=True)
class Placing:
    """How rows are compared and moved."""

    metric: Metric
    perplexity: tuple[float, ...]
    dof: float
    threads: int


class Push:
    """The repulsion of a map at any place, ready to be asked: fields of a mesh, a tree, or the sum over all rows."""

    def __init__(self, Y: Floats, rule: Placing) -> None:
        repulsion = repulsion_for(len(Y), Y.shape[1], rule.dof, rule.threads)
        self.fields: Fields | None = None
        self.tree = repulsion.rule if isinstance(repulsion, TreeRepulsion) else (0.0, 0.0)
        if isinstance(repulsion, MeshRepulsion):
            self.fields = repulsion.fields(Y)
        self.mean = max(repulsion(Y)[1], 1e-12) / len(Y)  # of the kernel's sums over the rows of the map


class Placer:
    """Puts rows on a map. `training` are the rows of the map; None if new rows hold distances to them.

    What takes long (the search index, the marks of rows, the fields) is made once, when it is first needed.
    """

    def __init__(self, training: Any, embedding: Array, rule: Placing) -> None:
        self.training, self.rule = training, rule
        self.map: Floats = np.ascontiguousarray(embedding, dtype=np.float32)

    def place(self, rows: Rows) -> Floats:
        """Places of the rows, (m, k): those of the fitted row that each equals, or new ones."""
        if self.training is None:
            return self._by_distances(rows)
        axes = self.map.shape[1]
        out = np.empty((rows.count, axes), dtype=np.float32)
        for chunk in rows.chunks():
            block = chunk.load()
            if not np.isfinite(block.data if sp.issparse(block) else block).all():
                raise finite_error(rows, chunk)
            out[chunk.start : chunk.stop] = self._place(block)
            report("placing rows", chunk.stop, rows.count)
        return out

    def _by_distances(self, rows: Rows) -> Floats:
        """The same of rows of distances; at distance 0 stands a fitted row."""
        n = len(self.map)
        if rows.d != n:
            raise BadInput(f"metric='precomputed' needs distances to all {n} fitted rows; got {rows.d} columns.")
        lists = given.chosen(rows, n, min(n, neighbor_count(self.rule.perplexity)), False, self.rule.threads)
        out = self._moved(Found(lists.indices, lists.distances))
        same = lists.distances[:, 0] == 0
        out[same] = self.map[lists.indices[same, 0]]
        return out

    def _place(self, block: Any) -> Floats:
        if sp.issparse(block) != sp.issparse(self.training):
            block = block.toarray() if sp.issparse(block) else sp.csr_array(block)
        if sp.issparse(block):
            block = table_of(open_rows(block))
        known = self._known(block)
        out = self.map[known]
        new = np.flatnonzero(known < 0)
        if len(new):
            found = self._nearest(block if len(new) == len(known) else block[new])
            out[new] = self._moved(found)
        return out

    def _known(self, block: Any) -> NDArray[np.int64]:
        """The fitted row that each row equals, or -1."""
        alike = block.astype(self.training.dtype, copy=False)
        known = find_rows(alike, self.training, self._marks, self.rule.threads)
        if alike.dtype == block.dtype:
            return known
        rounded = np.asarray((alike != block).sum(axis=1)).ravel() > 0
        return np.where(rounded, -1, known)

    def _nearest(self, block: Any) -> Found:
        """Exactly, so that a row's place does not depend on the rows that come with it."""
        k = min(len(self.map), neighbor_count(self.rule.perplexity))
        return self._index.query(open_rows(block), k)

    def _moved(self, found: Found) -> Floats:
        rule, push, Y = self.rule, self._push, self.map
        weights = conditional(found.distances, rule.perplexity, rule.threads)
        first = found.indices[:, : min(START, found.indices.shape[1])]
        places = np.ascontiguousarray(np.median(Y[first], axis=1), dtype=np.float32)
        starts = np.arange(len(places) + 1, dtype=np.int64) * found.indices.shape[1]
        columns, pulls = np.ascontiguousarray(found.indices).ravel(), np.ascontiguousarray(weights).ravel()
        cells: list[int] = [] if push.fields is None else list(push.fields.box.cells)
        origin = np.zeros(0, dtype=np.float32) if push.fields is None else push.fields.box.origin
        spacing = 1.0 if push.fields is None else push.fields.box.spacing
        values = None if push.fields is None else push.fields.values
        how = (rule.dof, 1 / push.mean, RATE, MOMENTUM, LONGEST, STEPS, *push.tree)
        _native.place_rows(starts, columns, pulls, Y, values, cells, origin, spacing, how, places, rule.threads)
        return places

    @cached_property
    def _index(self) -> NeighborIndex:
        metric = self.rule.metric.function or self.rule.metric.name
        return NeighborIndex(self.training, metric=metric, algorithm="exact", n_jobs=self.rule.threads)

    @cached_property
    def _marks(self) -> NDArray[np.uint64]:
        return row_marks(self.training, self.rule.threads)

    @cached_property
    def _push(self) -> Push:
        return Push(self.map, self.rule)
