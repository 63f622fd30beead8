"""Lines from the point under the cursor to its neighbors: to the true ones, and to those that are falsely drawn near.

The page holds two lists of row numbers per point. Which point is under the cursor, the hover tool knows; the lines are
drawn by `_html_page.js`.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.plot._colors import INK, PALETTE
from lowdim.plot._page_columns import Columns, Line
from lowdim.plot._page_figure import draw_empty_lines

__all__ = ["EXPLAINED", "MOST_HOVERED", "TOO_MANY", "PageNeighbors", "draw_neighbor_lines", "read_neighbors"]

Lists = NDArray[np.int32]

MOST_HOVERED = 20_000  # rows whose neighbors a page holds: 30 numbers each, 3 MB
FALSE = PALETTE[5]  # vermilion
EXPLAINED = (
    "The pointer draws lines from a point: solid to its true neighbors, dashed to others that are drawn near it."
)
TOO_MANY = f"no lines to neighbors above {MOST_HOVERED:,} rows"


@dataclass(frozen=True, eq=False)
class PageNeighbors:
    """Neighbors of every row in the data and in the map, (n, k) each."""

    true: Lists
    drawn: Lists

    def columns(self) -> Columns:
        """The numbers of true neighbors that are drawn near, and of false ones, by row."""
        k = self.true.shape[1]
        both = np.sort(np.concatenate([self.true, self.drawn], axis=1), axis=1)
        kept = (both[:, 1:] == both[:, :-1]).sum(axis=1).astype(np.int32)
        return {"row": np.arange(len(kept), dtype=np.int32), "kept": kept, "false": (k - kept).astype(np.int32)}

    def line(self) -> Line:
        """The words of a point, in its tooltip."""
        k = self.true.shape[1]
        return "neighbors", f"@kept of its {k} true ones are drawn near it; @false of the {k} drawn near it are false"

    def for_script(self) -> dict[str, Any]:
        """The lists for the page's script: little-endian 32-bit numbers in base64."""
        lists = {"true": self.true, "drawn": self.drawn}
        coded = {name: base64.b64encode(part.astype("<i4").tobytes()).decode() for name, part in lists.items()}
        return {"k": self.true.shape[1], **coded}


def read_neighbors(neighbors: Any, n: int) -> PageNeighbors | None:
    """Two lists of row numbers, (n, k): a pair, or an object that has them, as `quality.measure` returns.

    None if there are too many rows to show them.
    """
    if neighbors is None:
        return None
    names = ("true_neighbors", "map_neighbors")
    pair = [getattr(neighbors, name) for name in names] if hasattr(neighbors, names[0]) else list(neighbors)
    if len(pair) != 2:
        raise BadInput(f"neighbors must be two tables, those in the data and those in the map; got {len(pair)}.")
    if any(part is None for part in pair) or n > MOST_HOVERED:
        return None
    true, drawn = (np.asarray(part) for part in pair)
    for part in (true, drawn):
        whole = part.ndim == 2 and len(part) == n and part.dtype.kind in "iu"
        if not whole or part.shape != true.shape or (part.size and not 0 <= part.min() <= part.max() < n):
            raise BadInput(f"neighbors must hold as many row numbers, from 0 to {n - 1}, for each of the {n} rows.")
    return PageNeighbors(true.astype(np.int32), drawn.astype(np.int32))


def draw_neighbor_lines(figure: Any) -> None:
    """Empty lines above the points, which the script fills."""
    for name, color, dash in (("true", INK, "solid"), ("false", FALSE, "dashed")):
        style = {"line_color": color, "line_dash": dash, "line_width": 1.2, "line_alpha": 0.75}
        draw_empty_lines(figure, name, f"neighbor lines: {name}", **style).level = "annotation"
