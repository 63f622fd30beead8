"""Tests of the order: do k directions suffice? For k = 0, 1, … until a test does not reject (Li 1991).

Three laws of the statistic under "k directions suffice": χ², which needs normal columns; a weighted sum of χ², whose
weights come from the rows (Bura and Cook 2001); and a permutation test, in which the scores on the remaining
directions are permuted against the response and the first k scores (Cook and Weisberg 1991, Cook and Yin 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from lowdim.errors import BadParameter
from lowdim.linear.sdr.weighted_chi2 import weighted_chi2_sf
from lowdim.runtime.display import count
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = ["OrderTests", "chi2_tests", "law_of_tests", "permutation_tests", "weighted_chi2_tests"]

Array = NDArray[np.float64]

TIE = 1e-9  # a permutation whose statistic differs by rounding alone reaches the observed one


@dataclass(frozen=True)
class OrderTests:
    """One test for each k = 0, 1, …: statistics, degrees of freedom (None for permutations) and p-values, (m,)."""

    statistics: Array
    dof: Array | None
    p_values: Array

    def order(self, alpha: float) -> int:
        """The first k that is not rejected; all directions if every k is."""
        accepted = self.p_values >= alpha
        return int(np.argmax(accepted)) if accepted.any() else len(accepted)


def law_of_tests(method: Any, has_chi2: bool, regularized: bool) -> str | None:
    """The law that a method's `order_test` asks for; None if nothing has to be tested."""
    asked, name = method.order_test, type(method).__name__
    if asked == "auto":
        return "chi2" if has_chi2 and not regularized else "permutation" if method.n_components == "test" else None
    if regularized and asked != "permutation":
        raise BadParameter(
            f"order_test={asked!r} needs a known law, and shrinkage and ridge change it. Use order_test='permutation'."
        )
    if asked == "chi2" and not has_chi2:
        raise BadParameter(
            f"order_test='chi2' needs a χ² law, and {name} has none. Use order_test='weighted_chi2' or 'permutation'."
        )
    return str(asked)


def chi2_tests(statistics: Array, dof: Array) -> OrderTests:
    """Statistics that are χ² with `dof` degrees of freedom if the columns are normal."""
    return OrderTests(statistics, dof.astype(np.float64), np.asarray(chdtrc(dof, statistics), dtype=np.float64))


def weighted_chi2_tests(statistics: Array, weights: Callable[[int], Array], alpha: float) -> OrderTests:
    """Statistics that are Σ ω_i χ²(1) with the weights(k); degrees of freedom are Satterthwaite's (Σω)² / Σω²."""

    def test(k: int) -> tuple[float, float]:
        omega = weights(k)
        squares = float((omega**2).sum())
        dof = float(omega.sum()) ** 2 / squares if squares > 0 else 0.0
        report("weighted chi-squared tests", k + 1, len(statistics))
        return dof, weighted_chi2_sf(float(statistics[k]), omega)

    return _sequence(statistics, test, alpha)


def permutation_tests(
    Z: Array, statistic: Callable[[Array, int], float], most: int, options: tuple[int, int, int], alpha: float
) -> OrderTests:
    """Statistics of the scores Z (n, r) against those of permuted ones; options are permutations, seed and threads.

    statistic(Z, k) sums what the directions after the first k contribute. p = (1 + #) / (1 + R).
    """
    replicates, seed, threads = options
    require_memory(
        8 * Z.size * (2 + threads), f"permuting {len(Z)} × {Z.shape[1]} scores", "Use fewer threads or rows."
    )
    statistics = np.array([statistic(Z, k) for k in range(most)])

    def test(k: int) -> tuple[float, float]:
        reached = 0
        for done, value in enumerate(_permuted(Z, statistic, k, (replicates, seed, threads))):
            reached += value >= statistics[k] * (1 - TIE)
            report(f"permutation test of {count(k, 'direction')}", done + 1, replicates)
        return np.nan, (1 + reached) / (1 + replicates)

    found = _sequence(statistics, test, alpha)
    return OrderTests(found.statistics, None, found.p_values)


def _permuted(
    Z: Array, statistic: Callable[[Array, int], float], k: int, options: tuple[int, int, int]
) -> Iterator[float]:
    replicates, seed, threads = options

    def work(replicate: int) -> float:
        random = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(k, replicate))))
        mixed = Z.copy()
        mixed[:, k:] = Z[random.permutation(len(Z)), k:]
        return statistic(mixed, k)

    return ordered_map(work, range(replicates), threads)


def _sequence(statistics: Array, test: Callable[[int], tuple[float, float]], alpha: float) -> OrderTests:
    """Tests up to the first that does not reject: what follows it means nothing."""
    found = list[tuple[float, float]]()
    for k in range(len(statistics)):
        found.append(test(k))
        if found[-1][1] >= alpha:
            break
    dof, p_values = np.array(found).T
    return OrderTests(statistics[: len(found)], dof, p_values)
