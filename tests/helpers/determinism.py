"""The promise that the number of threads changes no bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

THREADS = (1, 2, 4, 8)


def digest(*arrays: Any) -> str:
    """One word for all the bits of arrays or numbers."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def assert_same_bits(work: Callable[[int], Iterable[Any]], threads: Iterable[int] = THREADS) -> None:
    """work(threads) must give arrays of the same bits for any number of them."""
    assert len({digest(*work(count)) for count in threads}) == 1
