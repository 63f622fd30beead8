"""`lowdim tour`: an animated page of projections."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from lowdim.cli.options import (
    Color,
    Columns,
    Data,
    Drop,
    Id,
    Label,
    Missing,
    RandomState,
    Standardize,
    Target,
    column_selection,
)
from lowdim.cli.output import CommandOutput, align, printable, written_lines

__all__ = ["draw_tour"]


class TourKind(StrEnum):
    """Which way a tour goes."""

    grand = "grand"
    guided = "guided"
    local = "local"


class TourIndex(StrEnum):
    """Projection indices that measure two dimensions."""

    holes = "holes"
    central_mass = "central_mass"
    friedman_tukey = "friedman_tukey"
    legendre = "legendre"
    lda = "lda"
    pda = "pda"


Kind = Annotated[
    TourKind,
    typer.Option(help="Through random planes, towards large values of an index, or around two principal components."),
]
Index = Annotated[TourIndex, typer.Option(help="What a guided tour looks for; lda and pda look for classes.")]
Seconds = Annotated[float, typer.Option(metavar="N", min=1, max=1000, help="Length of the animation.")]
TourOutput = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page to write: .html.")]


def draw_tour(  # noqa: PLR0913  (one argument per flag)
    data: Data,
    kind: Kind = TourKind.grand,
    index: Index = TourIndex.holes,
    seconds: Seconds = 30.0,
    color: Color = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    target: Target = None,
    missing: Missing = None,
    standardize: Standardize = None,
    random_state: RandomState = 0,
    output: TourOutput = "tour.html",
) -> CommandOutput:
    """Draw a tour of DATA: an animation of its projections.

    Writes one page that works offline: play and pause it, and drag the axis of a column to turn it by hand.

    Examples:
      lowdim tour wine -o tour.html
      lowdim tour flowers.csv --kind guided --index lda --target species

    """
    from lowdim import plot
    from lowdim.cli.fit_output import table_lines
    from lowdim.workflow.missing import complete_table
    from lowdim.workflow.output_paths import PAGES, check_outputs
    from lowdim.workflow.source import column_values, label_vector, read_with_target
    from lowdim.workflow.summary import summarize_table
    from lowdim.workflow.tour import make_tour

    start = perf_counter()
    paths = check_outputs([output], PAGES, [data])
    selection = column_selection(columns, label, id, drop)
    table, y = read_with_target(data, selection, target, color)
    colors = label_vector(table) if color is None else column_values(data, table, selection, color, "color")
    color_name = color or table.label_name
    complete = complete_table(table, missing)
    table, colors, y = complete.table, complete.rows_of(colors), complete.rows_of(y)
    made = make_tour(table, kind.value, index.value, y, standardize, random_state)
    name = f"{kind.value} tour" + (f" by {index.value}" if kind is TourKind.guided else "")
    title = f"{printable(Path(data).name)}, {name}"
    draw = partial(plot.tour, label_name=color_name, columns=table.names, title=title)
    draw(made.rows, made.frames, colors, seconds=seconds, path=paths[0])
    n, spent = len(made.rows), perf_counter() - start
    lines = [
        (printable(Path(data).name), printable(summarize_table(table, n))),
        *table_lines(complete),
        ("columns", made.columns),
        ("tour", f"{name}, {seconds:g} s"),
        ("time", f"{spent:.1f} s"),
        *written_lines(paths),
    ]
    read = {"command": "tour", "data": data, "rows": n, "columns": list(table.names), "label": table.label_name}
    done = {"kind": kind.value, "index": index.value if kind is TourKind.guided else None, "animation_seconds": seconds}
    written = {"seconds": spent, "written": [str(path) for path in paths]}
    return CommandOutput(align(lines), read | done | written, is_status=True)
