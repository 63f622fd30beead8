"""Inputs of plots: points, labels and texts, checked once."""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.state import fitted_names
from lowdim.data.rows import first_nonfinite, open_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.plot._colors import ABSENT, GRAY, palette
from lowdim.plot._text import drawable

__all__ = [
    "MOST_IN_LEGEND",
    "Categories",
    "ColorScale",
    "PointColors",
    "plain_scores",
    "read_labels",
    "read_pairs",
    "read_points",
    "read_texts",
    "require_fitted",
]

Array = NDArray[Any]

# More distinct whole numbers than this are values on a scale, not class labels.
MOST_CLASSES = 30
MOST_IN_LEGEND = 12  # of a figure; a page has room for more
MISSING = "missing"


@dataclass(frozen=True)
class Categories:
    """The category of each row; categories are in label order, and missing labels come last, in gray.

    A category has the same color in every picture of the same labels, however many of them a legend has room for.
    """

    names: tuple[str, ...]
    codes: NDArray[np.intp]  # (n,)
    colors: tuple[str, ...]

    @property
    def row_colors(self) -> Array:
        """The color of each row, (n,)."""
        return np.asarray(self.colors)[self.codes]

    def at_most(self, most: int) -> Categories:
        """The same with at most `most` categories: the smaller ones are pooled, and named so."""
        if len(self.names) <= most:
            return self
        counts = np.bincount(self.codes, minlength=len(self.names))
        if self.names[-1] == MISSING and self.colors[-1] == ABSENT:
            counts[-1] = len(self.codes) + 1  # not one of the others
        kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
        codes = np.full(len(self.names), most - 1)
        codes[kept] = np.arange(most - 1)
        names = (*(self.names[i] for i in kept), f"{len(self.names) - len(kept)} others")
        return Categories(names, codes[self.codes], (*(self.colors[i] for i in kept), GRAY))


@dataclass(frozen=True)
class ColorScale:
    """A value per row on a continuous color scale (NaN where missing), and the range of the scale."""

    values: NDArray[np.float64]  # (n,)
    low: float
    high: float


PointColors = Categories | ColorScale | None


def read_pairs(edges: Any, n: int) -> NDArray[np.int64]:
    """Pairs (e, 2) of n rows."""
    pairs = np.asarray(edges)
    whole = pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype.kind in "iu"
    if not whole or (pairs.size and not (pairs.min() >= 0 and pairs.max() < n)):
        raise BadInput(f"edges must be pairs of rows, (e, 2) whole numbers from 0 to {n - 1}; got shape {pairs.shape}.")
    return pairs.astype(np.int64)


def read_points(Z: Any, what: str = "Z", columns: int = 1) -> Array:
    """Z as a finite array (n, k) with n ≥ 1 and k ≥ columns."""
    if np.ndim(Z) != 2 and not hasattr(Z, "shape"):
        raise BadInputType(f"{what} must be a table of numbers, one row per point; got {type(Z).__name__}.")
    if len(Z.shape if hasattr(Z, "shape") else np.shape(Z)) != 2:
        raise BadInput(f"{what} must have two dimensions, one row per point; got shape {np.shape(Z)}.")
    rows = open_rows(Z)
    if rows.sparse:
        raise BadInputType(f"{what} is sparse, and a plot needs a dense array. Give {what}.toarray().")
    if rows.count == 0 or rows.d < columns:
        raise BadInput(f"{what} must have at least 1 row and {columns} column(s); got shape ({rows.n}, {rows.d}).")
    try:
        points = rows.whole()
    except (TypeError, ValueError) as error:
        raise BadInputType(f"{what} must hold numbers; {error}.") from error
    found = first_nonfinite([(0, points)])
    if found is not None:
        raise BadInput(
            f"{what} has the value {found[2]} at row {found[0]}, column {found[1]}, which can't be "
            "drawn. Drop such rows."
        )
    # matplotlib squares and subtracts the limits, which overflows well below the largest float.
    if np.abs(points).max() > (1e30 if points.dtype == np.float32 else 1e140):
        raise BadInput(f"{what} has values beyond 1e30 (float32) or 1e140, too large to draw. Rescale it.")
    return np.asarray(points)


def read_labels(labels: Any, n: int, names: Any = None) -> PointColors:
    """Categories, or values of a color scale.

    Text, booleans and at most 30 distinct whole numbers are categories; other numbers are values.
    `names` renames categories: a mapping from label to name, or one name per label in order.
    """
    if labels is None:
        return None
    values = np.asarray(labels)
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.ndim != 1 or len(values) != n:
        raise BadInput(f"labels must have one label per row ({n}); got shape {values.shape}.")
    missing = _missing(values)
    numbers_ = _numbers(values, missing)
    if numbers_ is not None and names is None and not _are_classes(numbers_[~missing]):
        return _color_scale(numbers_)
    if numbers_ is None or values.dtype.kind in "iu":  # whole numbers above 2⁵³ have no float
        return _categories(values, missing, names)
    return _categories(numbers_, missing, names)


def read_texts(texts: Any, n: int, what: str) -> list[str] | None:
    """One text per row."""
    if texts is None:
        return None
    out = np.asarray(texts, dtype=object)
    if out.ndim != 1 or len(out) != n:
        raise BadInput(f"{what} must have one entry per row ({n}); got shape {out.shape}.")
    return [drawable(str(text)) for text in out]


def require_fitted(model: Any, *attributes: str) -> None:
    """Raise BadInput unless the model is a fitted linear one, which has these attributes."""
    missing = [name for name in attributes if not hasattr(model, name)]
    if not missing:
        return
    from lowdim.base.linear import LinearProjection  # scikit-learn comes with it
    from lowdim.registry import methods

    kind = type(model).__name__
    linear = [
        method.name
        for method in methods()
        if issubclass(method.cls, LinearProjection) and all(name in (method.cls.__doc__ or "") for name in attributes)
    ]
    if kind in linear or hasattr(type(model), "components_") or not fitted_names(model):
        raise BadInput(f"model must be fitted; this {kind} has no {' and no '.join(missing)}. Call fit first.")
    remedy = " Use PCA(standardize=True), which has." if kind == "Standardized" else ""
    raise BadInput(
        f"{kind} has no loadings ({', '.join(missing)}), because it does not project rows linearly, or not onto axes "
        f"with variances. Models with loadings: {', '.join(linear)}.{remedy}"
    )


def plain_scores(model: Any, X: Any) -> NDArray[np.float64]:
    """Unwhitened scores of rows, (n, k)."""
    scores = np.asarray(model.transform(X), dtype=np.float64)
    if getattr(model, "whiten", False):
        scores = scores * np.sqrt(np.maximum(np.asarray(model.explained_variance_, dtype=np.float64), 0.0))
    return scores


def _missing(values: Array) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    absent = ("NAType", "NaTType", "NoneType")
    return np.array([type(v).__name__ in absent or (isinstance(v, numbers.Real) and v != v) for v in values])


def _numbers(values: Array, missing: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The labels as numbers with NaN for what is missing; None if they are something else."""
    if values.dtype.kind == "O":
        there = values[~missing]
        if not len(there) or not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in there):
            return None
    elif values.dtype.kind not in "iuf":
        return None
    out = np.full(len(values), np.nan)
    out[~missing] = values[~missing].astype(np.float64)
    return out


def _are_classes(values: NDArray[np.float64]) -> bool:
    distinct = np.unique(values)
    return len(distinct) <= MOST_CLASSES and bool((distinct == np.round(distinct)).all())


def _color_scale(values: NDArray[np.float64]) -> ColorScale:
    values = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(values).all():
        return ColorScale(values, 0.0, 1.0)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if not np.isfinite(high - low):
        raise BadInput(f"labels run from {low:g} to {high:g}, too wide a range for a color scale. Rescale them.")
    # A single value gets the middle of the color scale.
    return ColorScale(values, low, high) if low < high else ColorScale(values, low - 0.5, low + 0.5)


def _categories(values: Array, missing: NDArray[np.bool_], names: Any) -> Categories:
    there = [v if isinstance(v, numbers.Real) else str(v) for v in values[~missing].tolist()]
    distinct = sorted(set(there), key=_natural)
    position = {label: i for i, label in enumerate(distinct)}
    codes = np.full(len(values), len(distinct), dtype=np.intp)
    codes[~missing] = [position[label] for label in there]
    texts, colors = (
        _category_names(distinct, names),
        _category_colors(np.bincount(codes[~missing], minlength=len(distinct))),
    )
    if missing.any():
        texts, colors = (*texts, MISSING), (*colors, ABSENT)
    return Categories(texts, codes, colors)


def _category_colors(counts: NDArray[np.intp]) -> tuple[str, ...]:
    """The palette in label order; if a legend must pool some of them, the largest categories have its first colors."""
    colors = np.array(palette(len(counts)), dtype=object)
    if len(counts) > MOST_IN_LEGEND:
        colors[np.argsort(-counts, kind="stable")] = palette(len(counts))
    return tuple(colors.tolist())


def _category_names(distinct: list[Any], names: Any) -> tuple[str, ...]:
    plain = [str(int(v)) if isinstance(v, float) and v.is_integer() else drawable(str(v)) for v in distinct]
    if names is None:
        return tuple(plain)
    if isinstance(names, Mapping):
        return tuple(drawable(str(names.get(v, text))) for v, text in zip(distinct, plain, strict=True))
    if not isinstance(names, Sequence | np.ndarray) or isinstance(names, str):
        raise BadInputType(f"names must be a mapping or a sequence of texts; got {type(names).__name__}.")
    if len(names) != len(distinct):
        raise BadInput(
            f"names must have one name for each of the {len(distinct)} labels ({', '.join(plain[:5])}…), "
            f"in their order; got {len(names)}. A mapping from label to name may leave some out."
        )
    return tuple(drawable(str(name)) for name in names)


def _natural(label: Any) -> tuple[int, Any, str]:
    """Natural sort order: numbers before text, "c2" before "c10"."""
    if isinstance(label, numbers.Real):
        return 0, float(label), ""
    parts = re.split("([0-9]+)", label)
    digits = ((len(p.lstrip("0")), p.lstrip("0")) for p in parts[1::2])  # longer numbers are larger
    texts = ((0, p) for p in parts[::2])
    return 1, tuple(key for pair in zip_longest(texts, digits, fillvalue=(0, "")) for key in pair), label
