"""New rows on a frozen t-SNE map: each is drawn to its neighbours and pushed by the whole map, by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Rows
from lowdim.distances import Metric
from lowdim.errors import BadInput
from lowdim.solve.descent import LONGEST, MOMENTUM, repulsion_for
from lowdim.solve.mesh import Fields, MeshRepulsion
from lowdim.summaries import given
from lowdim.summaries.affinities import conditional, neighbor_count
from lowdim.summaries.neighbors import Found, NeighborIndex

__all__ = ["Placing", "place"]

Array = NDArray[Any]

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


def place(rows: Rows, training: Any, embedding: Array, rule: Placing) -> NDArray[np.float32]:
    """Places of the rows, (m, k). `training` are the rows of the map; None if `rows` hold distances to them."""
    Y = np.ascontiguousarray(embedding, dtype=np.float32)
    found = _nearest(rows, training, len(Y), rule)
    weights = conditional(found.distances, rule.perplexity, rule.threads)
    first = found.indices[:, : min(START, found.indices.shape[1])]
    places = np.ascontiguousarray(np.median(Y[first], axis=1), dtype=np.float32)
    _move(places, found.indices, weights, Y, rule)
    for row, twin in _twins(rows, training, found):
        places[row] = Y[twin]
    return places


def _nearest(rows: Rows, training: Any, n: int, rule: Placing) -> Found:
    """Exactly, so that a row's place does not depend on the rows that come with it."""
    k = min(n, neighbor_count(rule.perplexity))
    if training is not None:
        metric = rule.metric.function or rule.metric.name
        return NeighborIndex(training, metric=metric, algorithm="exact", n_jobs=rule.threads).query(rows, k)
    if rows.d != n:
        raise BadInput(f"metric='precomputed' needs distances to all {n} fitted rows; got {rows.d} columns.")
    lists = given.chosen(rows, n, k, False, rule.threads)
    return Found(lists.indices, lists.distances)


def _move(places: Array, indices: Array, weights: Array, Y: Array, rule: Placing) -> None:
    repulsion = repulsion_for(len(Y), rule.dof, rule.threads)
    fields: Fields | None = None
    if isinstance(repulsion, MeshRepulsion):
        fields = repulsion.fields(Y)
        total = fields.at(Y, rule.threads)[1] - len(Y)
    else:
        total = repulsion(Y)[1]
    mean = max(total, 1e-12) / len(Y)  # of the kernel's sums over the rows of the map
    starts = np.arange(len(places) + 1, dtype=np.int64) * indices.shape[1]
    cells: list[int] = [] if fields is None else list(fields.box.cells)
    origin = np.zeros(0, dtype=np.float32) if fields is None else fields.box.origin
    spacing = 1.0 if fields is None else fields.box.spacing
    values = None if fields is None else fields.values
    how = (rule.dof, 1 / mean, RATE, MOMENTUM, LONGEST, STEPS)
    columns, pulls = np.ascontiguousarray(indices).ravel(), np.ascontiguousarray(weights).ravel()
    _native.place_rows(starts, columns, pulls, Y, values, cells, origin, spacing, how, places, rule.threads)


def _twins(rows: Rows, training: Any, found: Found) -> list[tuple[int, int]]:
    """Rows that equal a row of the map, with the first such row."""
    out = []
    for row in np.flatnonzero(found.distances[:, 0] == 0):
        nearest = found.indices[row, found.distances[row] == 0]
        if training is None:
            out.append((int(row), int(nearest[0])))
            continue
        block = rows.block(int(row), int(row) + 1)
        new = block.toarray() if sp.issparse(block) else block
        for twin in nearest:
            old = training[[twin]].toarray() if sp.issparse(training) else training[twin]
            if np.array_equal(np.ravel(new), np.ravel(old)):
                out.append((int(row), int(twin)))
                break
    return out
