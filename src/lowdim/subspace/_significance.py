"""Whether a cluster has more rows than chance gives it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

__all__ = ["CHANCE", "LIFT", "more_than_chance"]

# A cluster is reported if it has so many times the rows expected by chance, and if so few clusters like it are expected
# among all that were looked at.
LIFT, CHANCE = 1.2, 1e-3


def more_than_chance(size: int, supports: NDArray[Any], shares: NDArray[Any], chance: float) -> NDArray[np.bool_]:
    """For each column of a cluster, whether it has notably more rows than if that column were independent, (k,).

    `supports` (units, k) are the rows without the condition of a column, `shares` those that would fulfill it by
    chance. The tail is that of a binomial variable; a cluster of one column must only be denser than the column is.
    """
    expected, trials = (supports * shares).sum(axis=0), supports.sum(axis=0)
    rare = bdtrc(size - 1, trials, np.minimum(expected / trials, 1.0)) <= chance
    return np.asarray((rare | (len(expected) == 1)) & (size > LIFT * expected))
