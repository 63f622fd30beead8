"""Stability of a selection over resamples: the index of Nogueira, Sechidis and Brown (2018), with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lowdim.errors import BadInput, BadParameter
from lowdim.runtime.display import TextDisplay
from lowdim.runtime.param import Real

__all__ = ["Stability", "stability"]


@dataclass(frozen=True, repr=False)
class Stability(TextDisplay):
    """The index, 1 for the same features always and about 0 for random ones, with its confidence interval."""

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    def to_dict(self) -> dict[str, float]:
        """Plain numbers, ready for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high, "confidence": self.confidence}


def stability(selections: Any, *, confidence: float = 0.95) -> Stability:
    """Nogueira's stability index of the selections from several resamples, and its confidence interval.

    Parameters
    ----------
    selections : array (M, d) of booleans
        Which of d features were selected from each of M resamples. Sizes may differ.
    confidence : float
        Confidence of the interval, which is asymptotic in M. It ends at 1, the most that the index can be.

    """
    Z = _masks(selections)
    if not Real(0, 1, open=True).accepts(confidence):
        raise BadParameter(f"confidence must be {Real(0, 1, open=True).text}; got {confidence!r}.")
    M, d = Z.shape
    frequencies, sizes = Z.mean(axis=0), Z.sum(axis=1)
    mean = sizes.mean() / d
    if mean in (0.0, 1.0):  # nothing or everything was selected, always: there was no choice
        return Stability(1.0, 1.0, 1.0, float(confidence))
    chance = mean * (1 - mean)
    index = 1 - M / (M - 1) * np.mean(frequencies * (1 - frequencies)) / chance
    shares = sizes / d
    parts = (Z @ frequencies / d - shares * mean + index / 2 * (2 * mean * shares - shares - mean + 1)) / chance
    error = np.sqrt(4 / M**2 * ((parts - parts.mean()) ** 2).sum())
    reach = float(ndtri(0.5 + confidence / 2) * error)
    return Stability(float(index), float(index) - reach, min(1.0, float(index) + reach), float(confidence))


def _masks(selections: Any) -> NDArray[np.float64]:
    try:
        Z = np.asarray(selections)
        whole = Z.ndim == 2 and len(Z) >= 2 and Z.shape[1] >= 1 and bool(np.isin(Z, (0, 1)).all())
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise BadInput("selections must be at least 2 rows of True and False, one column per feature.")
    return Z.astype(np.float64)
