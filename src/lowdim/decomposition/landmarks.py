"""A few rows that stand for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import NotEnoughData
from lowdim.kernels import Kernel
from lowdim.kernels._row_blocks import PreparedRows, RowPairs
from lowdim.runtime.threads import single_blas

__all__ = ["draw_landmarks", "uniform_landmarks"]

Array = NDArray[Any]
Places = NDArray[np.int64]

ROUNDS = 32  # of drawing; all of a round's landmarks are compared with the rows in one product
CANDIDATES = 8  # rows looked at for every landmark


def draw_landmarks(rows: Array, kernel: Kernel, count: int, how: str, seed: int) -> Places:
    """Places of `count` rows: evenly ("uniform"), or far from one another ("kmeans++")."""
    return uniform_landmarks(len(rows), count, seed) if how == "uniform" else _spread(rows, kernel, count, seed)


def uniform_landmarks(n: int, count: int, seed: int) -> Places:
    """Places of `count` of n rows, all as likely, ascending."""
    if count > n:
        raise NotEnoughData(f"n_landmarks={count} must be at most the number of rows, {n}. Ask for fewer.")
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False))


def _spread(rows: Array, kernel: Kernel, count: int, seed: int) -> Places:
    """Places of rows drawn as k-means++ does, in the kernel's space: far from those already drawn.

    They are drawn in rounds, from a uniform sample where there are very many rows.
    """
    n = len(rows)
    pool = uniform_landmarks(n, max(count, min(n, CANDIDATES * count)), seed)
    rng = np.random.default_rng([seed % 2**63, 1])
    points = PreparedRows(np.ascontiguousarray(rows[pool]))
    lengths = kernel.diagonal(points).astype(np.float64)
    nearest = np.full(len(pool), np.inf)
    drawn = [int(rng.integers(len(pool)))]
    fresh = drawn
    with single_blas():
        while len(drawn) < count:
            taken = PreparedRows(points.rows[fresh], points.origin)
            inner = kernel.evaluate(RowPairs(points, taken)).astype(np.float64)
            squares = lengths[:, None] + lengths[fresh] - 2 * inner
            nearest = np.minimum(nearest, np.maximum(squares, 0).min(axis=1))
            nearest[drawn] = 0
            size = min(count - len(drawn), max(1, count // ROUNDS))
            fresh = _draw(nearest, size, drawn, rng)
            drawn = drawn + fresh
    return np.sort(pool[drawn])


def _draw(chances: NDArray[np.float64], size: int, taken: list[int], rng: np.random.Generator) -> list[int]:
    """Distinct places by their chances; where too few have any, the rest evenly."""
    possible = np.flatnonzero(chances)
    if len(possible) >= size:
        return [int(i) for i in rng.choice(len(chances), size, replace=False, p=chances / chances.sum())]
    others = np.setdiff1d(np.arange(len(chances)), np.concatenate([possible, taken]).astype(np.int64))
    rest = rng.choice(others, size - len(possible), replace=False)
    return [int(i) for i in (*possible, *rest)]
