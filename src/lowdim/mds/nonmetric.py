"""Nonmetric multidimensional scaling (Kruskal)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from lowdim.base.estimator import estimator
from lowdim.data.validation import read_rows
from lowdim.distance.condensed import Pairs
from lowdim.errors import BadInput
from lowdim.mds.base import Scaling, init_domain, metric_domain
from lowdim.mds.disparities import Disparities
from lowdim.mds.isotonic import MOST_RANKED, Ranks
from lowdim.runtime.param import Choice, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed

__all__ = ["NonmetricMDS"]


@estimator(title="a map that keeps the order of distances", summary="pairs", sparse=True)
class NonmetricMDS(Scaling):
    """A map that keeps the order of distances.

        min Σ_{i<j} w_ij (d̂_ij - |z_i - z_j|)²   over maps z and all d̂ that rise with the given distances,

    held to Σ w d̂² = Σ w δ², so that the map neither shrinks to a point nor loses its unit. `fit` takes rows, or a
    square table of dissimilarities with metric="precomputed", in which NaN says that one is not known.
    `fit(X, weights=W)` weighs the pairs.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map, centred, on its principal axes.
    stress_ : float
        Raw stress, Σ_{i<j} w (d̂ - d)².
    stress1_ : float
        Kruskal's stress-1, √(Σ w (d̂ - d)² / Σ w d̂²), which at the best scale is that over Σ w d².
    stress_per_point_ : array (n,)
        Each row's part of the stress, Σ_j w (d̂ - d)²; it sums to twice stress_.
    stress_path_ : array
        The stress at every step.
    disparity_curve_ : array (2, m)
        Corners of the rising line from dissimilarity to disparity.
    solver_, n_iter_, converged_
        How the map was found, in how many steps, and whether the stress had come to rest.
    X_fit_ : array (n, d) or None
        The fitted rows, which `transform` measures new ones against.

    """

    n_components: int = param(2, Integer(1), "Number of axes.", kw_only=False)
    metric: str | Callable[[Any, Any], float] = param("euclidean", metric_domain, "How far two rows are apart.")
    ties: str = param(
        "primary",
        Choice("primary", "secondary", "tertiary"),
        "Pairs of equal dissimilarity may get any disparities, must get equal ones, or must do so on average.",
    )
    init: Any = param("classical", init_domain, "The first start: the classical solution, random, or an array.")
    n_init: int = param(1, Integer(1), "Starts; those after the first are random, and the best map is kept.")
    max_iter: int | None = param(None, Maybe(Integer(1)), "Most steps; None: 1000.")
    tol: float = param(1e-8, Real(0), "Stop when a step lowers the stress by less than this share of Σ w δ².")
    random_state: Seed = param(0, SeedLike(), "Seed of random starts.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None, weights: Any = None) -> Self:
        """Find the map. `weights` (n, n) says how much each pair counts; 0 leaves it out."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True, min_rows=2)
            if rows.count > MOST_RANKED:
                raise BadInput(
                    f"NonmetricMDS ranks all pairs of rows, of at most {MOST_RANKED:,} rows; got {rows.count:,}. "
                    "Use MDS(solver='sgd'), which keeps distances instead, or fewer rows."
                )
            self._fit_by_pairs(rows, weights)
        self._warn_if_stopped()
        return self

    def _disparity_kind(self) -> type[Disparities]:
        return Ranks

    def _disparities(self, pairs: Pairs) -> Disparities:
        return Ranks(pairs, self.ties)
