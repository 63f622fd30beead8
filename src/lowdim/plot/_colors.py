"""Colors: a categorical palette that can be told apart with every kind of color vision, and those of the theme.

The distance between two colors is the smallest of those seen with normal, protanopic and deuteranopic vision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ABSENT",
    "DIVERGING",
    "FADED",
    "GRAY",
    "INK",
    "LIGHT",
    "PALETTE",
    "SEQUENTIAL",
    "SEQUENTIAL_FROM_WHITE",
    "color_distance",
    "linear_light",
    "palette",
    "srgb",
    "tint",
    "visible_from_white",
]

Array = NDArray[np.float64]

# The first six are Okabe and Ito's (2008). The others were chosen by their distance to all before them, of a lightness
# that shows on white, without black and without the primaries of a screen, which would stand out.
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#561D99", "#E8CF14",
    "#8F160D", "#1D3A54", "#B2C184", "#B5E4A0", "#D38A1D", "#7D6BF2", "#C02599", "#8BD0F2",
    "#2340CD", "#908247", "#364C3B", "#ACA983", "#887FD3", "#C00D68", "#CA93C9", "#27676B",
)  # fmt: skip
SEQUENTIAL = "viridis"  # perceptually uniform, also in grayscale and for the color-blind
SEQUENTIAL_FROM_WHITE = "Blues"  # from white, so that an empty cell looks empty
DIVERGING = "RdBu_r"
INK, FADED, LIGHT = "#222222", "#6b6b6b", "#c4c4c4"
# Grays of a lightness unlike any of the above, which the color-blind may see as gray.
GRAY, ABSENT = "#b8b8b8", "#dcdcdc"  # pooled categories, and missing labels

# Protanopia and deuteranopia in linear RGB (Machado, Oliveira and Fernandes, 2009).
_VISION = np.array(
    [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ]
)
# Linear light to OKLab, where Euclidean distance is close to perceived difference (Ottosson, 2020).
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def palette(n: int) -> tuple[str, ...]:
    """N categorical colors, as #rrggbb; the first ones do not depend on n. They repeat after 24."""
    return tuple(PALETTE[i % len(PALETTE)] for i in range(n))


def color_distance(first: str, second: str) -> float:
    """The perceived distance of two colors, the smallest over normal and color-blind vision."""
    seen = _seen(np.array([_rgb(first), _rgb(second)]))
    return float(np.linalg.norm(seen[0] - seen[1], axis=1).min())


def tint(color: str, share: float) -> str:
    """The color mixed with white in linear light, of which `share` is left."""
    light = share * linear_light(np.array(_rgb(color))) + (1 - share)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in srgb(light))


def linear_light(rgb: Array) -> Array:
    """Linear RGB, which mixes by addition, from sRGB in 0…1."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def srgb(light: Array) -> Array:
    """The inverse of `linear_light`."""
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def visible_from_white() -> Any:
    """The color map from white, starting where a single count is visible."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[SEQUENTIAL_FROM_WHITE](np.linspace(0.22, 1, 256)))


def _seen(rgb: Array) -> Array:
    """OKLab coordinates of colors (m, 3) for each kind of vision, (m, 3 kinds, 3)."""
    light = np.clip(np.einsum("eij,mj->mei", _VISION, linear_light(rgb)), 0, 1)
    return np.asarray(np.cbrt(light @ _CONES.T) @ _LAB.T)


def _rgb(color: str) -> list[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
