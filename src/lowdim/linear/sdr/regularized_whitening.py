"""Whitening: z = Rᵀ (x - μ) with Rᵀ S R = I, where S is the covariance matrix, or a regularized one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows, StreamRows
from lowdim.data.validation import underflow_error
from lowdim.decomposition.shrinkage import CovarianceNorms, fourth_powers, shrinkage_intensity
from lowdim.errors import BadInput, NotEnoughData
from lowdim.linalg.dense_eigen import eigh
from lowdim.runtime.param import Choice, Either, Maybe, Real, param
from lowdim.runtime.warning import warn
from lowdim.summaries.moments import Moments

__all__ = ["Regularization", "RegularizationMixin", "RegularizedWhitening", "whitening"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class RegularizationMixin:
    """Adds `shrinkage` and `ridge`."""

    shrinkage: float | str | None = param(
        "auto",
        Maybe(Either(Real(0, 1), Choice("auto", "ledoit-wolf", "oas"))),
        "Shrink correlations between columns to zero, for few rows or collinear columns: by this share, or by an "
        "estimate of the best one. 'auto': by 'oas' if the covariance matrix is singular, with a warning; None: never.",
    )
    ridge: float = param(
        0.0, Real(0), "Added to the diagonal of the covariance matrix, as a multiple of each column's variance."
    )


@dataclass(frozen=True)
class RegularizedWhitening:
    """The map from centered rows to whitened ones."""

    root: Array  # (d, r) R; rows of zeros for constant columns
    covariance: Array  # (d, d) S
    regularized: bool

    def matrix(self, A: Array) -> Array:
        """Rᵀ A R: a covariance in whitened coordinates, (…, r, r)."""
        return np.asarray(self.root.T @ A @ self.root)


@dataclass(frozen=True)
class Regularization:
    """Shrinkage and ridge of the correlation matrix, and the rows that Ledoit and Wolf's estimate reads."""

    shrinkage: float | str | None
    ridge: float
    rows: Rows
    weights: Array | None
    threads: int

    @property
    def active(self) -> bool:
        """Whether the covariance matrix is changed at all."""
        return self.shrinkage not in (None, "auto", 0) or self.ridge > 0

    def apply(self, R: Array, moments: Moments, factors: Array) -> Array:
        """(1 - α) R + (α + ridge) I for a correlation matrix R of the columns whose factors are not zero."""
        fourth = None
        if self.shrinkage == "ledoit-wolf" and not (isinstance(self.rows, StreamRows) and not self.rows.restarts):
            fourth = fourth_powers(self.rows, None, moments.mean[None], factors, self.weights, self.threads)
        norms = CovarianceNorms(moments.n, len(R), float(np.trace(R)), float((R**2).sum()), fourth)
        alpha = shrinkage_intensity(None if self.shrinkage == "auto" else self.shrinkage, norms)
        return np.asarray((1 - alpha) * R + (alpha + self.ridge) * np.eye(len(R)))


def whitening(moments: Moments, regularization: Regularization) -> RegularizedWhitening:
    """The whitening by the covariance matrix (ddof 0) of the rows.

    Columns are scaled to unit variance before the matrix is regularized and factored, so that their units do not
    matter. Constant columns are left out. Raises an error by name if the others are collinear and nothing regularizes
    them.
    """
    if ((moments.variances > 0) & (moments.variances < np.finfo(moments.dtype).tiny)).any():
        raise underflow_error()
    deviations = np.sqrt(moments.variances)
    kept = np.flatnonzero(deviations > np.finfo(moments.dtype).eps * np.abs(moments.mean))
    if len(kept) == 0:
        raise BadInput(
            "every column of X is constant (or varies by so little that its squares underflow), so there are no "
            "directions to find. Give columns that vary, or rescale them."
        )
    scale = deviations[kept]
    correlation = moments.covariance(ddof=0)[np.ix_(kept, kept)] / scale / scale[:, None]
    factors = np.zeros(moments.d)
    factors[kept] = 1 / scale
    correlation = regularization.apply(correlation, moments, factors) if regularization.active else correlation
    values, vectors = eigh(correlation)
    floor = 4 * np.finfo(moments.dtype).eps * len(kept) * float(values[-1])
    if values[0] <= floor:
        error = _singular_error(moments, kept, vectors[:, 0], int(np.count_nonzero(values <= floor)))
        if regularization.shrinkage != "auto":
            raise error
        warn(f"{error.args[0]} shrinkage='oas' was used.")
        return whitening(moments, replace(regularization, shrinkage="oas"))
    root, covariance = np.zeros((moments.d, len(kept))), np.zeros((moments.d, moments.d))
    root[kept] = vectors / np.sqrt(values) / scale[:, None]
    covariance[np.ix_(kept, kept)] = correlation * scale * scale[:, None]
    return RegularizedWhitening(root, covariance, regularization.active)


def _singular_error(moments: Moments, kept: NDArray[np.intp], null: Array, missing: int) -> BadInput | NotEnoughData:
    remedy = "Drop columns, or use shrinkage or ridge."
    if moments.rows <= len(kept):
        return NotEnoughData(
            f"{moments.rows} rows can't tell {len(kept)} columns apart: their covariance matrix is singular. {remedy}"
        )
    involved = kept[np.abs(null) > 0.1 * np.abs(null).max()][:6]
    names = moments.feature_names
    shown = ", ".join(str(j) if names is None else repr(names[j]) for j in involved)
    follow = "follows" if missing == 1 else "follow"
    return BadInput(
        f"the columns are collinear: {missing} of {len(kept)} {follow} from the others (columns {shown} are "
        f"involved), so their directions are not determined. {remedy}"
    )
