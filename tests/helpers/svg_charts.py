"""What a chart shows to a reader: its marks in the units of its axes, read through the texts of their ticks."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def chart_of(html: str, description: str) -> list[Panel]:
    """The axes of the first chart with this description."""
    svg = next(text for text in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if f'aria-label="{description}"' in text)
    root = ElementTree.fromstring(svg)
    return [Panel(group) for group in root.iter(f"{SVG}g") if group.get("id", "").startswith("axes_")]


def _place(element: ElementTree.Element) -> tuple[float, float]:
    return float(element.get("x", "nan")), float(element.get("y", "nan"))


def _text(group: ElementTree.Element) -> str:
    return " ".join("".join(group.itertext()).split())


def _corners(path: str) -> Floats:
    return np.array([float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", path)]).reshape(-1, 2)


@dataclass
class Panel:
    """The axes of a chart that matplotlib wrote with its texts as texts."""

    group: ElementTree.Element

    def ticks(self, side: int) -> list[tuple[float, str]]:
        """Position and text of every tick; side 0 is x, 1 is y."""
        found = []
        for group in self.group.iter(f"{SVG}g"):
            if group.get("id", "").startswith("xy"[side] + "tick_"):
                mark = next(group.iter(f"{SVG}use"), None)
                label = next(group.iter(f"{SVG}text"), None)
                place = mark if mark is not None else label
                assert place is not None
                found.append((_place(place)[side], "" if label is None else _text(group)))
        return found

    def units(self, places: Floats, side: int, log: bool = False) -> Floats:
        """Places in pixels as numbers on an axis."""
        read = [(place, _number(text)) for place, text in self.ticks(side) if text]
        pixels, values = np.array(read).T
        values = np.log10(values) if log else values
        slope, offset = np.polyfit(pixels, values, 1)
        np.testing.assert_allclose(slope * pixels + offset, values, atol=1e-4 * np.ptp(values))
        out = slope * np.asarray(places) + offset
        return 10**out if log else out

    def lines(self) -> list[Floats]:
        """Lines in pixels, each (m, 2)."""
        return [
            _corners(path.get("d", "")) for path in self._drawn("line2d") if path.tag == f"{SVG}path" and path.get("d")
        ]

    def marks(self) -> Floats:
        """Centers of all markers in pixels, (m, 2)."""
        drawn = [*self._drawn("line2d"), *self._drawn("PathCollection")]
        return np.array([_place(use) for use in drawn if use.tag == f"{SVG}use"])

    def bars(self) -> Floats:
        """Left, top, right and bottom of bars in pixels, (m, 4)."""
        paths = [path for path in self._drawn("patch") if path.get("clip-path")]
        corners = [_corners(path.get("d", "")) for path in paths]
        return np.array([[*found.min(axis=0), *found.max(axis=0)] for found in corners])

    def texts(self) -> list[tuple[float, float, str]]:
        """Texts inside the axes, with their places."""
        groups = [group for group in self.group if group.get("id", "").startswith("text_")]
        return [(*_place(text), _text(text)) for group in groups for text in group.iter(f"{SVG}text")]

    def raster(self) -> tuple[Floats, Floats]:
        """Centers of the cells of an image in pixels, (rows, columns, 2), and their ink from 0 to 1."""
        from matplotlib.image import imread

        image = next(self.group.iter(f"{SVG}image"))
        content = imread(BytesIO(base64.b64decode(image.get(LINK, "").split(",")[1])))
        x, y, width, height = (float(image.get(name, "nan")) for name in ("x", "y", "width", "height"))
        lift = float(re.search(r"translate\(0 (-?[\d.]+)\)", image.get("transform", ""))[1])
        rows, columns = content.shape[:2]
        across = x + (np.arange(columns) + 0.5) * width / columns
        down = -(y + lift + (np.arange(rows) + 0.5) * height / rows)  # the image is upside down
        return np.dstack(np.meshgrid(across, down)), content[..., 3] * (1 - content[..., :3].mean(axis=2))

    def _drawn(self, kind: str) -> list[ElementTree.Element]:
        """Elements of artists that stand in the axes themselves, not in their ticks or definitions."""
        groups = [group for group in self.group if group.get("id", "").startswith(kind)]
        hidden = {inner for group in groups for defined in group.iter(f"{SVG}defs") for inner in defined.iter()}
        return [element for group in groups for element in group.iter() if element not in hidden]


def _number(text: str) -> float:
    """A number as it is written at a tick."""
    share = text.endswith("%")
    value = float(text.rstrip("%").replace("−", "-").replace(",", ""))
    return value / 100 if share else value
