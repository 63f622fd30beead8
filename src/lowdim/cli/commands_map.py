"""`lowdim map`: read, standardize, reduce, draw."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli.command import DEFAULT_METHOD, method_choice
from lowdim.cli.options import (
    Columns,
    Data,
    Drop,
    Encode,
    Id,
    Label,
    MethodName,
    Missing,
    NumericOnly,
    Standardize,
    Target,
    column_selection,
)
from lowdim.cli.output import CommandOutput, printable
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.data.table import Table
    from lowdim.workflow.fit import FittedModel
    from lowdim.workflow.map_quality import JudgedMap
    from lowdim.workflow.outputs import EmbeddingOutput
    from lowdim.workflow.side_by_side import Write

__all__ = ["draw_map"]

MapOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .html (interactive page), .png, .svg, .pdf (figure), .csv, .tsv, .parquet, .feather, "
        ".arrow, .npy, .npz (coordinates). Repeatable.",
        show_default="map.html and map.png",
    ),
]
Plot = Annotated[
    str,
    typer.Option(
        "--plot",
        metavar="KIND",
        help="What figures (.png, .svg, .pdf) and pages (.html) show: map, biplot, loadings, correlation-circle, "
        "varimax, scree, sufficient-summary (the response against the directions of SIR and its kin), sources (of ICA) "
        "or index-path (of ProjectionPursuit).",
    ),
]
MapColor = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Any column of the file to color by, text or numbers; or trust, continuity or neighbor-recall: how far "
        "each point can be trusted (of many rows a sample is measured, and the others show the nearest one of it).",
        show_default="the labels",
    ),
]
Judged = Annotated[
    bool,
    typer.Option(
        "--quality/--no-quality",
        help="Print two lines on how far the map can be trusted, and draw lines to true neighbors on the page.",
    ),
]
SaveModel = Annotated[
    str | None, typer.Option("--save-model", metavar="FILE", help="Save the fitted model for `transform`.")
]


def draw_map(  # noqa: PLR0913  (one argument per flag)
    context: typer.Context,
    data: Data,
    method: MethodName = DEFAULT_METHOD,
    color: MapColor = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    target: Target = None,
    encode: Encode = "drop",
    numeric_only: NumericOnly = False,
    missing: Missing = None,
    standardize: Standardize = None,
    plot: Plot = "map",
    output: MapOutputs = None,
    save_model: SaveModel = None,
    quality: Judged = True,
) -> CommandOutput:
    """Draw a map of the rows of DATA.

    Reads and standardizes the data, reduces them to two dimensions, and writes figures and coordinates.

    Examples:
      lowdim map digits
      lowdim map flowers.csv --color species -o map.html -o map.csv
      lowdim map wine --method umap --n-neighbors 30
      lowdim map wine --plot biplot -o biplot.html
      lowdim map digits --method umap --color trust

    """
    from lowdim.workflow.side_by_side import writers_beside

    start = perf_counter()
    paths = _outputs(output, plot, data)
    with writers_beside(_kind(path, plot) for path in paths) as writers:
        from lowdim.cli.fit_output import fit_output
        from lowdim.workflow.fit import check_target, default_method, fit_method
        from lowdim.workflow.map_quality import JudgedMap, color_or_measure
        from lowdim.workflow.missing import complete_table
        from lowdim.workflow.model_figures import settings_for_figure
        from lowdim.workflow.source import read_with_target

        model_path = _writable(save_model)
        choice, selection = method_choice(context), column_selection(columns, label, id, drop, encode, numeric_only)
        check_target(choice.method, choice.settings, target)
        table, y = read_with_target(data, selection, target, color, choice.method)
        chosen = choice.method if choice.named else default_method(table, choice.method)
        colors, color_name = color_or_measure(data, table, selection, color)
        complete = complete_table(table, missing, chosen, choice.settings)
        table = complete.table
        settings = settings_for_figure(plot, chosen, choice.settings, table.rows())
        fitted = fit_method(chosen, settings, complete, standardize, complete.rows_of(y))
        judged = JudgedMap.of(fitted, quality, paths)
        colors, color_name = judged.colors(complete.rows_of(colors), color_name)
        drawn = _drawn(judged, data, table, id, colors, color_name)
        writers.begin(_writes(paths, plot, drawn, fitted.model, (complete.rows_of(y), target)))
        judged = judged.with_verdict()  # while they write
        writers.finish()
    paths += _save(fitted, drawn, model_path)
    return fit_output("map", data, table, fitted, len(judged.embedding), paths, perf_counter() - start, judged)


def _drawn(
    judged: JudgedMap, data: str, table: Table, id: str | None, colors: Any, color_name: str | None
) -> EmbeddingOutput:
    """What is shown of a map."""
    from lowdim.workflow.outputs import EmbeddingOutput

    fitted = judged.fitted
    axes = [str(axis) for axis in fitted.model.get_feature_names_out()]
    title = f"{printable(Path(data).name)}, {fitted.method.name}"
    ratios = getattr(fitted.estimator, "explained_variance_ratio_", None)
    shown = ratios, fitted.estimator._explained, fitted.method.supervised, color_name
    return EmbeddingOutput(judged.embedding, axes, table, colors, id, title, *shown, neighbors=judged.neighbors)


def _writes(
    paths: list[Path], plot: str, drawn: EmbeddingOutput, model: Any, response: tuple[Any, str | None]
) -> dict[str, list[Write]]:
    """What writes the map, or a figure of the model, to pages and figures, and the map to tables, by kind of file."""
    from lowdim.workflow.model_figures import ModelFigure, write_model_figure
    from lowdim.workflow.outputs import embedding_writer

    figure = ModelFigure(model, drawn.title, drawn.table, drawn.colors, drawn.color_name, *response)
    writes: dict[str, list[Write]] = {}
    for path in paths:
        kind = _kind(path, plot)
        write = partial(write_model_figure, path, plot, figure) if kind == plot else embedding_writer(path, drawn)
        writes.setdefault(kind, []).append(write)
    return writes


def _kind(path: Path, plot: str) -> str:
    """The kind of a file: page or figure of the map, table, or that of the figure of a model."""
    from lowdim.workflow.output_paths import kind_of

    kind = kind_of(path)
    return plot if kind != "table" and plot != "map" else kind


def _save(fitted: FittedModel, drawn: EmbeddingOutput, path: Path | None) -> list[Path]:
    """Save the model with its map, if that is asked for; the files that were written."""
    if path is None:
        return []
    from lowdim.persistence import save_with_map

    save_with_map(fitted.model, path, fitted.map_to_save(drawn.colors, drawn.color_name, drawn.embedding))
    return [path]


def _outputs(output: list[str] | None, plot: str, data: str) -> list[Path]:
    """The files to write: a page and a figure of the map or of the model, if none is named."""
    from lowdim.workflow.output_paths import DRAWINGS, MAPS, check_outputs

    if plot != "map":
        from lowdim.workflow.model_figures import check_figure

        check_figure(plot, "--plot", ("map",))
    paths = check_outputs(output or [f"{plot}.html", f"{plot}.png"], MAPS, [data])
    if plot != "map" and not any(path.suffix.lower() in DRAWINGS for path in paths):
        raise BadParameter(
            f"--plot {plot} is for figures and pages ({', '.join(DRAWINGS)}); tables hold coordinates. "
            f"Add -o {plot}.html, or omit --plot."
        )
    return paths


def _writable(save_model: str | None) -> Path | None:
    """The absolute path of the model file, which can be written."""
    from lowdim.workflow.output_paths import check_writable

    if save_model is None:
        return None
    path = Path(save_model).absolute()
    check_writable(path)
    return path
