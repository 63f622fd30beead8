"""The data of the report as typed arrays: coordinates, true neighbors, trust of every row, what rows are colored by."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, PALETTE
from lowdim.plot._point_colors import Categories, ColorScale, read_labels
from lowdim.plot._points import strip_heights
from lowdim.plot._text import drawable, shorten
from lowdim.quality import Quality
from lowdim.report.compared_table import label_column

if TYPE_CHECKING:
    from lowdim.report.comparison import MethodComparison

__all__ = ["page_data"]

Array = NDArray[Any]

RECALL = "neighbor_recall"
MOST_CATEGORIES = 60  # with a color or a place in the legend
MOST_COLUMNS, MOST_COLUMN_VALUES = 100, 500_000  # that rows can be colored by: 2.7 MB
MOST_PIXELS = 3_000_000  # of all thumbnails
FEWEST_KNOWN = 0.1  # of the rows must have a value that others can be colored by: of many rows, few are measured
FINE_ROWS = 30_000  # up to so many, values per row are stored in two bytes; beyond, in one
MOST_TEXT_ROWS = 20_000  # with texts that are no categories
# What the values of single rows are called, and what they say.
TRUST = {
    "neighbor_recall": ("neighbor recall", "Share of a row's true neighbors that are drawn near it."),
    "trustworthiness": ("trustworthiness", "1 if none but true neighbors are drawn near a row."),
    "continuity": ("continuity", "1 if all true neighbors of a row are drawn near it."),
    "r_nx_auc": ("neighbors at all scales", "Gain over a random map, small neighborhoods weighing most."),
    "stress": ("stress", "How far distances to a row are from the true ones; small is good."),
    "triplet_accuracy": ("triplets", "Share of pairs of rows of which the map shows rightly which is nearer."),
    "reliability": ("reliability", "Do distances to the nearest half of the rows grow as they truly do? 1 is best."),
    "steadiness": ("steadiness", "1 if the groups of the map that a row is in are groups in the data."),
    "cohesiveness": ("cohesiveness", "1 if the groups in the data that a row is in are groups of the map."),
    "neighborhood_hit": ("neighborhood hit", "Share of the rows drawn near a row that have its label."),
}


def page_data(result: MethodComparison) -> dict[str, Any]:
    """Everything that the page's script reads, ready for JSON."""
    qualities = dict(result.table.maps)
    first = next(iter(qualities.values()))
    n, k = first.n, first.k
    size = 2 if n <= FINE_ROWS else 1
    ranges = _ranges(qualities)
    neighbors = first.true_neighbors
    width = 2 if n <= 65_536 else 3
    return {
        "n": n,
        "k": k,
        "recall": RECALL,
        "maps": [
            {
                "name": name,
                "points": encoded(_plane(Z).astype("<f4")),
                "trust": {
                    measure: encoded(quantized(quality.point_values[measure], low, high, size))
                    for measure, (low, high) in ranges.items()
                    if measure in quality.point_values
                },
                "words": " ".join(quality.verdict()),
            }
            for (name, quality), Z in zip(qualities.items(), result.maps.values(), strict=True)
        ],
        "neighbors": {"bytes": width, "indices": encoded(_narrow(np.asarray(neighbors), width))},
        "trust": [
            {"name": name, "title": TRUST[name][0], "words": TRUST[name][1], "low": low, "high": high}
            for name, (low, high) in ranges.items()
        ],
        "trustBytes": size,
        **_colorings(result, n),
        "ids": None if result.rows.table.ids is None else [shorten(str(i), 80) for i in result.rows.table.ids],
        "images": _images(result, n),
        "quality": {name: _figures(quality) for name, quality in qualities.items()},
        "choices": None if result.choices is None else result.choices.to_dict(),
        "seconds": dict(result.seconds),
    }


def encoded(array: Array) -> str:
    """Little-endian bytes in base64."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(np.ascontiguousarray(little).tobytes()).decode()


def quantized(values: Array, low: float, high: float, size: int) -> Array:
    """Steps of the range in one or two bytes; the last one marks a missing value."""
    most = 2 ** (8 * size) - 2
    share = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    steps = np.where(np.isnan(share), most + 1, np.rint(np.clip(np.nan_to_num(share), 0, 1) * most))
    return steps.astype(np.uint8 if size == 1 else np.uint16)


def _narrow(indices: Array, width: int) -> Array:
    """Row numbers in two or three bytes each."""
    if width == 2:
        return indices.astype("<u2")
    return indices.astype("<u4").view(np.uint8).reshape(*indices.shape, 4)[..., :3]


def _ranges(qualities: dict[str, Quality]) -> dict[str, tuple[float, float]]:
    """One range per measure for all maps: 0 to 1, and more where values go beyond."""
    out = {}
    for name in TRUST:
        found = [quality.point_values[name] for quality in qualities.values() if name in quality.point_values]
        known = np.concatenate([values[~np.isnan(values)] for values in found]) if found else np.zeros(0)
        if len(known) > FEWEST_KNOWN * sum(map(len, found)):
            out[name] = (min(0.0, float(known.min())), max(1.0, float(known.max())))
    return out


def _plane(Z: Array) -> Array:
    """The first two dimensions, (n, 2); a single one has heights beside it."""
    Z = np.asarray(Z, dtype=np.float64)
    if Z.shape[1] > 1:
        return Z[:, :2]
    heights = strip_heights(len(Z), None) * 0.3 * (float(np.ptp(Z)) or 1.0)
    return np.column_stack([Z[:, 0], heights])


def _figures(quality: Quality) -> dict[str, Any]:
    """The figures of one map, without the values of single rows."""
    return {name: _plain(value) for name, value in quality.to_dict().items() if name != "points"}


def _plain(value: Any) -> Any:
    """Numbers, lists and dicts that JSON can hold."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _colorings(result: MethodComparison, n: int) -> dict[str, Any]:
    """What rows can be colored by: the chosen colors, the labels, text beside the numbers, columns."""
    table = result.rows.table
    colorings, texts, seen = [], [], set()
    candidates: list[tuple[str, str, Any]] = []
    if result.colors is not None:
        candidates.append((result.color_name or "color", "Label", result.colors))
    labels = label_column(table)
    if labels is not None:
        candidates.append((table.label_name or "label", "Label", labels))
    candidates += [(name, "Text", values) for name, values in {**table.annotations, **table.categories}.items()]
    for name, group, values in candidates:
        if name in seen:
            continue
        seen.add(name)
        found = read_labels(values, n)
        many = isinstance(found, Categories) and len(found.names) > MOST_CATEGORIES
        if many and group == "Text":
            if n <= MOST_TEXT_ROWS:
                texts.append({"title": shorten(name, 40), "values": [shorten(str(v), 80) for v in values]})
            continue
        colorings.append(_coloring(name, group, found))
    for name, values in _columns(result, n):
        if name not in seen:
            colorings.append(_coloring(name, "Columns", read_labels(values, n)))
    if not any(coloring["group"] == "Label" for coloring in colorings):
        none = {"name": "none", "title": "nothing", "kind": "none", "group": "No color", "color": PALETTE[0]}
        colorings.insert(0, none)
    return {"colorings": colorings, "texts": texts}


def _coloring(name: str, group: str, found: Categories | ColorScale | None) -> dict[str, Any]:
    head = {"name": drawable(name), "title": shorten(name, 40), "group": group}
    if isinstance(found, Categories):
        found = found.at_most(MOST_CATEGORIES)
        absent = [code for code, color in enumerate(found.colors) if color == ABSENT]
        return head | {
            "kind": "categories",
            "names": [shorten(text, 60) for text in found.names],
            "colors": list(found.colors),
            "counts": found.counts.tolist(),
            "absent": absent,
            "bytes": 1,
            "codes": encoded(found.codes.astype(np.uint8)),
        }
    assert found is not None
    values = encoded(found.values.astype("<f4"))
    return head | {"kind": "values", "low": found.low, "high": found.high, "dates": found.dates, "values": values}


def _columns(result: MethodComparison, n: int) -> list[tuple[str, Array]]:
    """Columns of the table as they came, those that vary most first where they are too many; constant ones are not."""
    table = result.rows.table
    if table.kind == "distances" or table.rows().sparse:
        return []
    X = np.asarray(table.array())
    most = min(MOST_COLUMNS, max(MOST_COLUMN_VALUES // n, 1))
    spread = np.nanstd(X.astype(np.float64, copy=False), axis=0) if X.size < 10**8 else X.std(axis=0)
    order = np.arange(X.shape[1]) if result.standardized else np.argsort(-spread, kind="stable")
    kept = np.sort([j for j in order if spread[j] > 0][:most])
    return [(table.names[j], X[:, j].astype(np.float64)) for j in kept]


def _images(result: MethodComparison, n: int) -> dict[str, Any] | None:
    """The rows as images for the tooltip, in one range of brightness, unless they are too many."""
    table = result.rows.table
    if table.image_shape is None or n * int(np.prod(table.image_shape)) > MOST_PIXELS:
        return None
    height, width = table.image_shape[:2]
    pixels = np.asarray(table.array(), dtype=np.float64).reshape(n, height, width, -1)[..., :3]
    low, high = float(pixels.min()), float(pixels.max())
    shades = np.rint(255 * (pixels - low) / ((high - low) or 1.0)).astype(np.uint8)
    if shades.shape[3] == 2:
        shades = shades[..., :1]
    return {"shape": list(shades.shape[1:]), "pixels": encoded(shades)}
