"""Density-connected sets (DBSCAN's clusters), with all their border rows, whatever the order of the rows.

A row is a core row if at least `min_samples` rows, itself included, are within `eps`. Core rows within eps of each
other belong to one set, and so does every row within eps of one of them: a border row may belong to several sets.
Distances are Euclidean and compared as they are rounded, so a new row is judged as a fitted one was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import KDTree

from lowdim.runtime.progress import report
from lowdim.subspace._windows import window_ends

__all__ = ["DensitySet", "density_connected_sets", "near_any"]

Array = NDArray[Any]

BLOCK_PAIRS = 1 << 21  # pairs of rows within eps that are held at a time
SLACK = 1e-9  # the tree rounds its bounds: it is asked for a little more, and distances decide


@dataclass(frozen=True, eq=False)
class DensitySet:
    """One density-connected set."""

    rows: NDArray[np.intp]  # core and border rows, ascending
    core: NDArray[np.intp]  # core rows, ascending


def density_connected_sets(X: Array, eps: float, min_samples: int) -> list[DensitySet]:
    """The density-connected sets of rows X (n, k), by their first core row."""
    if len(X) < min_samples:
        return []
    found = _sets_on_a_line(X[:, 0], eps, min_samples) if X.shape[1] == 1 else _sets_in_space(X, eps, min_samples)
    return sorted(found, key=lambda one: int(one.core[0]))


def near_any(points: Array, queries: Array, eps: float) -> NDArray[np.bool_]:
    """Which queries (m, k) are within eps of any of the points (n, k)."""
    out = np.zeros(len(queries), dtype=bool)
    for first, _ in _PairBlocks(KDTree(points), points, queries, eps):
        out[first] = True
    return out


def _sets_on_a_line(values: Array, eps: float, min_samples: int) -> list[DensitySet]:
    """In one dimension, sorted values say it all."""
    order = np.argsort(values, kind="stable")
    line = values[order]
    after = window_ends(line, eps)
    before = len(line) - window_ends(-line[::-1], eps)[::-1]
    core = np.flatnonzero(after - before >= min_samples)
    if not len(core):
        return []
    parts = np.split(core, np.flatnonzero(np.diff(line[core]) > eps) + 1)
    spans = [(before[part[0]], after[part[-1]]) for part in parts]  # border rows on both sides
    return [
        DensitySet(np.sort(order[start:stop]), np.sort(order[part]))
        for part, (start, stop) in zip(parts, spans, strict=True)
    ]


def _sets_in_space(X: Array, eps: float, min_samples: int) -> list[DensitySet]:
    tree, n = KDTree(X), len(X)
    blocks: Any = _PairBlocks(tree, X, X, eps)
    if blocks.total <= BLOCK_PAIRS:
        blocks = list(blocks)  # read twice
    counts = sum((np.bincount(first, minlength=n) for first, _ in blocks), np.zeros(n, dtype=np.intp))
    is_core, component = counts >= min_samples, np.arange(n)
    border: list[tuple[Array, Array]] = []  # border rows, and core rows that reach them
    for first, second in blocks:
        inner = is_core[first] & is_core[second]
        component = _merge(component, first[inner], second[inner])
        outer = is_core[first] & ~is_core[second]
        border.append((second[outer], first[outer]))
    reached, by = (np.concatenate(parts) for parts in zip(*border, strict=True))
    return [
        DensitySet(np.union1d(core, reached[component[by] == c]), core)
        for c in np.unique(component[is_core])
        if len(core := np.flatnonzero(is_core & (component == c)))
    ]


def _merge(component: NDArray[np.intp], a: Array, b: Array) -> NDArray[np.intp]:
    """Components after rows a and b were joined pair by pair; each is named by a number of its own."""
    n = len(component)
    ends = component[a], component[b]
    graph = sp.csr_array((np.ones(len(a), dtype=np.int8), ends), shape=(n, n))
    _, joined = connected_components(graph, directed=False)
    return np.asarray(joined[component], dtype=np.intp)


class _PairBlocks:
    """Pairs (query, point) within eps, for a few queries at a time; can be read several times."""

    def __init__(self, tree: KDTree, points: Array, queries: Array, eps: float) -> None:
        self.tree, self.points, self.queries, self.eps = tree, points, queries, eps
        self.reach = eps * (1 + SLACK)
        self.ends = np.cumsum(tree.query_radius(queries, self.reach, count_only=True))  # pairs up to each query
        self.total = int(self.ends[-1])

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        start = 0
        while start < len(self.queries):
            report("density: rows within eps", start, len(self.queries))
            taken = self.ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(self.ends, taken + BLOCK_PAIRS, side="right")))
            near = self.tree.query_radius(self.queries[start:stop], self.reach)
            first = np.repeat(np.arange(start, stop), [len(one) for one in near])
            second = np.concatenate(near)
            inside = np.sqrt(_squares(self.queries[first] - self.points[second])) <= self.eps
            yield first[inside], second[inside]
            start = stop


def _squares(differences: Array) -> Array:
    """Sums of squares, column by column: the same bits for any number of rows."""
    total = np.zeros(len(differences))
    for column in differences.T:
        total += column * column
    return total
