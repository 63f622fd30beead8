"""Metrics by name, and how each is computed: by a native kernel over the columns, or by a function of two rows.

| metrics                                            | rows become                  | kernel                       |
|----------------------------------------------------|------------------------------|------------------------------|
| euclidean, sqeuclidean, manhattan, chebyshev       | themselves                   | squares, magnitudes, largest |
| cosine, correlation, hellinger                     | rows of unit length          | squares                      |
| seuclidean, mahalanobis                            | rows times a root of VI      | squares                      |
| haversine                                          | points on the unit sphere    | squares, then an arc         |
| minkowski, canberra, braycurtis                    | themselves, in a safe unit   | of their own                 |
| hamming                                            | bits, or codes of the values | differing bits, or values    |
| jaccard, dice, russellrao, rogerstanimoto, …, yule | bits                         | of their own                 |
| gower                                              | scaled numbers, and codes    | of its own                   |

`metric_of` gives the metric of a name with its parameters; `Metric.fitted` completes parameters that depend on the rows
(variances, ranges, categories), so that new rows are compared by those of the fitted ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.distance.metric_params import MetricParams, params_key, require_known_params
from lowdim.distance.row_maps import RowMap, fitted_map
from lowdim.errors import BadParameter
from lowdim.runtime.param import Domain

__all__ = ["METRICS", "PLAIN_METRICS", "SQUARES", "Metric", "MetricLike", "MetricOrFitted", "MetricSpec", "metric_of"]

Array = NDArray[Any]
MetricSpec = str | Callable[[Any, Any], float]

# What the native kernels compute over the columns of two rows.
SQUARES, MAGNITUDES, LARGEST = 0, 1, 2
DIFFERING_BITS, JACCARD, DICE, RUSSELLRAO, ROGERSTANIMOTO, SOKALSNEATH, YULE = range(3, 10)
POWERS, CANBERRA, BRAYCURTIS, DIFFERING_VALUES, GOWER = range(10, 15)

SUM, ROOT, ARC = range(3)  # the distance is the sum, its square root, or the arc over a chord of that length


@dataclass(frozen=True)
class Metric:
    """A metric: a native sum over columns, the transformation of rows before it, and that of the sum after it."""

    name: str
    kernel: int | None = None  # None: precomputed, or computed by `function`
    root: int = SUM  # how the sum becomes a distance: SUM, ROOT or ARC
    scale: float = 1.0  # factor after that
    unit_rows: bool = False  # rows are scaled to unit length first
    centered_rows: bool = False  # and before that, centered at their own mean
    root_rows: bool = False  # or replaced by their square roots
    function: Callable[[Any, Any], float] | None = None
    params: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)  # those given, or all if fitted
    row_map: RowMap | None = field(default=None, compare=False, repr=False)  # of a fitted metric
    key: tuple[Any, ...] = ()  # tells metrics of different parameters apart

    @property
    def bits(self) -> bool:
        """Whether the rows are sets, compared as bits."""
        return self.kernel is not None and DIFFERING_BITS <= self.kernel <= YULE

    @property
    def by_pairs(self) -> bool:
        """Whether the kernel measures one pair at a time."""
        return self.kernel is not None and self.kernel >= POWERS

    @property
    def precomputed(self) -> bool:
        """Whether the input holds distances ('precomputed')."""
        return self.name == "precomputed"

    @property
    def missing(self) -> bool:
        """Whether values may be missing (NaN)."""
        return self.name == "gower"

    @property
    def homogeneous(self) -> bool:
        """Whether distances grow as the values do; else a common factor of all values changes none."""
        return self.kernel not in (CANBERRA, BRAYCURTIS)

    def fitted(self, rows: Rows) -> Metric:
        """The metric with all parameters that depend on the rows, and what it makes of rows."""
        if self.name not in FITTED or self.row_map is not None:
            return self
        params, row_map = fitted_map(self.name, self.params, rows)
        kernel = DIFFERING_VALUES if self.name == "hamming" and row_map is not None else self.kernel
        scale = 1 / rows.d if kernel == DIFFERING_VALUES else self.scale
        return replace(self, kernel=kernel, scale=scale, params=params, row_map=row_map, key=params_key(params))

    def kernel_params(self, dtype: Any, columns: int) -> Array | None:
        """What the native kernel takes beside the rows: an exponent, weights, or the number of columns of sets."""
        if self.kernel == POWERS:
            return np.array([self.params["p"]], dtype=dtype)
        if self.kernel == GOWER:
            assert self.row_map is not None
            return np.ascontiguousarray(self.row_map.weights, dtype=dtype)
        return np.array([columns], dtype=dtype) if self.bits else None


METRICS = {
    metric.name: metric
    for metric in (
        Metric("euclidean", SQUARES, ROOT),
        Metric("sqeuclidean", SQUARES),
        # For rows of length one, 1 - cos = |a - b|² / 2, which does not cancel.
        Metric("cosine", SQUARES, scale=0.5, unit_rows=True),
        Metric("correlation", SQUARES, scale=0.5, unit_rows=True, centered_rows=True),
        Metric("manhattan", MAGNITUDES),
        Metric("chebyshev", LARGEST),
        Metric("minkowski", POWERS),
        Metric("seuclidean", SQUARES, ROOT),
        Metric("mahalanobis", SQUARES, ROOT),
        Metric("canberra", CANBERRA),
        Metric("braycurtis", BRAYCURTIS),
        Metric("haversine", SQUARES, ARC),
        Metric("hellinger", SQUARES, ROOT, scale=0.5**0.5, unit_rows=True, root_rows=True),
        Metric("gower", GOWER),
        Metric("hamming", DIFFERING_BITS),
        Metric("jaccard", JACCARD),
        Metric("dice", DICE),
        Metric("russellrao", RUSSELLRAO),
        Metric("rogerstanimoto", ROGERSTANIMOTO),
        Metric("sokalmichener", ROGERSTANIMOTO),  # SciPy's definition of both is one
        Metric("sokalsneath", SOKALSNEATH),
        Metric("yule", YULE),
        Metric("precomputed"),
    )
}
FITTED = ("seuclidean", "mahalanobis", "haversine", "hamming", "gower")  # what depends on the rows, or maps them

PLAIN_METRICS = (  # without parameters, and by SciPy's definition, so that two rows alone tell their distance
    *("euclidean", "sqeuclidean", "cosine", "correlation", "manhattan", "chebyshev", "canberra", "braycurtis"),
    *("hamming", "jaccard"),
)

_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "linf": "chebyshev", "matching": "hamming"}


class MetricLike(Domain):
    """What `metric` takes: the name of a metric, or an alias (l1, cityblock, l2, linf, matching), or a function."""

    text = f"one of {', '.join(repr(name) for name in METRICS)}, or a function of two rows"
    values = tuple(METRICS)

    def accepts(self, value: Any) -> bool:
        """Whether `metric_of` knows it."""
        return callable(value) or (isinstance(value, str) and _ALIASES.get(value, value) in METRICS)


class MetricOrFitted(MetricLike):
    """A metric as users name it, or one that was fitted to rows."""

    def accepts(self, value: Any) -> bool:
        """Whether it is either."""
        return isinstance(value, Metric) or super().accepts(value)


def metric_of(metric: MetricSpec | Metric, params: Mapping[str, Any] | None = None) -> Metric:
    """The metric of this name with its parameters, or the one that a function of two rows computes."""
    if isinstance(metric, Metric):
        return metric
    if not MetricLike().accepts(metric):
        raise BadParameter(f"metric must be {MetricLike.text}; got {metric!r}.")
    if not MetricParams().accepts(params):
        raise BadParameter(f"metric_params must be {MetricParams.text}; got {params!r:.200}.")
    given = dict(params or {})
    if not isinstance(metric, str):
        function = metric if not given else _with_keywords(metric, given)
        return Metric("callable", function=function, key=params_key(given))
    found = METRICS[_ALIASES.get(metric, metric)]
    if not given and found.name != "minkowski":
        return found
    require_known_params(found.name, given)
    if found.name == "minkowski":
        return _minkowski(found, float(given.get("p", 2.0)))
    return replace(found, params=given, key=params_key(given))


def _minkowski(metric: Metric, p: float) -> Metric:
    """Of exponents that have faster kernels, these."""
    kernel, root = {1.0: (MAGNITUDES, SUM), 2.0: (SQUARES, ROOT), np.inf: (LARGEST, SUM)}.get(p, (POWERS, SUM))
    params = {"p": p}
    return replace(metric, kernel=kernel, root=root, params=params, key=params_key(params))


def _with_keywords(function: Callable[..., float], given: dict[str, Any]) -> Callable[[Any, Any], float]:
    return lambda a, b: function(a, b, **given)
