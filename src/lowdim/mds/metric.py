"""Metric multidimensional scaling."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.data.rows import Rows
from lowdim.distance.condensed import Pairs, pairs_of_matrix
from lowdim.distance.matrix_checks import precomputed_distances
from lowdim.distance.pairwise import MetricRows, prepare_rows
from lowdim.errors import BadParameter
from lowdim.mds.base import BaseMDS
from lowdim.mds.disparities import Disparities, RatioDisparities
from lowdim.mds.initialization import array_init, best_of_starts, classical_init, pca_init, random_init
from lowdim.mds.monotone_spline import SplineDisparities
from lowdim.mds.sgd import SGDSchedule, sgd, stress_by_blocks
from lowdim.mds.smacof import BLOCK_VALUES, MDSResult, require_connected
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["MDS"]

Array = NDArray[Any]

SGD_ROWS = 12_000  # from here on, an iteration over all pairs takes seconds
DEFAULT_EPOCHS = 40
UNIT_ROWS = 200  # sampled to find the size of the distances


@estimator(
    title="metric scaling: embedding distances that fit given ones (stress, by SMACOF)", summary="pairs", sparse=True
)
class MDS(BaseMDS):
    """Metric multidimensional scaling: an embedding whose distances fit given ones.

        min Σ_{i<j} w_ij (d̂_ij - |z_i - z_j|)²     (loss="stress")
        min Σ_{i<j} w_ij (d̂_ij² - |z_i - z_j|²)²   (loss="sstress")

    The disparities d̂ are the distances δ themselves ("ratio"), a linear function of them ("interval") or a monotone
    spline ("spline"); the last two are held to Σ w d̂² = Σ w δ². `fit` takes rows, or with metric="precomputed" a
    distance matrix, in which NaN marks a missing distance. `fit(X, weights=W)` weights the pairs.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding, centered, on its principal axes.
    stress_ : float
        The loss: raw stress Σ_{i<j} w (d̂ - d)², or SSTRESS Σ_{i<j} w (d̂² - d²)².
    stress1_ : float
        Kruskal's stress-1 over the disparities, √(Σ w (d̂ - d)² / Σ w d̂²).
    stress_per_point_ : array (n,)
        The contribution of each row to the loss, Σ_j w (d̂ - d)² (or of the squares); it sums to twice stress_.
    stress_path_ : array
        The loss of every iteration (SGD: an estimate from the sampled pairs, per epoch).
    disparity_curve_ : array (2, m) or None
        Vertices of the transformation from distance to disparity; None for "ratio".
    solver_ : str
        "smacof", "sgd", or "lbfgs" for SSTRESS.
    n_iter_, converged_ : int, bool
        Number of iterations (SGD: epochs), and whether the loss converged.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array (n, d) or None
        The fitted rows, which `transform` compares new ones with; None for precomputed distances.

    """

    transformation: str = param(
        "ratio",
        Choice("ratio", "interval", "spline"),
        "Disparities: the distances δ, a line a + bδ, or a monotone quadratic spline of δ.",
    )
    loss: str = param("stress", Choice("stress", "sstress"), "Compare distances (stress) or their squares (SSTRESS).")
    solver: str = param(
        "auto",
        Choice("auto", "smacof", "sgd"),
        "SMACOF keeps all pairs in memory; stochastic gradient descent computes distances when it needs them. "
        "'auto' is 'sgd' from 12,000 rows on, where possible.",
    )
    max_iter: int | None = param(
        None, Maybe(Integer(1)), "Maximum number of iterations; None: 1000, or 40 epochs of SGD."
    )
    tol: float = param(
        1e-8,
        Real(0),
        "Converged when an iteration lowers the loss by less than tol · Σ w δ² (SSTRESS: δ⁴). SGD runs all its epochs.",
    )

    def fit(self, X: Any, y: Any = None, weights: Any = None) -> Self:
        """Find the embedding. `weights` (n, n) are those of the pairs; 0 leaves a pair out."""
        with self._fitting():
            rows = self._read_fitted(X)
            self._check_choices()
            if self._uses_sgd(rows, weights):
                self._fit_sgd(rows)
            else:
                self._fit_all_pairs(rows, weights)
        self._warn_unless_converged()
        return self

    def _fit_sgd(self, rows: Rows) -> None:
        """The best embedding over all starts, by stochastic gradient descent."""
        threads, seed = thread_count(self.n_jobs), seed_of(self.random_state)
        source, start, unit = self._sgd_source(rows, threads, seed)

        def run(number: int, own_threads: int) -> MDSResult:
            initial, kind = random_init(rows.count, self.n_components, seed, number), "random"
            if number == 0 and start is not None:
                initial, kind = start, "informed"
            schedule = SGDSchedule(self.max_iter or DEFAULT_EPOCHS, (seed + number) % 2**64, kind)
            return sgd(source, initial, schedule, unit, own_threads)

        best = best_of_starts(run, self.n_init, rows.count, threads)
        per_point, total = stress_by_blocks(source, best.embedding, unit, threads)
        self._set_stress(per_point, total, unit)
        self.stress_path_ = best.path * np.float64(unit) ** 2
        self.solver_ = "sgd"
        self._set_embedding(best, rows, unit, None)

    def _sgd_source(self, rows: Rows, threads: int, seed: int) -> tuple[MetricRows | Array, Array | None, float]:
        """What distances are computed from, an initial embedding (None: random), and a unit."""
        n = rows.count
        source: MetricRows | Array
        if self._precomputed:
            source = precomputed_distances(rows, missing=True)
            pairs = pairs_of_matrix(source, None)
            unit = pairs.unit
            if pairs.weights is not None:
                require_connected(~np.isnan(source))
        else:
            source = prepare_rows(rows, self._fitted_metric, threads)
            sample = np.ascontiguousarray(source.table[:: max(1, n // UNIT_ROWS)])
            unit = MetricRows(source.metric, sample, source.factor, threads).pairs().unit
        if isinstance(self.init, np.ndarray):
            return source, array_init(self.init, n, self.n_components) / unit, unit
        if self.init == "random":
            return source, None, unit
        if isinstance(source, MetricRows):
            if self._mixed:  # rows with categories and gaps have no principal axes
                return source, None, unit
            return source, pca_init(source, self.n_components, unit, seed), unit
        return source, classical_init(pairs, self.n_components, seed), unit

    def _disparity_class(self) -> type[Disparities]:
        return RatioDisparities if self.transformation == "ratio" else SplineDisparities

    def _disparities(self, pairs: Pairs) -> Disparities:
        if self.transformation == "ratio":
            return RatioDisparities(pairs)
        return SplineDisparities(pairs, degree=1 if self.transformation == "interval" else 2)

    def _check_choices(self) -> None:
        if self.loss == "sstress" and self.transformation != "ratio":
            raise BadParameter(
                f"MDS: loss='sstress' does not transform the distances, so transformation must be 'ratio'; "
                f"got {self.transformation!r}."
            )
        if self.solver == "sgd" and (self.loss != "stress" or self.transformation != "ratio"):
            raise BadParameter("MDS: solver='sgd' needs loss='stress' and transformation='ratio'. Use solver='smacof'.")

    def _memory_model(self, rows: Rows) -> FitMemory | None:
        by_sgd = self.solver == "sgd" or (self.solver == "auto" and rows.count >= SGD_ROWS)
        if by_sgd:  # blocks of distances, dissimilarities and residuals, of which the stress is summed
            blocks = 40 * min(BLOCK_VALUES, rows.count**2)
            return FitMemory(keeps=True, tables=1, rows=16 * min(self.n_components, rows.count), other=blocks)
        return super()._memory_model(rows)

    def _uses_sgd(self, rows: Rows, weights: Any) -> bool:
        metric = self._fitted_metric
        possible = weights is None and (metric.precomputed or metric.kernel is not None)
        if self.solver == "sgd" and not possible:
            raise BadParameter("MDS: solver='sgd' takes neither weights nor this metric. Use solver='smacof'.")
        plain = self.loss == "stress" and self.transformation == "ratio" and not metric.precomputed
        return self.solver == "sgd" or (self.solver == "auto" and possible and plain and rows.count >= SGD_ROWS)
