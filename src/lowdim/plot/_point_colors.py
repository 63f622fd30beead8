"""Colors of rows by their labels: categories with one color each, or values and dates on a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadInputType
from lowdim.plot._colors import ABSENT, GRAY, PALETTE
from lowdim.plot._labels import (
    MOST_DATES,
    category_order,
    label_dates,
    label_numbers,
    missing_labels,
    plain_label,
    sorted_labels,
)
from lowdim.plot._text import drawable

__all__ = [
    "MOST_IN_LEGEND",
    "Categories",
    "ColorScale",
    "PointColors",
    "category_colors",
    "read_labels",
    "read_with_background",
]

Array = NDArray[Any]

# More distinct whole numbers than this are values on a scale, not class labels.
MOST_CLASSES = 30
FEW_CLASSES, OFTEN = 12, 3  # more classes than these recur so many times on average, or they are values, too
MOST_IN_LEGEND = 20  # of a figure; a page has room for more, in gray
MISSING, EMPTY = "missing", "(empty)"
DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Categories:
    """The category of each row; categories are in label order, and rows without a label come last, in gray."""

    names: tuple[str, ...]
    codes: NDArray[np.intp]  # (n,)
    colors: tuple[str, ...]
    title: str = ""  # of the column that the labels come from

    @property
    def row_colors(self) -> Array:
        """The color of each row, (n,)."""
        return np.asarray(self.colors)[self.codes]

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of rows of each category."""
        return np.bincount(self.codes, minlength=len(self.names))

    def at_most(self, most: int) -> Categories:
        """The same with at most `most` categories: the smaller ones are pooled, and named so."""
        if len(self.names) <= most:
            return self
        counts = self.counts
        if self.colors[-1] == ABSENT:
            counts[-1] = len(self.codes) + 1  # not one of the others
        kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
        codes = np.full(len(self.names), most - 1)
        codes[kept] = np.arange(most - 1)
        names = (*(self.names[i] for i in kept), f"{len(self.names) - len(kept)} others")
        return replace(self, names=names, codes=codes[self.codes], colors=(*(self.colors[i] for i in kept), GRAY))


@dataclass(frozen=True)
class ColorScale:
    """A value per row on a continuous color scale (NaN where missing), and the range of the scale."""

    values: NDArray[np.float64]  # (n,)
    low: float
    high: float
    title: str = ""
    dates: bool = False  # values are days since 1970


PointColors = Categories | ColorScale | None


def category_colors(labels: Any, *, colors: Mapping[str, str] | None = None) -> dict[str, str]:
    """The color of each category of some labels, by its name: the one function that assigns them.

    Every plot takes such a mapping as `colors=`, so that a category keeps its color in several pictures, also where
    some categories are absent or new ones have come.

    Parameters
    ----------
    labels : n labels
        As for `scatter`. Values of a color scale have no categories, and give an empty mapping.
    colors : mapping from name to color, optional
        Colors that are given already; the other categories take those that are free.

    """
    found = read_labels(labels, len(labels), colors=colors)
    return dict(zip(found.names, found.colors, strict=True)) if isinstance(found, Categories) else {}


def read_labels(
    labels: Any, n: int, names: Any = None, *, colors: Mapping[str, str] | None = None, title: str | None = None
) -> PointColors:
    """Categories, or values of a color scale.

    Text, booleans, ordered categoricals, at most 30 distinct whole numbers that recur (or 12) and at most 12 distinct
    dates are categories; other numbers and dates are values. `names` renames categories: a mapping from label to name,
    or one name per label in order. `title` is the name of the column; that of a pandas or polars series is taken by
    itself.
    """
    if labels is None:
        return None
    values = _vector(labels, n, "labels")
    return _read(values, category_order(labels), names, colors, _title(labels, title))


def read_with_background(
    labels: Any,
    n: int,
    background_labels: Any,
    m: int,
    *,
    colors: Mapping[str, str] | None = None,
    title: str | None = None,
    names: Any = None,
) -> tuple[PointColors, PointColors]:
    """Colors of n rows and of the m rows behind them: what the background shows keeps its colors and its range."""
    options: dict[str, Any] = {"names": names, "colors": colors, "title": title}
    if labels is None or background_labels is None:
        return read_labels(labels, n, **options), read_labels(background_labels, m, **options)
    behind = _vector(background_labels, m, "background_labels")
    both = np.concatenate([behind.astype(object), _vector(labels, n, "labels").astype(object)])
    renamed = names if isinstance(names, Mapping) else None
    alone = read_labels(background_labels, m, renamed)
    given = dict(zip(alone.names, alone.colors, strict=True)) if isinstance(alone, Categories) else {}
    order = category_order(background_labels) or category_order(labels)
    title = _title(labels, title) or _title(background_labels, None)
    found = _read(both, order, names, given | dict(colors or {}), title)
    if isinstance(found, Categories):
        return replace(found, codes=found.codes[m:]), replace(found, codes=found.codes[:m])
    return replace(found, values=found.values[m:]), replace(found, values=found.values[:m])


def _vector(labels: Any, n: int, what: str) -> Array:
    values = np.asarray(labels)
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.ndim != 1 or len(values) != n:
        raise BadInput(f"{what} must have one label per row ({n}); got shape {values.shape}.")
    return values


def _title(labels: Any, title: str | None) -> str:
    """The name of the column: as given, or that of a pandas or polars series."""
    found = title if title is not None else getattr(labels, "name", None)
    return drawable(found) if isinstance(found, str) else ""


def _read(
    values: Array, order: list[Any] | None, names: Any, colors: Mapping[str, str] | None, title: str
) -> Categories | ColorScale:
    missing = missing_labels(values)
    if order is None and names is None:
        dates = label_dates(values, missing)
        if dates is not None:
            return _date_colors(dates, missing, colors, title)
    numbers = label_numbers(values, missing)
    if order is None and numbers is not None and names is None and not _are_classes(numbers[~missing]):
        return _color_scale(numbers, title)
    if numbers is not None and values.dtype.kind not in "iu":  # whole numbers above 2⁵³ have no float
        values = numbers
    return _categories(values, missing, names, order, colors, title)


def _date_colors(dates: Array, missing: Array, colors: Mapping[str, str] | None, title: str) -> Categories | ColorScale:
    """Few dates are categories in the order of time; many are a scale."""
    distinct = np.unique(dates[~missing])
    if len(distinct) > MOST_DATES:
        days = np.where(missing, np.nan, (dates - np.datetime64("1970-01-01", "us")) / DAY)
        return replace(_color_scale(days.astype(np.float64), title), dates=True)
    whole = bool((distinct == distinct.astype("datetime64[D]")).all())
    texts = np.datetime_as_string(dates, unit="D" if whole else "m").astype(object)
    return _categories(texts, missing, None, None, colors, title)


def _are_classes(values: NDArray[np.float64]) -> bool:
    distinct = np.unique(values)
    if len(distinct) > (MOST_CLASSES if len(values) >= OFTEN * len(distinct) else FEW_CLASSES):
        return False
    return bool((distinct == np.round(distinct)).all())


def _color_scale(values: NDArray[np.float64], title: str) -> ColorScale:
    values = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(values).all():
        return ColorScale(values, 0.0, 1.0, title)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if not np.isfinite(high - low):
        raise BadInput(f"labels run from {low:g} to {high:g}, too wide a range for a color scale. Rescale them.")
    # A single value gets the middle of the color scale.
    return ColorScale(values, low, high, title) if low < high else ColorScale(values, low - 0.5, low + 0.5, title)


def _categories(
    values: Array, missing: Array, names: Any, order: list[Any] | None, colors: Mapping[str, str] | None, title: str
) -> Categories:
    labels = [plain_label(v) for v in values.tolist()]
    unnamed = missing.copy()
    if names is None or (isinstance(names, Mapping) and "" not in names):
        unnamed |= [isinstance(label, str) and not label.strip() for label in labels]
    there = [label for label, none in zip(labels, unnamed.tolist(), strict=True) if not none]
    distinct = sorted_labels(set(there), order)
    position = {label: i for i, label in enumerate(distinct)}
    codes = np.full(len(values), len(distinct), dtype=np.intp)
    codes[~unnamed] = [position[label] for label in there]
    texts = _category_names(distinct, names)
    shades = _assign_colors(texts, np.bincount(codes[~unnamed], minlength=len(distinct)), dict(colors or {}))
    if unnamed.any():
        texts, shades = (*texts, MISSING if missing.any() else EMPTY), (*shades, ABSENT)
    return Categories(texts, codes, shades, title)


def _assign_colors(names: Sequence[str], counts: NDArray[np.intp], given: dict[str, str]) -> tuple[str, ...]:
    """The palette in label order, after colors that are given; of too many categories, the smallest are gray."""
    used = {str(color).upper() for color in given.values()}
    free = [color for color in PALETTE if color not in used] or list(PALETTE)
    left = [i for i, name in enumerate(names) if name not in given]
    if len(names) > MOST_IN_LEGEND:
        largest = sorted(left, key=lambda i: -counts[i])[: max(MOST_IN_LEGEND - 1 - (len(names) - len(left)), 0)]
        left = sorted(largest)
    palette = {i: free[rank % len(free)] for rank, i in enumerate(left)}
    return tuple(str(given[name]) if name in given else palette.get(i, GRAY) for i, name in enumerate(names))


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
