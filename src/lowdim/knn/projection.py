"""Wide rows in few columns: near neighbours stay near, at a fraction of the cost of looking for them."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows
from lowdim.distance.metrics import SQUARES
from lowdim.knn.search_space import Space
from lowdim.linalg.centered import Centered
from lowdim.runtime.random import normal
from lowdim.runtime.threads import uninterrupted

__all__ = ["sketched"]

WIDTH = 96  # columns of a sketch
WORTH = 2 * WIDTH  # narrower rows are searched as they are
STEPS = 3  # of the power iteration: rough axes are as good


def sketched(space: Space, rows: NDArray[np.int32], seed: int, stream: int) -> Space | None:
    """The rows projected on the leading axes of a sample of them; None where that would save nothing."""
    d = space.work.shape[1]
    if space.kernel != SQUARES or d <= WORTH:
        return None
    sample = np.ascontiguousarray(space.work[rows], dtype=np.float32)
    middle = sample.mean(axis=0, dtype=np.float64)
    sample -= middle.astype(np.float32)
    start = normal((d, WIDTH), seed, stream, np.float32)
    axes = uninterrupted(lambda: _leading_axes(sample, start))
    work = Centered(ArrayRows(space.work), middle, None, None, space.threads).times(axes)
    return dataclasses.replace(space, work=work, source=work, shift=None)


def _leading_axes(P: NDArray[np.float32], V: NDArray[np.float32]) -> NDArray[np.float32]:
    for _ in range(STEPS):
        V = np.linalg.qr(P.T @ (P @ V))[0]
    return V
