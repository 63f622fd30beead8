"""t-SNE's repulsion in three axes by an octree (Barnes and Hut 1986) whose nodes know how their points are spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["BarnesHutRepulsion"]

Floats = NDArray[np.float32]

OPENING = 0.9  # side over distance up to which the points of a node act as one; the mean error is then about 1 %
GRAIN = 0.1  # side, in units of the kernel's width, up to which they always do


class BarnesHutRepulsion:
    """Repulsion between all points of a map: near ones one by one, far ones together."""

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads

    @property
    def rule(self) -> tuple[float, float]:
        """Square opening and grain, as the kernels want them. A steeper kernel has more of them opened."""
        opening = OPENING * min(1.0, 4 / (self.dof + 3))
        return opening**2, GRAIN**2 * min(1.0, self.dof)

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """UmapParams (n, 3), and the sum of the kernel over all ordered pairs."""
        out = np.empty_like(Y)
        total = _native.repel_by_tree(Y, self.dof, *self.rule, out, self.threads)
        return out, total
