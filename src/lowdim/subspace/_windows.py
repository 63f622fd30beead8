"""Windows of sorted values: how far from each value a given width reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["window_ends"]


def window_ends(values: NDArray[Any], width: float) -> NDArray[np.intp]:
    """For each of the ascending values, the index after the last one that exceeds it by at most `width`.

    The rounded difference decides, as it does wherever two values are compared directly.
    """
    n = len(values)
    ends = np.searchsorted(values, values + width, side="right")
    while True:  # the sum above is rounded differently from the difference
        beyond = values[ends - 1] - values > width
        within = (ends < n) & (values[np.minimum(ends, n - 1)] - values <= width)
        if not (beyond | within).any():
            return np.asarray(ends)
        ends = ends + within - beyond
