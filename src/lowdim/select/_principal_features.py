"""Principal feature analysis (Lu, Cohen, Zhou and Tian 2007): one feature of each cluster of similar loadings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.data.validation import check_weights, read_rows, underflow_error
from lowdim.errors import NotEnoughData
from lowdim.linalg.dense_eigen import eigh_largest
from lowdim.runtime.param import Either, Flag, Integer, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.select._selector import COUNT, Selector, resolve_count
from lowdim.summaries.moments import moments_of

__all__ = ["PrincipalFeatureAnalysis"]

Floats = NDArray[np.float64]


@estimator(title="one feature per cluster of loadings", summary="moments", streaming=True, sparse=True, weights=True)
class PrincipalFeatureAnalysis(SeedMixin, ThreadsMixin, Selector):
    """Select features that represent the principal components, without a target.

    The loadings of the features on the leading components (their absolute values) are clustered by k-means, and the
    feature nearest to the center of each cluster is selected. Fewer than k are, if features have equal loadings.

    {parameters}

    Attributes
    ----------
    loadings_ : array (d, q)
        Absolute loadings of the features on the q leading components.
    labels_ : array (d,)
        The cluster of each feature.
    support_ : array (d,)
        Whether a feature is selected.

    """

    k: int | float = param(0.5, COUNT, "Number of features to select, or a share of all features.", kw_only=False)
    n_components: int | float = param(
        0.9, Either(Integer(1), Real(0, 1, open=True)), "Leading components, or the share of the variance they explain."
    )
    standardize: bool = param(True, Flag(), "Use correlations instead of covariances.")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PrincipalFeatureAnalysis:
        """Find the components, and select a feature from each cluster of loadings."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True, min_rows=2)
            found = moments_of(rows, None, check_weights(sample_weight, rows.n), thread_count(self.n_jobs))
            count = resolve_count(self, self.k, found.d)
            matrix = found.correlation() if self.standardize else found.covariance(ddof=0)
            self.loadings_ = self._loadings(matrix)
            self.labels_ = _clusters(self.loadings_, count, seed_of(self.random_state))
            self.support_ = _representatives(self.loadings_, self.labels_)
        return self

    def _loadings(self, matrix: Floats) -> Floats:
        """Absolute entries of the leading eigenvectors, (d, q)."""
        largest = np.abs(matrix).max()
        if largest == 0:
            raise NotEnoughData("all columns are constant, so there are no principal components. Give rows that vary.")
        if largest < np.finfo(np.float64).tiny:
            raise underflow_error()
        pairs = eigh_largest(matrix / largest)
        if isinstance(self.n_components, float):
            shares = np.cumsum(np.maximum(pairs.values, 0)) / np.maximum(pairs.values, 0).sum()
            q = int(np.searchsorted(shares, self.n_components * (1 - 1e-12))) + 1
        else:
            q = self.n_components
        if q > len(matrix):
            raise NotEnoughData(f"n_components must be at most {len(matrix)}, the number of features; got {q}.")
        return np.abs(pairs.vectors[:, :q])

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.floats("loadings_", "d", "q")
        check.indices("labels_", "d", below="d")


def _clusters(loadings: Floats, count: int, seed: int) -> NDArray[np.int32]:
    """The cluster of each feature, by k-means; features with equal loadings are one point."""
    from sklearn.cluster import KMeans

    points, which = np.unique(loadings.round(12), axis=0, return_inverse=True)
    if len(points) <= count:
        return which.reshape(-1).astype(np.int32)
    with threadpool_limits(1, user_api="openmp"):  # whose threads would split the sums
        labels = KMeans(count, n_init=10, random_state=seed % 2**32).fit(points).labels_
    return labels[which.reshape(-1)].astype(np.int32)


def _representatives(loadings: Floats, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The feature nearest to the center of each cluster; the first of equally near ones."""
    support = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        distances = np.linalg.norm(loadings[members] - loadings[members].mean(axis=0), axis=1).round(12)
        support[members[np.argmin(distances)]] = True
    return support
