"""Localized sliced inverse regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.data.ownership import dense_table
from lowdim.data.rows import ArrayRows, Rows, is_stream
from lowdim.data.target import read_supervised, target_array
from lowdim.data.validation import check_weights, overflow_error
from lowdim.decomposition.component_count import fixed_count
from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.knn.index import NeighborIndex
from lowdim.linalg.dense_eigen import eigh_largest, fix_signs, symmetrized
from lowdim.linear.sdr.regularized_whitening import Regularization, RegularizationMixin, whitening
from lowdim.linear.sdr.slicing import Slices, SlicingMixin, slice_responses
from lowdim.linear.sdr.white_scores import WhiteScores
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, Such, param
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import moments_of

__all__ = ["LSIR"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LSIRState:
    """What `inverse_transform` reads."""

    loadings: Floats  # (k, d) covariances of the columns with the scores


@estimator(
    title="SIR with local means, for slices that fall into several clusters",
    summary="moments",
    supervised=True,
    inverse=True,
    sparse=True,
    weights=True,
)
class LSIR(RegularizationMixin, SlicingMixin, ThreadsMixin, WhiteScores):
    """Localized sliced inverse regression (Wu, Liang and Mukherjee 2010).

        B v = λ S v,   VᵀSV = I,   B = Σ_i (m_i - μ)(m_i - μ)ᵀ / n

    where m_i is the mean of the `n_neighbors` rows of x_i's slice that are nearest to x_i, itself among them (with
    weights: of the nearest rows whose weights sum to `n_neighbors`, the last one in part, as if rows were repeated). A
    slice whose clusters lie on both sides of the mean has a mean that says nothing, and SIR misses it; its local means
    do not. With n_neighbors of the largest slice or more it is SIR; with 1, all directions are alike.

    Rows without a label (y is NaN or None, or `unlabeled`) count in the covariance matrix S, not in B: semi-supervised
    learning. To our knowledge this is the first implementation in Python.

    Neighbors are sought among all rows, so the table must fit into memory: a file is read into it. A stream has no
    neighbors until its last row is known, so LSIR does not stream: an iterator of chunks is refused.

    {parameters}

    Attributes
    ----------
    {directions}
    eigenvalues_ : array (r,)
        All eigenvalues, descending, from 0 to 1.
    n_labeled_ : int
        Number of rows with a label.
    slice_names_, slice_sizes_ : array (H,)
        The interval or class of each slice, and its number of rows.
    slice_edges_ : array (H - 1,)
        Edges between the slices of one numeric response, else None.

    """

    n_components: int | str | None = param(
        "auto",
        Maybe(Either(Integer(1), Choice("auto"))),
        "Number of directions; 'auto': 2, or 1 if there is only one; None: all.",
        kw_only=False,
    )
    n_neighbors: int = param(10, Integer(1), "Rows in a local mean, the row itself among them.")
    unlabeled: float | str | None = param(
        None,
        Maybe(Either(Real(), Such("a text", lambda value: isinstance(value, str)))),
        "A value of y that stands for no label, such as -1, beside NaN and None.",
    )

    _state_classes = (LSIRState,)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions; rows without a label join the covariance matrix alone.

        `sample_weight` is the multiplicity of each row, labeled or not.
        """
        with self._fitting():
            if is_stream(X):
                raise BadInputType(
                    "LSIR does not stream: the neighbors of a row may be in any chunk. Give an array or a file that "
                    "fits into memory, or use SIR, which streams."
                )
            rows, y = read_supervised(self, X, y, min_rows=2)
            threads = thread_count(self.n_jobs)
            table, weights = dense_table(rows), check_weights(sample_weight, rows.n)
            labeled, slices = self._slices(y, len(table), weights)
            moments = moments_of(ArrayRows(table), None, weights, threads)
            moments.feature_names = getattr(self, "feature_names_in_", None)
            white = whitening(moments, Regularization(self.shrinkage, self.ridge, ArrayRows(table), weights, threads))
            own = np.ones(len(labeled)) if weights is None else weights[labeled]
            means = local_means(table[labeled], own, slices, self.n_neighbors, threads)
            # About the mean of the labeled rows, from which that of the others may differ.
            whitened = (means - _weighted_mean(table[labeled], own)) @ white.root
            pairs = eigh_largest(symmetrized((whitened.T * own) @ whitened) / own.sum())
            most = len(pairs.values)
            k = fixed_count(self.n_components, most, f"{most} columns vary") or min(2, most)
            V = fix_signs(white.root @ pairs.vectors[:, :k])
            return self._keep(rows, V, pairs.values, moments.mean, white.covariance @ V, labeled, slices)

    def _slices(self, y: Any, n: int, weights: Floats | None) -> tuple[NDArray[np.intp], Slices]:
        """The rows with a label and a weight, and their slices."""
        values = target_array(y)
        if values.ndim == 0 or len(values) != n:
            raise BadInput(f"y must have one target per row ({n}); got shape {values.shape}.")
        known = ~_missing(values, self.unlabeled).reshape(n, -1).any(axis=1)
        labeled = np.flatnonzero(known if weights is None else known & (weights > 0))
        if len(labeled) < 2:
            raise NotEnoughData(f"{len(labeled)} of {n} rows have a label; at least 2 are needed.")
        there = values[labeled]
        if there.dtype.kind == "O" and all(isinstance(v, int | float) for v in there.ravel().tolist()):
            there = there.astype(np.float64)
        own = None if weights is None else weights[labeled]
        return labeled, slice_responses(there, len(labeled), own, self.n_slices, self.slicing)

    def _keep(
        self,
        rows: Rows,
        V: Floats,
        values: Floats,
        mean: Floats,
        loadings: Floats,
        labeled: NDArray[np.intp],
        slices: Slices,
    ) -> Self:
        self.components_ = np.ascontiguousarray(V.T, dtype=rows.dtype)
        if not np.isfinite(self.components_).all():
            raise overflow_error()
        self.mean_, self.scale_ = mean.astype(rows.dtype), None
        self.eigenvalues_ = np.maximum(values, 0.0).astype(rows.dtype)
        self.n_components_, self.n_labeled_ = V.shape[1], len(labeled)
        self.slice_names_ = np.array(slices.names, dtype=object)
        self.slice_sizes_ = np.bincount(slices.codes, minlength=slices.count)
        self.slice_edges_ = slices.edges
        self._state = LSIRState(np.ascontiguousarray(loadings.T))
        return self

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.number("n_labeled_", Integer(2))
        check.texts("slice_names_", "H")
        check.indices("slice_sizes_", "H", below=self.n_labeled_ + 1)
        check.floats("slice_edges_", None, optional=True)


def local_means(rows: Array, weights: Floats, slices: Slices, k: float, threads: int) -> Floats:
    """The mean of the nearest rows of each row within its slice, itself among them, whose weights sum to k, (n, d)."""
    out = np.empty(rows.shape)
    for code in range(slices.count):
        inside = np.flatnonzero(slices.codes == code)
        part, own = np.ascontiguousarray(rows[inside]), weights[inside]
        whole = own.sum() <= k
        out[inside] = _weighted_mean(part, own) if whole else _mean_of_neighbors(part, own, k, threads)
        report("local means", code + 1, slices.count)
    return out


def _mean_of_neighbors(rows: Array, weights: Floats, k: float, threads: int) -> Floats:
    wide = rows.astype(np.float64)
    own = np.minimum(weights, k)[:, None]
    if (own == k).all():
        return wide
    found, taken = _nearest_up_to(rows, weights, k, threads)
    ends = np.arange(0, found.size + 1, found.shape[1])
    adjacency = sp.csr_array((taken.ravel(), found.ravel(), ends), shape=(len(rows), len(rows)))
    center = wide.mean(axis=0)  # about it, so that a large offset costs no digits
    wide -= center
    return np.asarray((adjacency @ wide + own * wide) / (own + taken.sum(axis=1, keepdims=True)) + center)


def _nearest_up_to(rows: Array, weights: Floats, k: float, threads: int) -> tuple[NDArray[Any], Floats]:
    """The nearest other rows of each row, and what is taken of their weights until all weights sum to k."""
    index = NeighborIndex(rows, algorithm="exact", n_jobs=threads)
    most, m = len(rows) - 1, max(1, int(np.ceil(k / weights.max())) - 1)
    while True:
        m = min(m, most)
        found = index.graph(m).indices  # (n, m)
        before = np.column_stack([weights, weights[found]]).cumsum(axis=1)  # (n, m + 1)
        if m == most or before[:, -1].min() >= k:
            return found, np.clip(k - before[:, :-1], 0.0, weights[found])
        m *= 2


def _weighted_mean(rows: Array, weights: Floats) -> Floats:
    base = rows[0].astype(np.float64)  # differences from one row keep a large offset exact
    return np.asarray(base + weights @ (rows - base) / weights.sum())


def _missing(values: Array, unlabeled: Any) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        gone = np.isnan(values)
    elif values.dtype.kind == "O":
        gone = np.array([v is None or v != v for v in values.ravel().tolist()], dtype=bool).reshape(values.shape)
    else:
        gone = np.zeros(values.shape, dtype=bool)
    return gone if unlabeled is None else gone | np.asarray(values == unlabeled)
