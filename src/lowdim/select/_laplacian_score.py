"""The Laplacian score (He, Cai and Niyogi 2005): features that are smooth on the neighbor graph, without a target."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.data.rows import ArrayRows
from lowdim.data.validation import read_rows
from lowdim.knn.index import neighbors
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.select._selector import Filter, FilterScores, finite_table

__all__ = ["LaplacianScore"]

Floats = NDArray[np.float64]


@estimator(title="smoothness on the neighbor graph", summary="graph", sparse=True)
class LaplacianScore(ThreadsMixin, Filter):
    """Select features that vary little between neighbors, compared with their variance: they show the structure.

    The Laplacian score fᵀLf / fᵀDf is small for such features; `scores_` is 1 minus it, so that large is good here as
    in every filter. A constant feature scores -1, the least possible.

    {parameters}

    Attributes
    ----------
    scores_ : array (d,)
        1 - fᵀLf / fᵀDf, from -1 to 1.
    {ranking}

    """

    n_neighbors: int = param(5, Integer(1), "Neighbors of a row on the graph, which are then joined both ways.")
    weights: str = param("heat", Choice("heat", "binary"), "Weight of an edge: exp(-distance² / t), or 1.")
    t: float | None = param(None, Maybe(Real(0, open=True)), "Width t of the heat kernel; None: mean squared distance.")

    def _score(self, X: Any, y: Any) -> FilterScores:
        rows = read_rows(self, X, fitting=True, min_rows=2)
        table = finite_table(rows)
        W = self._affinity(table)
        degrees = np.asarray(W.sum(axis=1)).ravel()
        features = table.astype(np.float64)
        features -= (degrees / degrees.sum()) @ features
        scale = np.abs(features).max(axis=0)
        varies = scale > 16 * np.finfo(table.dtype).eps * np.abs(table).max(axis=0)
        features /= np.where(varies, scale, 1.0)  # so that squares neither overflow nor underflow
        variance = degrees @ features**2
        smooth = np.einsum("ij,ij->j", features, W @ features)  # fᵀLf = fᵀDf - fᵀWf
        return FilterScores(np.where(varies, smooth / np.where(varies, variance, 1.0), -1.0))

    def _affinity(self, table: NDArray[Any]) -> Any:
        n = len(table)
        graph = neighbors(ArrayRows(table), min(self.n_neighbors, n - 1), n_jobs=self.n_jobs)
        squares = graph.distances.astype(np.float64) ** 2
        mean = squares.mean()
        width = (mean if mean > 0 else 1.0) if self.t is None else self.t
        values = np.exp(-squares / width) if self.weights == "heat" else np.ones_like(squares)
        starts = np.arange(0, squares.size + 1, squares.shape[1])
        W = sp.csr_array((values.ravel(), graph.indices.ravel(), starts), shape=(n, n))
        return W.maximum(W.T).tocsr()
