"""Supervised UMAP: the fuzzy intersection of the graph of X with that of the target y, classes or numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import DistinctRows
from lowdim.data.target import target_array
from lowdim.errors import BadInput
from lowdim.knn.index import neighbors
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, fuzzy_simplicial_set, symmetrize_fuzzy
from lowdim.runtime.warning import warn

__all__ = ["categorical_intersection", "class_codes", "codes_of_distinct", "numeric_intersection", "supervise"]

Array = NDArray[Any]

UNKNOWN = -1  # the code of a row without a label
UNKNOWN_DISTANCE, CLASS_DISTANCE = 1.0, 2.5  # as in umap-learn; the second over 1 - target_weight


def supervise(
    graph: FuzzyGraph, y: Any, metric: str, weight: float, distinct: DistinctRows, k: int, threads: int
) -> FuzzyGraph:
    """The intersection of the graph of the distinct rows with that of y, by target_metric and target_weight."""
    if metric == "categorical":
        given = class_codes(y, len(distinct.inverse))
        if (given == UNKNOWN).all():
            warn("y marks the class of every row as unknown (-1 or missing), so the embedding is unsupervised.")
            return graph
        codes = codes_of_distinct(given, distinct)
        return categorical_intersection(graph, codes, weight, threads)
    return numeric_intersection(graph, y, distinct, weight, k, threads)


def class_codes(y: Any, n: int) -> NDArray[np.int64]:
    """Labels as integer codes from 0; -1, None, NaN and pandas' NA are unknown."""
    labels = target_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n,):
        raise BadInput(f"y must have one label per row ({n}); got shape {labels.shape}.")
    if labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels.tolist()], dtype=bool)
        _require_classes([label for label in labels[~missing].tolist() if isinstance(label, float | np.floating)])
        labels = np.array([str(label) for label in labels.tolist()])
    elif labels.dtype.kind in "fiu":
        missing = np.isnan(labels) | (labels == -1) if labels.dtype.kind == "f" else labels == -1
        _require_classes(labels[~missing])
    else:
        missing = np.zeros(n, dtype=bool)
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return np.where(missing, UNKNOWN, codes)


def _require_classes(labels: Any) -> None:
    """Refuse numbers with decimals, which are measurements: every one would be a class of its own."""
    numbers = np.asarray(labels, dtype=np.float64)
    if (np.isinf(numbers) | (numbers != np.rint(numbers))).any():
        raise BadInput(
            f"y holds numbers with decimals ({len(np.unique(numbers))} different ones), and with "
            "target_metric='categorical' each would be a class. Use target_metric='numeric', or give the classes as "
            "integers or texts."
        )


def _is_missing(label: Any) -> bool:
    """Whether a label is missing: None, -1, or not equal to itself."""
    if label is None:
        return True
    try:
        return bool(label != label or label == -1)
    except TypeError:  # comparisons of pandas' NA have no truth value
        return True


def codes_of_distinct(codes: Array, distinct: DistinctRows) -> NDArray[np.int64]:
    """The code of each distinct row; unknown where equal rows have different labels."""
    out = codes[distinct.first]
    disagree = np.unique(distinct.inverse[codes != out[distinct.inverse]])
    out[disagree] = UNKNOWN
    return out


def categorical_intersection(graph: FuzzyGraph, codes: Array, weight: float, threads: int) -> FuzzyGraph:
    """Edges between classes are scaled by exp(-2.5 / (1 - weight)), those with an unknown label by exp(-1)."""
    left, right = codes[graph.rows], codes[graph.columns]
    far = CLASS_DISTANCE / (1 - weight) if weight < 1 else np.inf
    factor = np.where(left == right, 1.0, np.exp(-far))
    factor = np.where((left == UNKNOWN) | (right == UNKNOWN), np.exp(-UNKNOWN_DISTANCE), factor)
    return _reset_local_connectivity(graph, graph.weights * factor, threads)


def numeric_intersection(
    graph: FuzzyGraph, y: Any, distinct: DistinctRows, weight: float, k: int, threads: int
) -> FuzzyGraph:
    """The product of the weights of both graphs, that of y being (n,) or (n, q), to powers that `weight` balances.

    An edge that is missing in one graph counts there as half its smallest weight. Equal rows have their mean y.
    """
    values = _as_numbers(y)
    values = values[:, None] if values.ndim == 1 else values
    n = len(distinct.inverse)
    if values.ndim != 2 or values.shape[0] != n:
        raise BadInput(f"y must have one row of numbers per row of X ({n}); got shape {np.shape(y)}.")
    if not np.isfinite(values).all():
        raise BadInput("y contains NaN or infinity. Fill such targets, or use target_metric='categorical'.")
    if graph.n < 2:
        return graph
    counts = np.bincount(distinct.inverse).astype(np.float64)
    values = np.column_stack([np.bincount(distinct.inverse, column) / counts for column in values.T])
    other = fuzzy_simplicial_set(neighbors(values, min(k, graph.n - 1), n_jobs=threads), 1.0, 1.0, threads)
    of_x, of_y = graph.to_sparse(), other.to_sparse()
    both = (abs(of_x) > 0) + (abs(of_y) > 0)
    both.sort_indices()
    pattern = FuzzyGraph.from_sparse(both)
    row, column = pattern.rows, pattern.columns
    least = max(float(graph.weights.min(initial=1.0)) / 2, 1e-8), min(max(float(other.weights.min()) / 2, 1e-8), 1e-4)
    left = np.maximum(np.asarray(of_x[row, column]).ravel().astype(np.float64), least[0])
    right = np.maximum(np.asarray(of_y[row, column]).ravel().astype(np.float64), least[1])
    if weight < 0.5:
        right = right ** (weight / (1 - weight))
    else:
        left = left ** ((1 - weight) / weight)
    return _reset_local_connectivity(replace(pattern, lengths=_lengths_of(pattern, graph)), left * right, threads)


def _lengths_of(pattern: FuzzyGraph, graph: FuzzyGraph) -> NDArray[np.float32]:
    """The lengths of the edges of a pattern; one that the graph lacks is as long as the longest at its endpoints."""
    longest = np.zeros(graph.n, dtype=np.float32)
    np.maximum.at(longest, graph.rows, graph.lengths)
    row, column = pattern.rows, pattern.columns
    numbers = np.arange(1, len(graph.columns) + 1)  # 0 means no edge; a length of 0 does not
    numbered = sp.csr_array((numbers, graph.columns, graph.starts), shape=(graph.n, graph.n))
    index = np.asarray(numbered[row, column]).ravel() - 1
    own = graph.lengths[index] if len(graph.lengths) else longest[row]
    return np.where(index >= 0, own, np.maximum(longest[row], longest[column]))


def _as_numbers(y: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(target_array(y), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"y must hold numbers with target_metric='numeric': {error}.") from error


def _reset_local_connectivity(graph: FuzzyGraph, weights: Array, threads: int) -> FuzzyGraph:
    """Scale each row's largest weight to 1, and take the fuzzy union of both directions again."""
    counts = np.diff(graph.starts)
    largest = np.zeros(graph.n)
    filled = counts > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(weights, graph.starts[:-1][filled])
    scale = np.repeat(np.where(largest > 0, largest, 1.0), counts)
    return symmetrize_fuzzy(replace(graph, weights=(weights / scale).astype(np.float32)), 1.0, threads)
