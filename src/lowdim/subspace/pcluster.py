"""δ-pClusters: rows that rise and fall together over some of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import estimator
from lowdim.base.state import StateCheck
from lowdim.data.ownership import owned
from lowdim.errors import BadInput
from lowdim.runtime.param import Choice, Integer, Real, param
from lowdim.subspace._base import SubspaceClusterer
from lowdim.subspace._cluster import SubspaceCluster, make_cluster
from lowdim.subspace._maple import maximal_pclusters

__all__ = ["PCluster", "PClusterState"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class PClusterState:
    """What memberships of new rows need."""

    X: Array  # (n, d) the fitted rows, or their logarithms


@estimator(title="maximal shifting or scaling patterns (δ-pCluster by MaPle)", summary="rows")
class PCluster(BiclusterMixin, SubspaceClusterer):  # type: ignore[misc]
    """δ-pClusters by MaPle: all and only the maximal sets of rows and columns with a common pattern.

    Rows O and columns T are a δ-pCluster if for any two rows i, j and any two columns a, b

        |(x_ia - x_ib) - (x_ja - x_jb)| ≤ δ

    so that the rows differ by a shift, up to δ. With pattern="scaling", logarithms are compared: rows differ by a
    factor, up to exp(δ). The number of maximal clusters can grow exponentially with the columns: `max_nodes` bounds the
    search.

        Wang, Wang, Yang and Yu 2002 (pCluster); Pei, Zhang, Cho, Wang and Yu 2003 (MaPle)

    A bicluster in scikit-learn's sense: `rows_`, `columns_` and `biclusters_`. Clusters overlap freely; the label of a
    row is the first of `clusters_` that holds it.

    {parameters}

    Attributes
    ----------
    clusters_ : list of SubspaceCluster
        Rows and columns of every maximal cluster: of most columns first, then of most rows.
    labels_ : array (n,)
        The first cluster that holds each row; -1 for rows in none.

    """

    delta: float = param(0.1, Real(0), "The greatest difference of two rows' patterns (δ).", kw_only=False)
    min_rows: int = param(3, Integer(2), "Least number of rows of a cluster (nr).")
    min_columns: int = param(3, Integer(2), "Least number of columns of a cluster (nc).")
    pattern: str = param(
        "shifting",
        Choice("shifting", "scaling"),
        "Rows of a cluster differ by a shift, or by a factor (positive values).",
    )
    max_nodes: int = param(200_000, Integer(1), "Refuse a search that visits more sets of columns.")

    _state_classes = (PClusterState, SubspaceCluster)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find all maximal δ-pClusters."""
        with self._fitting():
            rows = self._read(X, fitting=True, min_rows=2)
            table = self._whole(rows)
            values = self._patterns(table)
            found = maximal_pclusters(values, self.delta, self.min_rows, self.min_columns, self.max_nodes)
            names = self._column_names()
            self._keep([(make_cluster(members, columns, names), None) for members, columns in found], rows.count)
            self._state = PClusterState(owned(table, rows) if values is table else values)
            return self

    def _patterns(self, table: Array) -> Array:
        """The values that are compared: themselves, or their logarithms."""
        if self.pattern == "shifting":
            return table.astype(np.float64, copy=False)
        if (table <= 0).any():
            row, column = (int(i) for i in np.argwhere(table <= 0)[0])
            raise BadInput(
                f"pattern='scaling' compares logarithms, so values must be above 0; row {row}, column {column} is "
                f"{table[row, column]:g}. Shift the columns, or use pattern='shifting'."
            )
        return np.log(table.astype(np.float64, copy=False))

    def _memberships(self, block: Array) -> NDArray[np.bool_]:
        """A row is in a cluster if the cluster with this row added is a δ-pCluster."""
        values, fitted = self._patterns(block), self._state.X.astype(np.float64, copy=False)
        out = np.zeros((len(block), len(self.clusters_)), dtype=bool)
        for c, cluster in enumerate(self.clusters_):
            columns, inside = cluster.dimensions, np.ones(len(block), dtype=bool)
            for i, a in enumerate(columns):
                for b in columns[i + 1 :]:
                    own = fitted[cluster.rows, a] - fitted[cluster.rows, b]
                    new = values[:, a] - values[:, b]
                    inside &= np.maximum(own.max(), new) - np.minimum(own.min(), new) <= self.delta
            out[:, c] = inside
        return out

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Which rows each cluster has, (c, n)."""
        check_is_fitted(self, "clusters_")
        return _masks([cluster.rows for cluster in self.clusters_], len(self.labels_))

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Which columns each cluster has, (c, d)."""
        check_is_fitted(self, "clusters_")
        return _masks([cluster.dimensions for cluster in self.clusters_], self.n_features_in_)

    def _check_details(self, check: StateCheck) -> None:
        check.floats("state.X", len(self.labels_), "d")


def _masks(members: list[NDArray[np.int32]], size: int) -> NDArray[np.bool_]:
    out = np.zeros((len(members), size), dtype=bool)
    for mask, own in zip(out, members, strict=True):
        mask[own] = True
    return out
