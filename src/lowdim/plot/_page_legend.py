"""The legend of a page as HTML: a button per category, or a bar of colors with its ticks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._point_colors import Categories, ColorScale, PointColors
from lowdim.plot._text import drawable

__all__ = ["legend_html", "viridis"]

# Viridis at nine places, between which colors are interpolated.
VIRIDIS = (
    (68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
    (170, 220, 50), (253, 231, 37),
)  # fmt: skip
TICKS = 5


def legend_html(colors: PointColors) -> str:
    """The legend; the numbers of its buttons are the codes of the categories."""
    if colors is None:
        return ""
    head = f"<h2>{escape(drawable(colors.title))}</h2>" if colors.title else ""
    return head + (_buttons(colors) if isinstance(colors, Categories) else _bar(colors))


def viridis(share: float) -> str:
    """The color of a share from 0 to 1 of the scale, as #rrggbb."""
    stops = np.linspace(0, 1, len(VIRIDIS))
    return "#" + "".join(f"{round(np.interp(share, stops, channel)):02x}" for channel in zip(*VIRIDIS, strict=True))


def _buttons(categories: Categories) -> str:
    entries = zip(categories.names, categories.colors, categories.counts.tolist(), strict=True)
    return "".join(
        f'<button type="button" data-code="{code}" aria-pressed="true" title="{escape(name)}: {count:,}">'
        f'<i style="background:{escape(color)}"></i><span>{escape(name)}</span></button>'
        for code, (name, color, count) in enumerate(entries)
    )


def _bar(scale: ColorScale) -> str:
    stops = ",".join(viridis(share) for share in np.linspace(0, 1, 17))
    ticks = "".join(
        f'<span style="--at:{100 * (value - scale.low) / (scale.high - scale.low):.2f}%">{escape(text)}</span>'
        for value, text in _ticks(scale)
    )
    return f'<div class="scale"><b style="--stops:{stops}"></b><div>{ticks}</div></div>'


def _ticks(scale: ColorScale) -> list[tuple[float, str]]:
    """Round values within the range, or dates, with their texts."""
    span = scale.high - scale.low
    if scale.dates:
        values = np.linspace(scale.low, scale.high, TICKS)
        precision: Any = "D" if span >= TICKS else "m"
        moments: NDArray[Any] = np.datetime64("1970-01-01T00:00", "s") + np.round(values * 86400).astype(
            "timedelta64[s]"
        )
        return list(zip(values.tolist(), np.datetime_as_string(moments, unit=precision).tolist(), strict=True))
    unit = 10.0 ** np.floor(np.log10(span / TICKS))
    step = unit * min((1, 2, 2.5, 5, 10), key=lambda factor: abs(span / (unit * factor) - TICKS))
    values = step * np.arange(np.ceil(scale.low / step), np.floor(scale.high / step) + 1)
    return [(float(value), f"{value + 0.0:.6g}".replace("-", "−")) for value in values]
