"""Affinities of t-SNE: joint probabilities p_ij of pairs of rows, calibrated to a perplexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.ownership import is_immutable
from lowdim.data.rows import checked_csr
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn.graph import Graph
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.param import Real
from lowdim.runtime.threads import interruptible, thread_count
from lowdim.runtime.warning import warn

__all__ = ["PERPLEXITY", "Affinities", "conditional_probabilities", "feasible_perplexity", "neighbor_count"]

Perplexity = float | Sequence[float]

PERPLEXITY = Real(0, open=True)  # at least one neighbor has weight, so perplexities below 1 act as 1
TOLERANCE = 1e-3  # of the checks of given arrays: sums are taken in float32


@dataclass(frozen=True, repr=False)
class Affinities(SummaryDisplay):
    """Joint probabilities of pairs in compressed sparse rows: symmetric, no diagonal, summing to one.

    `from_graph` calibrates Gaussian weights of neighbors to a perplexity (several are averaged: multiscale),
    `uniform` gives every neighbor the same weight, and `from_matrix` symmetrizes and normalizes a matrix of your own.
    Arrays that are given directly must have these properties already, which is checked.
    """

    starts: NDArray[np.int64]  # (n + 1,)
    columns: NDArray[np.int32]  # (entries,)
    values: NDArray[np.float32]  # (entries,)
    # What `from_graph` made them of, so that new rows can be embedded; unknown for other affinities.
    rows: Any = field(default=None, repr=False, compare=False)
    metric: str | None = field(default=None, repr=False, compare=False)
    perplexity: tuple[float, ...] = field(default=(), repr=False, compare=False)
    measure: Any = field(default=None, repr=False, compare=False)  # the metric with its parameters

    def _summary(self) -> str:
        told = "" if not self.perplexity else f", perplexity {', '.join(f'{value:g}' for value in self.perplexity)}"
        return f"{count(self.n, 'row')}, {count(len(self.values) // 2, 'pair')} of neighbors{told}"

    def __post_init__(self) -> None:
        parts = _as_parts(self.starts, self.columns, self.values)
        self._keep(*(part if is_immutable(part) else part.copy() for part in parts))  # what was checked stays as it was
        _check_joint(self.to_sparse())

    def _keep(self, *parts: NDArray[Any]) -> None:
        """Hold the arrays read-only: the kernels trust columns that were checked once."""
        for name, part in zip(("starts", "columns", "values"), parts, strict=True):
            held = part.view()
            held.flags.writeable = False
            object.__setattr__(self, name, held)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.starts) - 1

    @classmethod
    def from_graph(cls, graph: Graph, perplexity: Perplexity = 30.0, *, n_jobs: int | None = None) -> Affinities:
        """Gaussian probabilities p_ij = (p_j|i + p_i|j) / 2n, each row calibrated to the perplexity.

        A perplexity above a third of the graph's neighbors is lowered to it, with a warning.
        """
        threads = thread_count(n_jobs)
        wanted = feasible_perplexity(perplexity, graph.k + 1)
        if neighbor_count(perplexity) > graph.k:
            warn(
                f"perplexity={max(_as_tuple(perplexity)):g} was lowered to {max(wanted):g}, a third of the {graph.k} "
                "neighbors of each row. Ask for a smaller one, or give more rows, or a graph of more neighbors."
            )
        nearest = graph.nearest(min(graph.k, neighbor_count(wanted)))
        weights = conditional_probabilities(nearest.distances, wanted, threads)
        made_of = {"rows": graph.rows, "metric": graph.metric, "perplexity": wanted, "measure": graph.measure}
        return cls._joint(nearest.indices, weights, threads, **made_of)

    @classmethod
    def uniform(cls, graph: Graph, *, n_jobs: int | None = None) -> Affinities:
        """The same conditional probability for every neighbor."""
        indices = graph.nearest(graph.k).indices
        return cls._joint(indices, np.full(indices.shape, 1 / graph.k, dtype=np.float32), thread_count(n_jobs))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Affinities:
        """A square matrix of affinities, dense or sparse, symmetrized and normalized to sum to one."""
        csr = checked_csr(matrix).astype(np.float64)
        if csr.shape[0] != csr.shape[1] or csr.shape[0] < 2:
            raise BadInput(f"affinities need a square matrix of at least 2 rows; got shape {csr.shape}.")
        if not np.isfinite(csr.data).all() or (csr.data < 0).any():
            raise BadInput("affinities must be finite and nonnegative. Correct the matrix.")
        joint = interruptible(lambda: sp.csr_array(csr + csr.T))
        joint.setdiag(0)
        joint.eliminate_zeros()
        total = float(joint.sum())
        if not 0 < total < np.inf:
            raise BadInput("affinities between different rows must have a positive, finite sum. Correct the matrix.")
        values = (joint.data / total).astype(np.float32)
        return cls._unchecked(joint.indptr.astype(np.int64), joint.indices.astype(np.int32), values)

    @classmethod
    def _joint(
        cls, indices: NDArray[np.int32], weights: NDArray[np.float32], threads: int, **made_of: Any
    ) -> Affinities:
        """Joint probabilities from conditional ones: (p_j|i + p_i|j) / 2n."""
        parts = _native.symmetrize_affinities(indices, weights, 0.5 / len(indices), threads)
        return cls._unchecked(*parts, **made_of)

    @classmethod
    def _unchecked(
        cls, starts: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32], **made_of: Any
    ) -> Affinities:
        """Affinities from arrays that are valid by construction."""
        out = object.__new__(cls)
        out._keep(starts, columns, values)
        for name, value in made_of.items():
            object.__setattr__(out, name, value)
        return out

    def to_sparse(self) -> sp.csr_array:
        """A copy as a SciPy sparse matrix."""
        return sp.csr_array((self.values, self.columns, self.starts), shape=(self.n, self.n), copy=True)

    def copy(self) -> Affinities:
        """A copy that nobody else can change."""
        return Affinities._unchecked(self.starts.copy(), self.columns.copy(), self.values.copy())

    def negative_entropy(self) -> float:
        """Σ p log p."""
        p = self.values[self.values > 0].astype(np.float64)
        return float(p @ np.log(p))


def _as_parts(
    starts: Any, columns: Any, values: Any
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The arrays of a compressed sparse matrix in the kernels' types; raises BadInput unless they form one."""
    starts, columns, values = np.asarray(starts), np.asarray(columns), np.asarray(values)
    kinds = starts.dtype.kind in "iu" and columns.dtype.kind in "iu" and values.dtype.kind == "f"
    if not kinds or not starts.ndim == columns.ndim == values.ndim == 1:
        raise BadInput(
            "affinities are three one-dimensional arrays: integer `starts` and `columns`, and float `values`. "
            "See Affinities.from_matrix."
        )
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    n = len(starts) - 1
    if (
        n < 2
        or len(columns) != len(values)
        or starts[0] != 0
        or starts[-1] != len(columns)
        or (np.diff(starts) < 0).any()
    ):
        raise BadInput(
            f"the starts of affinities must increase from 0 to the number of entries, for at least 2 rows; "
            f"got {n} rows, {len(columns)} columns and {len(values)} values. Use Affinities.from_matrix."
        )
    if len(columns) and not 0 <= columns.min() <= columns.max() < n:
        raise BadInput(f"the columns of affinities must be from 0 to {n - 1}; got {columns.min()} to {columns.max()}.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise BadInput("affinities must be finite and nonnegative. Correct the values.")
    return starts, np.ascontiguousarray(columns, dtype=np.int32), np.ascontiguousarray(values, dtype=np.float32)


def _check_joint(matrix: sp.csr_array) -> None:
    """Raise BadInput unless the matrix is symmetric, without a diagonal, and sums to 1."""
    total, most = float(matrix.sum(dtype=np.float64)), float(matrix.data.max(initial=0))
    if abs(total - 1) > TOLERANCE:
        raise BadInput(f"affinities must sum to 1; got {total:g}. Use Affinities.from_matrix, which normalizes them.")
    if matrix.diagonal().any() or abs(matrix - matrix.T).max() > TOLERANCE * most:
        raise BadInput(
            "affinities must be symmetric, with a zero diagonal. Use Affinities.from_matrix, which symmetrizes them."
        )


def conditional_probabilities(
    distances: NDArray[np.float32], perplexity: Perplexity, threads: int
) -> NDArray[np.float32]:
    """Conditional probabilities p_j|i of the neighbors of each row, (n, k), averaged over several perplexities."""
    perplexities = _as_tuple(perplexity)
    distances = np.ascontiguousarray(distances, dtype=np.float32)
    total = np.zeros(distances.shape, dtype=np.float32)
    for one in perplexities:
        part = np.empty_like(total)
        _native.calibrate_perplexity(distances, one, part, threads)
        total += part
    return total / np.float32(len(perplexities)) if len(perplexities) > 1 else total


def feasible_perplexity(perplexity: Perplexity, n: int) -> tuple[float, ...]:
    """The perplexities that n rows allow: at least 1, at most (n - 1) / 3."""
    if n < 2:
        raise NotEnoughData(f"affinities need at least 2 rows; got {n}.")
    return tuple(sorted({max(1.0, min(one, (n - 1) / 3)) for one in _as_tuple(perplexity)}))


def neighbor_count(perplexity: Perplexity) -> int:
    """Three times the largest perplexity: farther neighbors have almost no weight."""
    return max(1, round(3 * max(_as_tuple(perplexity))))


def _as_tuple(perplexity: Perplexity) -> tuple[float, ...]:
    values = perplexity if isinstance(perplexity, Sequence) else (perplexity,)
    if not values or not all(PERPLEXITY.accepts(one) for one in values):
        raise BadParameter(f"perplexity must be {PERPLEXITY.text}, or several such; got {perplexity!r}.")
    return tuple(float(one) for one in values)
