"""What all subspace clusterers share: reading rows, clusters and labels, memberships of new rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import DeclaredEstimator
from lowdim.base.state import StateCheck
from lowdim.data.ownership import dense_table
from lowdim.data.rows import Rows
from lowdim.data.table import default_names
from lowdim.data.validation import not_finite_error, overflow_error, read_rows
from lowdim.errors import BadInputType
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Flag, param
from lowdim.subspace._cluster import SubspaceCluster, first_cluster, order_clusters

__all__ = ["StandardizeMixin", "SubspaceClusterer"]

Array = NDArray[Any]
Details = TypeVar("Details")

MEMBERSHIP_ROWS = 8192  # of new rows at a time


@dataclass(eq=False, repr=False, kw_only=True)
class StandardizeMixin:
    """Adds `standardize`, for clusterers whose distances add up columns."""

    standardize: bool = param(False, Flag(), "Divide every column by its standard deviation first.")


class SubspaceClusterer(DeclaredEstimator):
    """Base of the subspace clusterers: they write `fit`, `_memberships` and `_check_details`."""

    clusters_: list[SubspaceCluster]
    labels_: NDArray[np.int64]  # (n,)

    def memberships(self, X: Any) -> NDArray[np.bool_]:
        """Which clusters hold each row, (m, c): clusters may overlap."""
        check_is_fitted(self, "clusters_")
        rows = self._read(X, fitting=False)
        out = np.zeros((rows.count, len(self.clusters_)), dtype=bool)
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            for start, block in self._finite_blocks(rows):
                for first in range(0, len(block), MEMBERSHIP_ROWS):
                    part = block[first : first + MEMBERSHIP_ROWS]
                    out[start + first : start + first + len(part)] = self._memberships(part)
        return out

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The label of each row, (m,): the first of `clusters_` that holds it, or -1."""
        return first_cluster(self.memberships(X))

    def _memberships(self, block: Array) -> NDArray[np.bool_]:
        """Which clusters hold each row of a block of finite rows, (m, c)."""
        raise NotImplementedError

    def _check_details(self, check: StateCheck) -> None:
        """Raise ModelFileError unless the private state agrees with the clusters."""
        raise NotImplementedError

    def _read(self, X: Any, *, fitting: bool, min_rows: int = 1) -> Rows:
        """Dense rows of X."""
        rows = read_rows(self, X, fitting=fitting, min_rows=min_rows)
        if rows.sparse:
            raise BadInputType(f"X is sparse, but {type(self).__name__} needs a dense array. Give X.toarray().")
        return rows

    def _finite_blocks(self, rows: Rows) -> Iterator[tuple[int, Array]]:
        """Blocks of rows with the index of their first row; BadInput for values that are not finite."""
        for chunk in rows.chunks():
            block = np.asarray(chunk.load())
            if not np.isfinite(block).all():
                raise not_finite_error(rows, chunk)
            yield chunk.start, block

    def _whole(self, rows: Rows) -> Array:
        """All rows as one finite table whose columns have ranges, and sums of ranges, that do not overflow."""
        for _, block in self._finite_blocks(rows):
            largest = float(np.abs(block).max()) if block.size else 0.0
            if not np.isfinite(np.square(block.dtype.type(largest) * 4) * rows.d):
                raise overflow_error()
        return dense_table(rows)

    def _scales(self, table: Array) -> NDArray[np.float64]:
        """What columns are divided by: their standard deviations if they are to be standardized, else 1."""
        if not getattr(self, "standardize", False):
            return np.ones(table.shape[1])
        deviations = table.std(axis=0, dtype=np.float64)
        return np.where(deviations > 0, deviations, 1.0)

    def _column_names(self) -> Sequence[str]:
        """The names of the columns, x0, x1, … if they have none."""
        names = getattr(self, "feature_names_in_", None)
        return default_names(self.n_features_in_) if names is None else [str(name) for name in names]

    def _keep(self, found: Sequence[tuple[SubspaceCluster, Details]], n: int) -> list[Details]:
        """Set `clusters_` and `labels_`; the details of the clusters, in the same order."""
        self.clusters_, details, self.labels_ = order_clusters(found, n)
        return details

    def _check_state(self, check: StateCheck) -> None:
        clusters, labels = check.value("clusters_"), check.value("labels_")
        sound = isinstance(clusters, list) and all(isinstance(cluster, SubspaceCluster) for cluster in clusters)
        check.require(sound, "clusters_ must be a list of clusters")
        whole = isinstance(labels, np.ndarray) and labels.dtype == np.int64 and labels.ndim == 1 and len(labels) > 0
        check.require(whole, "labels_ must hold a whole number per row")
        within = labels.min() >= -1 and labels.max() < len(clusters)
        check.require(within, f"labels_ must hold whole numbers from -1 to {len(clusters) - 1}")
        for cluster in clusters:
            check.require(cluster.rows[-1] < len(labels), "a cluster has rows beyond those of labels_")
            check.require(cluster.dimensions[-1] < check.sizes["d"], "a cluster has dimensions beyond the columns")
        self._check_details(check)
