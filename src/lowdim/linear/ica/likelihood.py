"""The likelihood of ICA in relative coordinates W ← (I + E) W: loss, gradient, approximate Hessian.

Picard-O keeps the sources uncorrelated (W orthogonal) and minimizes Σ s_i E[ρ(y_i)]; Picard minimizes the negative
log-likelihood Σ E[-log p_i(y_i)] - log |det W| over all W. A sign s_i of each source adapts its density: super- or
sub-Gaussian, as the extended Infomax of Lee, Girolami and Sejnowski (1999) does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lowdim.linear.ica.contrast import ContrastMoments, WhitenedRows
from lowdim.runtime.threads import interruptible_product

__all__ = ["FreeLikelihood", "Likelihood", "OrthogonalLikelihood", "Point"]

Array = NDArray[np.float64]

CURVATURE_FLOOR = 0.01  # of the approximate Hessian, whose eigenvalues may be negative far from the solution
MOST_FLIPS = 5  # of a source's sign: a Gaussian source would change it forever


@dataclass(frozen=True)
class Point:
    """An unmixing matrix, and what one pass over the rows says about it."""

    W: Array  # (k, k)
    signs: Array  # (k,)
    moments: ContrastMoments
    loss: float
    gradient: Array  # (k, k), relative
    curvature: Array  # (k, k) the diagonal of the approximate Hessian


@dataclass
class Likelihood(ABC):
    """What Picard minimizes."""

    fun: str
    extended: bool  # adapt the signs
    flips: Array = field(default_factory=lambda: np.zeros(0))  # (k,) how often each sign has changed

    def at(self, rows: WhitenedRows, W: Array, signs: Array | None = None) -> Point:
        """The point W; signs that suit it if None."""
        moments = rows.contrast(W, self.fun)
        if signs is None:
            self.flips = np.zeros(len(W))
            signs = self._suitable(W, moments) if self.extended else np.ones(len(W))
        return self._point(W, moments, signs)

    def adapted(self, point: Point) -> Point:
        """The same point with signs that suit it: the same object if they do already."""
        if not self.extended:
            return point
        wanted = self._suitable(point.W, point.moments)
        flipped = (wanted != point.signs) & (self.flips < MOST_FLIPS)
        if not flipped.any():
            return point
        self.flips = self.flips + flipped
        return self._point(point.W, point.moments, np.where(flipped, wanted, point.signs))

    def _suitable(self, W: Array, moments: ContrastMoments) -> Array:
        """The sign under which the solution is a minimum: that of E[ψ'] E[y²] - E[ψ y], (k,)."""
        variances = np.einsum("ij,ij->i", W, W)
        scores = np.einsum("ij,ij->i", moments.cross, W)
        return np.where(moments.slope * variances >= scores, 1.0, -1.0)

    @abstractmethod
    def _point(self, W: Array, moments: ContrastMoments, signs: Array) -> Point: ...

    @abstractmethod
    def preconditioned(self, point: Point, q: Array) -> Array:
        """The approximate Hessian, made positive definite, solved for q (k, k)."""

    @abstractmethod
    def moved(self, W: Array, E: Array) -> Array | None:
        """W after the relative step E; None if it would not be invertible."""


class OrthogonalLikelihood(Likelihood):
    """Picard-O: W orthogonal, E antisymmetric."""

    def _point(self, W: Array, moments: ContrastMoments, signs: Array) -> Point:
        scores = signs[:, None] * (moments.cross @ W.T)  # s E[ψ(y_i) y_j]
        kinks = signs * moments.slope - np.diagonal(scores)
        curvature = (kinks[:, None] + kinks) / 2
        return Point(W, signs, moments, float(signs @ moments.value), (scores - scores.T) / 2, curvature)

    def preconditioned(self, point: Point, q: Array) -> Array:
        return q / np.maximum(point.curvature, CURVATURE_FLOOR)

    def moved(self, W: Array, E: Array) -> Array:
        """Cayley's transform, which agrees with the exponential to second order and stays orthogonal."""
        half, eye = E / 2, np.eye(len(W))
        return np.asarray(interruptible_product(lambda: np.linalg.solve(eye - half, (eye + half) @ W), len(W) ** 3))


class FreeLikelihood(Likelihood):
    """Picard without constraint: densities sech(y), or sech(y)^s times a normal density if they adapt."""

    def _point(self, W: Array, moments: ContrastMoments, signs: Array) -> Point:
        covariance = W @ W.T  # of the sources, since that of the whitened rows is I
        variances = np.diagonal(covariance)
        scores, slope = signs[:, None] * (moments.cross @ W.T), signs * moments.slope
        diagonal, value = signs * moments.curvature, signs * moments.value
        if self.extended:
            scores, slope = scores + covariance, slope + 1
            diagonal, value = diagonal + variances, value + variances / 2
        curvature = slope[:, None] * variances
        np.fill_diagonal(curvature, diagonal)
        log_det = interruptible_product(lambda: np.linalg.slogdet(W)[1], len(W) ** 3)
        loss = float(value.sum()) - float(log_det)
        return Point(W, signs, moments, loss, scores - np.eye(len(W)), curvature)

    def preconditioned(self, point: Point, q: Array) -> Array:
        """Blocks [[h_ij, 1], [1, h_ji]] for each pair of sources; h_ii + 1 on the diagonal."""
        h = point.curvature.copy()
        smallest = (h + h.T - np.sqrt((h - h.T) ** 2 + 4)) / 2
        h += np.maximum(CURVATURE_FLOOR - smallest, 0)
        out = (h.T * q - q.T) / np.where(np.eye(len(h)), 1.0, h * h.T - 1)
        np.fill_diagonal(out, np.diagonal(q) / np.maximum(np.diagonal(point.curvature) + 1, CURVATURE_FLOOR))
        return out

    def moved(self, W: Array, E: Array) -> Array | None:
        step = np.eye(len(W)) + E
        sign = interruptible_product(lambda: np.linalg.slogdet(step)[0], len(W) ** 3)
        return step @ W if sign > 0 else None
