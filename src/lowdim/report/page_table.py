"""The table of figures of the report as HTML, and what stands below it. All texts are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from lowdim.quality import Measure
from lowdim.quality._label_groups import overlap_words
from lowdim.report.page_text import page_number, page_text

if TYPE_CHECKING:
    from lowdim.report.comparison import MethodComparison

__all__ = ["best_maps", "trust_html"]

MOST_OVERLAPS = 3  # pairs of classes that are named per map
# The measures by what they are about; others stand at the end.
GROUPS = {
    "Near neighbors": (
        "neighbor_recall",
        "trustworthiness",
        "continuity",
        "r_nx",
        "lcmc",
        "mrre_false",
        "mrre_missing",
    ),
    "All scales": ("r_nx_auc",),
    "Far distances": ("shepard_correlation", "triplet_accuracy", "stress"),
    "Groups": (
        "steadiness",
        "cohesiveness",
        "neighborhood_hit",
        "label_trustworthiness",
        "label_continuity",
        "centroid_triplet_accuracy",
        "cluster_distance_correlation",
    ),
}
BASELINES = {"random": "random map", "pca": "PCA"}  # one column each
# What a measure says, apart from any value.
MEANINGS = {
    "neighbor_recall": "Share of the true neighbors of a row that are drawn near it.",
    "trustworthiness": "1 if none but true neighbors are drawn near a row.",
    "continuity": "1 if all true neighbors of a row are drawn near it.",
    "r_nx": "The same share as a gain over a random map: 0 by chance, 1 if all are kept.",
    "lcmc": "Share of true neighbors kept, less that by chance.",
    "mrre_false": "How well the ranks of those drawn near agree with their true ranks.",
    "mrre_missing": "How well the ranks of true neighbors agree with those in the map.",
    "r_nx_auc": "That gain over all numbers of neighbors, small ones weighing most.",
    "shepard_correlation": "Rank correlation of true and map distances: can far distances be read?",
    "triplet_accuracy": "How often the map shows rightly which of two rows is nearer to a third.",
    "stress": "How far map distances miss the true ones at the best scale; 0 is best.",
    "steadiness": "1 if the groups of the map are groups in the data.",
    "cohesiveness": "1 if the groups in the data are groups of the map.",
    "neighborhood_hit": "Share of the rows drawn near a row that have its label.",
    "label_trustworthiness": "1 if no two classes overlap more than they do in the data.",
    "label_continuity": "1 if no two classes are further apart than they are in the data.",
    "centroid_triplet_accuracy": "How often the map shows rightly which of two groups is nearer to a third.",
    "cluster_distance_correlation": "Rank correlation of the distances between groups.",
}


def trust_html(result: MethodComparison) -> str:
    """The table of figures with intervals and baselines; the words about each map stand below it."""
    notes = dict.fromkeys(note for quality in result.table.maps.values() for note in quality.notes)
    tail = "".join(f'<p class="note">{page_text(note)}</p>' for note in notes)
    key = (
        '<p class="note">● the best of these maps in its row, and those that the 95% intervals do not tell apart from it. No row '  # noqa: E501
        "decides alone: which one matters depends on what the picture is read for.</p>"
    )
    if any(quality.null is not None for quality in result.table.maps.values()):
        key += (
            '<p class="note">In italics, the same method on shuffled columns: what it shows of columns that have nothing to do with '  # noqa: E501
            "each other.</p>"
        )
    return f"{_figures_table(result)}{key}{tail}{_null_words(result)}{_overlaps(result)}"


def _null_words(result: MethodComparison) -> str:
    """How many points of every map are placed better, or no better, than on shuffled columns."""
    lines = [
        f"<dt>{page_text(name)}</dt><dd>{page_text(' '.join(quality.null.words()))}</dd>"
        for name, quality in result.table.maps.items()
        if quality.null is not None
    ]
    if not lines:
        return ""
    return f'<h3 class="sub">Single rows beside shuffled columns</h3><dl class="facts">{"".join(lines)}</dl>'


def _overlaps(result: MethodComparison) -> str:
    """The classes that overlap, in every map and in the data."""
    found = {name: overlap_words(quality, MOST_OVERLAPS) for name, quality in result.table.maps.items()}
    if not any(found.values()):
        return ""
    none = ["No two classes overlap."]
    lines = "".join(
        f"<dt>{page_text(name)}</dt><dd>{'<br>'.join(map(page_text, words or none))}</dd>"
        for name, words in found.items()
    )
    return f'<h3 class="sub">Classes that overlap</h3><dl class="facts">{lines}</dl>'


def _figures_table(result: MethodComparison) -> str:
    maps = result.table.maps
    first = next(iter(maps.values()))
    beside = [name for name in BASELINES if any(name in m.baselines for m in first)]
    if "pca" in beside and "PCA" in maps:
        beside.remove("pca")  # it is one of the maps
    head = "".join(f'<th scope="col">{page_text(name)}</th>' for name in maps)
    head += "".join(f'<th scope="col" class="baseline">{BASELINES[name]}</th>' for name in beside)
    known = [name for names in GROUPS.values() for name in names]
    groups = {**GROUPS, "Further": tuple(name for name in first.measures if name not in known)}
    body = []
    for group, names in groups.items():
        present = [name for name in names if name in first.measures]
        if present:
            body.append(f'<tr class="group"><th colspan="{2 + len(maps) + len(beside)}">{group}</th></tr>')
        body += [_measure_row(name, result, beside) for name in present]
    return (
        f'<table class="figures"><thead><tr><th scope="col">Measure</th>{head}<th scope="col">What it says</th></tr></thead>'  # noqa: E501
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _measure_row(name: str, result: MethodComparison, beside: Sequence[str]) -> str:
    found = {map_name: quality[name] for map_name, quality in result.table.maps.items() if name in quality}
    best = best_maps(found)
    first = next(iter(found.values()))
    cells = ""
    for map_name in result.table.maps:
        measure = found.get(map_name)
        if measure is None:
            cells += f'<td data-map="{page_text(map_name)}">–</td>'
            continue
        mark = ' class="best"' if map_name in best else ""
        interval = (
            ""
            if measure.low is None
            else f'<span class="interval">{page_number(measure.low, 2)}–{page_number(measure.high, 2)}</span>'
        )
        null = measure.baselines.get("null")
        shuffled = "" if null is None else f'<span class="null">{page_number(null)}</span>'
        value = f'<span class="value">{page_number(measure.value)}</span>'
        cells += f'<td data-map="{page_text(map_name)}"{mark}>{value}{interval}{shuffled}</td>'
    for other in beside:
        value = page_number(first.baselines[other]) if other in first.baselines else "–"
        cells += f'<td class="baseline" data-map="{BASELINES[other]}">{value}</td>'
    about = escape(MEANINGS.get(name, ""))
    if "original" in first.baselines:
        about += f" In the data it is {page_number(first.baselines['original'])}."
    title = f'<th scope="row">{page_text(first.title)}</th>'
    return f'<tr data-measure="{name}">{title}{cells}<td class="about">{about}</td></tr>'


def best_maps(found: Mapping[str, Measure]) -> set[str]:
    """The map with the best value, and those whose interval reaches it; none where all are alike."""
    if len(found) < 2:
        return set()
    away = {name: abs(measure.value - measure.best) for name, measure in found.items()}
    top = found[min(away, key=lambda name: away[name])]
    low, high = (top.value, top.value) if top.low is None or top.high is None else (top.low, top.high)
    best = {name for name, m in found.items() if (m.value if m.low is None else m.low) <= high}
    best &= {name for name, m in found.items() if (m.value if m.high is None else m.high) >= low}
    return set() if len(best) == len(found) else best
