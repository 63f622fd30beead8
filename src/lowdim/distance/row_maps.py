"""Maps of rows under which a metric becomes a simpler one, fitted to rows: whitening, the unit sphere, codes of values.

A map treats every row by itself, to the same bits whatever rows come with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Chunk, Rows
from lowdim.data.validation import not_finite_error, overflow_error
from lowdim.distance.gower_distance import gower_map
from lowdim.distance.metric_params import square_param, vector_param
from lowdim.distance.value_codes import codes_of, distinct_values
from lowdim.errors import BadInput, BadParameter
from lowdim.runtime.blas import single_blas
from lowdim.runtime.memory import require_memory

__all__ = ["RowMap", "fitted_map", "require_complete"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
Fitted = tuple[dict[str, Any], "RowMap | None"]

FULL_TURN = 2 * np.pi + 1e-6


class RowMap(Protocol):
    """What turns rows (m, d) into those that the kernel compares, (m, columns)."""

    @property
    def columns(self) -> int: ...
    @property
    def weights(self) -> Floats: ...
    def __call__(self, block: Floats, /) -> Floats: ...


@dataclass(frozen=True)
class LinearMap:
    """(x - center) · factors, or (x - center) F for a matrix F."""

    center: Floats  # (d,)
    factors: Floats  # (d,) or (d, k)

    @property
    def columns(self) -> int:
        """Columns of the mapped rows."""
        return int(self.factors.shape[-1])

    @property
    def weights(self) -> Floats:
        """All columns count the same."""
        return np.ones(self.columns)

    def __call__(self, block: Floats) -> Floats:
        """Column by column: the sums of a matrix product may depend on how many rows it has."""
        centered = block - self.center
        if self.factors.ndim == 1:
            return np.asarray(centered * self.factors)
        out = np.zeros((len(block), self.columns))
        for column, row in zip(centered.T, self.factors, strict=True):
            out += column[:, None] * row
        return out


@dataclass(frozen=True)
class SphereMap:
    """Latitude and longitude in radians as points on the unit sphere."""

    columns: int = 3

    @property
    def weights(self) -> Floats:
        """All columns count the same."""
        return np.ones(self.columns)

    def __call__(self, block: Floats) -> Floats:
        latitude, longitude = block.T
        if (np.abs(latitude) > np.pi / 2 + 1e-6).any() or (np.abs(longitude) > FULL_TURN).any():
            raise BadInput(
                "metric 'haversine' takes latitudes from -π/2 to π/2 and longitudes from -2π to 2π, in radians. "
                "Are these degrees? Give np.radians(X), the latitude first."
            )
        level = np.cos(latitude)
        return np.column_stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)])


@dataclass(frozen=True)
class CodeMap:
    """The number of each value among those of the fitted rows; another value has a number of its own."""

    levels: Sequence[Floats]  # ascending, by column

    @property
    def columns(self) -> int:
        """Columns of the mapped rows."""
        return len(self.levels)

    @property
    def weights(self) -> Floats:
        """All columns count the same."""
        return np.ones(self.columns)

    def __call__(self, block: Floats) -> Floats:
        return np.column_stack([codes_of(values, found) for values, found in zip(block.T, self.levels, strict=True)])


def fitted_map(metric: str, given: Mapping[str, Any], rows: Rows) -> Fitted:
    """All parameters of a metric, and its map of rows; parameters of an earlier fit are taken as they are."""
    with single_blas(), np.errstate(over="ignore", invalid="ignore"):
        return FITS[metric](dict(given), rows)


def require_complete(metric: str, params: Mapping[str, Any], d: int) -> None:
    """Raise BadParameter unless the parameters are those of a fit to rows of d columns."""
    needed = {"seuclidean": ("V", "center"), "mahalanobis": ("VI", "center"), "gower": ("levels", "low", "range")}
    missing = [name for name in needed.get(metric, ()) if name not in params]
    if missing:
        raise BadParameter(f"metric_params_ of {metric!r} lacks {missing[0]}.")
    if metric in needed or "levels" in params:
        fitted_map(metric, params, ArrayRows(np.zeros((1, d))))


def _seuclidean(params: dict[str, Any], rows: Rows) -> Fitted:
    d = rows.d
    if "V" not in params or "center" not in params:
        table = _table(rows)
        params.setdefault("center", table.mean(axis=0))
        if "V" not in params:
            _require_several(rows, "seuclidean", "V")
            params["V"] = _finite(np.where((table == table[0]).all(axis=0), 0.0, table.var(axis=0, ddof=1)))
    V, center = (vector_param(name, params[name], d, "seuclidean") for name in ("V", "center"))
    if not (V > 0).all():
        j = int(np.argmin(V))
        raise BadParameter(
            f"metric 'seuclidean' divides by the variances V, and that of column {_name(rows, j)} is {V[j]:g}. Drop "
            "the column, or give a positive V by metric_params."
        )
    return {"V": V, "center": center}, LinearMap(center, 1 / np.sqrt(V))


def _mahalanobis(params: dict[str, Any], rows: Rows) -> Fitted:
    d = rows.d
    if "VI" not in params or "center" not in params:
        table = _table(rows)
        params.setdefault("center", table.mean(axis=0))
        if "VI" not in params:
            if "V" not in params:
                _require_several(rows, "mahalanobis", "V or VI")
            V = _finite(np.cov(table, rowvar=False).reshape(d, d)) if "V" not in params else params["V"]
            params["VI"] = _inverse(square_param("V", V, d, "mahalanobis"))
    center = vector_param("center", params["center"], d, "mahalanobis")
    VI = square_param("VI", params["VI"], d, "mahalanobis")
    values, vectors = np.linalg.eigh(VI)
    if values[0] < -1e-10 * values[-1] or values[-1] <= 0:
        raise BadParameter(
            f"metric_params: VI of 'mahalanobis' must have no negative eigenvalue, and not be zero; its smallest is "
            f"{values[0]:g}. Give the inverse of a covariance matrix."
        )
    return {"VI": VI, "center": center}, LinearMap(center, vectors * np.sqrt(np.maximum(values, 0)))


def _inverse(V: Floats) -> Floats:
    values, vectors = np.linalg.eigh(V)
    if values[0] <= len(V) * np.finfo(np.float64).eps * values[-1]:
        raise BadParameter(
            "metric 'mahalanobis' needs the inverse of the covariance matrix V, which is singular: there are no more "
            "rows than columns, or some columns follow from others. Drop columns, reduce them by PCA, or give VI by "
            "metric_params."
        )
    return np.asarray((vectors / values) @ vectors.T)


def _haversine(params: dict[str, Any], rows: Rows) -> Fitted:
    if rows.d != 2:
        raise BadInput(
            f"metric 'haversine' takes two columns, latitude and longitude in radians; got {rows.d}. Select them."
        )
    return params, SphereMap()


def _hamming(params: dict[str, Any], rows: Rows) -> Fitted:
    """Bits stay as they are; other values are compared by their codes."""
    if "levels" not in params:
        if rows.sparse and np.isin(rows.whole().data, (0, 1)).all():
            return params, None
        table = _table(rows)
        if ((table == 0) | (table == 1)).all():
            return params, None
        params["levels"] = [distinct_values(column) for column in table.T]
    levels = params["levels"]
    whole = isinstance(levels, list) and all(isinstance(v, np.ndarray) and v.ndim == 1 and v.size for v in levels)
    if not whole or len(levels) != rows.d:
        raise BadParameter("metric_params: levels of 'hamming' must be an array of values for every column.")
    return params, CodeMap(levels)


def _gower(params: dict[str, Any], rows: Rows) -> Fitted:
    return gower_map(params, rows)


FITS = {
    "seuclidean": _seuclidean,
    "mahalanobis": _mahalanobis,
    "haversine": _haversine,
    "hamming": _hamming,
    "gower": _gower,
}


def _table(rows: Rows) -> Floats:
    """All rows, dense and finite, in float64."""
    n, d = rows.count, rows.d
    require_memory(8 * n * d, f"a table of {n} x {d} values", "Give the parameters of the metric, or fewer rows.")
    whole = rows.whole()
    table = np.asarray(whole.toarray() if rows.sparse else whole, dtype=np.float64)
    if not np.isfinite(table).all():
        raise not_finite_error(rows, Chunk(0, n, lambda: table))
    return table


def _finite(variances: Floats) -> Floats:
    if not np.isfinite(variances).all():
        raise overflow_error()
    return variances


def _require_several(rows: Rows, metric: str, names: str) -> None:
    if rows.count < 2:
        raise BadInput(f"metric {metric!r} needs 2 rows to estimate variances; got 1. Give {names} by metric_params.")


def _name(rows: Rows, j: int) -> str:
    names = getattr(rows, "feature_names", None)
    return str(j) if names is None else repr(str(names[j]))
