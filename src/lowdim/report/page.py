"""The report as one standalone HTML page: its template, style and scripts, filled in."""

from __future__ import annotations

import os
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import lowdim
from lowdim.plot._standalone_page import json_for_script, page_script, with_content_security_policy
from lowdim.plot._text import drawable, shorten
from lowdim.report import page_sections
from lowdim.report.page_data import page_data
from lowdim.report.page_table import trust_html
from lowdim.runtime.atomic_write import atomic_write
from lowdim.runtime.display import count

if TYPE_CHECKING:
    from lowdim.report.comparison import MethodComparison

__all__ = ["page_html", "write_page"]

# In the order in which they use one another.
SCRIPTS = ("data", "colors", "density_shading", "neighbors", "group_labels", "map_view", "gestures", "panels", "start")
COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2}  # maps beside each other, by their number; else 3


def write_page(result: MethodComparison, path: str | os.PathLike[str]) -> Path:
    """Write the report atomically, and return its absolute path."""
    text, target = page_html(result), Path(os.path.abspath(path))
    with atomic_write(target) as draft:
        draft.write_text(text, encoding="utf-8")
    return target


def page_html(result: MethodComparison) -> str:
    """The text of the page. No text of the user's can end the element that it stands in, or be a placeholder."""
    sections = page_sections.further_sections(result)
    scripts = [page_script("label_boxes"), *(_asset(f"{name}.js") for name in SCRIPTS)]
    parts = {
        "version": lowdim.__version__,
        "title": escape(shorten(drawable(result.title), 120)),
        "lead": escape(_lead(result)),
        "contents": page_sections.contents(sections),
        "facts": page_sections.facts_html(result.done),
        "left_out": page_sections.left_out_html(result.left_out),
        "columns": str(COLUMNS.get(len(result.maps), 3)),
        "maps": "".join(page_sections.map_html(result, name) for name in result.maps),
        "trust": trust_html(result),
        "sections": "\n".join(section.html for section in sections),
        "again": page_sections.again_html(result.again),
        "style": _asset("page.css"),
        "data": json_for_script(page_data(result)),
        "script": '"use strict";\n(() => {\n' + "\n".join(scripts) + "\n})();",
    }
    pieces = _asset("page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return with_content_security_policy("".join(filled))


def _lead(result: MethodComparison) -> str:
    quality = next(iter(result.table.maps.values()))
    names = ", ".join(result.maps)
    how = "all rows were compared with all" if quality.exact else f"{len(quality.rows):,} rows were compared with all"
    return f"{count(quality.n, 'row')}, {count(len(result.maps), 'map')}: {names}. Neighborhoods of {quality.k}; {how}."


def _asset(name: str) -> str:
    return files("lowdim.report").joinpath("assets", name).read_text(encoding="utf-8")
