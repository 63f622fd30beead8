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
    from lowdim.plot._biplot import biplot, biplot_coordinates, loadings
    from lowdim.plot._colors import palette
    from lowdim.plot._eigenimages import eigenimages
    from lowdim.plot._html_page import page
    from lowdim.plot._save import save
    from lowdim.plot._scatter import density, scatter
    from lowdim.plot._scree import scree
    from lowdim.plot._shepard import shepard

# No module here bears the name of a function: importing one would hide the other.
_HOMES = {
    "biplot": "lowdim.plot._biplot",
    "biplot_coordinates": "lowdim.plot._biplot",
    "density": "lowdim.plot._scatter",
    "eigenimages": "lowdim.plot._eigenimages",
    "loadings": "lowdim.plot._biplot",
    "page": "lowdim.plot._html_page",
    "palette": "lowdim.plot._colors",
    "save": "lowdim.plot._save",
    "scatter": "lowdim.plot._scatter",
    "scree": "lowdim.plot._scree",
    "shepard": "lowdim.plot._shepard",
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
