"""Metric multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.data.rows import Rows
from lowdim.data.validation import read_rows
from lowdim.distance.condensed import Pairs, pairs_of_matrix
from lowdim.distance.matrix_checks import precomputed_distances
from lowdim.distance.metrics import metric_of
from lowdim.distance.pairwise import PreparedRows, prepare_rows
from lowdim.errors import BadParameter
from lowdim.mds.base import Scaling, init_domain, metric_domain
from lowdim.mds.disparities import Disparities, Ratio
from lowdim.mds.initialization import best_of, classical_start, given_start, principal_start, random_start
from lowdim.mds.monotone_spline import Curve
from lowdim.mds.sgd import Schedule, descend, measured_stress
from lowdim.mds.smacof import Layout, require_connected
from lowdim.runtime.param import Choice, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["MDS"]

Array = NDArray[Any]

SGD_ROWS = 12_000  # from here on, a step over all pairs takes seconds
EPOCHS = 40


@estimator(title="a map that keeps distances", summary="pairs", sparse=True)
class MDS(Scaling):
    """A map that keeps distances.

        min Σ_{i<j} w_ij (d̂_ij - |z_i - z_j|)²     (loss="stress")
        min Σ_{i<j} w_ij (d̂_ij² - |z_i - z_j|²)²   (loss="sstress")

    Disparities d̂ are the distances themselves ("ratio"), a straight line of them ("interval") or a rising curve
    ("spline"); the last two are held to Σ w d̂² = Σ w δ². `fit` takes rows, or a square table of distances with
    metric="precomputed", in which NaN says that a distance is not known. `fit(X, weights=W)` weighs the pairs.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map, centred, on its principal axes.
    stress_ : float
        The loss: raw stress Σ_{i<j} w (d̂ - d)², or Σ_{i<j} w (d̂² - d²)².
    stress1_ : float
        Kruskal's stress-1 over the disparities, √(Σ w (d̂ - d)² / Σ w d̂²).
    stress_per_point_ : array (n,)
        Each row's part of the loss, Σ_j w (d̂ - d)² (or of their squares); it sums to twice stress_.
    stress_path_ : array
        The loss at every step (sgd: an estimate of it from the pairs that met).
    disparity_curve_ : array (2, m) or None
        Corners of the curve from distance to disparity.
    solver_, n_iter_, converged_
        How the map was found, in how many steps, and whether the loss had come to rest.
    X_fit_ : array (n, d) or None
        The fitted rows, which `transform` measures new ones against.

    """

    n_components: int = param(2, Integer(1), "Number of axes.", kw_only=False)
    metric: str | Callable[[Any, Any], float] = param("euclidean", metric_domain, "How far two rows are apart.")
    transformation: str = param(
        "ratio",
        Choice("ratio", "interval", "spline"),
        "Disparities: the distances, a line a + bδ, or a rising quadratic spline of δ.",
    )
    loss: str = param("stress", Choice("stress", "sstress"), "Compare distances, or their squares.")
    solver: str = param(
        "auto",
        Choice("auto", "smacof", "sgd"),
        "Majorisation over all pairs in memory; or stochastic descent, which measures distances as it goes and "
        "needs memory for the rows alone. 'auto' takes sgd from 12,000 rows on where it can.",
    )
    init: Any = param("classical", init_domain, "The first start: the classical solution, random, or an array.")
    n_init: int = param(1, Integer(1), "Starts; those after the first are random, and the best map is kept.")
    max_iter: int | None = param(None, Maybe(Integer(1)), "Most steps; None: 1000, or 40 epochs of sgd.")
    tol: float = param(
        1e-8,
        Real(0),
        "Stop when a step lowers the loss by less than this share of Σ w δ² (or δ⁴); sgd runs all its epochs instead.",
    )
    random_state: Seed = param(0, SeedLike(), "Seed of random starts and of sgd.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None, weights: Any = None) -> Self:
        """Find the map. `weights` (n, n) says how much each pair counts; 0 leaves it out."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True, min_rows=2)
            self._check_choices()
            if self._sgd_is_wanted(rows, weights):
                self._fit_by_meetings(rows)
            else:
                self._fit_by_pairs(rows, weights)
        self._warn_if_stopped()
        return self

    def _fit_by_meetings(self, rows: Rows) -> None:
        threads, seed = thread_count(self.n_jobs), seed_of(self.random_state)
        source, start, unit = self._source(rows, threads, seed)

        def run(number: int, own_threads: int) -> Layout:
            first, kind = random_start(rows.count, self.n_components, seed, number), "rough"
            if number == 0 and start is not None:
                first, kind = start, "good"
            schedule = Schedule(self.max_iter or EPOCHS, (seed + number) % 2**64, kind)
            return descend(source, first, schedule, unit, own_threads)

        best = best_of(run, self.n_init, rows.count, threads)
        by_point, total = measured_stress(source, best.points, unit, threads)
        self._tell(by_point, total, unit)
        self.stress_path_ = best.path * np.float64(unit) ** 2
        self.solver_ = "sgd"
        self._keep(best, rows, unit, None)

    def _source(self, rows: Rows, threads: int, seed: int) -> tuple[PreparedRows | Array, Array | None, float]:
        """What distances are measured on, a start that is worth more than random points, and a unit."""
        metric, n = metric_of(self.metric), rows.count
        source: PreparedRows | Array
        if metric.given:
            source = precomputed_distances(rows, missing=True)
            pairs = pairs_of_matrix(source, None)
            unit = pairs.unit
            if pairs.weights is not None:
                require_connected(~np.isnan(source))
        else:
            source = prepare_rows(rows, metric, threads)
            some = np.ascontiguousarray(source.table[:: max(1, n // 200)])
            unit = PreparedRows(metric, some, source.factor, threads).pairs().unit
        if isinstance(self.init, np.ndarray):
            return source, given_start(self.init, n, self.n_components) / unit, unit
        if self.init == "random":
            return source, None, unit
        start = classical_start(pairs, self.n_components, seed) if metric.given else None
        if isinstance(source, PreparedRows):
            start = principal_start(source, self.n_components, unit, seed)
        return source, start, unit

    def _disparity_kind(self) -> type[Disparities]:
        return Ratio if self.transformation == "ratio" else Curve

    def _disparities(self, pairs: Pairs) -> Disparities:
        if self.transformation == "ratio":
            return Ratio(pairs)
        return Curve(pairs, degree=1 if self.transformation == "interval" else 2)

    def _check_choices(self) -> None:
        if self.loss == "sstress" and self.transformation != "ratio":
            raise BadParameter(
                f"MDS: loss='sstress' takes distances as they are, so transformation must be 'ratio'; "
                f"got {self.transformation!r}."
            )
        if self.solver == "sgd" and (self.loss != "stress" or self.transformation != "ratio"):
            raise BadParameter("MDS: solver='sgd' needs loss='stress' and transformation='ratio'. Use solver='smacof'.")

    def _sgd_is_wanted(self, rows: Rows, weights: Any) -> bool:
        metric = metric_of(self.metric)
        able = weights is None and (metric.given or (metric.kernel is not None and not metric.bits))
        if self.solver == "sgd" and not able:
            raise BadParameter("MDS: solver='sgd' takes neither weights nor this metric. Use solver='smacof'.")
        plain = self.loss == "stress" and self.transformation == "ratio" and not metric.given
        return self.solver == "sgd" or (self.solver == "auto" and able and plain and rows.count >= SGD_ROWS)
