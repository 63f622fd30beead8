"""Nonmetric multidimensional scaling (Kruskal 1964)."""

from __future__ import annotations

from typing import Any, Self

from lowdim.base.estimator import estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.distance.condensed import Pairs
from lowdim.errors import BadInput
from lowdim.mds.base import BaseMDS
from lowdim.mds.disparities import Disparities
from lowdim.mds.isotonic import MAX_RANKED_ROWS, IsotonicDisparities
from lowdim.runtime.param import Choice, param

__all__ = ["NonmetricMDS"]


@estimator(title="nonmetric scaling: embedding distances in the order of the given ones", summary="pairs", sparse=True)
class NonmetricMDS(BaseMDS):
    """Nonmetric multidimensional scaling: an embedding whose distances are in the order of the given dissimilarities.

        min Σ_{i<j} w_ij (d̂_ij - |z_i - z_j|)²   over embeddings z and disparities d̂ monotone in the dissimilarities,

    held to Σ w d̂² = Σ w δ², so that the embedding neither shrinks to a point nor loses its unit. `fit` takes rows, or
    with metric="precomputed" a matrix of dissimilarities δ, in which NaN marks a missing one. `fit(X, weights=W)`
    weights the pairs.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding, centered, on its principal axes.
    stress_ : float
        Raw stress, Σ_{i<j} w (d̂ - d)².
    stress1_ : float
        Kruskal's stress-1, √(Σ w (d̂ - d)² / Σ w d̂²), which at the best scale equals that over Σ w d².
    stress_per_point_ : array (n,)
        The contribution of each row to the stress, Σ_j w (d̂ - d)²; it sums to twice stress_.
    stress_path_ : array
        The stress of every iteration.
    disparity_curve_ : array (2, m)
        Vertices of the monotone transformation from dissimilarity to disparity.
    solver_ : str
        "smacof".
    n_iter_, converged_ : int, bool
        Number of iterations, and whether the stress converged.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array (n, d) or None
        The fitted rows, which `transform` compares new ones with; None for precomputed dissimilarities.

    """

    # Half a matrix each: distances, disparities and the regression in the dtype of the rows, ranks as integers.
    _fit_memory = FitMemory(keeps=True, pairs=24, pair_values=3.5, advice="Use fewer rows, or MDS(solver='sgd').")

    ties: str = param(
        "primary",
        Choice("primary", "secondary", "tertiary"),
        "Pairs of equal dissimilarity: free disparities, equal ones, or only monotone means.",
    )

    def fit(self, X: Any, y: Any = None, weights: Any = None) -> Self:
        """Find the embedding. `weights` (n, n) are those of the pairs; 0 leaves a pair out."""
        with self._fitting():
            rows = self._read_fitted(X)
            if rows.count > MAX_RANKED_ROWS:
                raise BadInput(
                    f"NonmetricMDS ranks all pairs of rows, of at most {MAX_RANKED_ROWS:,} rows; got {rows.count:,}. "
                    "Use MDS(solver='sgd'), which fits the distances themselves, or fewer rows."
                )
            self._fit_all_pairs(rows, weights)
        self._warn_unless_converged()
        return self

    def _disparity_class(self) -> type[Disparities]:
        return IsotonicDisparities

    def _disparities(self, pairs: Pairs) -> Disparities:
        return IsotonicDisparities(pairs, self.ties)
