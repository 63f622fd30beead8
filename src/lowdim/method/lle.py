"""Locally linear embedding and its kin (lecture 3)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.check import read_rows
from lowdim.data.rows import Rows
from lowdim.distances import metric_of
from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.estimator import Estimator, estimator
from lowdim.memory import require_memory
from lowdim.param import Choice, Integer, Maybe, Real, SeedLike, Such, param
from lowdim.random import Seed, seed_of
from lowdim.solve.alignment import ALIGNMENTS
from lowdim.solve.smoothest import SOLVERS, smoothest
from lowdim.summaries.graph import Graph
from lowdim.summaries.neighbors import Distance, NeighborIndex
from lowdim.summaries.patches import Patches, add_blocks, grams_of_distances, grams_of_rows, weights_of
from lowdim.threads import thread_count

__all__ = ["LLE"]

Array = NDArray[Any]

USUAL_NEIGHBORS = 12


@estimator(title="a map that keeps how each row is made of its neighbours", summary="graph", sparse=True)
class LLE(Estimator):
    """A map that keeps how each row is made of its neighbours.

        min tr(ZᵀMZ)  subject to  ZᵀZ = I, Z ⟂ 1 on every connected component

    M adds up one small matrix a row and its neighbours, and `method` says which: the weights that make a row of its
    neighbours (M = (I - W)ᵀ(I - W), G u = 1, w = u / Σu), several such weights, second derivatives, or what lies
    off the tangent plane. Z are the eigenvectors of its smallest eigenvalues after the constants, one of which
    is left out a connected component.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map of the fitted rows; columns have length one and the sign that the first largest entry is positive.
    reconstruction_error_ : float
        tr(ZᵀMZ), the sum of `eigenvalues_`.
    eigenvalues_ : array (k,)
        The smallest eigenvalues of M after the zeros of the components.
    n_neighbors_, n_connected_components_ : int
        Neighbours of each row, and pieces of their graph. Pieces are laid out by themselves, over one another.
    rows_ : array (n, d)
        The fitted rows (or distances), which new rows are made of; not a copy if they came as an array of floats.
    solver_ : str
        How the eigenvectors were found.

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
        Such("the name of a metric or a function of two rows", lambda value: isinstance(value, str) or callable(value)),
        "How neighbours are chosen; weights are always Euclidean. 'precomputed': X holds distances between the rows.",
    )
    solver: str = param("auto", Choice("auto", *SOLVERS), "How the eigenvectors are found; 'auto' takes the fastest.")
    tol: float = param(
        1e-6, Real(0, open=True), "Relative residual at which eigenvectors are good enough, unless dense."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the search for neighbours and of the eigensolver.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None, graph: Graph | None = None) -> Self:
        """Lay out the rows of X. `graph`, if given, holds their neighbours: `lowdim.neighbors(X, k)`."""
        with self._fitting():
            if isinstance(X, Graph):
                raise BadInputType(
                    "LLE needs the rows beside their graph, to weigh neighbours: use fit(X, graph=graph)."
                )
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            rows = self._table(read_rows(self, X, fitting=True, min_rows=2))
            graph = self._graph(rows, graph, seed)
            patches = Patches(graph.indices, self._grams(rows, rows, graph.indices), threads)
            labels = graph.components()
            self._check_counts(graph, labels)
            blocks = ALIGNMENTS[self.method](patches, self.n_components, self.reg)
            M = add_blocks(patches.members, blocks, threads)
            found = smoothest(
                M, self.n_components, labels, solver=self.solver, tol=self.tol, seed=seed, threads=threads
            )
            self.eigenvalues_ = found.values
            self.reconstruction_error_ = float(found.values.sum())
            self.solver_, self.n_neighbors_ = found.solver, graph.k
            self.n_connected_components_ = int(labels.max()) + 1
            self.rows_, self.embedding_ = rows, found.vectors.astype(rows.dtype, copy=False)
            return self

    def fit_transform(self, X: Any, y: Any = None, graph: Graph | None = None) -> Array:
        """Lay out the rows of X, and give their map, (n, k)."""
        return self.fit(X, y, graph).embedding_

    def transform(self, X: Any) -> Array:
        """Places of rows: their weights to the nearest fitted rows, times the places of these, (m, k).

        A row that equals a fitted one gets exactly its place (the mean of their places, if several are equal).
        With metric="precomputed", X holds distances to the fitted rows, (m, n).
        """
        check_is_fitted(self, "embedding_")
        new = self._table(read_rows(self, X, fitting=False, min_rows=1))
        threads = thread_count(self.n_jobs)
        # Always exactly, so that the place of a row does not depend on the rows that come with it.
        index = NeighborIndex(self.rows_, metric=self.metric, algorithm="exact", n_jobs=self.n_jobs)
        nearest = index.query(new, self.n_neighbors_).indices
        grams = self._grams(self.rows_, new, nearest)
        weights = weights_of(grams, self.reg, threads)
        same = np.einsum("naa->na", grams) == 0
        there = same.any(axis=1)
        weights[there] = same[there] / same[there].sum(axis=1, keepdims=True)
        places = np.einsum("nk,nkc->nc", weights, self.embedding_[nearest].astype(np.float64))
        return np.asarray(places.astype(new.dtype, copy=False))

    def _table(self, rows: Rows) -> Array:
        if rows.sparse and metric_of(self.metric).given:
            raise BadInput(
                "LLE weighs neighbours by the distances between them, and a sparse table of distances lacks most of "
                "these. Give a dense one, or the rows with graph=Graph.from_sparse(…)."
            )
        return _dense_rows(rows)

    def _graph(self, rows: Array, graph: Graph | None, seed: int) -> Graph:
        n = len(rows)
        if graph is None:
            k = min(USUAL_NEIGHBORS, n - 1) if self.n_neighbors is None else self.n_neighbors
            return NeighborIndex(rows, metric=self.metric, random_state=seed, n_jobs=self.n_jobs).graph(k)
        if not isinstance(graph, Graph) or graph.n != n:
            raise BadInput(f"graph must be a Graph of the {n} rows of X; got {graph!r:.60}.")
        return graph.nearest(min(USUAL_NEIGHBORS, graph.k) if self.n_neighbors is None else self.n_neighbors)

    def _grams(self, rows: Array, centres: Array, indices: NDArray[np.int32]) -> NDArray[np.float64]:
        if metric_of(self.metric).given:
            return grams_of_distances(rows, centres, indices)
        return grams_of_rows(rows, centres, indices, thread_count(self.n_jobs))

    def _check_counts(self, graph: Graph, labels: Array) -> None:
        d, k, pieces = self.n_components, graph.k, int(labels.max()) + 1
        needed = {"standard": 1, "modified": d + 1, "ltsa": d + 1, "hessian": d * (d + 3) // 2 + 1}[self.method]
        if k < needed:
            raise NotEnoughData(
                f"method={self.method!r} with n_components={d} needs n_neighbors of at least {needed}; there are {k}. "
                "Ask for more neighbours, for fewer components, or give more rows."
            )
        if graph.n - pieces < d:
            raise NotEnoughData(
                f"n_components={d} must be at most {graph.n - pieces}: {graph.n} rows less one for each of the "
                f"{pieces} connected piece(s) of the graph (n_samples = {graph.n}). "
                "Ask for fewer components, or give more rows."
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def _dense_rows(rows: Rows) -> Array:
    """All rows as one dense table of float32 or float64."""
    if rows.sparse:
        needed = rows.count * rows.d * rows.dtype.itemsize
        require_memory(needed, f"{rows.count} x {rows.d} dense values", "Reduce the columns with PCA first.")
        return np.asarray(rows.whole().toarray())
    return np.asarray(rows.whole())
