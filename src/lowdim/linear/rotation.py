"""Orthogonal rotation of loadings: varimax, quartimax and the other orthomax criteria (Kaiser 1958).

    max  Σ_c [ Σ_j b_jc⁴ - γ/d (Σ_j b_jc²)² ]   over  B = A T,  TᵀT = I

γ = 1 is varimax, 0 quartimax, k/2 equamax. Pairs of columns are rotated in their plane, each by the angle that is best
in closed form, so that the criterion never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.data.validation import read_matrix
from lowdim.errors import BadInput, BadParameter
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Integer, Real
from lowdim.runtime.progress import report
from lowdim.runtime.warning import warn

__all__ = ["RotatedComponents", "quartimax", "rotate_components", "varimax"]

Array = NDArray[Any]

GAMMAS = {"varimax": 1.0, "quartimax": 0.0}


def varimax(
    loadings: Any, *, gamma: float = 1.0, normalize: bool = True, tol: float = 1e-10, max_iter: int = 500
) -> tuple[Array, Array]:
    """Rotate loadings so that each component has a few large ones and many that are nearly zero.

        max  Σ_c [ Σ_j b_jc⁴ - γ/d (Σ_j b_jc²)² ]   over  B = A T,  TᵀT = I

    Parameters
    ----------
    loadings : array (d, k)
        A row per column of the table, as in `PCA.correlation_loadings_`.
    gamma : float
        The orthomax criterion: 1 is varimax, 0 quartimax, k/2 equamax.
    normalize : bool
        Kaiser's normalization: rows have unit length while they are rotated, so that each column of the table counts
        the same.
    tol : float
        Convergence: no rotation in a plane is by a larger angle, in radians.
    max_iter : int
        Maximum number of sweeps over all pairs of components.

    Returns
    -------
    rotated : array (d, k)
        loadings @ rotation, with the sums of squares in descending order and the largest entry of a component positive.
    rotation : array (k, k)
        The orthogonal matrix T.

    """
    A = read_matrix(loadings, "loadings")
    if not Real(0).accepts(gamma) or not Real(0, open=True).accepts(tol) or not Integer(1).accepts(max_iter):
        raise BadParameter(
            f"gamma must be 0 or more, tol above 0 and max_iter at least 1; got {gamma!r}, {tol!r}, {max_iter!r}."
        )
    with single_blas():
        wide = A.astype(np.float64)
        rotation = _orthomax(_unit_rows(wide) if normalize else wide, float(gamma), float(tol), int(max_iter))
        rotated = wide @ rotation
        order = np.argsort(-(rotated**2).sum(axis=0), kind="stable")
        rotated, rotation = rotated[:, order], rotation[:, order]
        signed = fix_signs(rotated)
        rotation = rotation * np.where((signed * rotated).sum(axis=0) < 0, -1.0, 1.0)
    return signed.astype(A.dtype), rotation.astype(A.dtype)


def quartimax(loadings: Any, *, normalize: bool = True, tol: float = 1e-10, max_iter: int = 500) -> tuple[Array, Array]:
    """Rotate loadings so that each column of the table loads on few components: `varimax` with gamma=0."""
    return varimax(loadings, gamma=0.0, normalize=normalize, tol=tol, max_iter=max_iter)


@dataclass(frozen=True)
class RotatedComponents:
    """Rotated components of a fitted PCA: their loadings, the rotation, and scores of rows."""

    model: Any  # the fitted PCA
    loadings: Array  # (d, k) correlations between the columns and the rotated scores
    rotation: Array  # T (k, k)
    explained_variance_ratio: Array  # (k,) share of the variance of the standardized columns

    def transform(self, X: Any) -> Array:
        """Scores of rows on the rotated components, (n, k): of unit variance and uncorrelated on the fitted rows."""
        scores = self.model.transform(X)
        deviations = np.sqrt(np.asarray(self.model.explained_variance_, dtype=np.float64))
        if self.model.whiten:  # they have unit variance already
            deviations = np.ones_like(deviations)
        return ((scores / deviations) @ self.rotation).astype(scores.dtype)


def rotate_components(model: Any, method: str = "varimax", *, normalize: bool = True) -> RotatedComponents:
    """Rotate the components of a fitted PCA by "varimax" or "quartimax".

    The correlation loadings are rotated, and the scores with them: scores of unit variance stay uncorrelated.
    """
    check_is_fitted(model)
    if method not in GAMMAS:
        raise BadParameter(f"method must be one of {', '.join(map(repr, GAMMAS))}; got {method!r}.")
    loadings = getattr(model, "correlation_loadings_", None)
    if loadings is None:
        raise BadInput(f"{type(model).__name__} has no correlation loadings to rotate. Give a fitted PCA.")
    if not (model.explained_variance_ > 0).all():
        raise BadInput("a component without variance has no scores to rotate. Fit PCA with fewer components.")
    rotated, rotation = varimax(loadings, gamma=GAMMAS[method], normalize=normalize)
    varying = np.count_nonzero(np.any(loadings, axis=1))
    return RotatedComponents(model, rotated, rotation, (rotated**2).sum(axis=0) / varying)


def _unit_rows(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    return np.divide(A, lengths, out=np.zeros_like(A), where=lengths > 0)


def _orthomax(A: Array, gamma: float, tol: float, max_iter: int) -> Array:
    """The rotation T (k, k), by Kaiser's rotations in planes; the steps of Jacobi's eigenvalue algorithm."""
    d, k = A.shape
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    B, T = np.ascontiguousarray((A / size).T), np.eye(k)  # rows of B are components
    angle = 0.0
    for sweep in range(1, max_iter + 1):
        angle = 0.0
        for i in range(k - 1):
            for j in range(i + 1, k):
                turn = _best_angle(B[i], B[j], gamma / d)
                if abs(turn) > tol:
                    c, s = np.cos(turn), np.sin(turn)
                    B[[i, j]] = np.array([[c, s], [-s, c]]) @ B[[i, j]]
                    T[:, [i, j]] = T[:, [i, j]] @ np.array([[c, -s], [s, c]])
                angle = max(angle, abs(turn))
            report("rotating loadings", sweep, max_iter, angle=angle)
        if angle <= tol:
            return T
    warn(
        f"the rotation did not converge within max_iter={max_iter} sweeps: the last angle is {angle:.1e}, above "
        f"tol={tol:.0e}. Raise max_iter."
    )
    return T


def _best_angle(x: Array, y: Array, penalty: float) -> float:
    """The angle in the plane of two components at which the criterion is largest; 0 if all are the same."""
    u, v = x**2 - y**2, 2 * x * y
    sin = 2 * (u @ v) - 2 * penalty * u.sum() * v.sum()
    cos = u @ u - v @ v - penalty * (u.sum() ** 2 - v.sum() ** 2)
    # Below rounding every angle is equally good, and turning further would never end.
    rounding = 16 * np.finfo(np.float64).eps * float((u @ u + v @ v) * (1 + penalty * len(x)))
    return 0.0 if np.hypot(sin, cos) <= rounding else float(np.arctan2(sin, cos) / 4)
