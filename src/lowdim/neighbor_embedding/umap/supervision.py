"""What is known of the rows besides their columns, put into a fuzzy graph: classes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import DistinctRows
from lowdim.errors import BadInput
from lowdim.knn.index import neighbors
from lowdim.neighbor_embedding.umap.fuzzy_graph import Fuzzy, fuzzy_of, symmetric

__all__ = ["Target", "class_codes", "codes_of_distinct", "with_classes", "with_numbers"]

Array = NDArray[Any]

UNKNOWN = -1  # the class of a row that has none


@dataclass(frozen=True)
class Target:
    """What y holds ("categorical" or "numeric"), and how much it counts."""

    kind: str
    weight: float

    def put_into(self, graph: Fuzzy, y: Any, distinct: DistinctRows, k: int, threads: int) -> Fuzzy:
        """The graph of the distinct rows, with what y (unless it is None) says of the rows."""
        if y is None:
            return graph
        if self.kind == "categorical":
            codes = codes_of_distinct(class_codes(y, len(distinct.inverse)), distinct)
            return with_classes(graph, codes, self.weight, threads)
        return with_numbers(graph, y, distinct, self.weight, k, threads)


def class_codes(y: Any, n: int) -> NDArray[np.int64]:
    """Labels as numbers from 0; -1, None, NaN and pandas' NA are unknown."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n,):
        raise BadInput(f"y must have one label a row ({n}); got shape {labels.shape}.")
    if labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels.tolist()], dtype=bool)
        labels = np.array([str(label) for label in labels.tolist()])
    elif labels.dtype.kind in "fiu":
        missing = np.isnan(labels) | (labels == -1) if labels.dtype.kind == "f" else labels == -1
    else:
        missing = np.zeros(n, dtype=bool)
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return np.where(missing, UNKNOWN, codes)


def _is_missing(label: Any) -> bool:
    """Whether a label is none: None, -1, or something that is not equal to itself."""
    if label is None:
        return True
    try:
        return bool(label != label or label == -1)
    except TypeError:  # pandas' NA does not even know whether it is
        return True


def codes_of_distinct(codes: Array, distinct: DistinctRows) -> NDArray[np.int64]:
    """The class of each distinct row; unknown where equal rows disagree."""
    out = codes[distinct.first]
    disagree = np.unique(distinct.inverse[codes != out[distinct.inverse]])
    out[disagree] = UNKNOWN
    return out


def with_classes(graph: Fuzzy, codes: Array, weight: float, threads: int) -> Fuzzy:
    """Edges between different classes are weakened by exp(-2.5 / (1 - weight)), those of unknown class by exp(-1)."""
    left, right = codes[graph.rows], codes[graph.columns]
    far = 2.5 / (1 - weight) if weight < 1 else np.inf
    factor = np.where(left == right, 1.0, np.exp(-far))
    factor = np.where((left == UNKNOWN) | (right == UNKNOWN), np.exp(-1.0), factor)
    return _connected_again(graph, graph.weights * factor, threads)


def with_numbers(graph: Fuzzy, y: Any, distinct: DistinctRows, weight: float, k: int, threads: int) -> Fuzzy:
    """The product of the graph and that of the numbers y (n,) or (n, q), to powers that `weight` balances.

    An edge that is missing on one side counts there as half of that side's smallest. Equal rows have their mean y.
    """
    values = _numbers(y)
    values = values[:, None] if values.ndim == 1 else values
    n = len(distinct.inverse)
    if values.ndim != 2 or values.shape[0] != n:
        raise BadInput(f"y must have one row of numbers a row of X ({n}); got shape {np.shape(y)}.")
    if not np.isfinite(values).all():
        raise BadInput("y contains NaN or infinity. Fill such targets, or use target_metric='categorical'.")
    if graph.n < 2:
        return graph
    times = np.bincount(distinct.inverse).astype(np.float64)
    values = np.column_stack([np.bincount(distinct.inverse, column) / times for column in values.T])
    other = fuzzy_of(neighbors(values, min(k, graph.n - 1), n_jobs=threads), 1.0, 1.0, threads)
    ours, theirs = graph.to_sparse(), other.to_sparse()
    both = (abs(ours) > 0) + (abs(theirs) > 0)
    both.sort_indices()
    pattern = Fuzzy.from_sparse(both)
    row, column = pattern.rows, pattern.columns
    least = max(float(graph.weights.min(initial=1.0)) / 2, 1e-8), min(max(float(other.weights.min()) / 2, 1e-8), 1e-4)
    left = np.maximum(np.asarray(ours[row, column]).ravel().astype(np.float64), least[0])
    right = np.maximum(np.asarray(theirs[row, column]).ravel().astype(np.float64), least[1])
    if weight < 0.5:
        right = right ** (weight / (1 - weight))
    else:
        left = left ** ((1 - weight) / weight)
    return _connected_again(replace(pattern, lengths=_lengths_of(pattern, graph)), left * right, threads)


def _lengths_of(pattern: Fuzzy, graph: Fuzzy) -> NDArray[np.float32]:
    """The lengths of the edges of a pattern; one that the graph lacks counts as the longest at its ends."""
    longest = np.zeros(graph.n, dtype=np.float32)
    np.maximum.at(longest, graph.rows, graph.lengths)
    row, column = pattern.rows, pattern.columns
    numbers = np.arange(1, len(graph.columns) + 1)  # of the edges; 0 is no edge, though a length may be 0
    places = sp.csr_array((numbers, graph.columns, graph.starts), shape=(graph.n, graph.n))
    place = np.asarray(places[row, column]).ravel() - 1
    own = graph.lengths[place] if len(graph.lengths) else longest[row]
    return np.where(place >= 0, own, np.maximum(longest[row], longest[column]))


def _numbers(y: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"y must hold numbers with target_metric='numeric': {error}.") from error


def _connected_again(graph: Fuzzy, weights: Array, threads: int) -> Fuzzy:
    """Each row's largest weight is 1 again, and both views of an edge are joined anew."""
    counts = np.diff(graph.starts)
    largest = np.zeros(graph.n)
    filled = counts > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(weights, graph.starts[:-1][filled])
    scale = np.repeat(np.where(largest > 0, largest, 1.0), counts)
    return symmetric(replace(graph, weights=(weights / scale).astype(np.float32)), 1.0, threads)
