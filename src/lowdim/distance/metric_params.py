"""`metric_params`: the parameters of metrics, by name, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.runtime.param import Domain, Real

__all__ = ["MetricParams", "numeric_param", "params_key", "require_known_params", "square_param", "vector_param"]

Array = NDArray[Any]

# What the caller may give, and what fitting adds.
KNOWN = {
    "minkowski": ("p",),
    "seuclidean": ("V", "center"),
    "mahalanobis": ("V", "VI", "center"),
    "hamming": ("levels",),
    "gower": ("weights", "categorical", "ordinal", "asymmetric", "low", "range", "levels", "categories"),
}
ADDED = ("center", "low", "levels", "categories")  # by fitting alone


class MetricParams(Domain):
    """What `metric_params` takes."""

    text = "None, or a dict of the metric's parameters by name"

    def accepts(self, value: Any) -> bool:
        """Whether it is None or a dict with names as keys."""
        return value is None or (isinstance(value, Mapping) and all(isinstance(name, str) for name in value))


def require_known_params(metric: str, params: Mapping[str, Any]) -> None:
    """Refuse names that the metric does not have, and an exponent below 1."""
    known = KNOWN.get(metric, ())
    for name in params:
        if name not in known:
            has = ", ".join(n for n in known if n not in ADDED) or "none"
            raise BadParameter(f"metric_params: metric {metric!r} has no parameter {name!r}; it has {has}.")
    if metric == "minkowski" and "p" in params:
        p = params["p"]
        infinite = isinstance(p, float | np.floating) and p == np.inf
        if not infinite and not Real(1).accepts(p):
            raise BadParameter(
                f"metric_params: p of 'minkowski' must be a number of at least 1 (else it is no metric); got {p!r:.60}."
            )


def vector_param(name: str, value: Any, d: int, metric: str) -> NDArray[np.float64]:
    """A parameter with one finite number per column."""
    out = numeric_param(name, value, metric)
    if out.shape != (d,) or not np.isfinite(out).all():
        raise BadParameter(
            f"metric_params: {name} of {metric!r} must have one finite number per column ({d}); got shape {out.shape}."
        )
    return out


def square_param(name: str, value: Any, d: int, metric: str) -> NDArray[np.float64]:
    """A parameter that is a symmetric matrix (d, d) of finite numbers."""
    out = numeric_param(name, value, metric)
    if out.shape != (d, d) or not np.isfinite(out).all():
        raise BadParameter(
            f"metric_params: {name} of {metric!r} must be a finite matrix of shape ({d}, {d}); got shape {out.shape}."
        )
    if not np.allclose(out, out.T, rtol=1e-8, atol=1e-12 * np.abs(out).max(initial=0.0)):
        raise BadParameter(f"metric_params: {name} of {metric!r} must be symmetric. Take ({name} + {name}.T) / 2.")
    return (out + out.T) / 2


def params_key(params: Mapping[str, Any]) -> tuple[Any, ...]:
    """Parameters in a form that can be compared."""
    return tuple((name, _key(params[name])) for name in sorted(params))


def _key(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_key(item) for item in value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, str | float | int | bool | type(None)) else repr(value)


def numeric_param(name: str, value: Any, metric: str) -> NDArray[np.float64]:
    """A parameter as numbers of any shape."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadParameter(f"metric_params: {name} of {metric!r} must hold numbers; {error}.") from error
