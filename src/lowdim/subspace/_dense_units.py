"""Dense units of a grid, level by level (a-priori), and the connected sets of them.

A unit is an intersection of intervals of different columns. Every projection of a dense unit is dense, so the units of
k columns are sought among those whose projections onto k - 1 columns are all dense. A unit is a row of item numbers; an
item is one interval of one column (`Grid.starts`), so ascending items are ascending columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from lowdim import _native
from lowdim.errors import SearchTooLarge
from lowdim.runtime.progress import report
from lowdim.subspace._grid import Grid

__all__ = ["Bitmaps", "DenseUnits", "connected_units", "dense_units", "mdl_cut", "projected_supports", "subspaces_of"]

Array = NDArray[Any]
Units = NDArray[np.int32]  # (m, k), rows in lexicographic order


@dataclass(frozen=True, eq=False)
class Bitmaps:
    """One bit per row for each interval: which rows are in it."""

    words: NDArray[np.uint64]  # (items, ⌈n / 64⌉)
    n: int
    threads: int

    def supports(self, units: Units) -> NDArray[np.int64]:
        """The number of rows in each unit."""
        counts = np.empty(len(units), dtype=np.int64)
        _native.unit_supports(self.words, units, counts, self.threads)
        return counts

    def union(self, units: Units, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """The bitmap of the rows in any of the units, added to `out`."""
        out = np.zeros(self.words.shape[1], dtype=np.uint64) if out is None else out
        _native.unit_rows(self.words, units, out, self.threads)
        return out

    def rows(self, bitmap: NDArray[np.uint64]) -> NDArray[np.intp]:
        """The rows of a bitmap."""
        little = bitmap.astype("<u8", copy=False).view(np.uint8)
        return np.flatnonzero(np.unpackbits(little, count=self.n, bitorder="little"))


@dataclass(frozen=True, eq=False)
class DenseUnits:
    """The dense units of one number of columns, and their rows."""

    units: Units  # (m, k)
    supports: NDArray[np.int64]  # (m,)


def dense_units(grid: Grid, bitmaps: Bitmaps, *, prune: bool, max_units: int) -> list[DenseUnits]:
    """The dense units of 1, 2, … columns; `prune` drops subspaces of low coverage by MDL at every level."""
    axis_of, levels = grid.axis_of, []
    candidates = np.arange(len(grid.least), dtype=np.int32)[:, None]
    while len(candidates):
        k = candidates.shape[1]
        report("CLIQUE: dense units", k, len(grid.columns), candidates=len(candidates))
        supports = bitmaps.supports(candidates)
        dense = supports >= grid.least[candidates].max(axis=1)
        level = DenseUnits(np.ascontiguousarray(candidates[dense]), supports[dense])
        if prune:
            level = _prune_subspaces(level, axis_of)
        if not len(level.units):
            break
        levels.append(level)
        candidates = join(level.units, axis_of, max_units)
    return levels


def join(units: Units, axis_of: NDArray[np.int32], max_units: int) -> Units:
    """Candidates of one more column: pairs that differ in the last item alone, all of whose projections are dense."""
    m, k = units.shape
    ends = _prefix_ends(units)
    partners = ends - np.arange(m) - 1
    total = int(partners.sum())
    if total > max_units:
        raise SearchTooLarge(
            f"the dense units of {k} columns make {total} candidates of {k + 1}, more than max_units={max_units}. "
            "Raise tau (alpha, with the adaptive grid), take fewer intervals (xi), or raise max_units."
        )
    left = np.repeat(np.arange(m), partners)
    right = left + 1 + np.arange(total) - np.repeat(np.cumsum(partners) - partners, partners)
    apart = axis_of[units[left, -1]] != axis_of[units[right, -1]]
    candidates = np.column_stack([units[left[apart]], units[right[apart], -1]])
    known = _keys(units)
    for dropped in range(k - 1):  # the last two projections are the pair itself
        found = _contains(known, _keys(np.delete(candidates, dropped, axis=1)))
        candidates = candidates[found]
    return np.ascontiguousarray(candidates, dtype=np.int32)


def subspaces_of(units: Units, axis_of: NDArray[np.int32]) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp]]]:
    """Every subspace (its axes) with the indices of its units, in order."""
    axes, inverse = np.unique(axis_of[units], axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    bounds = np.cumsum(np.bincount(inverse.ravel(), minlength=len(axes)))[:-1]
    for axis_row, members in zip(axes, np.split(order, bounds), strict=True):
        yield tuple(axis_row.tolist()), members


def connected_units(units: Units, axis_of: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """The sets of units (sorted, of any subspaces) that are connected through common faces, as indices."""
    m, k = units.shape
    known, ends = _keys(units), [(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))]
    for position in range(k):
        beside = units.copy()
        beside[:, position] += 1  # the next interval, if the column has one more
        inside = np.flatnonzero(beside[:, position] < len(axis_of))
        inside = inside[axis_of[beside[inside, position]] == axis_of[units[inside, position]]]
        wanted = _keys(beside[inside])
        found = np.minimum(np.searchsorted(known, wanted), m - 1)
        same = known[found] == wanted
        ends.append((inside[same], found[same]))
    first, second = (np.concatenate(part) for part in zip(*ends, strict=True))
    graph = sp.csr_array((np.ones(len(first), dtype=bool), (first, second)), shape=(m, m))
    count, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])


def projected_supports(levels: list[DenseUnits], k: int, grid: Grid, n: int) -> tuple[Array, Array]:
    """For each dense unit of k columns, the rows without the condition of one of them, (m, k), and the share that would
    fulfill it if that column were independent of the others.

    The share is that of all rows in the column's interval; for units of one column it is the interval's width.
    """
    units = levels[k - 1].units
    if k == 1:
        widths = np.concatenate([np.diff(edges) / (edges[-1] - edges[0]) for edges in grid.edges])
        return np.full(units.shape, n), widths[units]
    shares = np.zeros(len(grid.least))
    shares[levels[0].units[:, 0]] = levels[0].supports / n
    known, supports = _keys(levels[k - 2].units), np.empty(units.shape, dtype=np.int64)
    for position in range(k):
        place = np.searchsorted(known, _keys(np.delete(units, position, axis=1)))
        supports[:, position] = levels[k - 2].supports[place]
    return supports, shares[units]


def mdl_cut(coverages: Array) -> int:
    """How many subspaces to keep of those of descending coverage: the two groups with the shortest code.

    Each group is encoded by its mean and the differences from it (minimum description length).
    """
    lengths = [_code_length(coverages[:kept]) + _code_length(coverages[kept:]) for kept in range(1, len(coverages) + 1)]
    return int(np.argmin(lengths)) + 1


def _code_length(coverages: Array) -> float:
    if not len(coverages):
        return 0.0
    mean = np.ceil(coverages.mean())
    return float(np.log2(np.maximum(mean, 1)) + np.log2(np.maximum(np.abs(coverages - mean), 1)).sum())


def _prune_subspaces(level: DenseUnits, axis_of: NDArray[np.int32]) -> DenseUnits:
    if not len(level.units):
        return level
    members = [units for _, units in subspaces_of(level.units, axis_of)]
    coverage = np.array([level.supports[units].sum() for units in members])
    order = np.argsort(-coverage, kind="stable")
    kept = np.sort(np.concatenate([members[i] for i in order[: mdl_cut(coverage[order])]]))
    return DenseUnits(np.ascontiguousarray(level.units[kept]), level.supports[kept])


def _prefix_ends(units: Units) -> NDArray[np.intp]:
    """For each unit, the index after the last one with the same items but the last."""
    m = len(units)
    new = np.concatenate([[True], (units[1:, :-1] != units[:-1, :-1]).any(axis=1)])
    bounds = np.append(np.flatnonzero(new), m)
    return np.repeat(bounds[1:], np.diff(bounds))


def _keys(units: Array) -> Array:
    """One word per row that sorts like the row."""
    return np.ascontiguousarray(units.astype(">u4")).view(f"S{4 * units.shape[1]}").ravel()


def _contains(known: Array, keys: Array) -> NDArray[np.bool_]:
    """Which keys are among the sorted known ones."""
    position = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(known[position] == keys)
