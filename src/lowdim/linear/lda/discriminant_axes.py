"""Fisher's discriminant axes and the linear score, from class means and the within-class whitening.

With F the whitening (FᵀSF = I, S the within-class covariance) the generalized eigenproblem B v = λ S v is the singular
value decomposition of the K whitened class means: it costs K × K, whatever the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.decomposition.component_count import fixed_count
from lowdim.decomposition.resolution import rounding_floor
from lowdim.errors import BadParameter, NotEnoughData
from lowdim.linalg import lapack
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.linear.lda.within_class import SOLVERS, LDAOptions, WithinClass
from lowdim.runtime.display import count
from lowdim.runtime.warning import warn

__all__ = ["DiscriminantAxes", "discriminant_axes", "solve_lda"]

Array = NDArray[np.float64]

MANY_CLASSES, FEW_ROWS = 20, 5  # more numbers, and fewer rows of each, look like a measurement


@dataclass(frozen=True)
class DiscriminantAxes:
    """The axes, and the linear score δ(x) = coef (x - mean) + offsets of every class."""

    classes: NDArray[Any]  # (K,)
    priors: Array  # (K,)
    means: Array  # (K, d)
    mean: Array  # (d,) weighted by the priors
    components: Array  # (k, d)
    reconstruction: Array  # (k, d) from scores to centered rows
    eigenvalues: Array  # (k,) between-class variances along the axes, in units of the within-class one
    ratios: Array  # (k,) of the eigenvalues to their sum over all axes
    coef: Array  # (K, d)
    offsets: Array  # (K,)
    n: float  # rows, or the sum of their weights
    rank: int  # of the within-class covariance
    shrinkage: float
    solver: str


def solve_lda(rows: Rows, y: Any, weights: Array | None, options: LDAOptions, solver: str) -> DiscriminantAxes:
    """Discriminant axes of rows by a solver; "auto" takes the cheapest, and the SVD where `tol` asks for it."""
    if solver != "auto" and rows.n is None and solver != "covariance":
        raise BadParameter(
            f"solver={solver!r} reads the rows more than once, and a stream allows one pass. Use 'auto'."
        )
    within = SOLVERS[_choose(rows, options, solver)](rows, y, weights, options)
    _warn_of_numbers(within)
    return discriminant_axes(within, options)


def discriminant_axes(within: WithinClass, options: LDAOptions) -> DiscriminantAxes:
    """The k axes of greatest between-class variance relative to the within-class one, and the linear scores."""
    priors = _priors(within, options.priors)
    base = within.means[0]  # differences from one class keep a common large offset exact
    mean = base + priors @ (within.means - base)
    deviations = within.means - mean  # (K, d)
    standardized = deviations[:, within.columns] / within.scale
    _warn_of_rest(within, deviations, standardized)
    whitened = within.whitening.whiten(standardized)  # (K, r)
    roots = np.sqrt(priors)[:, None]
    U, sizes, right = lapack.svd(roots * whitened)
    k, spanned = _count(within, sizes, options)
    directions = within.whitening.unwhiten(np.column_stack([right[:k].T, whitened.T])) / within.scale[:, None]
    spread = np.zeros((k + len(priors), len(mean)))
    spread[:, within.columns] = directions.T
    components, coef = spread[:k], spread[k:]
    signed = fix_signs(components.T).T
    signs = np.where((signed * components).sum(axis=1) < 0, -1.0, 1.0)
    reconstruction = (signs / sizes[:k])[:, None] * (U[:, :k].T @ (roots * deviations))
    offsets = np.log(priors) - 0.5 * (whitened**2).sum(axis=1)
    total = float((sizes[:spanned] ** 2).sum())
    return DiscriminantAxes(
        within.classes, priors, within.means, mean, signed, reconstruction, sizes[:k] ** 2, sizes[:k] ** 2 / total,
        coef, offsets, float(within.counts.sum()), within.whitening.rank, within.shrinkage, within.solver,
    )  # fmt: skip


def _choose(rows: Rows, options: LDAOptions, solver: str) -> str:
    if solver != "auto":
        return solver
    if rows.n is None:
        return "covariance"
    if rows.n < rows.d:
        return "gram"
    squared = options.shrinkage is None and options.tol**2 < rounding_floor(rows.d, np.dtype(np.float64))
    return "svd" if squared else "covariance"


def _priors(within: WithinClass, given: Any) -> Array:
    """The given prior probabilities, or the shares of the classes, (K,)."""
    if given is None:
        return within.counts / within.counts.sum()
    priors = np.asarray(given, dtype=np.float64)
    if len(priors) != len(within.classes):
        raise BadParameter(
            f"priors must have one probability per class, in the order of the sorted classes: {len(within.classes)}; "
            f"got {len(priors)}."
        )
    return priors / priors.sum()


def _count(within: WithinClass, sizes: Array, options: LDAOptions) -> tuple[int, int]:
    """The number of components, and the rank of the class means, which is its limit."""
    K, d = within.means.shape
    most = min(K - 1, d)
    k = fixed_count(options.n_components, most, f"{K} classes in {count(d, 'column')} span no more discriminant axes")
    largest = float(sizes.max(initial=0.0))
    spanned = min(int((sizes > options.tol * largest).sum()), most)
    if spanned == 0 or largest <= np.sqrt(K) * float(np.finfo(np.float64).eps):
        raise NotEnoughData("the classes have the same mean in every column that varies: there is nothing to separate.")
    if options.n_components is not None and k is not None and k > spanned:
        raise NotEnoughData(
            f"n_components={k} must be at most {spanned}: the means of the {K} classes span no more discriminant axes. "
            "Ask for fewer, or for None."
        )
    return spanned if options.n_components is None or k is None else k, spanned


def _warn_of_numbers(within: WithinClass) -> None:
    """Warn if y looks like a measurement in whole numbers: many numbers, each of few rows."""
    K = len(within.classes)
    if within.classes.dtype.kind in "iuf" and K > MANY_CLASSES and within.counts.sum() < FEW_ROWS * K:
        warn(
            f"y has {K} different numbers in {within.counts.sum():.4g} rows, and LDA takes each as a class. If y is a "
            "measurement, use a method for regression, such as SIR."
        )


def _warn_of_rest(within: WithinClass, deviations: Array, standardized: Array) -> None:
    """Warn if the classes differ in directions that are left out because nothing varies there within the classes."""
    c, rank = len(within.columns), within.whitening.rank
    floor = rounding_floor(c, within.dtype) * float(np.abs(standardized).max(initial=0.0))
    constant = np.ones(deviations.shape[1], dtype=bool)
    constant[within.columns] = False
    rounding = 1e3 * float(np.finfo(np.float64).eps) * np.abs(within.means).max(axis=0)
    differing = int((constant & (np.abs(deviations).max(axis=0) > rounding)).sum())
    lost = rank < c and float(np.abs(within.whitening.outside(standardized)).max(initial=0.0)) > floor
    if not differing and not lost:
        return
    columns = "1 column is" if differing == 1 else f"{differing:,} columns are"
    what = f"{columns} constant within the classes but differ between them" if differing else (
        f"the within-class covariance of {c} columns has rank {rank}: variables are collinear within the classes"
    )  # fmt: skip
    warn(
        f"{what}. The classes differ in directions that LDA leaves out. Use shrinkage='ledoit-wolf', 'oas' or a "
        "number, which keeps them, or drop columns.",
    )
