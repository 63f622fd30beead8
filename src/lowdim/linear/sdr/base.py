"""What all methods of sufficient dimension reduction share: slices, whitening, the eigenproblem, tests, errors."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import SeedMixin, ThreadsMixin
from lowdim.base.fit_memory import FitMemory
from lowdim.base.state import StateCheck
from lowdim.data.rows import ArrayRows, StreamRows
from lowdim.data.target import read_supervised
from lowdim.data.validation import check_weights, overflow_error
from lowdim.decomposition.component_count import fixed_count
from lowdim.errors import BadInput
from lowdim.linalg.dense_eigen import eigh, fix_signs, symmetrized
from lowdim.linear.sdr.delta_method import direction_errors, influence_spectrum
from lowdim.linear.sdr.order_tests import (
    OrderTests,
    chi2_tests,
    law_of_tests,
    permutation_tests,
    weighted_chi2_tests,
)
from lowdim.linear.sdr.predictor_tests import PredictorTests, predictor_tests
from lowdim.linear.sdr.regularized_whitening import Regularization, RegularizationMixin, RegularizedWhitening, whitening
from lowdim.linear.sdr.slice_moments import SlicedRows
from lowdim.linear.sdr.slicing import Slices
from lowdim.linear.sdr.solution import RowSum, Sample, Solution
from lowdim.linear.sdr.white_scores import WhiteScores
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.runtime.warning import warn
from lowdim.summaries.moments import Moments

__all__ = ["MOMENTS_TRAITS", "SDRState", "SufficientReduction"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

# What every reduction that reads moments of the rows can do.
MOMENTS_TRAITS = {"supervised": True, "inverse": True, "streaming": True, "sparse": True, "weights": True}


@dataclasses.dataclass(frozen=True)
class SDRState:
    """What `inverse_transform`, `test_predictors` and `standard_errors` read."""

    loadings: Floats  # (k, d) covariances of the columns with the scores
    precision: Floats | None  # (d,) diagonal of the inverse covariance matrix; None if it is regularized
    predictor_statistics: Floats | None  # (d,)
    predictor_weights: Floats | None  # of the χ² variables whose sum the statistics are under the null hypothesis


@dataclasses.dataclass(eq=False, repr=False)
class SufficientReduction(RegularizationMixin, ThreadsMixin, SeedMixin, WhiteScores):
    """Directions V with VᵀSV = I that keep what X tells of y. Subclasses say what the kernel matrix is.

    All of them solve M v = λ S v, with the covariance matrix S of the rows and a kernel matrix M whose columns lie in
    the central subspace.
    """

    n_components: int | str | None = param(
        "auto",
        Maybe(Either(Integer(1), Choice("auto", "test"))),
        "Number of directions; 'auto': 2, or 1 if there is only one; 'test': the order that the tests find; None: all.",
        kw_only=False,
    )
    order_test: str = param(
        "auto",
        Choice("auto", "chi2", "weighted_chi2", "permutation"),
        "Law of the order tests: χ² (normal columns), weighted χ² (any columns; rows are read again), or permutation. "
        "'auto' is χ², or permutation for n_components='test' where χ² does not hold.",
    )
    alpha: float = param(0.05, Real(0, 1, open=True), "Level of the order tests for n_components='test'.")
    n_permutations: int = param(200, Integer(1, 1_000_000), "Permutations of each order test.")

    _doc_parts: ClassVar[dict[str, str]] = {
        "order tests": """
            order_statistics_, order_dof_, order_p_values_ : array (m,)
                Tests that k = 0, 1, … directions suffice: the statistic above, its degrees of freedom (None for
                permutations), and p-value. None if there was no test.
            """
    }
    _fit_memory = FitMemory(scatters=1, squares=32, rows=100)
    _state_classes = (SDRState,)
    _has_chi2: ClassVar[bool] = True  # whether the order tests have a plain χ² law, for normal columns
    _definite: ClassVar[bool] = True  # whether the kernel matrix has no negative eigenvalues

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions. `sample_weight` is the multiplicity of each row.

        A stream of pairs (X, y) is given as a function, and read once for y alone, then for the moments.
        """
        with self._fitting():
            return self._fit_sample(self._read(X, y, sample_weight))

    def test_predictors(self) -> PredictorTests:
        """Test for each column that it matters, given all others (Cook 2004; Shao, Cook and Weisberg 2007).

        The hypothesis is that no direction of the central subspace involves the column; the law of the statistic
        holds for normal columns. SIR's compares slice means along the column, SAVE's slice variances,
        DirectionalRegression's is the sum of both, and PHD's compares the column's row of the Hessian matrix with zero.
        """
        check_is_fitted(self, "components_")
        state: SDRState = self._state
        if state.predictor_statistics is None or state.predictor_weights is None:
            raise BadInput(
                f"tests of predictors have a known law without shrinkage and ridge alone, and {type(self).__name__} "
                "was fitted with them. Drop columns, or give more rows."
            )
        return predictor_tests(self._input_names(), state.predictor_statistics, state.predictor_weights)

    def standard_errors(self, X: Any, y: Any = None, sample_weight: Any = None) -> Floats:
        """Asymptotic standard errors of `components_` by the delta method, (k, d), from the rows that were fitted.

        No normality is assumed. The slices count as fixed, and directions of equal eigenvalues have no errors: they are
        not determined.
        """
        check_is_fitted(self, "components_")
        with single_blas():
            sample = self._read(X, y, sample_weight, fitting=False)
            solution = self._solve(sample)
        if solution.whitening.regularized:
            raise BadInput("standard errors need a fit without shrinkage and ridge, which bias the directions.")
        with single_blas():
            return direction_errors(self, sample, solution, len(self.components_))

    def _input_names(self) -> list[str]:
        """The names of the columns, or x0, x1, …"""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    # ---- what subclasses write ----

    def _target(self, y: Any, n: int, weights: Floats | None) -> dict[str, Any]:
        """The fields of Sample that hold the response."""
        raise NotImplementedError

    def _summarize(self, sample: Sample) -> Any:
        """A summary of the rows with `moments`, in one pass."""
        raise NotImplementedError

    def _kernel(self, sample: Sample, summary: Any, white: RegularizedWhitening) -> Floats:
        """The kernel matrix in whitened coordinates, (r, r)."""
        raise NotImplementedError

    def _order_statistics(self, solution: Solution, most: int) -> tuple[Floats, Floats | None]:
        """Statistics of the order tests for k = 0, …, and the degrees of freedom of their χ² law, if there is one."""
        raise NotImplementedError

    def _null_influence(self, sample: Sample, solution: Solution, k: int) -> RowSum:
        """Influences of rows on the vector whose squared norm is the k-th statistic, (m, q)."""
        raise NotImplementedError

    def _null_weights(self, sample: Sample, solution: Solution, k: int) -> Floats:
        """The weights of the χ² variables whose sum the k-th statistic is."""
        return influence_spectrum(self, sample, solution, k)

    def _kernel_influence(self, sample: Sample, solution: Solution, columns: slice) -> RowSum:
        """Influences of rows on columns of the kernel matrix in the coordinates of the directions, (m, r, columns)."""
        raise NotImplementedError

    def _predictor_statistics(self, sample: Sample, solution: Solution) -> tuple[Floats, Floats]:
        """Statistics of the tests of predictors, (d,), and the weights of their χ² law."""
        raise NotImplementedError

    def _tail(self, values: Floats, n: float, k: int) -> float:
        """The statistic of the k-th permutation test, from all eigenvalues."""
        return n * float(values[k:].sum())

    def _most(self, solution: Solution) -> int:
        return len(solution.values)

    def _limit(self, solution: Solution) -> str:
        return f"{len(solution.values)} columns vary"

    # ---- the steps of fit ----

    def _fit_sample(self, sample: Sample) -> Self:
        solution = self._solve(sample)
        most = self._most(solution)
        fixed_count(self.n_components, most, self._limit(solution))
        tests = self._order_tests(sample, solution, most)
        return self._keep(sample, solution, tests, self._count(tests, most))

    def _read(self, X: Any, y: Any, sample_weight: Any, fitting: bool = True) -> Sample:
        if isinstance(X, Moments):
            raise BadInput(f"{type(self).__name__} needs the rows, which Moments do not include. SIR fits Moments.")
        rows, y = read_supervised(self, X, y, fitting=fitting, min_rows=2)
        threads = thread_count(self.n_jobs)
        if isinstance(rows, StreamRows) and rows.labeled:
            if not rows.restarts and self._one_pass():
                return Sample(rows, None, threads)
            y = rows.targets()
        n = len(y) if rows.n is None else rows.n
        weights = check_weights(sample_weight, n)
        target = self._target(y, n, weights)
        slices: Slices | None = target.get("slices")
        return Sample(SlicedRows(rows, n, None if slices is None else slices.codes), weights, threads, **target)

    def _one_pass(self) -> bool:
        """Whether the slices are known without a first pass over y."""
        return False

    def _solve(self, sample: Sample, fixed: RegularizedWhitening | None = None) -> Solution:
        summary = self._summarize(sample)
        moments = getattr(summary, "moments", summary)
        moments.feature_names = getattr(self, "feature_names_in_", None)
        regularization = Regularization(self.shrinkage, self.ridge, sample.rows, sample.weights, sample.threads)
        white = whitening(moments, regularization) if fixed is None else fixed
        values, axes = eigh(symmetrized(self._kernel(sample, summary, white)))
        order = np.argsort(-np.abs(values), kind="stable")
        values = np.maximum(values[order], 0.0) if self._definite else values[order]
        vectors = fix_signs(white.root @ axes[:, order])
        if not np.isfinite(vectors).all():
            raise overflow_error()
        return Solution(summary, moments, white, values, vectors)

    def _order_tests(self, sample: Sample, solution: Solution, most: int) -> OrderTests | None:
        form = law_of_tests(self, self._has_chi2, solution.whitening.regularized)
        if form is None:
            return None
        if form == "permutation":
            return self._permutation_tests(sample, solution, most)
        statistics, dof = self._order_statistics(solution, most)
        if form == "chi2":
            assert dof is not None
            return chi2_tests(statistics, dof)
        return weighted_chi2_tests(statistics, lambda k: self._null_weights(sample, solution, k), self.alpha)

    def _permutation_tests(self, sample: Sample, solution: Solution, most: int) -> OrderTests:
        if sample.weights is not None and (sample.weights != 1).any():
            raise BadInput("the permutation test does not take weights: repeat the rows instead, or use another test.")
        Z = solution.centered(sample).times(solution.vectors).astype(np.float64)
        codes = None if sample.slices is None else sample.slices.codes
        r = Z.shape[1]
        fixed = RegularizedWhitening(np.eye(r), np.eye(r), True) if solution.whitening.regularized else None

        def statistic(scores: Floats, k: int) -> float:
            rows = SlicedRows(ArrayRows(scores), len(Z), codes)
            values = self._solve(dataclasses.replace(sample, rows=rows, threads=1), fixed).values
            return self._tail(values, float(len(Z)), k)

        options = (self.n_permutations, seed_of(self.random_state), sample.threads)
        return permutation_tests(Z, statistic, most, options, self.alpha)

    def _count(self, tests: OrderTests | None, most: int) -> int:
        if self.n_components == "auto":
            return min(2, most)
        if self.n_components is None or isinstance(self.n_components, int):
            return most if self.n_components is None else self.n_components
        assert tests is not None
        k = tests.order(self.alpha)
        if k == 0:
            warn(
                f"no direction is significant at alpha={self.alpha:g} (p = {tests.p_values[0]:.2g}): X may tell "
                "nothing of y. One direction is kept.",
            )
        return max(1, k)

    def _keep(self, sample: Sample, solution: Solution, tests: OrderTests | None, k: int) -> Self:
        dtype, V, white = sample.rows.dtype, solution.vectors[:, :k], solution.whitening
        self.components_ = np.ascontiguousarray(V.T, dtype=dtype)
        if not np.isfinite(self.components_).all():
            raise overflow_error()
        self.mean_, self.scale_ = solution.moments.mean.astype(dtype), None
        self.eigenvalues_ = solution.values.astype(dtype)
        self.n_components_ = k
        self.order_statistics_ = None if tests is None else tests.statistics
        self.order_dof_ = None if tests is None else tests.dof
        self.order_p_values_ = None if tests is None else tests.p_values
        found = None if white.regularized else self._predictor_statistics(sample, solution)
        statistics, weights = (None, None) if found is None else found
        precision = None if white.regularized else (white.root**2).sum(axis=1)
        self._state = SDRState((white.covariance @ V).T, precision, statistics, weights)
        return self

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        tested = check.floats("order_p_values_", "m", optional=True) is not None
        for name in ("order_statistics_", "order_dof_"):
            optional = not tested or name == "order_dof_"
            check.floats(name, "m", optional=optional)
        check.floats("state.precision", "d", optional=True)
        check.floats("state.predictor_statistics", "d", optional=True)
        check.floats("state.predictor_weights", None, optional=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
