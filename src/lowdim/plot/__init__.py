"""Plots: static figures on matplotlib axes, and one standalone interactive HTML page.

    ax = lowdim.plot.scatter(Z, labels)
    lowdim.plot.save(ax, "map.png")
    lowdim.plot.page(Z, labels, path="map.html")

Every static plot takes an `ax` and returns it; without one it makes a new figure. The theme is applied inside the call
only, so rcParams do not change. matplotlib and Bokeh are imported with the first plot. The public names stand in
`__init__.pyi`. Imports `registry` and below.
"""

from lowdim.runtime.lazy_exports import attach

_EXPORTS, __getattr__, __dir__ = attach(__name__, __file__)
__all__ = __dir__()
