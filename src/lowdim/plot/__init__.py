"""Pictures: static ones on matplotlib axes, and one standalone interactive page.

    ax = lowdim.plot.scatter(Z, labels)
    lowdim.plot.save(ax, "map.png")
    lowdim.plot.page(Z, labels, path="map.html")

Every static picture takes an `ax` and returns it; without one it makes a figure of its own. The theme
holds inside the call only, so nobody's rcParams change. matplotlib and Bokeh are loaded at the first picture.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim.plot.colors import palette
    from lowdim.plot.images import eigenimages
    from lowdim.plot.linear import biplot, biplot_coordinates, loadings
    from lowdim.plot.maps import density, scatter
    from lowdim.plot.pairs import shepard
    from lowdim.plot.saving import save
    from lowdim.plot.spectrum import scree
    from lowdim.plot.webpage import page

# No module here bears the name of a function: importing one would hide the other.
_HOMES = {
    "biplot": "lowdim.plot.linear",
    "biplot_coordinates": "lowdim.plot.linear",
    "density": "lowdim.plot.maps",
    "eigenimages": "lowdim.plot.images",
    "loadings": "lowdim.plot.linear",
    "page": "lowdim.plot.webpage",
    "palette": "lowdim.plot.colors",
    "save": "lowdim.plot.saving",
    "scatter": "lowdim.plot.maps",
    "scree": "lowdim.plot.spectrum",
    "shepard": "lowdim.plot.pairs",
}

__all__ = [
    "biplot",
    "biplot_coordinates",
    "density",
    "eigenimages",
    "loadings",
    "page",
    "palette",
    "save",
    "scatter",
    "scree",
    "shepard",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lowdim.plot' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
