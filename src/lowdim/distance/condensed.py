"""Distances of all pairs of rows, packed in one triangle, and of new rows to old ones.

The triangle is packed as SciPy condenses it. Its numbers are held in a unit (a power of two) in which the largest
is about one, so that squares of huge or tiny distances neither overflow nor vanish.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import finite_error, overflow_error
from lowdim.distance.matrix_checks import checked_distances, rounding_of
from lowdim.distance.metrics import Metric
from lowdim.distance.unit_rows import unit_rows
from lowdim.errors import BadInput
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = [
    "Measure",
    "Pairs",
    "binary_unit",
    "dense_block",
    "given_pairs",
    "given_table",
    "measure_of",
    "pair_weights",
    "safe_factor",
]

Array = NDArray[Any]

SAFE = {4: (1e-15, 1e15), 8: (1e-140, 1e140)}  # by bytes: within these, sums of squares are safe
MOST = {4: 2.0**126, 8: 2.0**1000}  # powers of two that are numbers
BLOCK = 1 << 18
FEW = 64  # rows that SciPy measures at a time: it hears no Ctrl-C meanwhile


@dataclass(frozen=True)
class Pairs:
    """Distances (times `unit`) of all pairs of n rows; `weights` 0 where there is none; weights None: all one."""

    n: int
    distances: Array  # (n (n - 1) / 2,)
    weights: Array | None
    unit: float

    @cached_property
    def total(self) -> float:
        """Σ w δ²"""
        out = 0.0
        for start in range(0, len(self.distances), BLOCK):
            part = self.distances[start : start + BLOCK].astype(np.float64)
            out += float(part @ (part if self.weights is None else part * self.weights[start : start + BLOCK]))
        return out

    def narrow(self) -> Pairs:
        """The same in single precision."""
        weights = None if self.weights is None else self.weights.astype(np.float32)
        return Pairs(self.n, self.distances.astype(np.float32), weights, self.unit)

    def row(self, i: int) -> slice:
        """Where the pairs (i, i + 1), (i, i + 2) … stand."""
        start = i * self.n - i * (i + 1) // 2
        return slice(start, start + self.n - i - 1)


@dataclass(frozen=True)
class Measure:
    """Rows made ready for a distance; `factor` brought them to a safe size."""

    metric: Metric
    table: Array  # (n, d)
    factor: float
    threads: int

    @property
    def scale(self) -> float:
        """From the kernel's number to a distance."""
        squared = self.metric.kernel == 0 and not self.metric.root and not self.metric.unit_rows
        return self.metric.scale / (self.factor**2 if squared else self.factor)

    @property
    def kernel(self) -> int | None:
        """The native sum over columns; None if SciPy must do it."""
        return None if self.metric.bits else self.metric.kernel

    def pairs(self) -> Pairs:
        """Of all pairs of rows."""
        n = len(self.table)
        require_pairs(n, self.table.itemsize)
        out = np.empty(n * (n - 1) // 2, dtype=self.table.dtype)
        if self.kernel is not None:
            _native.measure_pairs(self.table, self.kernel, self.metric.root, self.scale, out, self.threads)
        else:
            whole = Pairs(n, out, None, 1.0)
            for i in range(n - 1):
                out[whole.row(i)] = self._by_scipy(self.table[i : i + 1], self.table[i + 1 :])[0]
        return _in_units(n, out, None)

    def to(self, new: Measure) -> Array:
        """Of new rows to these, (m, n)."""
        m, n = len(new.table), len(self.table)
        out = np.empty((m, n), dtype=self.table.dtype)
        if self.kernel is not None:
            root = self.metric.root
            _native.measure_rows(new.table, self.table, self.kernel, root, self.scale, out, self.threads)
        else:
            for start in range(0, m, FEW):
                out[start : start + FEW] = self._by_scipy(new.table[start : start + FEW], self.table)
                report("measuring distances", min(start + FEW, m), m)
        if not np.isfinite(out).all():
            raise overflow_error()
        return out

    def _by_scipy(self, A: Array, B: Array) -> Array:
        from scipy.spatial.distance import cdist

        if self.metric.function is None:
            return np.asarray(cdist(A != 0, B != 0, metric=self.metric.name))
        out = np.asarray(cdist(A, B, metric=self.metric.function))
        rounding = rounding_of(out.dtype) * np.fmax.reduce(out, axis=None, initial=0.0)
        bad = ~(np.isfinite(out) & (out >= -rounding))
        if bad.any():
            raise BadInput(
                f"the metric must give a finite number of at least 0 for any two rows; for two of them it gave "
                f"{out[bad][0]}."
            )
        return np.maximum(out, 0)


def measure_of(rows: Rows, metric: Metric, threads: int, like: Measure | None = None) -> Measure:
    """Rows ready for a metric; `like` says how others were made ready, and in which precision."""
    dtype = rows.dtype if like is None else like.table.dtype
    if metric.unit_rows:
        return Measure(metric, unit_rows(rows, metric, threads, dtype), 1.0, threads)
    n, d = rows.count, rows.d
    require_memory(dtype.itemsize * n * d, f"a table of {n} x {d} values", "Use fewer rows or columns.")
    whole = rows.whole()
    given = whole.toarray() if sp.issparse(whole) else whole
    with np.errstate(over="ignore"):
        table = given.astype(dtype, copy=False)
    if not np.isfinite(table).all():
        raise finite_error(rows, Chunk(0, n, lambda: given))
    if metric.bits and not ((table == 0) | (table == 1)).all():
        raise BadInput(f"metric {metric.name!r} compares sets: every value must be 0 or 1. Binarise the columns.")
    factor = safe_factor(table) if like is None else like.factor
    return Measure(metric, table if factor == 1 else table * table.dtype.type(factor), factor, threads)


def dense_block(rows: Rows, begin: int, end: int) -> Array:
    """Rows begin … end as a dense array."""
    block = rows.block(begin, end)
    return np.asarray(block.toarray() if rows.sparse else block)


def given_table(rows: Rows, *, missing: bool) -> Array:
    """A square table of distances, in which NaN may say that a distance is not known."""
    n = rows.count
    if rows.sparse or rows.d != n:
        kind = "sparse" if rows.sparse else "dense"
        raise BadInput(
            f"metric='precomputed' needs a dense square table of distances; got a {kind} one of shape ({n}, {rows.d})."
        )
    return checked_distances(rows.whole(), missing=missing)


def given_pairs(D: Array, weights: Any) -> Pairs:
    """Pairs of such a table."""
    n, dtype = len(D), D.dtype
    require_pairs(n, D.itemsize)
    out = np.empty(n * (n - 1) // 2, dtype=dtype)
    where = Pairs(n, out, None, 1.0)
    for i in range(n - 1):
        out[where.row(i)] = D[i, i + 1 :]
    missing = np.isnan(out)
    heavy = pair_weights(weights, n, dtype)
    if missing.any():
        out[missing] = 0
        heavy = np.ones(len(out), dtype=dtype) if heavy is None else heavy
        heavy[missing] = 0
    return _in_units(n, out, heavy)


def pair_weights(weights: Any, n: int, dtype: np.dtype[Any]) -> Array | None:
    """Weights of pairs, given as a symmetric table (n, n), packed."""
    if weights is None:
        return None
    W = np.asarray(weights)
    if W.shape != (n, n) or W.dtype.kind not in "fiub":
        raise BadInput(f"weights must be a table of numbers of shape ({n}, {n}), one a pair; got shape {W.shape}.")
    off = ~np.eye(n, dtype=bool)
    if not np.isfinite(W[off]).all() or (W[off] < 0).any() or not np.allclose(W, W.T, equal_nan=True):
        raise BadInput("weights must be finite, symmetric and not negative; a pair of weight 0 does not count.")
    wide = W[np.triu_indices(n, 1)]
    if not wide.any():
        raise BadInput("weights are zero for every pair; at least one pair must count.")
    with np.errstate(over="ignore", under="ignore"):
        out = np.asarray(wide, dtype=dtype)
    if not np.isfinite(out).all() or ((out == 0) != (wide == 0)).any():
        raise BadInput(
            f"weights are too large or too small for {dtype}. Rescale them: the map depends on their ratios."
        )
    return out


def require_pairs(n: int, itemsize: int) -> None:
    """A refusal before all pairs of n rows are held in memory."""
    require_memory(
        n * (n - 1) // 2 * itemsize * 2,
        f"the distances of all pairs of {n} rows",
        "Use MDS(solver='sgd') on the data, float32, or fewer rows.",
    )


def binary_unit(largest: float) -> float:
    """The power of two next to a number: dividing by it changes no bit of the rest."""
    return float(2.0 ** np.clip(np.round(np.log2(largest)), -1000, 1000)) if largest > 0 else 1.0


def _in_units(n: int, distances: Array, weights: Array | None) -> Pairs:
    largest = float(distances.max(initial=0.0))
    if not np.isfinite(largest) or np.isnan(distances).any():
        raise overflow_error()
    unit = binary_unit(largest)
    with np.errstate(under="ignore"):
        np.divide(distances, distances.dtype.type(unit), out=distances)
    return Pairs(n, distances, weights, unit)


def safe_factor(table: Array) -> float:
    """What brings numbers to a size at which sums of their squares are safe: 1, or a power of two."""
    largest = max(float(table.max(initial=0.0)), -float(table.min(initial=0.0)))  # no second table
    low, high = SAFE[table.dtype.itemsize]
    if largest == 0 or low < largest < high:
        return 1.0
    return min(1.0 / binary_unit(largest), MOST[table.dtype.itemsize])  # subnormal numbers would need more
