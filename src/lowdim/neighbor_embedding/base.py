"""What t-SNE and UMAP share: a map that is kept, and new rows on it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.data.rows import Rows
from lowdim.data.validation import read_rows
from lowdim.errors import BadInput
from lowdim.knn.fitted import FittedRows

__all__ = ["NeighborMap"]

Array = NDArray[Any]


class Placing(Protocol):
    """How new rows find their places among known ones."""

    @property
    def known(self) -> FittedRows: ...
    def __call__(self, rows: Rows, /) -> NDArray[np.float32]: ...


class NeighborMap(Estimator):
    """A map of rows by their neighbours. Subclasses write `fit`, which sets `embedding_`, and `_placing`."""

    metric: Any
    embedding_: Array  # (n, k)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit`, and the map, (n, k)."""
        return self.fit(X, y).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of rows on the map, (m, k), each found by itself; nothing fitted changes.

        Rows equal to a fitted one get its very place. With metric='precomputed', X holds distances to all fitted rows.
        """
        rows = self._read_new(X)
        return self._placer(rows).astype(rows.dtype)

    def _read_new(self, X: Any) -> Rows:
        check_is_fitted(self, "embedding_")
        if self._placer.known.X is None and not self._by_distances:
            raise BadInput(
                f"this {type(self).__name__} was fitted to a graph, which holds no rows to compare new ones with. "
                "Fit it to a table."
            )
        return read_rows(self, X, fitting=False)

    def _placing(self) -> Placing:
        raise NotImplementedError

    @property
    def _placer(self) -> Placing:
        """What new rows are placed by; made anew after loading."""
        if getattr(self, "_cache", None) is None:
            self._cache = self._placing()
        return self._cache

    @property
    def _by_distances(self) -> bool:
        return bool(self.metric == "precomputed")

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._by_distances
        return tags
