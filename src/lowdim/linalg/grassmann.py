"""The Grassmann manifold: principal angles between subspaces, and geodesics between frames (d, k) that span them.

A geodesic turns the principal vectors of one subspace into those of the other, each at a constant rate (Buja, Cook,
Asimov and Hurley 2005): no rotation within the subspace that the way does not need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Geodesic", "geodesic", "polar_frame", "principal_angles"]

Array = NDArray[np.float64]

SMALL = 1e-7  # radians: below it two principal vectors count as one


@dataclass(frozen=True)
class Geodesic:
    """The shortest way from one frame to the subspace of another."""

    start: Array  # (d, k) principal vectors of the first subspace
    ahead: Array  # (d, k) unit vectors towards the second one, orthogonal to all of `start`; 0 where there is no angle
    angles: Array  # (k,) principal angles
    basis: Array  # (k, k) from principal vectors back to the first frame

    @property
    def length(self) -> float:
        """The distance of the subspaces: the norm of the principal angles."""
        return float(np.linalg.norm(self.angles))

    def frame(self, t: float) -> Array:
        """The frame (d, k) at the fraction t of the way."""
        turned = self.start * np.cos(t * self.angles) + self.ahead * np.sin(t * self.angles)
        return polar_frame(turned @ self.basis.T)


def geodesic(start: Array, end: Array) -> Geodesic:
    """The geodesic between the subspaces of two orthonormal frames (d, k). It begins at the first frame itself."""
    left, cosines, right = np.linalg.svd(start.T @ end)
    first, last = start @ left, end @ right.T
    away = last - first @ (first.T @ last)
    sines = np.linalg.norm(away, axis=0)
    angles = np.arctan2(sines, cosines)  # exact for small angles, where the arc cosine is not
    ahead = np.divide(away, sines, out=np.zeros_like(away), where=sines > SMALL)
    return Geodesic(first, ahead, np.where(sines > SMALL, angles, 0.0), left)


def principal_angles(A: Array, B: Array) -> Array:
    """The principal angles between the subspaces of two orthonormal frames, ascending, (k,)."""
    return np.sort(geodesic(A, B).angles)


def polar_frame(A: Array) -> Array:
    """The orthonormal frame nearest to A (d, k)."""
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U @ Vt)
