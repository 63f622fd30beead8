"""The sections of the report as HTML: words, charts, times, code. All texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim._build_info import config
from lowdim.base.standardization import inner_estimator
from lowdim.report import page_figures
from lowdim.report.page_text import page_text as _text
from lowdim.report.reproduce import Reproduction

if TYPE_CHECKING:
    from lowdim.report.comparison import MethodComparison

__all__ = [
    "Section",
    "again_html",
    "contents",
    "facts_html",
    "further_sections",
    "left_out_html",
    "map_html",
]


@dataclass(frozen=True)
class Section:
    """A section that not every report has."""

    name: str
    title: str
    html: str


def contents(sections: Sequence[Section]) -> str:
    """Links to the sections."""
    fixed = [("maps", "Maps"), ("trust", "Trust"), ("table-used", "Data")]
    pairs = [*fixed, *((section.name, section.title) for section in sections), ("again", "Make it again")]
    return "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in pairs)


def facts_html(facts: Iterable[tuple[str, str]]) -> str:
    """Names and texts."""
    return "".join(f"<dt>{_text(name)}</dt><dd>{_text(text)}</dd>" for name, text in facts)


def left_out_html(left_out: Mapping[str, str]) -> str:
    """Methods without a map, and why."""
    if not left_out:
        return ""
    lines = "".join(
        f"<p><strong>{_text(name)}</strong> is left out: {_text(why)}</p>" for name, why in left_out.items()
    )
    return f'<div class="left-out">{lines}</div>'


def map_html(result: MethodComparison, name: str) -> str:
    """One map: its canvases, and its words below."""
    Z, quality = result.maps[name], result.table[name]
    dimensions = Z.shape[1]
    note = (
        f"the first 2 of {dimensions} dimensions; measured in all"
        if dimensions > 2
        else _seconds(result.seconds.get(name))
    )
    about = f"Map by {name}. {' '.join(quality.verdict())}"
    keys = "Arrow keys move, plus and minus zoom, 0 shows all, N and P step through the rows, Escape clears."
    return (
        f'<figure class="map"><div class="map-title"><h3>{_text(name)}</h3><span class="note">{_text(note)}</span></div>'  # noqa: E501
        f'<div class="stage"><canvas class="points" role="img" aria-label="{_text(about)}"></canvas>'
        f'<canvas class="over" tabindex="0" role="application" aria-label="{_text(name)}. {keys}"></canvas></div>'
        f'<figcaption class="words" aria-live="polite">{_text(" ".join(quality.verdict()))}</figcaption></figure>'
    )


def further_sections(result: MethodComparison) -> list[Section]:
    """Neighbors at all scales, number of dimensions, Shepard diagrams, axes, times."""
    curves = (
        "<p>Of the nearest neighbors of a row, how many does a map keep beyond chance? 1 is all of them, 0 as many as a "  # noqa: E501
        "random map. Left, small neighborhoods; right, the whole table.</p>"
        + _both(page_figures.r_nx_chart, result, page_figures.WHOLE)
    )
    sections = [_section("scales", "Neighbors at all scales", curves)]
    if result.choices is not None:
        sections.append(_section("dimensions", "How many dimensions", _dimensions(result)))
    chosen, D = page_figures.shepard_sample(result)
    charts = "".join(
        f'<figure class="chart"><h3>{_text(name)}</h3>{page_figures.shepard_chart(name, Z[chosen], D)}</figure>'
        for name, Z in result.maps.items()
    )
    words = f"<p>Every pair of {len(chosen):,} rows: on the dashed line, map distances (at their best scale) are the true ones.</p>"  # noqa: E501
    sections.append(_section("distances", "Shepard diagrams", f'{words}<div class="small-charts">{charts}</div>'))
    axes = _axes(result)
    if axes:
        sections.append(_section("axes", "What the axes mean", axes))
    return [*sections, _section("times", "Times and versions", _times(result))]


def _both(draw: Any, result: MethodComparison, width: int = page_figures.WIDE) -> str:
    wide, narrow = draw(result, width), draw(result, page_figures.NARROW)
    return f'<figure class="chart wide">{wide}</figure><figure class="chart narrow">{narrow}</figure>'


def _dimensions(result: MethodComparison) -> str:
    choices = result.choices
    assert choices is not None
    best = choices.recommendation
    said = f"<p><strong>{best.k} components</strong> are recommended: {_text(best.reason)}.</p><p>{_text(best.agreement)}.</p>"  # noqa: E501
    if best.warning is not None:
        said += f"<p>{_text(best.warning[:1].upper() + best.warning[1:])}.</p>"
    marks = {"parallel_analysis": ' class="chosen"'}
    rows = "".join(
        f'<tr{marks.get(v.rule, "")}><th scope="row">{_text(v.rule)}</th><td>{v.k}</td></tr>' for v in choices.verdicts
    )
    table = (
        f'<table class="rules"><thead><tr><th>rule</th><th>components</th></tr></thead><tbody>{rows}</tbody></table>'
    )
    return f'<div class="beside"><div>{_both(page_figures.scree_chart, result)}</div><div>{said}{table}</div></div>'


def _axes(result: MethodComparison) -> str:
    """Loadings of the linear methods."""
    parts = []
    for name, model in result.models.items():
        inner = inner_estimator(model)
        components = getattr(inner, "components_", None)
        if components is None or np.ndim(components) != 2 or np.shape(components)[1] != len(result.rows.table.names):
            continue
        svg = page_figures.loadings_chart(inner, result.rows.table.names, result.rows.table.image_shape)
        parts.append(f'<figure class="chart"><h3>{_text(name)}</h3>{svg}</figure>')
    return f'<div class="small-charts">{"".join(parts)}</div>' if parts else ""


def _times(result: MethodComparison) -> str:
    known = config()
    versions = ", ".join(f"{name} {number}" for name, number in known["dependencies"].items() if number)
    lines = [(name, _seconds(seconds)) for name, seconds in result.seconds.items()]
    lines += [("lowdim", f"{known['lowdim']}, Python {known['python']}"), ("with", versions)]
    lines.append(("threads", str(known["threads"])))
    return f'<dl class="facts">{facts_html(lines)}</dl>'


def again_html(again: Reproduction) -> str:
    """The code, with buttons that copy it."""
    parts = []
    for name, title, code in (("command", "On the command line", again.command), ("python", "In Python", again.python)):
        if code:
            parts.append(
                f'<div class="code"><header><h3>{title}</h3>'
                f'<button type="button" data-copy="code-{name}">Copy</button></header>'
                f'<pre><code id="code-{name}">{_text(code, keep_lines=True)}</code></pre></div>'
            )
    return "".join(parts)


def _section(name: str, title: str, inner: str) -> Section:
    head = f'<h2 id="{name}-title">{escape(title)}</h2>'
    return Section(name, title, f'<section id="{name}" aria-labelledby="{name}-title">{head}{inner}</section>')


def _seconds(seconds: float | None) -> str:
    """A time; nothing for coordinates that were made elsewhere."""
    if seconds is None:
        return "coordinates as given"
    return "under 0.1 s" if seconds < 0.05 else f"{seconds:.1f} s"
