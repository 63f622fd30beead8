"""Metrics by name, and how each is computed: by a native sum over columns, or by a function of two rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowdim.errors import BadParameter
from lowdim.runtime.param import Domain

__all__ = ["METRICS", "Metric", "MetricLike", "metric_of"]

# What the native kernels compute over the columns of two rows.
SQUARES, MAGNITUDES, LARGEST, DIFFERING_BITS, JACCARD_BITS = range(5)


@dataclass(frozen=True)
class Metric:
    """A metric: a native sum over columns, the transformation of rows before it, and that of the sum after it."""

    name: str
    kernel: int | None = None  # None: precomputed, or computed by `function`
    root: bool = False  # the distance is the square root of the sum
    scale: float = 1.0  # factor after that
    unit_rows: bool = False  # rows are scaled to unit length first
    centered_rows: bool = False  # and before that, centered at their own mean
    function: Callable[[Any, Any], float] | None = None

    @property
    def bits(self) -> bool:
        """Whether the rows are sets, compared as bits."""
        return self.kernel in (DIFFERING_BITS, JACCARD_BITS)

    @property
    def precomputed(self) -> bool:
        """Whether the input holds distances ('precomputed')."""
        return self.name == "precomputed"


METRICS = {
    metric.name: metric
    for metric in (
        Metric("euclidean", SQUARES, root=True),
        Metric("sqeuclidean", SQUARES),
        # For rows of length one, 1 - cos = |a - b|² / 2, which does not cancel.
        Metric("cosine", SQUARES, scale=0.5, unit_rows=True),
        Metric("correlation", SQUARES, scale=0.5, unit_rows=True, centered_rows=True),
        Metric("manhattan", MAGNITUDES),
        Metric("chebyshev", LARGEST),
        Metric("hamming", DIFFERING_BITS),
        Metric("jaccard", JACCARD_BITS),
        Metric("precomputed"),
    )
}

_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "linf": "chebyshev"}


class MetricLike(Domain):
    """What `metric` takes: the name of a metric, or an alias (l1, cityblock, l2, linf), or a function."""

    text = f"one of {', '.join(repr(name) for name in METRICS)}, or a function of two rows"

    def accepts(self, value: Any) -> bool:
        """Whether `metric_of` knows it."""
        return callable(value) or (isinstance(value, str) and _ALIASES.get(value, value) in METRICS)


def metric_of(metric: str | Callable[[Any, Any], float] | Metric) -> Metric:
    """The metric of this name, or the one that a function of two rows computes."""
    if isinstance(metric, Metric):
        return metric
    if not MetricLike().accepts(metric):
        raise BadParameter(f"metric must be {MetricLike.text}; got {metric!r}.")
    return METRICS[_ALIASES.get(metric, metric)] if isinstance(metric, str) else Metric("callable", function=metric)
