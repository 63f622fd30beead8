"""Minka's rule: the number of components with the greatest Bayesian evidence under probabilistic PCA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from lowdim.choose._rules import Rule, Verdict, axes, degrees_of_freedom, rounding
from lowdim.decomposition.component_count import Spectrum
from lowdim.runtime.display import rounded

__all__ = ["log_evidence", "minka"]

Array = NDArray[np.float64]

# Eigenvalues closer than this share count as equal.
TIE = 1e-8


@dataclass(frozen=True)
class minka(Rule):
    """The number of components with the greatest evidence under probabilistic PCA, by Laplace's method (Minka)."""

    def verdict(self, spectrum: Spectrum) -> Verdict:
        degrees_of_freedom(spectrum)
        values = axes(spectrum)
        if values[0] <= 0:
            return self._answer(0, "the rows do not vary")
        evidence = log_evidence(values / values[0], spectrum.n, spectrum.d, rounding(spectrum) / float(values[0]))
        k = int(np.argmax(evidence))
        second = np.partition(evidence, -2)[-2] if len(evidence) > 1 else -np.inf
        ahead = f", ahead of the next by {rounded(evidence[k] - second)} nats" if np.isfinite(second) else ""
        return self._answer(k, f"the greatest evidence under probabilistic PCA{ahead}")


def log_evidence(values: Array, n: float, d: int, floor: float) -> Array:
    """The log of p(rows | k), up to a constant, for k = 0 … p - 1, where p eigenvalues of d may differ from zero.

        p(U) (∏_{i≤k} λ_i)^{-n/2} v^{-n(d-k)/2} (2π)^{(m+k)/2} |A|^{-1/2} n^{-k/2},   m = dk - k(k+1)/2

    v is the mean of the d - k eigenvalues left out. |A| is the product over i ≤ k, j > i of
    n (λ_i - λ_j) (1/λ̂_j - 1/λ̂_i), where λ̂ has v in place of those left out. What is below `floor` is rounding.
    """
    p = len(values)
    # The noise of rows that fill a plane is zero; the floor keeps the evidence large and finite.
    safe = np.maximum(values, floor)
    logs, tails = np.log(safe), np.cumsum(safe[::-1])[::-1]
    evidence = np.full(p, -np.inf)
    prior = inside = outside = 0.0  # log p(U); sums of log gaps over pairs i < j ≤ k and i ≤ k < j
    for k in range(min(int((values > floor).sum()), p - 1) + 1):
        if k:
            i = k - 1  # the axis that is added
            above = _log_gaps(safe[:i], safe[i], n).sum()
            inside += 2 * above - (logs[:i] + logs[i]).sum()
            outside += _log_gaps(safe[i], safe[k:], n).sum() + (d - p) * logs[i] - above
            prior += gammaln((d - i) / 2) - np.log(np.pi) * (d - i) / 2 - np.log(2)
        v = float(tails[k]) / (d - k)
        noise = (_log_gaps(safe[:k], v, n) - logs[:k] - np.log(v)).sum()
        m = d * k - k * (k + 1) / 2
        log_det = inside + outside + (d - k) * noise + m * np.log(n)
        likelihood = -n / 2 * (logs[:k].sum() + (d - k) * np.log(v))
        evidence[k] = prior + likelihood + ((m + k) * np.log(2 * np.pi) - log_det - k * np.log(n)) / 2
    return evidence


def _log_gaps(larger: Array | float, smaller: Array | float, n: float) -> Array:
    """log(larger - smaller); for ties what makes their factor of |A| one.

    Two equal eigenvalues leave the angle between their axes free. The approximation would
    make it infinitely wide; a circle is not.
    """
    gap = np.asarray(larger) - np.asarray(smaller)
    free = np.log(larger) - np.log(n) / 2
    known = np.log(np.maximum(gap, np.finfo(float).tiny))
    return np.asarray(np.where(gap > TIE * np.asarray(larger), known, free), dtype=np.float64)
