"""Locally linear embedding and its kin (lecture 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator, estimator
from lowdim.data.ownership import dense_table, owned
from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import finite_error, read_rows
from lowdim.distance.metrics import MetricLike, metric_of
from lowdim.errors import BadInput, BadInputType, BadParameter, NotEnoughData
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.graph import Graph
from lowdim.knn.index import Distance
from lowdim.linalg.sparse_eigen import SOLVERS, EigenOptions
from lowdim.manifold.lle.alignment import ALIGNMENTS, align
from lowdim.manifold.lle.patches import Patches, grams_of_distances, grams_of_rows, weights_of
from lowdim.runtime.param import Choice, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["LLE"]

Array = NDArray[Any]

USUAL_NEIGHBORS = 12


@estimator(title="a map that keeps how each row is made of its neighbours", summary="graph", sparse=True)
class LLE(Estimator):
    """A map that keeps how each row is made of its neighbours.

        min tr(ZᵀMZ)  subject to  ZᵀZ = I, Z ⟂ 1

    M adds up one small matrix a row and its neighbours, and `method` says which: the weights that make a row of its
    neighbours (M = (I - W)ᵀ(I - W), G u = 1, w = u / Σu), several such weights, second derivatives, or what lies
    off the tangent plane. Z are the eigenvectors of its smallest eigenvalues after the constant one. Where the graph
    falls into pieces, each is mapped by itself, and they are laid side by side along the first axis, sized by their
    share of the rows.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map of the fitted rows; columns have the sign that makes their first largest entry positive and, if
        the graph is in one piece, length one.
    reconstruction_error_ : float
        tr(ZᵀMZ), the sum of the eigenvalues of all pieces.
    eigenvalues_ : array (k,)
        The smallest eigenvalues of M after the zero of the constant; those of the largest piece.
    component_eigenvalues_ : array (c, k)
        The same for every piece; one of m rows has at most m - 1, and 0 for the others.
    components_of_rows_, n_connected_components_ : array (n,), int
        The piece of every row, and their number.
    n_neighbors_ : int
        Neighbours of each row.
    X_fit_ : array (n, d)
        The fitted rows (or distances), which new rows are made of.
    solver_ : str
        How the eigenvectors were found, of the largest piece.

    """

    n_components: int = param(2, Integer(1), "Number of columns of the map.", kw_only=False)
    n_neighbors: int | None = param(
        None, Maybe(Integer(1)), "Neighbours of each row; None takes 12, or all others where there are fewer."
    )
    method: str = param(
        "standard",
        Choice(*ALIGNMENTS),
        "What a patch keeps: one weight a neighbour; several; no second derivative, which needs more than "
        "n_components (n_components + 3) / 2 neighbours; or its tangent plane.",
    )
    reg: float = param(
        1e-3,
        Real(0),
        "Ridge of the weights, as a share of the trace of G; for 'hessian', weight of what is rougher than a second "
        "derivative.",
    )
    metric: Distance = param(
        "euclidean",
        MetricLike(),
        "How neighbours are chosen; weights are always Euclidean. 'precomputed': X holds distances between the rows.",
    )
    solver: str = param("auto", Choice("auto", *SOLVERS), "How the eigenvectors are found; 'auto' takes the fastest.")
    tol: float = param(
        1e-6, Real(0, open=True), "Relative residual at which eigenvectors are good enough, unless dense."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the search for neighbours and of the eigensolver.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None, graph: Graph | None = None) -> Self:
        """Lay out the rows of X. `graph`, if given, holds their neighbours: `lowdim.neighbors(X, k)`.

        X may be such a graph itself, which remembers the rows it was made of.
        """
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            if isinstance(X, Graph):
                X, graph = self._rows_of(X), X
            near = self._neighbors(read_source(self, X), graph, seed, threads)
            graph, table = near.graph, near.table
            labels = graph.components()
            self._check_counts(graph, labels)
            patches = Patches(graph.indices, self._grams(table, table, graph.indices), threads)
            options = EigenOptions(self.solver, self.tol, seed, threads)
            found = align(patches, labels, self.n_components, self.method, self.reg, options)
            self.component_eigenvalues_ = found.values
            self.eigenvalues_ = found.values[np.argmax(np.bincount(labels))]
            self.reconstruction_error_ = float(found.values.sum())
            self.solver_, self.n_neighbors_ = found.solver, graph.k
            self.components_of_rows_, self.n_connected_components_ = labels, len(found.values)
            self.X_fit_, self.embedding_ = table, found.Z.astype(table.dtype, copy=False)
            return self

    def fit_transform(self, X: Any, y: Any = None, graph: Graph | None = None) -> Array:
        """Lay out the rows of X, and give their map, (n, k)."""
        return self.fit(X, y, graph).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of rows: their weights to the nearest fitted rows, times the places of these, (m, k).

        Where the graph fell into pieces, these rows are of one piece, that of the nearest. A row that equals a fitted
        one gets exactly its place (the mean of their places, if several are equal). With metric="precomputed", X
        holds distances to the fitted rows, (m, n).
        """
        check_is_fitted(self, "embedding_")
        rows = self._read(read_rows(self, X, fitting=False, min_rows=1))
        threads = thread_count(self.n_jobs)
        with np.errstate(over="ignore"):  # found and named
            new = dense_table(rows).astype(self.X_fit_.dtype, copy=False)
        _require_finite(new, rows)
        nearest = self._nearest(new)
        grams = self._grams(self.X_fit_, new, nearest)
        weights = weights_of(grams, self.reg, threads)
        same = np.einsum("naa->na", grams) == 0
        there = same.any(axis=1)
        weights[there] = same[there] / same[there].sum(axis=1, keepdims=True)
        places = np.einsum("nk,nkc->nc", weights, self.embedding_[nearest].astype(np.float64))
        return np.asarray(places.astype(rows.dtype, copy=False))

    def _nearest(self, new: Array) -> NDArray[np.int32]:
        """The nearest fitted rows to each new one, all of one piece: that of the nearest of all, (m, k)."""
        fitted = FittedRows.cached(self, *self._fitted_rows_parts())
        nearest = fitted.query(new, self.n_neighbors_).indices
        pieces = self.components_of_rows_[nearest]
        mixed = (pieces != pieces[:, :1]).any(axis=1)
        for piece in np.unique(pieces[mixed, 0]):
            asked = np.flatnonzero(mixed & (pieces[:, 0] == piece))
            among = np.flatnonzero(self.components_of_rows_ == piece).astype(np.int32)
            rows, some = None if fitted.X is None else fitted.X[among], new[asked]
            if fitted.X is None:  # their columns are the fitted rows
                some = some[:, among]
            found = FittedRows(rows, len(among), fitted.spec).query(some, self.n_neighbors_)
            nearest[asked] = among[found.indices]
        return nearest

    def _fitted_rows_parts(self) -> tuple[Array | None, int, NeighborSpec]:
        """What new rows are compared with; exactly, so that a place does not depend on the rows that come along."""
        spec = NeighborSpec(self.n_neighbors_, self.metric, 0, thread_count(self.n_jobs), algorithm="exact")
        return None if metric_of(self.metric).given else self.X_fit_, len(self.X_fit_), spec

    def _rows_of(self, graph: Graph) -> Any:
        """The rows that a graph was made of."""
        if graph.rows is None:
            raise BadInputType(
                "LLE needs the rows beside their graph, to weigh neighbours, and this graph does not hold them: "
                "use fit(X, graph=graph)."
            )
        if graph.metric != metric_of(self.metric).name:
            raise BadParameter(
                f"LLE: metric={self.metric!r} is not that of the graph, {graph.metric!r}. Make them the same."
            )
        return graph.rows

    def _read(self, rows: Rows) -> Rows:
        if rows.sparse and metric_of(self.metric).given:
            raise BadInput(
                "LLE weighs neighbours by the distances between them, and a sparse table of distances lacks most of "
                "these. Give a dense one, or the rows with graph=Graph.from_sparse(…)."
            )
        return rows

    def _neighbors(self, source: Graph | Rows, graph: Graph | None, seed: int, threads: int) -> FittedNeighbors:
        """The neighbors of rows, by a search or by the graph that is given."""
        assert isinstance(source, Rows)
        rows, most = self._read(source), source.count - 1
        if isinstance(graph, Graph):
            most = graph.k
        k = min(USUAL_NEIGHBORS, most) if self.n_neighbors is None else self.n_neighbors
        if k > most:
            raise NotEnoughData(
                f"n_neighbors must be at most {most}, the neighbors that a row has; got {k}. "
                "Ask for fewer, or give more rows."
            )
        near = FittedNeighbors.of(rows, NeighborSpec(k, self.metric, seed, threads), graph=graph)
        return replace(near, table=owned(near.table, rows))  # distances are kept as well

    def _grams(self, rows: Array, centres: Array, indices: NDArray[np.int32]) -> NDArray[np.float64]:
        if metric_of(self.metric).given:
            return grams_of_distances(rows, centres, indices)
        return grams_of_rows(rows, centres, indices, thread_count(self.n_jobs))

    def _check_counts(self, graph: Graph, labels: Array) -> None:
        d, k, largest = self.n_components, graph.k, int(np.bincount(labels).max())
        needed = {"standard": 1, "modified": d + 1, "ltsa": d + 1, "hessian": d * (d + 3) // 2 + 1}[self.method]
        if k < needed:
            raise NotEnoughData(
                f"method={self.method!r} with n_components={d} needs n_neighbors of at least {needed}; there are {k}. "
                "Ask for more neighbours, for fewer components, or give more rows."
            )
        if largest <= d:
            raise NotEnoughData(
                f"n_components={d} must be at most {largest - 1}: one less than the rows of the largest piece "
                f"of the graph (n_samples = {graph.n}). Ask for fewer components, or give more rows or neighbours."
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def _require_finite(table: Array, rows: Rows) -> None:
    if not np.isfinite(table).all():
        raise finite_error(rows, Chunk(0, rows.count, rows.whole))
