"""What metric and nonmetric MDS share: parameters, the fit over all pairs, stress, the out-of-sample extension."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import EmbeddingMixin, Estimator, SeedMixin, ThreadsMixin
from lowdim.base.fit_memory import FitMemory
from lowdim.base.metric_mixin import MetricMixin
from lowdim.base.state import StateCheck
from lowdim.data.ownership import dense_table, owned
from lowdim.data.rows import ArrayRows, Chunk, Rows
from lowdim.data.validation import not_finite_error, overflow_error, read_rows
from lowdim.distance.condensed import Pairs, condensed_weights, pairs_of_matrix
from lowdim.distance.matrix_checks import checked_new_distances, precomputed_distances
from lowdim.distance.pairwise import MetricRows, dense_block, prepare_rows
from lowdim.errors import BadInput
from lowdim.knn.blockwise import Blocks
from lowdim.mds.disparities import Disparities, RatioDisparities, ShepardDiagram, shepard_diagram
from lowdim.mds.initialization import best_of_starts, initial_embedding
from lowdim.mds.out_of_sample import MAX_ITER, FixedEmbedding, embed_new_rows
from lowdim.mds.smacof import (
    MDSOptions,
    MDSResult,
    guttman_solver,
    majorize_in_stages,
    principal_orientation,
    stress_per_point,
)
from lowdim.mds.sstress import minimize_sstress
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, Such, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.runtime.warning import warn

__all__ = ["BaseMDS"]

Array = NDArray[Any]

DEFAULT_MAX_ITER = 1000
MAX_STARTS = 10_000
SOLVERS = ("smacof", "lbfgs", "sgd")


@dataclasses.dataclass(eq=False, repr=False)
class BaseMDS(EmbeddingMixin, MetricMixin, SeedMixin, ThreadsMixin, Estimator):
    """An embedding whose distances fit disparities. Subclasses write `fit` and choose the disparities."""

    n_components: int = param(2, Integer(1), "Number of dimensions.", kw_only=False)
    init: Any = param(
        "classical",
        Either(Choice("classical", "random"), Such("an array (n, k)", lambda value: isinstance(value, np.ndarray))),
        "Initial embedding: classical scaling, random, or an (n, k) array.",
    )
    n_init: int = param(
        1, Integer(1, MAX_STARTS), "Number of starts; those after the first are random. The best result is kept."
    )
    max_iter: int | None = param(None, Maybe(Integer(1)), "Maximum number of iterations; None: 1000.")
    tol: float = param(1e-8, Real(0), "Converged when an iteration lowers the stress by less than tol · Σ w δ².")

    loss = "stress"
    _fit_memory = FitMemory(
        keeps=True, pair_values=0.5, advice="Use MDS(solver='sgd'), ClassicalMDS(n_landmarks=…) or Isomap."
    )

    def transform(self, X: Any) -> Array:
        """Positions (m, k) of new rows in the fitted embedding, which does not change.

        With metric="precomputed", X holds the distances of new rows to the fitted ones, (m, n). A row at distance zero
        from a fitted one gets its position.
        """
        check_is_fitted(self, "embedding_")
        rows, threads = read_rows(self, X, fitting=False), thread_count(self.n_jobs)
        fixed = FixedEmbedding(self.embedding_, self.disparity_curve_, self.loss)
        out, unconverged = embed_new_rows(rows, self._distances_to_fitted(rows, threads), fixed, threads)
        if unconverged:
            warn(
                f"{unconverged} of {rows.count} new rows did not converge within {MAX_ITER} iterations.",
            )
        return self._finite(out)

    def shepard(self, X: Any, weights: Any = None) -> ShepardDiagram:
        """Distances of the fitted rows X, their disparities, and their distances in the embedding, for every pair.

        The disparities are those of the fit, ties included; with the weights of the fit, their stress-1 is stress1_.
        """
        check_is_fitted(self, "embedding_")
        threads = thread_count(self.n_jobs)
        pairs, _ = self._pairs(read_rows(self, X, fitting=False), weights, threads)
        if pairs.n != len(self.embedding_):
            raise BadInput(f"X must be the {len(self.embedding_)} fitted rows; got {pairs.n}.")
        return shepard_diagram(pairs, self.embedding_, self._disparities_of(pairs), threads)

    def _read_fitted(self, X: Any) -> Rows:
        """The rows to fit, of which there are at least two, and enough for the dimensions."""
        rows = read_rows(self, X, fitting=True, min_rows=2)
        self._check_dimensions(rows.count, spare=True)
        self._fit_metric(rows)
        return rows

    def _fit_all_pairs(self, rows: Rows, weights: Any) -> None:
        """The best embedding over all starts, with the distances of all pairs in memory."""
        threads = thread_count(self.n_jobs)
        starts = min(self.n_init, threads)
        disparities = self._disparity_class()
        disparities.require_memory_of_starts(type(self).__name__, rows.count, rows.dtype.itemsize, starts)
        pairs, prepared = self._pairs(rows, weights, threads)
        best = best_of_starts(self._optimizer(pairs, prepared), self.n_init, pairs.n, threads)
        assert best.disparities is not None
        targets = best.disparities.of_pairs(best.embedding, pairs.distances.dtype, threads)
        self._set_stress(stress_per_point(pairs, best.embedding, targets, threads), pairs.sum_of_squares, pairs.unit)
        sstress = self.loss == "sstress"
        if sstress:
            squared = stress_per_point(pairs, best.embedding, targets, threads, squared=True)
            self.stress_per_point_ = squared * np.float64(pairs.unit) ** 4
            self.stress_ = float(self.stress_per_point_.sum() / 2)
        self.stress_path_ = best.path * np.float64(pairs.unit) ** (4 if sstress else 2)
        self.solver_ = "lbfgs" if sstress else "smacof"
        self._set_embedding(best, rows, pairs.unit, best.disparities.curve())

    def _optimizer(self, pairs: Pairs, prepared: MetricRows | None) -> Callable[[int, int], MDSResult]:
        """What fits start `number` with so many threads: SMACOF for stress, L-BFGS for SSTRESS."""
        seed, guttman = seed_of(self.random_state), guttman_solver(pairs)

        def run(number: int, threads: int) -> MDSResult:
            disparities = self._disparities_of(pairs)
            if pairs.sum_of_squares <= 0:
                return MDSResult(np.zeros((pairs.n, self.n_components)), 0.0, disparities=disparities)
            options = MDSOptions(self.max_iter or DEFAULT_MAX_ITER, self.tol, threads)
            start = initial_embedding(number, self.init, pairs, prepared, self.n_components, seed)
            if self.loss == "sstress":
                result = minimize_sstress(pairs, start, options)
            else:
                result = majorize_in_stages(pairs, start, disparities, options, guttman)
            return dataclasses.replace(result, disparities=disparities)

        return run

    def _memory_model(self, rows: Rows) -> FitMemory | None:
        """Distances that are not Euclidean start from a square matrix of them, in float32."""
        memory = self._fit_memory
        assert memory is not None
        by_square = isinstance(self.init, str) and self.init == "classical"
        if isinstance(self.metric, str) and self.metric == "euclidean" and rows.d < rows.count:
            by_square = False
        staged = 2 if rows.dtype == np.float64 else 0  # SMACOF begins in single precision
        return dataclasses.replace(memory, pairs=memory.pairs + (4 if by_square else 0) + staged)

    def _disparity_class(self) -> type[Disparities]:
        raise NotImplementedError

    def _disparities(self, pairs: Pairs) -> Disparities:
        raise NotImplementedError

    def _disparities_of(self, pairs: Pairs) -> Disparities:
        """The disparities that the distances of an embedding are fitted to."""
        coincide = pairs.sum_of_squares <= 0  # all rows: nothing to transform
        return RatioDisparities(pairs) if coincide or self.loss == "sstress" else self._disparities(pairs)

    def _pairs(self, rows: Rows, weights: Any, threads: int) -> tuple[Pairs, MetricRows | None]:
        """The condensed distances of all pairs, and the rows that they were computed from, if any."""
        if self._precomputed:
            return pairs_of_matrix(precomputed_distances(rows, missing=True), weights), None
        prepared = prepare_rows(rows, self._fitted_metric, threads)
        pairs = prepared.pairs()
        condensed = condensed_weights(weights, pairs.n, pairs.distances.dtype)
        return dataclasses.replace(pairs, weights=condensed), prepared

    def _distances_to_fitted(self, rows: Rows, threads: int) -> Blocks:
        """Distances (m, n) of new rows begin … end, computed, or precomputed and checked."""
        if self.X_fit_ is None:
            return lambda begin, end: checked_new_distances(dense_block(rows, begin, end), missing=True, first=begin)
        metric, dtype = self._fitted_metric, self.X_fit_.dtype
        fitted = prepare_rows(ArrayRows(self.X_fit_), metric, threads)

        def distances(begin: int, end: int) -> Array:
            block = dense_block(rows, begin, end)
            if np.isinf(block).any() or (np.isnan(block).any() and not metric.missing):
                raise not_finite_error(rows, Chunk(begin, end, lambda: block))
            new = prepare_rows(ArrayRows(block.astype(dtype, copy=False)), metric, threads, fitted)
            return fitted.distances_from(new)

        return distances

    def _set_stress(self, per_point: Array, total: float, unit: float) -> None:
        """Raw stress and Kruskal's stress-1, from the stress per point in the unit of the pairs."""
        stress = float(per_point.sum() / 2)
        square = np.float64(unit) ** 2  # where this overflows, `_set_embedding` raises
        self.stress_ = float(stress * square)
        self.stress1_ = float(np.sqrt(stress / total)) if total > 0 else 0.0
        self.stress_per_point_ = per_point * square

    def _set_embedding(self, result: MDSResult, rows: Rows, unit: float, curve: Array | None) -> None:
        """The embedding in the unit and the dtype of the data, and what `transform` needs."""
        embedding = (principal_orientation(result.embedding) * unit).astype(rows.dtype)
        if not (np.isfinite(embedding).all() and np.isfinite(self.stress_)):
            raise overflow_error()
        self.embedding_ = embedding
        self.X_fit_: Array | None = None if self._precomputed else owned(dense_table(rows), rows)
        self.disparity_curve_ = curve
        self.n_iter_ = result.n_iter
        self.converged_ = bool(result.converged)

    def _warn_unless_converged(self) -> None:
        if self.converged_:
            return
        sgd, n = self.solver_ == "sgd", self.n_iter_
        steps = f"{n} {'epoch' if sgd else 'iteration'}{'' if n == 1 else 's'}"
        remedy = "Increase max_iter." if sgd else "Increase max_iter, or tol if the fit is good enough."
        warn(
            f"{type(self).__name__} did not converge within {steps}. {remedy}",
        )

    def _check_state(self, check: StateCheck) -> None:
        embedding = check.floats("embedding_", "n", "k")
        check.require(embedding is not None and embedding.size > 0, "embedding_ must not be empty")
        check.floats("X_fit_", "n", "d", optional=self._precomputed, gaps=check.gaps)
        if self._precomputed:
            check.require(self.X_fit_ is None, "X_fit_ must be None for precomputed distances")
            check.number("n_features_in_", Integer(check.sizes["n"], check.sizes["n"]))
        curve = check.floats("disparity_curve_", 2, None, optional=True, low=0)
        rising = curve is None or (curve.size > 0 and (np.diff(curve[0]) >= 0).all())
        check.require(rising, "disparity_curve_ must hold vertices whose distances do not decrease")
        check.floats("stress_per_point_", "n", low=0)
        path = check.value("stress_path_")  # early iterations may overflow
        whole = isinstance(path, np.ndarray) and path.ndim == 1 and path.dtype == np.float64
        check.require(whole and not np.isnan(path).any(), "stress_path_ must hold a number per iteration")
        for name in ("stress_", "stress1_"):
            check.number(name, Real(0))
        check.number("n_iter_", Integer(0))
        check.number("solver_", Choice(*SOLVERS))
        check.instance("converged_", bool)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._precomputed or self._mixed
        return tags
