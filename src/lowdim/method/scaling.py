"""What metric and nonmetric multidimensional scaling share: starts, the report of the fit, new rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.check import overflow_error, read_rows
from lowdim.data.rows import ArrayRows, Rows
from lowdim.distances import METRICS, metric_of
from lowdim.errors import BadInput, BadParameter, LowdimWarning
from lowdim.estimator import Estimator
from lowdim.kernels.distance_tables import checked_new_distances
from lowdim.memory import require_memory
from lowdim.param import Choice, Domain, Either, Such
from lowdim.progress import report
from lowdim.random import Seed, seed_of
from lowdim.solve.disparities import Disparities, Ratio
from lowdim.solve.place import bend, place
from lowdim.solve.smacof import Layout, Steps, along_axes, majorise_in_stages, stress_by_point, weight_solver
from lowdim.solve.sstress import minimise_sstress
from lowdim.solve.starts import classical_start, principal_start, random_start
from lowdim.summaries.pairs import Measure, Pairs, given_pairs, given_table, measure_of, pair_weights
from lowdim.threads import ordered_map, single_blas, thread_count

__all__ = ["Scaling", "Shepard", "init_domain", "metric_domain"]

Array = NDArray[Any]

STEPS = TRANSFORM_STEPS = 1000
FEW_ROWS = 512  # a step over their pairs takes less time than waking threads

metric_domain: Domain = Either(Choice(*METRICS), Such("a function of two rows", callable))
init_domain: Domain = Either(
    Choice("classical", "random"), Such("an array (n, k)", lambda value: isinstance(value, np.ndarray))
)


class Shepard(NamedTuple):
    """The three numbers of every pair i < j, in SciPy's order: NaN where there is no distance."""

    distances: Array
    disparities: Array
    mapped: Array


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
        rows, threads, metric = read_rows(self, X, fitting=False), thread_count(self.n_jobs), metric_of(self.metric)
        fixed = None if self.X_fit_ is None else measure_of(ArrayRows(self.X_fit_), metric, threads)
        held = rows.dtype if self.X_fit_ is None else self.X_fit_.dtype
        out = np.empty((rows.count, self.embedding_.shape[1]), dtype=rows.dtype)
        restless = 0
        size = max(1, (1 << 22) // len(self.embedding_))
        with single_blas(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for begin in range(0, rows.count, size):
                end = min(rows.count, begin + size)
                block = ArrayRows(_dense(rows, begin, end).astype(held, copy=False))
                if fixed is None:
                    distances = checked_new_distances(block.whole(), missing=True)
                else:
                    distances = fixed.to(measure_of(block, metric, threads, fixed))
                targets = bend(distances, self.disparity_curve_)
                found, moving = place(targets, distances, self.embedding_, self.loss, TRANSFORM_STEPS, threads)
                out[begin:end], restless = found, restless + moving
                report("placing rows", end, rows.count)
        if not np.isfinite(out).all():
            raise overflow_error()
        if restless:
            warnings.warn(
                f"{restless} of {rows.count} rows still moved after {TRANSFORM_STEPS} steps.",
                LowdimWarning,
                stacklevel=2,
            )
        return out

    def shepard(self, X: Any, weights: Any = None) -> Shepard:
        """What a Shepard diagram shows of the fitted rows X: distances, disparities and distances in the map."""
        check_is_fitted(self, "embedding_")
        from scipy.spatial.distance import pdist

        pairs, _ = self._pairs(read_rows(self, X, fitting=False), weights, thread_count(self.n_jobs))
        if pairs.n != len(self.embedding_):
            raise BadInput(f"X must be the {len(self.embedding_)} fitted rows; got {pairs.n}.")
        given = pairs.distances.astype(np.float64) * pairs.unit
        mapped = pdist(self.embedding_.astype(np.float64))
        disparities = bend(given, self.disparity_curve_)
        if pairs.weights is not None:
            given[pairs.weights == 0] = disparities[pairs.weights == 0] = np.nan
        return Shepard(given, disparities, mapped)

    def _fit_by_pairs(self, rows: Rows, weights: Any) -> None:
        """The best map over all starts, by majorisation of the stress or descent of the squared stress."""
        threads = thread_count(self.n_jobs)
        self._require_room(rows.count, rows.dtype.itemsize, min(self.n_init, threads))
        pairs, measure = self._pairs(rows, weights, threads)
        squared, total = self.loss == "sstress", pairs.total
        solve = weight_solver(pairs)

        def run(number: int, own_threads: int) -> Layout:
            fit: Disparities = Ratio(pairs)
            if total <= 0:  # all rows in one place
                return Layout(np.zeros((pairs.n, self.n_components)), 0.0, fit=fit)
            steps = Steps(self.max_iter or STEPS, self.tol, own_threads)
            start = self._start(number, pairs, measure)
            if squared:
                return replace(minimise_sstress(pairs, start, steps), fit=fit)
            fit = self._disparities(pairs)
            return replace(majorise_in_stages(pairs, start, fit, steps, solve), fit=fit)

        best = self._best(run, pairs.n, threads)
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

    def _require_room(self, n: int, itemsize: int, starts: int) -> None:
        """Refuse what so many starts at once would need for the pairs of n rows, before anything is measured."""
        bytes_a_pair = itemsize + starts * self._disparity_kind().bytes_a_pair(itemsize)
        require_memory(
            n * (n - 1) // 2 * bytes_a_pair,
            f"{type(self).__name__} of all pairs of {n} rows{f', {starts} starts at once,' if starts > 1 else ''}",
            "Use MDS(solver='sgd') on the data, fewer n_jobs, float32, or fewer rows.",
        )

    def _given_start(self, n: int) -> Array:
        if self.init.shape != (n, self.n_components) or not np.isfinite(self.init).all():
            shape = (n, self.n_components)
            raise BadParameter(f"init must be finite and of shape {shape}; got shape {self.init.shape}.")
        return np.asarray(self.init, dtype=np.float64)

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

    def _start(self, number: int, pairs: Pairs, measure: Measure | None) -> Array:
        """Start number 0 is what `init` says, all others are random."""
        n, k, seed = pairs.n, self.n_components, seed_of(self.random_state)
        if number == 0 and isinstance(self.init, np.ndarray):
            return self._given_start(n) / pairs.unit
        if number == 0 and self.init == "classical":
            euclidean = measure is not None and measure.metric.name == "euclidean" and pairs.weights is None
            if euclidean and measure is not None and measure.table.shape[1] < n:
                return principal_start(measure, k, pairs.unit, seed)
            return classical_start(pairs, k, seed)
        return random_start(n, k, seed, number)

    def _best(self, run: Callable[[int, int], Layout], n: int, threads: int) -> Layout:
        """The best of n_init runs, which share the threads; of equals the first. The others are let go of at once."""
        at_once = min(self.n_init, threads)
        inner = max(1, threads // at_once) if n > FEW_ROWS else 1
        best: Layout | None = None
        # One run at a time has its signals heard in native code; several are told by their reports (see ordered_map).
        for layout in ordered_map(lambda number: run(number, inner), range(self.n_init), at_once):
            if best is None or layout.loss < best.loss:
                best = layout
        assert best is not None
        return best

    def _keep(self, layout: Layout, rows: Rows, unit: float, curve: Array | None) -> None:
        """The map in the units and the dtype of the data, and how it was come by."""
        metric = metric_of(self.metric)
        embedding = (along_axes(layout.points) * unit).astype(rows.dtype)
        if not (np.isfinite(embedding).all() and np.isfinite(self.stress_)):
            raise overflow_error()
        self.embedding_ = embedding
        self.X_fit_ = None if metric.given else np.array(_dense(rows, 0, rows.count))
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


def _dense(rows: Rows, begin: int, end: int) -> Array:
    block = rows.block(begin, end)
    return np.asarray(block.toarray() if rows.sparse else block)
