"""One neighbor graph for all methods that read one by the same metric, and for the measures of quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.base.standardization import inner_estimator
from lowdim.data.duplicates import distinct_rows
from lowdim.data.ownership import compact_table
from lowdim.data.rows import Rows
from lowdim.distance.metrics import metric_of
from lowdim.knn.graph import Graph
from lowdim.knn.index import neighbors
from lowdim.manifold.isomap.estimator import DEFAULT_NEIGHBORS as ISOMAP_NEIGHBORS
from lowdim.manifold.isomap.estimator import Isomap
from lowdim.manifold.laplacian.estimator import DEFAULT_NEIGHBORS as LAPLACIAN_NEIGHBORS
from lowdim.manifold.laplacian.estimator import LaplacianEigenmaps
from lowdim.manifold.lle.estimator import DEFAULT_NEIGHBORS as LLE_NEIGHBORS
from lowdim.manifold.lle.estimator import LLE
from lowdim.neighbor_embedding.tsne.affinities import feasible_perplexity, neighbor_count
from lowdim.neighbor_embedding.tsne.estimator import TSNE
from lowdim.neighbor_embedding.umap.estimator import UMAP
from lowdim.runtime.threads import thread_count

__all__ = ["SharedNeighbors", "neighbors_read"]

# How many neighbors these read if none are asked for.
DEFAULTS = {Isomap: ISOMAP_NEIGHBORS, LaplacianEigenmaps: LAPLACIAN_NEIGHBORS, LLE: LLE_NEIGHBORS}


def neighbors_read(model: Any, n: int) -> int | None:
    """Neighbors per row that a model reads from a graph of n rows; None if it does not read a k-NN graph."""
    model = inner_estimator(model)
    if isinstance(model, TSNE):
        return min(neighbor_count(feasible_perplexity(model.perplexity, n)), n - 1)
    if isinstance(model, UMAP):  # whose neighborhoods count the row itself
        return max(min(model.n_neighbors - 1, n - 1), 1)
    default = DEFAULTS.get(type(model))
    if default is None or getattr(model, "radius", None) is not None:
        return None
    return min(default if model.n_neighbors is None else model.n_neighbors, n - 1)


@dataclass(frozen=True)
class SharedNeighbors:
    """The k-NN graph of the rows by one metric."""

    graph: Graph
    distinct: bool  # no two rows are equal

    @classmethod
    def search(cls, rows: Rows, k: int, metric: str, random_state: Any, n_jobs: int | None) -> SharedNeighbors:
        """Search once, for the method that reads most neighbors."""
        graph = neighbors(rows, k, metric=metric, random_state=random_state, n_jobs=n_jobs)
        distinct = metric != "precomputed" and distinct_rows(compact_table(rows), thread_count(n_jobs)).all_distinct
        return cls(graph, distinct)

    def serves(self, model: Any) -> bool:
        """Whether the graph is what this model would search for itself.

        UMAP drops repeated rows before it searches. Given distances and Gower's are read by every model itself.
        """
        inner, k = inner_estimator(model), neighbors_read(model, self.graph.n)
        if k is None or k > self.graph.k or (isinstance(inner, UMAP) and not self.distinct):
            return False
        wanted = metric_of(inner.metric, inner.metric_params)
        by_name = not (wanted.precomputed or wanted.missing or wanted.function is not None or wanted.params)
        return by_name and wanted.name == self.graph.metric

    def of(self, model: Any) -> Graph:
        """The part of the graph that this model reads."""
        k = neighbors_read(model, self.graph.n)
        assert k is not None
        return self.graph if k == self.graph.k else self.graph.nearest(k)
