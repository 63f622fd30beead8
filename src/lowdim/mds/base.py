"""What metric and nonmetric multidimensional scaling share: the fit over all pairs and its report, new rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.data.ownership import dense_table, owned
from lowdim.data.rows import ArrayRows, Chunk, Rows
from lowdim.data.validation import finite_error, overflow_error, read_rows
from lowdim.distance.condensed import Measure, Pairs, dense_block, given_pairs, given_table, measure_of, pair_weights
from lowdim.distance.matrix_checks import checked_new_distances
from lowdim.distance.metrics import METRICS, metric_of
from lowdim.errors import BadInput, LowdimWarning
from lowdim.knn.blockwise import Blocks
from lowdim.mds.disparities import Disparities, Ratio
from lowdim.mds.initialization import best_of, start_of
from lowdim.mds.out_of_sample import MOST_STEPS, Ground, place_in_blocks
from lowdim.mds.shepard import Shepard, shepard_of
from lowdim.mds.smacof import Layout, Steps, along_axes, majorise_in_stages, stress_by_point, weight_solver
from lowdim.mds.sstress import minimise_sstress
from lowdim.runtime.param import Choice, Domain, Either, Such
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["Scaling", "init_domain", "metric_domain"]

Array = NDArray[Any]

STEPS = 1000

metric_domain: Domain = Either(Choice(*METRICS), Such("a function of two rows", callable))
init_domain: Domain = Either(
    Choice("classical", "random"), Such("an array (n, k)", lambda value: isinstance(value, np.ndarray))
)


class Scaling(Estimator):
    """A map whose distances show given ones. Subclasses write `fit`."""

    n_components: int
    metric: str | Callable[[Any, Any], float]
    init: Any
    n_init: int
    random_state: Seed
    n_jobs: int | None
    loss = "stress"

    max_iter: int | None
    tol: float
    embedding_: Array  # (n, k)
    stress_: float
    X_fit_: Array | None
    disparity_curve_: Array | None

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit and return the map, (n, k)."""
        return self.fit(X, y, **fit_params).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places (m, k) of new rows among the fitted ones, which stay where they are.

        With metric="precomputed", X holds the distances of new rows to the fitted ones, (m, n). A row at distance
        zero from a fitted one is put on its place.
        """
        check_is_fitted(self, "embedding_")
        rows, threads = read_rows(self, X, fitting=False), thread_count(self.n_jobs)
        ground = Ground(self.embedding_, self.disparity_curve_, self.loss)
        out, restless = place_in_blocks(rows, self._distances_to_fitted(rows, threads), ground, threads)
        if restless:
            warnings.warn(
                f"{restless} of {rows.count} rows still moved after {MOST_STEPS} steps.",
                LowdimWarning,
                stacklevel=2,
            )
        return out

    def shepard(self, X: Any, weights: Any = None) -> Shepard:
        """What a Shepard diagram shows of the fitted rows X: distances, disparities and distances in the map."""
        check_is_fitted(self, "embedding_")
        pairs, _ = self._pairs(read_rows(self, X, fitting=False), weights, thread_count(self.n_jobs))
        if pairs.n != len(self.embedding_):
            raise BadInput(f"X must be the {len(self.embedding_)} fitted rows; got {pairs.n}.")
        return shepard_of(pairs, self.embedding_, self.disparity_curve_)

    def _fit_by_pairs(self, rows: Rows, weights: Any) -> None:
        """The best map over all starts, by majorisation of the stress or descent of the squared stress."""
        threads = thread_count(self.n_jobs)
        starts = min(self.n_init, threads)
        self._disparity_kind().require_room(type(self).__name__, rows.count, rows.dtype.itemsize, starts)
        pairs, measure = self._pairs(rows, weights, threads)
        squared, total, seed = self.loss == "sstress", pairs.total, seed_of(self.random_state)
        solve = weight_solver(pairs)

        def run(number: int, own_threads: int) -> Layout:
            fit: Disparities = Ratio(pairs)
            if total <= 0:  # all rows in one place
                return Layout(np.zeros((pairs.n, self.n_components)), 0.0, fit=fit)
            steps = Steps(self.max_iter or STEPS, self.tol, own_threads)
            start = start_of(number, self.init, pairs, measure, self.n_components, seed)
            if squared:
                return replace(minimise_sstress(pairs, start, steps), fit=fit)
            fit = self._disparities(pairs)
            return replace(majorise_in_stages(pairs, start, fit, steps, solve), fit=fit)

        best = best_of(run, self.n_init, pairs.n, threads)
        assert best.fit is not None
        fit = best.fit
        targets = fit.update(np.ascontiguousarray(best.points.T, dtype=pairs.distances.dtype), threads)
        targets = targets if fit.ranking is None else targets[fit.ranking.slots()]
        self._tell(stress_by_point(pairs, best.points, targets, threads), total, pairs.unit)
        if squared:
            self.stress_per_point_ = (
                stress_by_point(pairs, best.points, targets, threads, squared=True) * np.float64(pairs.unit) ** 4
            )
            self.stress_ = float(self.stress_per_point_.sum() / 2)
        self.stress_path_ = best.path * np.float64(pairs.unit) ** (4 if squared else 2)
        self.solver_ = "descent" if squared else "smacof"
        self._keep(best, rows, pairs.unit, fit.curve())

    def _tell(self, by_point: Array, total: float, unit: float) -> None:
        """Raw stress and stress-1."""
        stress = float(by_point.sum() / 2)
        square = np.float64(unit) ** 2  # too large a number becomes infinite, and is named
        self.stress_ = float(stress * square)
        self.stress1_ = float(np.sqrt(stress / total)) if total > 0 else 0.0
        self.stress_per_point_ = by_point * square

    def _disparity_kind(self) -> type[Disparities]:
        raise NotImplementedError

    def _disparities(self, pairs: Pairs) -> Disparities:
        raise NotImplementedError

    def _pairs(self, rows: Rows, weights: Any, threads: int) -> tuple[Pairs, Measure | None]:
        """The distances of all pairs, and the rows they were measured on, if any."""
        metric = metric_of(self.metric)
        if metric.given:
            return given_pairs(given_table(rows, missing=True), weights), None
        measure = measure_of(rows, metric, threads)
        pairs = measure.pairs()
        return Pairs(
            pairs.n, pairs.distances, pair_weights(weights, pairs.n, pairs.distances.dtype), pairs.unit
        ), measure

    def _distances_to_fitted(self, rows: Rows, threads: int) -> Blocks:
        """Distances (m, n) of new rows begin … end, measured, or given and checked."""
        if self.X_fit_ is None:
            return lambda begin, end: checked_new_distances(dense_block(rows, begin, end), missing=True, first=begin)
        metric, held = metric_of(self.metric), self.X_fit_.dtype
        fixed = measure_of(ArrayRows(self.X_fit_), metric, threads)

        def measured(begin: int, end: int) -> Array:
            block = dense_block(rows, begin, end)
            if not np.isfinite(block).all():
                raise finite_error(rows, Chunk(begin, end, lambda: block))
            return fixed.to(measure_of(ArrayRows(block.astype(held, copy=False)), metric, threads, fixed))

        return measured

    def _keep(self, layout: Layout, rows: Rows, unit: float, curve: Array | None) -> None:
        """The map in the units and the dtype of the data, and how it was come by."""
        metric = metric_of(self.metric)
        embedding = (along_axes(layout.points) * unit).astype(rows.dtype)
        if not (np.isfinite(embedding).all() and np.isfinite(self.stress_)):
            raise overflow_error()
        self.embedding_ = embedding
        self.X_fit_ = None if metric.given else owned(dense_table(rows), rows)
        self.disparity_curve_ = curve
        self.n_iter_ = layout.n_iter
        self.converged_ = bool(layout.converged)

    def _warn_if_stopped(self) -> None:
        if not self.converged_:
            steps, more = ("epochs", "") if self.solver_ == "sgd" else ("steps", ", or tol if the map is good enough")
            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} {steps} while the stress still changed. "
                f"Raise max_iter{more}.",
                LowdimWarning,
                stacklevel=3,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.allow_nan = self.metric == "precomputed"
        return tags
