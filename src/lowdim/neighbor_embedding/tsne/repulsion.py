"""Repulsive forces of t-SNE: exact sums over all pairs, Barnes-Hut in three dimensions, and which to use.

FFT-accelerated repulsion, for one and two dimensions, is in `fft_repulsion`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.neighbor_embedding.tsne.fft_repulsion import FFTRepulsion

__all__ = ["BarnesHutRepulsion", "ExactRepulsion", "Repulsion", "choose_repulsion"]

Floats = NDArray[np.float32]

EXACT_ROWS = 4000  # up to here, the exact sum is as fast as its approximations
EXACT_ROWS_POWER = 500  # the same where the kernel needs a power (dof other than 1)
SERIAL_ROWS = 1000  # up to here, waking threads takes longer than the sum
THETA = 0.9  # Barnes-Hut angle: side over distance up to which a node acts as one point; mean error about 1%
MIN_SIDE = 0.1  # side, in units of the kernel's width, up to which a node is never opened


class ExactRepulsion:
    """Repulsion as the sum over all pairs."""

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """Repulsive forces, (n, k), and the normalization: the sum of the kernel over all ordered pairs."""
        out = np.empty_like(Y)
        threads = self.threads if len(Y) > SERIAL_ROWS else 1
        sum_q = _native.repulsion_exact(Y, self.dof, out, threads)
        return out, sum_q


class BarnesHutRepulsion:
    """Repulsion by the Barnes-Hut algorithm on an octree (van der Maaten 2014), in three dimensions.

    Nodes also hold the variance of their points, which makes the error one of fourth order in their size.
    """

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads

    @property
    def criterion(self) -> tuple[float, float]:
        """Squared theta and squared smallest side, as the kernels take them. A steeper kernel opens more nodes."""
        theta = THETA * min(1.0, 4 / (self.dof + 3))
        return theta**2, MIN_SIDE**2 * min(1.0, self.dof)

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """Repulsive forces, (n, 3), and the normalization: the sum of the kernel over all ordered pairs."""
        out = np.empty_like(Y)
        sum_q = _native.repulsion_barnes_hut(Y, self.dof, *self.criterion, out, self.threads)
        return out, sum_q


Repulsion = ExactRepulsion | FFTRepulsion | BarnesHutRepulsion


def choose_repulsion(n: int, n_components: int, dof: float, threads: int) -> Repulsion:
    """The fastest algorithm for n rows."""
    if n <= (EXACT_ROWS if dof == 1 else EXACT_ROWS_POWER):
        return ExactRepulsion(dof, threads)
    return BarnesHutRepulsion(dof, threads) if n_components == 3 else FFTRepulsion(dof, threads)
