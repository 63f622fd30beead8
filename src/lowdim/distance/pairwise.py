"""Pairwise distances between rows: all pairs of one table (SciPy's pdist), or new rows to old ones (cdist)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import not_finite_error, overflow_error
from lowdim.distance.condensed import Pairs, binary_unit, in_binary_unit, require_memory_of_pairs, safe_factor
from lowdim.distance.gower_distance import undefined_gower_error
from lowdim.distance.mapped_rows import mapped_rows
from lowdim.distance.matrix_checks import rounding_of
from lowdim.distance.metrics import SQUARES, Metric
from lowdim.distance.unit_rows import unit_rows
from lowdim.errors import BadInput
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = ["MetricRows", "dense_block", "function_distances", "not_binary_error", "one_number", "prepare_rows"]

Array = NDArray[Any]

SCIPY_ROWS = 64  # rows per call of SciPy, which can't be interrupted


@dataclass(frozen=True)
class MetricRows:
    """Rows prepared for a fitted metric: dense, mapped, of a safe size (times `factor`), of unit length if need be."""

    metric: Metric
    table: Array  # (n, d)
    factor: float
    threads: int

    @property
    def scale(self) -> float:
        """Factor from what the native kernel returns to a distance."""
        squared = self.metric.kernel == SQUARES and not self.metric.root and not self.metric.unit_rows
        if not self.metric.homogeneous:
            return self.metric.scale
        scale = self.metric.scale / self.factor
        return scale / self.factor if squared else scale

    @property
    def kernel(self) -> int | None:
        """The native sum over columns; None if a function computes the distance."""
        return self.metric.kernel

    @property
    def params(self) -> Array | None:
        """What the native kernel takes beside the rows."""
        return self.metric.kernel_params(self.table.dtype, self.table.shape[1])

    def pairs(self) -> Pairs:
        """Condensed distances of all pairs of rows."""
        n = len(self.table)
        require_memory_of_pairs(n, self.table.itemsize)
        out = np.empty(n * (n - 1) // 2, dtype=self.table.dtype)
        if self.kernel is not None:
            root = self.metric.root
            _native.pairwise_distances(self.table, self.kernel, root, self.scale, out, self.threads, self.params)
            self._require_defined(out)
        else:
            whole = Pairs(n, out, None, 1.0)
            for i in range(n - 1):
                out[whole.row(i)] = self._cdist(self.table[i : i + 1], self.table[i + 1 :])[0]
        return in_binary_unit(n, out, None)

    def distances_from(self, new: MetricRows) -> Array:
        """Distances of new rows to these, (m, n)."""
        m, n = len(new.table), len(self.table)
        out = np.empty((m, n), dtype=self.table.dtype)
        if self.kernel is not None:
            root = self.metric.root
            params = self.params
            _native.cross_distances(new.table, self.table, self.kernel, root, self.scale, out, self.threads, params)
            self._require_defined(out)
        else:
            for start in range(0, m, SCIPY_ROWS):
                out[start : start + SCIPY_ROWS] = self._cdist(new.table[start : start + SCIPY_ROWS], self.table)
                report("computing distances", min(start + SCIPY_ROWS, m), m)
        if not np.isfinite(out).all():
            raise overflow_error()
        return out

    def _require_defined(self, distances: Array) -> None:
        if self.metric.missing and np.isinf(distances).any():
            raise undefined_gower_error()
        if self.metric.name == "braycurtis" and np.isinf(distances).any():
            raise BadInput(
                "metric 'braycurtis' is not defined for some pairs of rows, whose values add up to 0 in every column. "
                "Shift the columns so that no value is negative, or choose another metric."
            )

    def _cdist(self, A: Array, B: Array) -> Array:
        """Distances by the user's function, whose results are checked."""
        assert self.metric.function is not None
        out = function_distances(A, B, self.metric.function)
        rounding = rounding_of(out.dtype) * np.fmax.reduce(out, axis=None, initial=0.0)
        bad = ~(np.isfinite(out) & (out >= -rounding))
        if bad.any():
            raise BadInput(
                f"the metric must give a finite number of at least 0 for any two rows; for two of them it gave "
                f"{out[bad][0]}."
            )
        return np.maximum(out, 0)


def function_distances(A: Array, B: Array, function: Callable[[Any, Any], float]) -> Array:
    """What a function of two rows gives for every pair, (m, n); raises where that is not one number."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(A, B, metric=lambda a, b: one_number(function(a, b), "metric")))


def one_number(value: Any, what: str) -> float:
    """What a user's function gave for two rows, as a float; raises BadInput unless it is a real number."""
    plain = isinstance(value, float | int | np.floating | np.integer | np.bool_)
    if plain or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiub"):
        with suppress(OverflowError):  # an integer beyond floats
            return float(value)
    raise BadInput(f"the {what} must give one number for two rows; it gave {value!r:.60}. Correct the function.")


def prepare_rows(rows: Rows, metric: Metric, threads: int, like: MetricRows | None = None) -> MetricRows:
    """Rows prepared for a metric; new rows are prepared `like` the old ones: in their dtype, by their metric."""
    dtype = rows.dtype if like is None else like.table.dtype
    metric = metric.fitted(rows) if like is None else like.metric
    if metric.unit_rows:
        return MetricRows(metric, unit_rows(rows, metric, threads, dtype), 1.0, threads)
    n, d = rows.count, rows.d
    if metric.row_map is not None:
        return MetricRows(metric, mapped_rows(rows, metric, threads).astype(dtype, copy=False), 1.0, threads)
    require_memory(dtype.itemsize * n * d, f"a table of {n} x {d} values", "Use fewer rows or columns.")
    whole = rows.whole()
    dense = whole.toarray() if sp.issparse(whole) else whole
    with np.errstate(over="ignore"):
        table = dense.astype(dtype, copy=False)
    if not np.isfinite(table).all():
        raise not_finite_error(rows, Chunk(0, n, lambda: dense))
    if metric.bits and not ((table == 0) | (table == 1)).all():
        raise not_binary_error(metric)
    factor_of = _unit_factor if metric.by_pairs else safe_factor
    factor = factor_of(table) if like is None else like.factor
    return MetricRows(metric, table if factor == 1 else table * table.dtype.type(factor), factor, threads)


def not_binary_error(metric: Metric) -> BadInput:
    """The error for values that are no sets."""
    if metric.name == "hamming":
        return BadInput(
            "metric 'hamming' was fitted to values 0 and 1 alone, and there are others now. Fit it to these too."
        )
    return BadInput(
        f"metric {metric.name!r} compares sets: every value must be 0 or 1 (or False or True). Binarize the columns, "
        "or choose another metric."
    )


def _unit_factor(table: Array) -> float:
    """The power of two that makes the largest magnitude about one, so that no power of it overflows."""
    largest = max(float(table.max(initial=0.0)), -float(table.min(initial=0.0)))
    return 1.0 / max(binary_unit(largest), 2.0**-120)


def dense_block(rows: Rows, begin: int, end: int) -> Array:
    """Rows begin … end as a dense array."""
    block = rows.block(begin, end)
    return np.asarray(block.toarray() if rows.sparse else block)
