"""The within-class covariance of LDA, by three solvers that agree to rounding.

| solver     | works on                                      | suits                                               |
|------------|-----------------------------------------------|-----------------------------------------------------|
| covariance | within-class covariance matrix (d, d)         | n > d; streams; one pass                            |
| gram       | Gram matrix of class-centered rows (n, n)     | n < d: the nonzero eigenvalues are the same         |
| svd        | R of class-centered rows = QR, by blocks      | nearly collinear columns: nothing is squared        |

All of them divide columns by their within-class standard deviations first, so that units do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from lowdim.data.rows import Rows, open_rows
from lowdim.data.target import ClassLabels, class_labels
from lowdim.data.validation import overflow_error, underflow_error
from lowdim.decomposition.resolution import ScaledRows, rounding_floor, variance_floor
from lowdim.decomposition.shrinkage import CovarianceNorms, fourth_powers, shrinkage_intensity
from lowdim.errors import NotEnoughData
from lowdim.linalg import lapack
from lowdim.linalg.centered import Centered
from lowdim.linalg.dense_eigen import eigh, orthonormal
from lowdim.linear.lda.within_whitening import (
    CholeskyWhitening,
    SpectralWhitening,
    WithinWhitening,
    cholesky_whitening,
    whiten_covariance,
)
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import interruptible
from lowdim.summaries.class_columns import class_columns
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["SOLVERS", "LDAOptions", "WithinClass", "within_from_moments"]

Array = NDArray[np.float64]

MOST_DOUBTFUL = 64  # directions whose variance is measured on the rows one by one
WELL_CONDITIONED = 1e-8  # the share of the largest eigenvalue above which images of dual vectors are orthonormal
SINGLE_SMALLEST = 1e-3  # products of float32 rows are exact enough for eigenvalues above this


@dataclass(frozen=True)
class LDAOptions:
    """Parameters of the solvers."""

    n_components: int | None
    priors: Any
    shrinkage: float | str | None
    shrinkage_target: str
    tol: float
    threads: int


@dataclass(frozen=True)
class WithinClass:
    """Class means, and the whitening by the within-class covariance of the columns divided by `scale`."""

    classes: NDArray[Any]  # (K,)
    counts: Array  # (K,)
    means: Array  # (K, d)
    columns: NDArray[np.intp]  # (c,) those that vary within the classes
    scale: Array  # (c,)
    whitening: WithinWhitening
    shrinkage: float
    solver: str
    dtype: np.dtype[Any]  # of the rows that the products were taken of


def solve_covariance(rows: Rows, y: Any, weights: Array | None, options: LDAOptions) -> WithinClass:
    """From Moments by class, which takes one pass over the rows; float32 rows are read again where it is not enough."""
    m = moments_of(rows, y, weights, options.threads)
    if rows.n is None:
        return within_from_moments(m, options)
    found = within_from_moments(m, options, rows, y, weights)
    if rows.dtype == np.float32 and not _is_resolved(found, rows, y, weights, options):
        wide = ScaledRows(rows)
        return within_from_moments(moments_of(wide, y, weights, options.threads), options, wide, y, weights)
    return found


def within_from_moments(
    m: Moments, options: LDAOptions, rows: Rows | None = None, y: Any = None, weights: Array | None = None
) -> WithinClass:
    """The within-class covariance W / (n - K) of moments; `rows` are those that can be read again."""
    assert m.classes is not None
    present = m.counts > 0
    classes, counts, means = m.classes[present], m.counts[present], m.means[present]
    degrees = _degrees(counts)
    variances = np.diagonal(m.within) / degrees
    columns, scale = _column_scale(variances, means, m.dtype, options)
    S = m.within[np.ix_(columns, columns)] / degrees / np.outer(scale, scale)
    fourth = None
    if options.shrinkage == "ledoit-wolf" and rows is not None:
        factors = _factors(rows.d, columns, scale)
        fourth = fourth_powers(rows, class_labels(y, rows.n).codes, m.means, factors, weights, options.threads)
    share = degrees / m.n
    norms = CovarianceNorms(m.n, len(S), share * float(np.trace(S)), share**2 * float((S**2).sum()), fourth)
    alpha = shrinkage_intensity(options.shrinkage, norms)
    whitening: WithinWhitening
    if alpha > 0:
        S *= 1 - alpha
        S[np.diag_indices(len(S))] += alpha * norms.trace / share / len(S)
        whitening = cholesky_whitening(S)
    else:
        whitening = whiten_covariance(S, options.tol**2, rounding_floor(len(S), m.dtype))
    return WithinClass(classes, counts, means, columns, scale, whitening, alpha, "covariance", m.dtype)


def solve_gram(rows: Rows, y: Any, weights: Array | None, options: LDAOptions) -> WithinClass:
    """Eigenvectors of the Gram matrix of class-centered rows (the dual), for fewer rows than columns."""
    n = rows.count
    require_memory(
        8 * n * n * (5 + options.threads), f"the Gram matrix of {n} rows", "Use solver='covariance', or fewer rows."
    )
    found, labels, centered = _standardized(rows, y, weights, options, "gram")
    degrees, total = _degrees(found.counts), float(found.counts.sum())
    roots = np.ones(n) if weights is None else np.sqrt(weights)
    means = np.zeros((n, len(found.classes)))  # columns are orthonormal: projecting off them centers by class
    means[np.arange(n), labels.codes] = roots / np.sqrt(found.counts)[labels.codes]
    G = centered.gram()
    G -= means @ (means.T @ G)
    G -= (G @ means) @ means.T
    if not np.isfinite(G).all():
        raise overflow_error()
    values, U = eigh((G + G.T) / (2 * degrees))
    squares = np.divide(np.diagonal(G) ** 2, roots**2, out=np.zeros(n), where=roots > 0)
    floor = max(options.tol**2, rounding_floor(n, rows.dtype) * float(values[-1]))
    kept = np.flatnonzero(values > floor)[::-1]
    dual = U[:, kept] - means @ (means.T @ U[:, kept])
    if values[kept[-1:]] > WELL_CONDITIONED * values[-1]:
        vectors: Any = _dual_images(centered, dual / np.sqrt(degrees * values[kept]), found.columns)
    else:  # longest first; orthogonal but for rounding
        vectors = np.ascontiguousarray(orthonormal(centered.transpose_times(dual)[found.columns]))
    return _spectral(found, values[kept], vectors, (total, float(squares.sum())), options)


def _dual_images(centered: Centered, dual: Array, columns: NDArray[np.intp]) -> LinearOperator:
    """The eigenvectors Pᵀ·dual (c, r) as an operator: what LDA asks of them are products with a few columns.

    To form them would cost n² d once more, and to orthogonalize them twice that.
    """

    def images(A: Array) -> Array:
        return centered.transpose_times(dual @ A)[columns]

    def coordinates(A: Array) -> Array:
        spread = np.zeros((centered.rows.d, A.shape[1]))
        spread[columns] = A
        return np.asarray(dual.T @ centered.times(spread).astype(np.float64))

    shape, float64 = (len(columns), dual.shape[1]), np.dtype(np.float64)
    return LinearOperator(shape, matvec=images, matmat=images, rmatmat=coordinates, dtype=float64)


def solve_svd(rows: Rows, y: Any, weights: Array | None, options: LDAOptions) -> WithinClass:
    """Singular value decomposition of the class-centered rows, through the R of their QR decomposition."""
    size = min(rows.count, rows.d)
    require_memory(
        8 * size * rows.d * (6 + 2 * options.threads),
        f"the singular value decomposition of {rows.count} × {rows.d} values",
        "Use solver='covariance' or 'gram'.",
    )
    found, labels, centered = _standardized(rows, y, weights, options, "svd")
    R = np.asarray(centered.r_factor(labels.codes), dtype=np.float64)[:, found.columns]
    if not np.isfinite(R).all():
        raise overflow_error()
    _, sizes, right = interruptible(lambda: lapack.svd(R))
    values = sizes**2 / _degrees(found.counts)
    rounding = (size * float(np.finfo(rows.dtype).eps)) ** 2 * float(values.max(initial=0.0))
    kept = values > max(options.tol**2, rounding)
    fourth = None
    if options.shrinkage == "ledoit-wolf":
        factors = _factors(rows.d, found.columns, found.scale)
        fourth = fourth_powers(rows, labels.codes, found.means, factors, weights, options.threads)
    return _spectral(
        found, values[kept], np.ascontiguousarray(right[kept].T), (float(found.counts.sum()), fourth), options
    )


SOLVERS = {"covariance": solve_covariance, "gram": solve_gram, "svd": solve_svd}


def _standardized(
    rows: Rows, y: Any, weights: Array | None, options: LDAOptions, solver: str
) -> tuple[WithinClass, ClassLabels, Centered]:
    """Class means and scales without a whitening yet, labels of the classes with weight, and rows to be centered."""
    labels = class_labels(y, rows.n)
    sums = class_columns(rows, labels, weights, options.threads)
    present = sums.counts > 0
    index = np.maximum(np.cumsum(present) - 1, 0).astype(np.int32)  # rows of other classes have no weight
    labels = ClassLabels(labels.classes[present], index[labels.codes])
    counts, means = sums.counts[present], sums.means[present]
    columns, scale = _column_scale(sums.squares / _degrees(counts), means, rows.dtype, options)
    mean = means[0] + counts @ (means - means[0]) / counts.sum()
    roots = None if weights is None else np.sqrt(weights)
    centered = Centered(rows, mean, _factors(rows.d, columns, scale), roots, options.threads)
    empty = SpectralWhitening(np.zeros((len(columns), 0)), np.zeros(0))
    return WithinClass(labels.classes, counts, means, columns, scale, empty, 0.0, solver, rows.dtype), labels, centered


def _spectral(
    found: WithinClass, values: Array, vectors: Any, moments: tuple[float, float | None], options: LDAOptions
) -> WithinClass:
    """The same with the whitening by eigenpairs, shrunk as the options say; `moments` are n and Σ ‖z‖⁴."""
    n, fourth = moments
    d, share = len(found.columns), _degrees(found.counts) / n
    trace = share * float(values.sum())
    norms = CovarianceNorms(n, d, trace, share**2 * float((values**2).sum()), fourth)
    alpha = shrinkage_intensity(options.shrinkage, norms)
    rest = alpha * trace / share / d
    whitening = SpectralWhitening(vectors, (1 - alpha) * values + rest, rest)
    return replace(found, whitening=whitening, shrinkage=alpha)


def _degrees(counts: Array) -> float:
    """The degrees of freedom n - K of the within-class covariance."""
    n, classes = float(counts.sum()), len(counts)
    if classes < 2:
        raise NotEnoughData(
            f"LDA needs at least 2 classes; y has {classes} class. Give rows of another class, or use PCA."
        )
    if n <= classes:
        raise NotEnoughData(
            f"LDA needs more rows than classes to estimate the within-class covariance; got n={n:g} (the sum of the "
            f"weights) and {classes} classes. Give more rows."
        )
    return n - classes


def _column_scale(
    variances: Array, means: Array, dtype: np.dtype[Any], options: LDAOptions
) -> tuple[NDArray[np.intp], Array]:
    """The columns that enter, and what they are divided by: deviations within classes, or for the target 'identity'
    one number.
    """
    if not np.isfinite(variances).all():
        raise overflow_error()
    rounding = (float(np.finfo(dtype).eps) * np.abs(means).max(axis=0)) ** 2
    varies = variances > rounding
    if (varies & (variances < variance_floor(dtype))).any():
        raise underflow_error()
    if not varies.any():
        raise NotEnoughData(
            "no column varies within the classes, so there is no within-class covariance to measure distances by. "
            "Give classes with rows that differ; rescale columns that vary by next to nothing."
        )
    if options.shrinkage and options.shrinkage_target == "identity":
        d = len(variances)
        return np.arange(d), np.full(d, np.sqrt(variances.mean()))
    columns = np.flatnonzero(varies)
    return columns, np.sqrt(variances[columns])


def _factors(d: int, columns: NDArray[np.intp], scale: Array) -> Array:
    """Factors for all d columns; 0 for those that do not enter."""
    out = np.zeros(d)
    out[columns] = 1 / scale
    return out


def _is_resolved(found: WithinClass, rows: Rows, y: Any, weights: Array | None, options: LDAOptions) -> bool:
    """Whether products of float32 rows were exact enough: directions that count as constant really are."""
    whitening = found.whitening
    if found.shrinkage > 0:
        return True
    if not isinstance(whitening, CholeskyWhitening) or whitening.smallest < SINGLE_SMALLEST:
        return False
    doubtful = whitening.null.shape[1]
    if doubtful == 0 or doubtful > MOST_DOUBTFUL:
        return doubtful == 0
    directions = np.zeros((rows.d, doubtful))
    directions[found.columns] = whitening.null
    centered = Centered(rows, found.means[0], _factors(rows.d, found.columns, found.scale), None, options.threads)
    scores = open_rows(centered.times(directions).astype(np.float64))
    m = moments_of(scores, y, weights, options.threads)
    return bool((np.diagonal(m.within) <= options.tol**2 * _degrees(found.counts)).all())
