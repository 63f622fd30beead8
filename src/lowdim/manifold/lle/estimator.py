"""Locally linear embedding (Roweis and Saul 2000), its modified and Hessian variants, and LTSA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import EmbeddingMixin, Estimator, SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.metric_mixin import MetricMixin
from lowdim.base.state import StateCheck
from lowdim.data.ownership import compact_table, dense_table, owned
from lowdim.data.rows import ArrayRows, Chunk, Rows
from lowdim.data.validation import not_finite_error, read_rows
from lowdim.distance.metrics import MetricLike, MetricSpec
from lowdim.distance.pairwise import prepare_rows
from lowdim.errors import BadInput, BadInputType, BadParameter, NotEnoughData
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSource, NeighborSpec, is_comparable, read_source
from lowdim.knn.graph import Graph, warn_of_components
from lowdim.linalg.sparse_eigen import SOLVERS, EigenOptions
from lowdim.manifold.lle.alignment import ALIGNMENTS, align
from lowdim.manifold.lle.neighborhoods import (
    Neighborhoods,
    local_grams,
    local_grams_of_distances,
    local_grams_of_sparse_rows,
    reconstruction_weights,
)
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["LLE"]

Array = NDArray[Any]

DEFAULT_NEIGHBORS = 12


@estimator(title="embedding that preserves local reconstruction weights", summary="graph", sparse=True)
class LLE(EmbeddingMixin, MetricMixin, SeedMixin, ThreadsMixin, Estimator):
    """Locally linear embedding: it preserves the weights that reconstruct each row from its neighbors.

        min tr(ZᵀMZ)  subject to  ZᵀZ = I, Z ⟂ 1

    M sums up one small matrix per neighborhood, by `method`: reconstruction weights (M = (I - W)ᵀ(I - W), G u = 1,
    w = u / Σu), several such weights (modified LLE), second derivatives (Hessian LLE), or what is orthogonal to the
    tangent space (LTSA). Z are the eigenvectors of M with the smallest eigenvalues after the constant one. Where the
    neighbor graph is disconnected, each connected component is embedded by itself, and they are packed side by side
    along the first axis, scaled by √ of their share of the rows.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding of the fitted rows; columns have norm one if the graph is connected.
    reconstruction_error_ : float
        tr(ZᵀMZ), the sum of the eigenvalues of all connected components.
    eigenvalues_ : array (k,)
        The smallest eigenvalues of M after the 0 of the constant eigenvector; those of the largest component.
    component_eigenvalues_ : array (c, k)
        The same for every connected component; one of m rows has at most m - 1, and 0 for the others.
    component_labels_, n_connected_components_ : array (n,), int
        The connected component of every row, and their number.
    n_neighbors_ : int
        Neighbors of each row.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array or sparse matrix (n, d)
        The fitted rows (or distances), from which new rows are reconstructed.
    solver_ : str
        The eigensolver that was used, for the largest component.

    """

    n_components: int = param(2, Integer(1), "Number of components.", kw_only=False)
    n_neighbors: int | None = param(
        None,
        Maybe(Integer(1)),
        f"Number of neighbors of each row; None for {DEFAULT_NEIGHBORS}, or all other rows if they are fewer, or all "
        "those of a given graph.",
    )
    method: str = param(
        "standard",
        Choice(*ALIGNMENTS),
        "Standard LLE, modified LLE (several weight vectors), Hessian LLE (more than n_components (n_components + 3) / "
        "2 neighbors), or local tangent space alignment.",
    )
    reg: float = param(
        1e-3,
        Real(0),
        "Regularization of the weights, relative to the trace of G; for 'hessian', the penalty of functions that "
        "oscillate within a neighborhood.",
    )
    metric: MetricSpec = param(
        "euclidean",
        MetricLike(),
        "Distance of the neighbor search; weights are Euclidean (for 'gower', of its distances). 'precomputed' if X "
        "holds distances.",
    )
    solver: str = param(
        "auto",
        Choice("auto", *SOLVERS),
        "Eigensolver: LAPACK, sparse factorization with inverse iteration, or Chebyshev filter; 'auto' takes the "
        "fastest.",
    )
    tol: float = param(1e-6, Real(0, open=True), "Relative residual at which the iterative eigensolvers stop.")

    # The matrix of the quadratic form has an entry for every two neighbors of a row.
    _fit_memory = FitMemory(
        keeps=True,
        search_tables=1,
        # Per neighborhood of k rows: Gram matrix (8k²), block of the alignment matrix (8 (k + 1)²), and about half of
        # its entries in that matrix (12 each), since neighborhoods overlap; neighbors and weights (8 + 8 + 8).
        rows=14,
        edges=52,
        edge_pairs=22,
        advice="LLE has no landmarks: fit a sample of the rows and transform the others, or use Isomap(n_landmarks=…).",
    )
    _default_neighbors = DEFAULT_NEIGHBORS

    def fit(self, X: Any, y: Any = None, graph: Graph | None = None) -> Self:
        """Compute the embedding. `graph`, if given, holds the neighbors of the rows: `lowdim.neighbors(X, k)`.

        X may be such a graph itself, if it holds the rows.
        """
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            if isinstance(X, Graph):
                X, graph = self._rows_of(X), X
            neighbors = self._neighbors(read_source(self, X, graph), seed, threads)
            graph, table = neighbors.graph, neighbors.table
            labels = graph.components()
            self._require_counts(graph, labels)
            warn_of_components(int(labels.max()) + 1, "embedded one by one, side by side")
            neighborhoods = Neighborhoods(graph.indices, self._grams(table, table, graph.indices), threads)
            options = EigenOptions(self.solver, self.tol, seed, threads)
            found = align(neighborhoods, labels, self.n_components, self.method, self.reg, options)
            self.component_eigenvalues_ = found.values
            self.eigenvalues_ = found.values[np.argmax(np.bincount(labels))]
            self.reconstruction_error_ = float(found.values.sum())
            self.solver_, self.n_neighbors_ = found.solver, graph.k
            self.component_labels_, self.n_connected_components_ = labels, len(found.values)
            self.X_fit_, self.embedding_ = table, found.Z.astype(table.dtype, copy=False)
            self._fitted_rows()
            return self

    def transform(self, X: Any) -> Array:
        """Embed new rows by their reconstruction weights from the nearest fitted rows, (m, k).

        Where the graph is disconnected, these belong to one component, that of the nearest. A row that equals a fitted
        one gets exactly its position (the mean of their positions, if several are equal). With metric="precomputed", X
        holds distances to the fitted rows, (m, n).
        """
        check_is_fitted(self, "embedding_")
        rows = self._require_dense_distances(read_rows(self, X, fitting=False, min_rows=1))
        with np.errstate(over="ignore"):  # named below
            new = compact_table(rows) if sp.issparse(self.X_fit_) else dense_table(rows)
            new = new.astype(self.X_fit_.dtype, copy=False)
        values = new.data if sp.issparse(new) else new
        if np.isinf(values).any() or (np.isnan(values).any() and not self._mixed):
            raise not_finite_error(rows, Chunk(0, rows.count, rows.whole))
        nearest = self._nearest(new)
        grams = self._grams(self.X_fit_, new, nearest)
        weights = reconstruction_weights(grams, self.reg, thread_count(self.n_jobs))
        same = np.einsum("naa->na", grams) == 0
        equal = same.any(axis=1)
        weights[equal] = same[equal] / same[equal].sum(axis=1, keepdims=True)
        Z = np.einsum("nk,nkc->nc", weights, self.embedding_[nearest].astype(np.float64))
        return self._finite(Z.astype(rows.dtype, copy=False))

    def _nearest(self, new: Array) -> NDArray[np.int32]:
        """The nearest fitted rows to each new one, all of the component of the nearest of all, (m, k)."""
        fitted = self._fitted_rows()
        X, nearest = fitted.X, fitted.query(new, self.n_neighbors_).indices
        labels = self.component_labels_[nearest]
        mixed = (labels != labels[:, :1]).any(axis=1)
        for component in np.unique(labels[mixed, 0]):
            queries = np.flatnonzero(mixed & (labels[:, 0] == component))
            members = np.flatnonzero(self.component_labels_ == component).astype(np.int32)
            some = new[queries] if X is not None else new[queries][:, members]  # distances have a column per row
            own = FittedRows(None if X is None else X[members], len(members), fitted.spec)
            nearest[queries] = members[own.query(some, self.n_neighbors_).indices]
        return nearest

    def _fitted_rows(self) -> FittedRows:
        """The rows to which new ones are compared, exactly: a position must not depend on the other new rows."""
        spec = NeighborSpec(self.n_neighbors_, self._fitted_metric, 0, thread_count(self.n_jobs), algorithm="exact")
        return FittedRows.cached(self, None if self._precomputed else self.X_fit_, self.X_fit_.shape[0], spec)

    def _rows_of(self, graph: Graph) -> Any:
        """The rows that a graph was built from."""
        if graph.rows is None:
            raise BadInputType(
                "LLE needs the rows beside their graph, to compute weights, and this graph does not hold them: "
                "use fit(X, graph=graph)."
            )
        if not (self._precomputed and graph.metric == "precomputed") and not is_comparable(graph, self):
            raise BadParameter(
                f"LLE: metric={self.metric!r} is not that of the graph, {graph.metric!r}, with its parameters. Use the "
                "same metric."
            )
        return graph.rows

    def _require_dense_distances(self, rows: Rows) -> Rows:
        if rows.sparse and self._precomputed:
            raise BadInput(
                "LLE computes weights from the distances between neighbors, and a sparse distance matrix lacks most of "
                "them. Give a dense one, or the rows with graph=Graph.from_sparse(…)."
            )
        return rows

    def _neighbors(self, source: NeighborSource, seed: int, threads: int) -> FittedNeighbors:
        """The neighbors of rows, by a search or from the given graph."""
        assert source.rows is not None
        rows = self._require_dense_distances(source.rows)
        most = rows.count - 1 if source.graph is None else source.graph.k
        k = source.neighbor_count(self.n_neighbors, min(DEFAULT_NEIGHBORS, most))
        if k > most:
            raise NotEnoughData(
                f"n_neighbors must be at most {most}, the neighbors that a row has; got {k}. "
                "Ask for fewer, or give more rows."
            )
        found = FittedNeighbors.of(source, NeighborSpec(k, self._fitted_metric, seed, threads))
        return replace(found, table=owned(found.table, rows))  # distances are kept as well

    def _grams(self, X: Array, centers: Array, indices: NDArray[np.int32]) -> NDArray[np.float64]:
        if self._precomputed:
            return local_grams_of_distances(X, centers, indices)
        if self._mixed:
            return self._grams_of_mixed_rows(X, centers, indices)
        if sp.issparse(X):
            return local_grams_of_sparse_rows(X, sp.csr_array(centers), indices)
        return local_grams(X, centers, indices, thread_count(self.n_jobs))

    def _grams_of_mixed_rows(self, X: Array, centers: Array, indices: NDArray[np.int32]) -> NDArray[np.float64]:
        """From Gower's distances: rows with categories and gaps have no differences that could be multiplied."""
        n, m, threads = len(X), len(centers), thread_count(self.n_jobs)
        require_memory(8 * n * (n + m), f"distances between {n} rows", "Use fewer rows.")
        fitted = prepare_rows(ArrayRows(X), self._fitted_metric, threads)
        D = fitted.distances_from(fitted)
        if centers is X:
            return local_grams_of_distances(D, D, indices)
        new = prepare_rows(ArrayRows(centers), fitted.metric, threads, fitted)
        return local_grams_of_distances(D, fitted.distances_from(new), indices)

    def _require_counts(self, graph: Graph, labels: Array) -> None:
        d, k, largest = self.n_components, graph.k, int(np.bincount(labels).max())
        needed = {"standard": 1, "modified": d + 1, "ltsa": d + 1, "hessian": d * (d + 3) // 2 + 1}[self.method]
        if k < needed:
            raise NotEnoughData(
                f"method={self.method!r} with n_components={d} needs n_neighbors of at least {needed}; got {k}. "
                "Use more neighbors, fewer components, or more rows."
            )
        if largest <= d:
            raise NotEnoughData(
                f"n_components={d} must be at most {largest - 1}: one less than the rows of the largest connected "
                f"component of the graph (n_samples = {graph.n}). Use fewer components, or more rows or neighbors."
            )

    def _check_state(self, check: StateCheck) -> None:
        check.floats("embedding_", "n", "k")
        check.rows("X_fit_", "n", "d")
        n, d = check.sizes["n"], check.sizes["d"]
        check.require(not self._precomputed or d == n, f"n_features_in_ must be {n}, one distance per row")
        check.floats("eigenvalues_", "k", low=0)
        check.floats("component_eigenvalues_", "c", "k", low=0)
        check.indices("component_labels_", "n", below="c")
        count = check.number("n_connected_components_", Integer(1))
        check.require(count == check.sizes["c"], f"n_connected_components_ must be {check.sizes['c']}")
        check.number("reconstruction_error_", Real(0))
        check.number("n_neighbors_", Integer(1, n - 1))
        check.number("solver_", Choice(*SOLVERS))
