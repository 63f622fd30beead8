"""What t-SNE and UMAP share: the out-of-sample embedding of new rows, and its checks."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import EmbeddingMixin, Estimator, SeedMixin, ThreadsMixin
from lowdim.base.metric_mixin import MetricMixin
from lowdim.data.rows import Rows
from lowdim.data.validation import read_rows
from lowdim.errors import BadInput
from lowdim.knn.fitted import FittedRows
from lowdim.knn.index import Neighbors

__all__ = ["NeighborEmbedding"]


class OutOfSample(Protocol):
    """Embeds new rows into a fixed embedding, each by itself."""

    @property
    def fitted_rows(self) -> FittedRows: ...
    @property
    def n_neighbors(self) -> int: ...
    def __call__(self, rows: Rows, /) -> NDArray[np.float32]: ...
    def weights(self, found: Neighbors, /) -> NDArray[np.float32]: ...
    def start(self, found: Neighbors, /) -> NDArray[np.float32]: ...


class NeighborEmbedding(EmbeddingMixin, MetricMixin, ThreadsMixin, SeedMixin, Estimator):
    """An embedding optimized over a neighbor graph. Subclasses define `fit` and `_make_out_of_sample`."""

    def transform(self, X: Any) -> NDArray[Any]:
        """Embed rows, (m, k), each by itself; the fitted embedding does not change.

        A row that equals a fitted row gets its position, bit for bit. With metric='precomputed', X holds the distances
        to all fitted rows.
        """
        rows = self._read_new(X)
        return self._finite(self._out_of_sample(rows).astype(rows.dtype))

    def transform_graph(self, X: Any) -> sp.csr_array:
        """The graph that `transform` embeds new rows by: weights of edges from them to the fitted rows, (m, n).

        For UMAP these are membership strengths; for t-SNE conditional probabilities p_j|i, which sum to 1 in each row.
        Of fitted rows that are equal, the first has the edges, if a fit has dropped the others.
        """
        rows, out_of_sample = self._read_new(X), self._out_of_sample
        fitted = out_of_sample.fitted_rows
        found = fitted.query(rows, min(out_of_sample.n_neighbors, fitted.n))
        m, k = found.indices.shape
        parts = out_of_sample.weights(found).ravel(), self._fitted_numbers()[found.indices.ravel()]
        graph = sp.csr_array((*parts, np.arange(m + 1) * k), shape=(m, len(self.embedding_)))
        graph.sort_indices()
        return graph

    def transform_init(self, X: Any) -> NDArray[Any]:
        """Positions from which `transform` starts to optimize new rows, (m, k); fitted rows have their own."""
        rows, out_of_sample = self._read_new(X), self._out_of_sample
        k, positions = out_of_sample.n_neighbors, self.embedding_[self._fitted_numbers()].astype(np.float32)
        return out_of_sample.fitted_rows.embed(rows, positions, k, out_of_sample.start).astype(rows.dtype)

    def _fitted_numbers(self) -> NDArray[np.int64]:
        """The number of each row that new ones are compared with, among the rows of the fit."""
        return np.arange(len(self.embedding_))

    def _read_new(self, X: Any) -> Rows:
        check_is_fitted(self, "embedding_")
        if self._out_of_sample.fitted_rows.X is None and not self._precomputed:
            raise BadInput(
                f"this {type(self).__name__} was fitted to a graph or affinities and has no rows to compare new ones "
                "with. Fit it to a table of rows, or to lowdim.neighbors(X, k) by the metric of the model."
            )
        return read_rows(self, X, fitting=False)

    def _make_out_of_sample(self) -> OutOfSample:
        raise NotImplementedError

    @property
    def _out_of_sample(self) -> OutOfSample:
        """What embeds new rows; made on first use, and again after loading."""
        if getattr(self, "_cache", None) is None:
            self._cache = self._make_out_of_sample()
        return self._cache
