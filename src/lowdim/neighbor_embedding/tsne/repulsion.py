"""t-SNE's repulsion: the sum over all pairs, and which way is the fastest for a map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.neighbor_embedding.tsne.barnes_hut import BarnesHutRepulsion
from lowdim.neighbor_embedding.tsne.fft_repulsion import FFTRepulsion

__all__ = ["ExactRepulsion", "Repulsion", "repulsion_for"]

Floats = NDArray[np.float32]

DIRECT_ROWS = 4000  # below, the sum over all pairs is as fast as the mesh or the tree
DIRECT_POWERS = 500  # the same where the kernel needs a power
SERIAL_ROWS = 1000  # below, waking threads takes longer than the sum


class ExactRepulsion:
    """Repulsion by the sum over all pairs."""

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """UmapParams (n, k), and the sum of the kernel over all ordered pairs."""
        out = np.empty_like(Y)
        threads = self.threads if len(Y) > SERIAL_ROWS else 1
        total = _native.repel_directly(Y, self.dof, out, threads)
        return out, total


Repulsion = ExactRepulsion | FFTRepulsion | BarnesHutRepulsion


def repulsion_for(n: int, axes: int, dof: float, threads: int) -> Repulsion:
    """The fastest one for n rows."""
    if n <= (DIRECT_ROWS if dof == 1 else DIRECT_POWERS):
        return ExactRepulsion(dof, threads)
    return BarnesHutRepulsion(dof, threads) if axes == 3 else FFTRepulsion(dof, threads)
