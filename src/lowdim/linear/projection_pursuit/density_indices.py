"""Indices of the density of the scores: Friedman and Tukey's, and Friedman's by Legendre polynomials."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fft
import scipy.special
from numpy.typing import NDArray

from lowdim.linear.projection_pursuit.indices import Array, ScoreIndex
from lowdim.linear.projection_pursuit.moment_indices import Holes

__all__ = ["FriedmanTukey", "Legendre", "default_bandwidth"]

POINTS_PER_BANDWIDTH = 5  # of the grid: the index is then right to about 1e-4
MOST_POINTS = {1: 1 << 14, 2: 512}  # along each axis of the grid
PAD = 24  # grid points in which the spline's prefilter dies away
TRIWEIGHT = {1: 35 / 32, 2: 4 / np.pi}  # ∫ (1 - r²)³ over the unit ball is the inverse


def default_bandwidth(n: int, k: int) -> float:
    """Three times the normal reference bandwidth of a Gaussian kernel: about that of the triweight kernel."""
    return float(3 * (4 / ((k + 2) * n)) ** (1 / (k + 4)))


class FriedmanTukey(ScoreIndex):
    """(1 / n²) Σᵢⱼ K(‖zᵢ - zⱼ‖ / h) / hᵏ, an estimate of ∫f²: the number of pairs that are near each other.

    K is the triweight kernel, c (1 - r²)³ for r < 1, in place of Friedman and Tukey's (1 - r), for the sake of a
    gradient; their trimmed standard deviation is the same for all projections of sphered rows.

    The sum over pairs is taken on a grid: cubic B-splines spread the rows and interpolate the kernel between
    grid points, and the convolution is done by FFT. That is O(n), and as smooth as the splines. Scores beyond the grid,
    which reaches far beyond the bulk, count as if they lay on its edge.

    ∫f² is least for a parabolic density, flatter than the normal one: on the way from noise to clusters it falls before
    it rises (Huber 1985). So random frames end in noise; the maxima of the index of holes lie beyond that valley.
    """

    dimensions = 2
    guide = Holes()

    def __init__(self, bandwidth: float | None = None) -> None:
        self.bandwidth = bandwidth

    def measure(self, Z: Array) -> tuple[float, Array]:
        n, k = Z.shape
        h = default_bandwidth(n, k) if self.bandwidth is None else self.bandwidth
        spacing = h / POINTS_PER_BANDWIDTH
        half = int(np.ceil(min(float(np.abs(Z).max()) / spacing, MOST_POINTS[k] // 2)))
        size = 2 * half + 4
        inside = np.clip(Z / spacing, -half, half)
        cells, weights, slopes = _spline_weights(inside + half + 1)
        places = _grid_places(cells, size)
        mass = np.bincount(places.ravel(), _tensor(weights).ravel(), size**k).reshape((size,) * k)
        field = _convolved(mass, size)
        factor = TRIWEIGHT[k] / (n**2 * h**k)
        near = field.ravel()[places]  # (n, 4^k)
        gradient = np.empty_like(Z)
        for axis in range(k):
            mixed = [slopes[i] if i == axis else weights[i] for i in range(k)]
            gradient[:, axis] = np.einsum("ij,ij->i", _tensor(mixed), near)
        gradient *= 2 * factor / spacing
        gradient[np.abs(Z) > half * spacing] = 0.0
        return float(factor * np.vdot(mass, field)), gradient


def _spline_weights(positions: Array) -> tuple[NDArray[np.intp], list[Array], list[Array]]:
    """The first of four grid points for each coordinate, (n, k), and weights and their derivatives, k × (n, 4)."""
    cells = np.floor(positions).astype(np.intp)
    t = positions - cells
    weights, slopes = [], []
    for u in t.T:
        v = 1 - u
        weights.append(np.column_stack([v**3, 4 - 6 * u**2 + 3 * u**3, 4 - 6 * v**2 + 3 * v**3, u**3]) / 6)
        slopes.append(np.column_stack([-(v**2), 3 * u**2 - 4 * u, 4 * v - 3 * v**2, u**2]) / 2)
    return cells - 1, weights, slopes


def _grid_places(cells: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Flat indices of the 4^k grid points around each row, (n, 4^k)."""
    steps = np.arange(4)
    places = cells[:, :1] + steps
    for axis in range(1, cells.shape[1]):
        places = (places[:, :, None] * size + (cells[:, axis : axis + 1] + steps)[:, None, :]).reshape(len(cells), -1)
    return places


def _tensor(factors: list[Array]) -> Array:
    """Products of the factors (n, 4) of each axis, (n, 4^k)."""
    out = factors[0]
    for factor in factors[1:]:
        out = (out[:, :, None] * factor[:, None, :]).reshape(len(out), -1)
    return out


def _convolved(mass: Array, size: int) -> Array:
    """The grid convolved with the kernel, which the splines interpolate: it is prefiltered once for either side."""
    k = mass.ndim
    length = scipy.fft.next_fast_len(size + POINTS_PER_BANDWIDTH + PAD, real=True)
    shape = (length,) * k
    field = scipy.fft.irfftn(scipy.fft.rfftn(mass, shape) * _kernel_transform(length, k), shape)
    return np.ascontiguousarray(field[(slice(size),) * k])


@lru_cache(maxsize=32)
def _kernel_transform(length: int, k: int) -> Array:
    """The kernel's transform on a periodic grid, over that of the splines on either side."""
    offsets = scipy.fft.fftfreq(length, 1 / length) / POINTS_PER_BANDWIDTH
    squares = offsets**2 if k == 1 else offsets[:, None] ** 2 + offsets**2
    kernel = scipy.fft.rfftn(np.maximum(1 - squares, 0) ** 3)
    spline = (2 + np.cos(2 * np.pi * scipy.fft.fftfreq(length))) / 3  # transform of the cubic B-spline's samples
    halved = spline[: length // 2 + 1]
    kernel /= halved**2 if k == 1 else spline[:, None] ** 2 * halved**2
    return np.asarray(kernel)


class Legendre(ScoreIndex):
    """Friedman's index: squared differences of the density from the normal one, in Legendre polynomials to order J.

        one column:   ½ Σⱼ (2j + 1) (E Pⱼ(r))²,  r = 2Φ(z) - 1,  j = 1 … J
        two columns:  ¼ Σⱼₗ (2j + 1) (2l + 1) (E Pⱼ(r₁) Pₗ(r₂))²,  1 ≤ j + l ≤ J

    If z is normal, r is uniform, and all of these means are 0. In two dimensions it depends on the rotation.
    """

    dimensions = 2
    rotation_invariant = False

    def __init__(self, order: int = 6) -> None:
        self.order = order

    def measure(self, Z: Array) -> tuple[float, Array]:
        n, k = Z.shape
        polynomials, derivatives = zip(*(self._polynomials(z) for z in Z.T), strict=True)
        odd = 2 * np.arange(self.order + 1) + 1.0
        if k == 1:
            means = polynomials[0].mean(axis=1)
            weights = odd / 2
            weights[0] = 0.0
            return float(weights @ means**2), ((2 / n) * (weights * means) @ derivatives[0])[:, None]
        means = polynomials[0] @ polynomials[1].T / n
        degree = np.add.outer(np.arange(self.order + 1), np.arange(self.order + 1))
        weights = np.where((degree > 0) & (degree <= self.order), np.outer(odd, odd) / 4, 0.0)
        slopes = 2 / n * weights * means
        first = np.einsum("jn,jn->n", derivatives[0], slopes @ polynomials[1])
        second = np.einsum("jn,jn->n", derivatives[1], slopes.T @ polynomials[0])
        return float((weights * means**2).sum()), np.column_stack([first, second])

    def _polynomials(self, z: Array) -> tuple[Array, Array]:
        """P₀ … P_J of r = 2Φ(z) - 1, (J + 1, n), and their derivatives by z."""
        r = 2 * scipy.special.ndtr(z) - 1
        P, D = np.empty((2, self.order + 1, len(z)))
        P[0], D[0] = 1.0, 0.0
        P[1], D[1] = r, 1.0
        for j in range(1, self.order):
            P[j + 1] = ((2 * j + 1) * r * P[j] - j * P[j - 1]) / (j + 1)
            D[j + 1] = (2 * j + 1) * P[j] + D[j - 1]
        return P, D * (np.sqrt(2 / np.pi) * np.exp(-0.5 * z**2))
