"""`lowdim plot`: figures of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lowdim.cli.options import Color, Columns, Drop, Id, Label, ModelPath, column_selection
from lowdim.cli.output import CommandOutput, align, printable, written_lines
from lowdim.errors import BadParameter

__all__ = ["plot_model"]

Rows = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows for a biplot, a sufficient summary, sources, or the correlation circle of a method other than PCA: "
        "usually those that the model was fitted to.",
    ),
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="biplot, loadings, correlation-circle, varimax, scree, sufficient-summary (of SIR and its kin), sources "
        "(of ICA) or index-path (of ProjectionPursuit).",
    ),
]
Response = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="Column of the response, for sufficient-summary.")
]
FigureOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Page (.html) or figure (.png, .svg or .pdf). Repeatable.",
        show_default="KIND.html and KIND.png",
    ),
]


def plot_model(  # noqa: PLR0913  (one argument per flag)
    model: ModelPath,
    data: Rows = None,
    kind: Kind = "loadings",
    target: Response = None,
    color: Color = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    output: FigureOutputs = None,
) -> CommandOutput:
    """Draw a saved model: which columns are behind its components.

    Loadings, also rotated by varimax, the correlation circle, the biplot and the scree plot; the response against
    sufficient directions, the sources of ICA, and the index along a projection pursuit.

    Examples:
      lowdim plot wine.lowdim --kind correlation-circle -o circle.html
      lowdim plot wine.lowdim wine.csv --kind biplot --color cultivar
      lowdim plot sir.lowdim homes.csv --kind sufficient-summary --target price

    """
    from lowdim.workflow.apply import apply_transform, load_fitted
    from lowdim.workflow.model_figures import ModelFigure, check_figure, needs_rows, write_model_figure
    from lowdim.workflow.output_paths import DRAWINGS, check_outputs
    from lowdim.workflow.standardize import inner_estimator

    check_figure(kind, "--kind")
    if target is not None and kind != "sufficient-summary":
        raise BadParameter("--target is for --kind sufficient-summary; omit it. To color by a column, use --color.")
    paths = check_outputs(output or [f"{kind}.html", f"{kind}.png"], DRAWINGS, [model, *([data] if data else [])])
    fitted, _ = load_fitted(model)
    title = f"{printable(Path(data or model).name)}, {type(inner_estimator(fitted)).__name__}"
    drawn = ModelFigure(fitted, title)
    if data is not None and needs_rows(kind):
        applied = apply_transform(fitted, data, column_selection(columns, label, id, drop), color=target or color)
        named = applied.colors, applied.color_name
        drawn = ModelFigure(fitted, title, applied.table, *named, *(named if target is not None else ()))
    for path in paths:
        write_model_figure(path, kind, drawn)
    result = {"command": "plot", "model": model, "data": data, "kind": kind, "written": [str(path) for path in paths]}
    return CommandOutput(align([(kind, title), *written_lines(paths)]), result, is_status=True)
