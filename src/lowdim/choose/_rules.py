"""The base class of rules, and the rules that read eigenvalues alone: share, broken stick, Kaiser, elbow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.decomposition.component_count import Spectrum, count_components
from lowdim.errors import NotEnoughData
from lowdim.runtime.param import Choice, Real, param, validate

__all__ = [
    "Rule",
    "Verdict",
    "axes",
    "broken_stick",
    "degrees_of_freedom",
    "elbow",
    "kaiser",
    "leading",
    "rounding",
    "share",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """A rule's answer: its name, the number of components (0 if none stands out), and the reason."""

    rule: str
    k: int
    reason: str


@dataclass(frozen=True)
class Rule:
    """A function from eigenvalues to a number of components. A subclass writes `verdict`; its fields are parameters."""

    def __post_init__(self) -> None:
        validate(self)

    @property
    def name(self) -> str:
        """The name of the rule in a table."""
        return type(self).__name__

    def verdict(self, spectrum: Spectrum) -> Verdict:
        """The number of components and the reason for it."""
        raise NotImplementedError

    def __call__(self, spectrum: Spectrum) -> int:
        return self.verdict(spectrum).k

    def _answer(self, k: Any, reason: str) -> Verdict:
        return Verdict(self.name, int(k), reason)


@dataclass(frozen=True)
class share(Rule):
    """The fewest components whose share of the variance exceeds q (lecture 2)."""

    q: float = param(0.95, Real(0, 1, open=True), "Share of the total variance to exceed.", kw_only=False)

    @property
    def name(self) -> str:
        return f"share({self.q:g})"

    def verdict(self, spectrum: Spectrum) -> Verdict:
        if not spectrum.shares.any():
            return self._answer(0, "the rows do not vary")
        k = count_components(self.q, spectrum)
        return self._answer(k, f"the first to exceed {self.q:.0%} of the variance: {spectrum.shares[:k].sum():.1%}")


@dataclass(frozen=True)
class broken_stick(Rule):
    """The leading components with more than their share of a stick broken at random.

    Of p pieces the k-th longest has on average the share (1/p) Σ_{i=k}^{p} 1/i.
    """

    def verdict(self, spectrum: Spectrum) -> Verdict:
        values = axes(spectrum)
        p = len(values)
        expected = np.cumsum(1 / np.arange(p, 0, -1))[::-1] / p
        k = leading(values > expected * values.sum() + rounding(spectrum))
        if k == p:
            return self._answer(k, "every share exceeds that of a stick broken at random")
        next_share = values[k] / values.sum() if values.sum() > 0 else 0.0
        return self._answer(k, f"share {k + 1} is {next_share:.1%}; a stick broken at random has {expected[k]:.1%}")


@dataclass(frozen=True)
class kaiser(Rule):
    """The components above the average eigenvalue, which is 1 for a correlation matrix.

    Jolliffe's factor 0.7 allows for sampling error of a small eigenvalue.
    """

    factor: float = param(1.0, Real(0, open=True), "Share of the average to exceed; Jolliffe: 0.7.", kw_only=False)

    @property
    def name(self) -> str:
        return "kaiser" if self.factor == 1 else f"kaiser({self.factor:g})"

    def verdict(self, spectrum: Spectrum) -> Verdict:
        average = 1.0 if spectrum.standardized else float(spectrum.values.sum()) / spectrum.d
        limit = self.factor * average
        k = leading(spectrum.values > limit + rounding(spectrum))
        of = "the average eigenvalue" if self.factor == 1 else f"{self.factor:g} of the average eigenvalue"
        return self._answer(k, f"eigenvalues above {limit:.4g}, {of}")


@dataclass(frozen=True)
class elbow(Rule):
    """The components before the elbow of the scree plot.

    By "chord" the elbow is the point farthest below the line from the first to the last eigenvalue. By
    "likelihood" (Zhu and Ghodsi) the scree is split where two normal groups of equal variance fit best.
    """

    by: str = param("chord", Choice("chord", "likelihood"), "How the elbow is found.", kw_only=False)

    @property
    def name(self) -> str:
        return "elbow" if self.by == "chord" else f"elbow({self.by})"

    def verdict(self, spectrum: Spectrum) -> Verdict:
        values = axes(spectrum)
        if len(values) < 2 or values[0] - values[-1] <= rounding(spectrum):
            return self._answer(0, "the scree plot has no elbow: all eigenvalues are equal")
        if self.by == "likelihood":
            k = _best_split(values)
            return self._answer(k, f"two groups of eigenvalues fit best when split after {k}")
        height = (values - values[-1]) / (values[0] - values[-1])  # 1 at the first, 0 at the last
        depth = np.linspace(1, 0, len(values)) - height  # distance to the chord, up to a constant
        k = int(np.argmax(depth)) if depth.max() > 1e-9 else 0
        return self._answer(
            k, f"eigenvalue {k + 1} lies farthest below the chord" if k else "the scree plot has no elbow"
        )


def axes(spectrum: Spectrum) -> Array:
    """The eigenvalues that could be other than zero: centering n rows leaves n - 1 axes."""
    cut = len(spectrum.values) < spectrum.d or spectrum.n == spectrum.d
    return spectrum.values[:-1] if cut and len(spectrum.values) > 1 else spectrum.values


def degrees_of_freedom(spectrum: Spectrum) -> float:
    """Degrees of freedom of n centered rows: n - 1, whatever ddof is."""
    if spectrum.n <= 1:
        raise NotEnoughData(
            f"this rule needs more than 1 sample; got n={spectrum.n:g} (n is the sum of the weights, which "
            "count rows). Give more rows, weights that count rows, or another rule such as share()."
        )
    return spectrum.n - 1


def leading(passes: NDArray[np.bool_]) -> int:
    """The number of leading components that pass, up to the first that fails."""
    return len(passes) if passes.all() else int(np.argmin(passes))


def rounding(spectrum: Spectrum) -> float:
    """The rounding error of an eigenvalue: of one that is zero, or between two that are equal."""
    dtype = np.float64 if spectrum.rows is None else spectrum.rows.dtype
    size = len(spectrum.values) + float(np.sqrt(spectrum.n))
    return float(np.finfo(dtype).eps) * size * float(spectrum.values.max(initial=0.0))


def _best_split(values: Array) -> int:
    """The split q < p of greatest profile likelihood: the least squares about the means of two groups."""
    scaled = values / values[0]
    p, q = len(scaled), np.arange(1, len(scaled))
    first, total = np.cumsum(scaled)[:-1], scaled.sum()
    between = first**2 / q + (total - first) ** 2 / (p - q)  # what the two means explain
    return int(q[np.argmax(between)])
