"""Seeds and counter-based random numbers (Philox): a draw is a function of seed, stream and position alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from lowdim import _native

__all__ = ["Seed", "normal", "seed_of"]

Seed = int | np.random.Generator | np.random.RandomState | None


def seed_of(random_state: Seed) -> int:
    """A 64-bit seed: an integer as it is, a draw from a generator, or fresh entropy for None."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state) % 2**64


def normal(
    shape: tuple[int, ...], seed: int, stream: int = 0, dtype: DTypeLike = np.float64, threads: int = 1
) -> np.ndarray[Any, np.dtype[Any]]:
    """Standard normal numbers of the given shape."""
    out = np.empty(int(np.prod(shape)), dtype=dtype)
    _native.fill_normal(out, seed, stream, threads)
    return out.reshape(shape)
