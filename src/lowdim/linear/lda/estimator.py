"""Linear discriminant analysis: Fisher's axes, and the classifier that they carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.linear import LinearProjection, check_moments
from lowdim.base.state import StateCheck
from lowdim.data.rows import StreamRows
from lowdim.data.target import class_labels, read_supervised
from lowdim.data.validation import check_weights, overflow_error
from lowdim.decomposition.shrinkage import shrinkage_domain
from lowdim.errors import BadInput, BadParameter
from lowdim.linear.lda.discriminant_axes import DiscriminantAxes, discriminant_axes, solve_lda
from lowdim.linear.lda.within_class import LDAOptions, within_from_moments
from lowdim.runtime.param import Choice, Integer, Maybe, Real, Such, param
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["LDA", "LDAState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class LDAState:
    """What `inverse_transform` and the scores need beside the public attributes, and `partial_fit` continues from."""

    reconstruction: Array | None  # (k, d) from scores to centered rows
    offsets: Array | None  # (K,) or, of two classes, (1,): the linear score at the mean
    moments: Moments | None = None  # of all rows that partial_fit has seen; None after fit
    declared: Array | None = None  # the classes that partial_fit was told


def _are_probabilities(value: Any) -> bool:
    if not isinstance(value, list | tuple | np.ndarray) or not all(Real(0, 1, open=True).accepts(p) for p in value):
        return False
    return abs(float(np.sum(np.asarray(value, dtype=np.float64))) - 1) < 1e-6


@estimator(
    title="directions that separate classes",
    summary="moments",
    supervised=True,
    inverse=True,
    streaming=True,
    sparse=True,
    weights=True,
)
class LDA(ThreadsMixin, ClassifierMixin, LinearProjection):  # type: ignore[misc]
    """Linear discriminant analysis: directions that separate classes, and a linear classifier.

        max tr(A B Aᵀ)  subject to  A S Aᵀ = I,
        S = Σₖ Σ_{i in k} (xᵢ - μₖ)(xᵢ - μₖ)ᵀ / (n - K),   B = Σₖ πₖ (μₖ - μ)(μₖ - μ)ᵀ,   μ = Σₖ πₖ μₖ

    Scores are A (x - μ): within classes they have the identity as their covariance. K classes have at most K - 1
    axes. A row is assigned to the class with the largest linear score (Gaussian classes with one covariance)

        δₖ(x) = μₖᵀ S⁻¹ x - ½ μₖᵀ S⁻¹ μₖ + log πₖ

    which reads all axes, however many `n_components` keeps. As in R's MASS::lda, priors weigh the class means and not
    S, and directions in which nothing varies within the classes are left out, with a warning if classes differ there.

    `fit` takes an array, sparse matrix, memory map, dataframe, file (y may name its column), an iterator of pairs
    (X, y), or `lowdim.moments(X, y)`.

    {parameters}

    Attributes
    ----------
    components_ : array (k, d)
        Discriminant axes A in rows, scaled as above. The first entry of largest absolute value is positive.
    eigenvalues_, explained_variance_ratio_ : array (k,)
        Between-class variance along each axis, in units of the within-class one, and its ratio to the sum over all
        axes (the proportion of trace).
    classes_, priors_ : array (K,)
        Class labels, sorted, and prior probabilities.
    means_ : array (K, d)
        Class means.
    mean_ : array (d,)
        Mean of the class means, weighted by the priors.
    scale_ : None
        Columns are not scaled.
    coef_, intercept_ : array (K, d) and (K,)
        The linear score coef_ x + intercept_; of two classes one row, the difference of their scores.
    rank_ : int
        Rank of the within-class covariance.
    shrinkage_ : float
        Intensity of the shrinkage; 0 without.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, or the sum of their weights.
    solver_ : str
        The solver.

    """

    n_components: int | None = param(
        None, Maybe(Integer(1)), "Number of discriminant axes; None for all, at most K - 1.", kw_only=False
    )
    solver: str = param(
        "auto",
        Choice("auto", "covariance", "gram", "svd"),
        "Within-class covariance matrix, Gram matrix (n < d), or SVD (nearly collinear columns). All find the same "
        "axes; 'auto' takes the cheapest.",
    )
    priors: Any = param(
        None,
        Maybe(Such("K probabilities above 0 that sum to 1", _are_probabilities)),
        "Prior probabilities of the sorted classes; None for their shares of the rows.",
    )
    shrinkage: float | str | None = param(
        None,
        shrinkage_domain,
        "Shrink the within-class covariance: intensity from 0 to 1, or its estimate by 'ledoit-wolf' or 'oas'.",
    )
    shrinkage_target: str = param(
        "diagonal",
        Choice("diagonal", "identity"),
        "Shrink toward the variances of the columns, whatever their units, or toward their mean times the identity.",
    )
    tol: float = param(
        1e-4,
        Real(0, 1),
        "Directions of standardized columns with a smaller within-class standard deviation are left out.",
    )

    _axis, _explained = "LD", "between-class variance"
    _fit_memory = FitMemory(scatters=1, squares=32, rows=40)
    _state_classes = (LDAState, Moments)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the discriminant axes and the linear scores. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            if isinstance(X, Moments):
                return self._keep(self._fit_moments(X, y, sample_weight), X.dtype)
            rows, y = read_supervised(self, X, y)
            if self.solver == "auto" and isinstance(rows, StreamRows):  # fewer rows than columns are held
                rows, y = rows.if_fewer(rows.d) or (rows, y)
            weights = check_weights(sample_weight, rows.n)
            return self._keep(solve_lda(rows, y, weights, self._options(), self.solver), rows.dtype)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls, and find the axes of all of them, as soon as there are two classes.

        `classes`, if given to the first call, are all the labels that may come. `classes_` are those that have come.
        An error leaves what earlier calls found.
        """
        with self._continuing():
            state: LDAState | None = getattr(self, "_state", None)
            if state is not None and state.moments is None:
                self._forget()  # what fit found, which nothing can be added to
                state = None
            return self._continue(state, classes, X, y, sample_weight)

    def decision_function(self, X: Any) -> Array:
        """Linear scores δ of rows up to a common term, (n, K); of two classes the difference, (n,)."""
        check_is_fitted(self, "components_")
        scores = self._centered(X).times(self.coef_.T)
        scores += self._state.offsets.astype(scores.dtype)
        scores = self._finite(scores)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of the largest score for each row, (n,)."""
        scores = self._class_scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities of the classes, (n, K)."""
        return np.asarray(softmax(self._class_scores(X), axis=1))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the posterior probabilities, (n, K); finite even where a probability underflows."""
        return np.asarray(log_softmax(self._class_scores(X), axis=1))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy: the share of rows whose class is predicted. `y` may name a column of a file, as in `fit`."""
        check_is_fitted(self, "components_")
        rows, y = read_supervised(self, X, y, fitting=False)
        if y is None:
            raise BadInput("score needs y beside the rows; a stream of pairs (X, y) is not read here. Give arrays.")
        labels = class_labels(y, rows.n)
        return float(accuracy_score(labels.classes[labels.codes], self.predict(rows), sample_weight=sample_weight))

    def _class_scores(self, X: Any) -> Array:
        """Scores of all classes, (n, K), up to a common term."""
        scores = self.decision_function(X)
        return np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores

    def _options(self) -> LDAOptions:
        threads = thread_count(self.n_jobs)
        return LDAOptions(self.n_components, self.priors, self.shrinkage, self.shrinkage_target, self.tol, threads)

    def _fit_moments(self, m: Moments, y: Any, sample_weight: Any) -> DiscriminantAxes:
        if y is not None or sample_weight is not None or m.classes is None:
            raise BadInput("Moments include their classes and weights. Give y and sample_weight to lowdim.moments.")
        if self.solver not in ("auto", "covariance"):
            raise BadParameter(f"solver={self.solver!r} needs the rows; Moments allow 'auto' or 'covariance'.")
        self.n_features_in_ = m.d
        if m.feature_names is not None:
            self.feature_names_in_ = m.feature_names
        return discriminant_axes(within_from_moments(m, self._options()), self._options())

    def _continue(self, state: LDAState | None, classes: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        rows, y = read_supervised(self, X, y, fitting=state is None)
        known = None if state is None else state.declared
        declared = known if classes is None else class_labels(classes, None).classes
        new = moments_of(rows, y, check_weights(sample_weight, rows.n), thread_count(self.n_jobs))
        unknown = set() if declared is None else {*np.asarray(new.classes).tolist()} - {*declared.tolist()}
        if unknown:
            raise BadInput(f"y has the label {min(unknown)!r}, which is none of the classes that partial_fit was told.")
        total = new if state is None or state.moments is None else state.moments + new
        present = int((total.counts > 0).sum())
        if present > 1 and total.n > present:  # otherwise the rows are kept for the next call
            axes = discriminant_axes(within_from_moments(total, self._options()), self._options())
            self._keep(axes, rows.dtype, total, declared)
        else:
            self._state = LDAState(None, None, total, declared)
        return self

    def _keep(
        self, axes: DiscriminantAxes, dtype: np.dtype[Any], moments: Moments | None = None, declared: Any = None
    ) -> Self:
        binary = len(axes.classes) == 2
        coef = axes.coef[1:] - axes.coef[:1] if binary else axes.coef
        offsets = axes.offsets[1:] - axes.offsets[:1] if binary else axes.offsets
        found = [axes.components, axes.reconstruction, axes.means, coef, offsets, axes.eigenvalues]
        if not all(np.isfinite(part.astype(dtype)).all() for part in found):
            raise overflow_error()
        self.classes_, self.priors_ = axes.classes, axes.priors
        self.means_, self.mean_, self.scale_ = axes.means.astype(dtype), axes.mean.astype(dtype), None
        self.components_ = np.ascontiguousarray(axes.components, dtype=dtype)
        self.eigenvalues_, self.explained_variance_ratio_ = axes.eigenvalues.astype(dtype), axes.ratios.astype(dtype)
        self.coef_, self.intercept_ = coef.astype(dtype), (offsets - coef @ axes.mean).astype(dtype)
        self.rank_, self.shrinkage_, self.solver_ = axes.rank, axes.shrinkage, axes.solver
        self.n_components_, self.n_samples_ = len(axes.components), axes.n
        self._state = LDAState(axes.reconstruction.astype(dtype), offsets, moments, declared)
        return self

    def _reconstruction(self) -> Array:
        """S Aᵀ, so that the class means are mapped back to themselves if all axes are kept."""
        return np.asarray(self._state.reconstruction)

    def _check_state(self, check: StateCheck) -> None:
        moments = check.instance("state.moments", Moments, optional=True)
        check.instance("state.declared", np.ndarray, optional=True)
        if moments is not None:
            check_moments(check, "state.moments", check.sizes["d"])
            check.require(moments.classes is not None, "state.moments must have classes")
        if moments is not None and not hasattr(self, "components_"):
            return  # partial_fit has seen too few rows for axes
        super()._check_state(check)
        check.floats("means_", "K", "d")
        K = check.sizes["K"]
        check.require(K > 1, "means_ must have a row for each of at least 2 classes")
        classes = check.instance("classes_", np.ndarray)
        check.require(classes.shape == (K,), f"classes_ must be {K} labels")
        check.floats("priors_", "K", low=0.0)
        scores = 1 if K == 2 else K
        check.floats("coef_", scores, "d")
        check.floats("intercept_", scores)
        check.floats("state.offsets", scores)
        check.floats("state.reconstruction", "k", "d")
        check.floats("eigenvalues_", "k", low=0.0)
        check.floats("explained_variance_ratio_", "k", low=0.0)
        check.number("n_components_", Integer(check.sizes["k"], check.sizes["k"]))
        check.number("rank_", Integer(1, check.sizes["d"]))
        check.number("shrinkage_", Real(0, 1))
