"""The number of components: given, by explained variance ratio, or by a rule that reads the spectrum."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.errors import BadParameter, NotEnoughData
from lowdim.runtime.display import count, rows_and_columns
from lowdim.runtime.param import Either, Integer, Maybe, Real, Such

__all__ = [
    "RULE_NAMES",
    "ComponentRule",
    "Spectrum",
    "component_domain",
    "count_components",
    "fixed_count",
    "is_rule",
    "rank_limit",
    "rule_name",
]

# The rules of lowdim.choose by their names, here and on the command line. They live above this room and are loaded when
# one of them is asked for.
RULE_NAMES = (
    "broken-stick",
    "elbow",
    "gavish-donoho",
    "kaiser",
    "marchenko-pastur",
    "minka",
    "parallel-analysis",
    "share",
)
ALIASES = {"mle": "minka"}  # scikit-learn's name


@dataclass(frozen=True)
class Spectrum:
    """All eigenvalues of a covariance matrix, descending, and what else a rule may need."""

    values: NDArray[np.float64]  # (min(n, d),)
    n: float  # rows, or the sum of their weights
    d: int
    ddof: int = 1
    standardized: bool = False
    variances: NDArray[np.float64] | None = None  # of the columns, with divisor n - ddof, where known
    rows: Rows | None = None  # for rules that read the data again; None after a stream

    @property
    def shares(self) -> NDArray[np.float64]:
        """Explained variance ratios: eigenvalues divided by their sum."""
        total = float(self.values.sum())
        return self.values / total if total > 0 else np.zeros_like(self.values)


@runtime_checkable
class ComponentRule(Protocol):
    """What `n_components` accepts beside numbers: a callable that maps a spectrum to a number of components.

    A rule that reads the data again finds them in `spectrum.rows`.
    """

    def __call__(self, spectrum: Spectrum) -> int: ...


def rule_name(word: str) -> str | None:
    """The rule of this name, or of the only name that begins so: "parallel" is "parallel-analysis"."""
    spelled = word.lower().replace("_", "-")
    name = ALIASES.get(spelled, spelled)
    matches = [known for known in RULE_NAMES if known.startswith(name)] if name else []
    return name if name in RULE_NAMES else matches[0] if len(matches) == 1 else None


def is_rule(value: Any) -> bool:
    """Whether it is a rule that reads the spectrum, or the name of one."""
    return rule_name(value) is not None if isinstance(value, str) else callable(value) and not isinstance(value, type)


component_domain = Maybe(
    Either(
        Integer(1),
        Real(0, 1, open=True),
        Such(f"a rule of lowdim.choose or its name ({', '.join(RULE_NAMES)})", is_rule),
    )
)


def rank_limit(n: int | None, d: int) -> str:
    """Why there are no more axes, for `fixed_count`."""
    size = f"any rows and {count(d, 'column')}" if n is None else rows_and_columns(n, d)
    return f"{size} span no more axes"


def fixed_count(n_components: Any, most: int, what: str) -> int | None:
    """The number of components if it does not depend on the spectrum (None means all), checked against its limit."""
    if n_components is None:
        return most
    if not isinstance(n_components, numbers.Integral):
        return None
    if int(n_components) > most:
        raise NotEnoughData(
            f"n_components={n_components} must be at most {most}: {what}. Ask for fewer, or give more data."
        )
    return int(n_components)


def count_components(n_components: Any, spectrum: Spectrum) -> int:
    """The number of components that an explained variance ratio or a rule gives on this spectrum."""
    most = len(spectrum.values)
    if isinstance(n_components, numbers.Real):
        reached = np.cumsum(spectrum.shares) > float(n_components)  # the smallest k whose ratio exceeds it
        return int(np.argmax(reached)) + 1 if reached.any() else most
    rule = _named_rule(n_components) if isinstance(n_components, str) else n_components
    count = rule(spectrum)
    if not isinstance(count, numbers.Integral) or not 0 <= int(count) <= most:
        raise BadParameter(
            f"the rule {n_components!r} must return a whole number from 0 to {most}; it returned {count!r}."
        )
    return max(1, int(count))


def _named_rule(word: str) -> ComponentRule:
    """The rule of this name, with its defaults."""
    name = rule_name(word)
    if name is None:
        raise BadParameter(f"n_components={word!r} names no rule. Rules: {', '.join(RULE_NAMES)}.")
    rule: ComponentRule = getattr(import_module("lowdim.choose"), name.replace("-", "_"))()
    return rule
