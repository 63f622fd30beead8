"""`lowdim fit`, `transform` and `inverse`: fit a model, save it, and apply it to new data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli.command import DEFAULT_METHOD, method_choice
from lowdim.cli.options import (
    Cluster,
    Color,
    Columns,
    DataFiles,
    Drop,
    Encode,
    Id,
    Label,
    MethodName,
    Missing,
    ModelPath,
    NumericOnly,
    Standardize,
    TableOutputs,
    Target,
    column_selection,
    one_table,
)
from lowdim.cli.output import CommandOutput, align, printable, written_lines
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.data.io.column_roles import ColumnSelection
    from lowdim.persistence import SavedMap
    from lowdim.workflow.apply import AppliedModel

__all__ = ["fit", "inverse", "transform"]

ApplyMissing = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="HOW",
        help="Rows with missing values: em (by a model that was fitted with it), drop-rows or error.",
        show_default="as the model was fitted",
    ),
]
ModelOutput = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="The model file, by convention *.lowdim.")
]
TransformOutputs = Annotated[
    list[str],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .csv, .tsv, .parquet, .feather, .arrow, .npy, .npz (coordinates), .html (interactive page), "
        ".png, .svg, .pdf (figure). Repeatable.",
    ),
]
FittedData = Annotated[
    str | None,
    typer.Option(
        "--fitted-data",
        metavar="DATA",
        help="The rows that the model was fitted to, drawn pale behind the new ones.",
        show_default="the map in the model file",
    ),
]
Coordinates = Annotated[
    str, typer.Argument(metavar="COORDINATES", help="A file of coordinates written by `transform` or `map`.")
]


def fit(  # noqa: PLR0913  (one argument per flag)
    context: typer.Context,
    data: DataFiles,
    output: ModelOutput,
    method: MethodName = DEFAULT_METHOD,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    target: Target = None,
    encode: Encode = "drop",
    numeric_only: NumericOnly = False,
    missing: Missing = None,
    standardize: Standardize = None,
    cluster: Cluster = None,
) -> CommandOutput:
    """Fit a method to DATA and save the model.

    Examples:
      lowdim fit flowers.csv --label species -o flowers.lowdim
      lowdim fit digits --method umap -o digits.lowdim
      lowdim fit 'rows/*.parquet' --cluster tcp://head:8786 -o rows.lowdim

    """
    from lowdim.cli.fit_output import fit_output
    from lowdim.persistence import save_with_map
    from lowdim.workflow.dask_cluster import cluster_client, on_cluster
    from lowdim.workflow.fit import check_target, default_method, fit_method
    from lowdim.workflow.missing import complete_table
    from lowdim.workflow.output_paths import check_writable
    from lowdim.workflow.source import color_values, read_with_target

    start = perf_counter()
    source, path = one_table(data), Path(output).absolute()
    check_writable(path)
    choice = method_choice(context)
    check_target(choice.method, choice.settings, target)
    selection = column_selection(columns, label, id, drop, encode, numeric_only)
    table, y = read_with_target(source, selection, target, method=choice.method)
    table = table if cluster is None else on_cluster(table, source)
    chosen = choice.method if choice.named else default_method(table, choice.method)
    complete = complete_table(table, missing, chosen, choice.settings)
    with cluster_client(cluster):
        fitted = fit_method(chosen, choice.settings, complete, standardize, complete.rows_of(y))
    colors, color_name = color_values(source, table, selection, None) if cluster is None else (None, None)
    save_with_map(fitted.model, path, fitted.map_to_save(complete.rows_of(colors), color_name))
    n_rows = int(getattr(fitted.estimator, "n_samples_", None) or complete.table.rows().count)
    return fit_output("fit", source, complete.table, fitted, n_rows, [path], perf_counter() - start)


def transform(  # noqa: PLR0913  (one argument per flag)
    model: ModelPath,
    data: DataFiles,
    output: TransformOutputs,
    color: Color = None,
    fitted_data: FittedData = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    missing: ApplyMissing = None,
    cluster: Cluster = None,
) -> CommandOutput:
    """Apply a saved model to new rows.

    Columns are matched by name, or by position where either side has no names. Figures and pages show the new rows on
    the map of the fitted ones, which are pale. With --cluster, workers map the rows, and write a folder
    of Parquet files.

    Examples:
      lowdim transform flowers.lowdim new.csv -o z.csv
      lowdim transform flowers.lowdim new.csv --color species -o map.html
      lowdim transform rows.lowdim 'rows/*.parquet' --cluster tcp://head:8786 -o z.parquet

    """
    from lowdim.persistence import SavedMap
    from lowdim.workflow.apply import apply_transform, background_map, new_rows_writer
    from lowdim.workflow.output_paths import MAPS, TABLES, check_outputs

    selection, source = column_selection(columns, label, id, drop), one_table(data)
    if cluster is not None:
        return _transform_on_cluster(cluster, model, source, selection, output)
    read = [model, source, *([] if fitted_data is None else [fitted_data])]
    paths = check_outputs(output, MAPS, read)
    apply = partial(apply_transform, missing=missing, color=color)
    drawn = [path for path in paths if path.suffix.lower() not in TABLES]
    if fitted_data is not None and not drawn:
        raise BadParameter("--fitted-data is for figures and pages (.html, .png, .svg, .pdf); omit it.")
    done, (fitted, saved_map), applied = _apply("transform", "coordinate", apply, model, source, paths, selection)
    if not drawn:
        return done
    if fitted_data is None:
        behind = background_map(fitted, saved_map, applied.color_name)
    else:
        old = apply(fitted, fitted_data, selection)
        behind = SavedMap(old.result, old.colors, old.color_name)
    title = f"{printable(Path(source).name)} on {printable(Path(model).name)}"
    for path in drawn:
        new_rows_writer(path, fitted, applied, behind, title)()
    if behind is not None:
        return done
    note = "\nThe model file keeps no map of the rows it was fitted to; --fitted-data DATA draws them."
    return replace(done, text=done.text + note)


def _transform_on_cluster(
    address: str, model: str, data: str, selection: ColumnSelection, output: list[str]
) -> CommandOutput:
    """Map rows by workers, which write the coordinates."""
    from lowdim.workflow.apply import load_fitted
    from lowdim.workflow.dask_cluster import cluster_client, transform_on_cluster
    from lowdim.workflow.summary import count

    if len(output) != 1:
        raise BadParameter("--cluster writes one folder of Parquet files; give one -o FOLDER.parquet.")
    (fitted, _), path = load_fitted(model), Path(output[0]).absolute()
    with cluster_client(address):
        n_rows, width = transform_on_cluster(fitted, data, selection, path)
    size = f"{count(n_rows, 'row')} → {count(width, 'coordinate')}"
    about = {"command": "transform", "model": model, "data": data, "rows": n_rows, "columns": width}
    lines = [(printable(Path(data).name), size), *written_lines([path])]
    return CommandOutput(align(lines), about | {"written": [str(path)]}, is_status=True)


def inverse(
    model: ModelPath, data: Coordinates, output: TableOutputs, label: Label = None, id: Id = None
) -> CommandOutput:
    """Map coordinates back to the original columns.

    Example:
      lowdim inverse flowers.lowdim z.csv -o x.csv

    """
    from lowdim.workflow.apply import apply_inverse
    from lowdim.workflow.output_paths import TABLES, check_outputs

    paths = check_outputs(output, TABLES, [model, data])
    return _apply("inverse", "column", apply_inverse, model, data, paths, column_selection(None, label, id, None))[0]


def _apply(
    command: str,
    noun: str,
    function: Callable[[Any, str, ColumnSelection], AppliedModel],
    model: str,
    data: str,
    paths: list[Path],
    selection: ColumnSelection,
) -> tuple[CommandOutput, tuple[Any, SavedMap | None], AppliedModel]:
    """Apply the model of a file to a table, and write tables of the result with its ids and labels."""
    from lowdim.workflow.apply import load_fitted
    from lowdim.workflow.output_paths import TABLES
    from lowdim.workflow.outputs import write_labeled_table
    from lowdim.workflow.summary import count, summarize_missing

    fitted, saved_map = load_fitted(model)
    applied = function(fitted, data, selection)
    for path in paths:
        if path.suffix.lower() in TABLES:
            write_labeled_table(path, applied.result, applied.names, applied.table, selection.id)
    n_rows, width = applied.result.shape
    size = f"{count(n_rows, 'row')} → {count(width, noun)}"
    lines = [(printable(Path(data).name), size), *written_lines(paths)]
    if applied.missing is not None:
        lines.insert(1, ("missing", summarize_missing(applied.missing)))
    for name, values in applied.unknown.items():
        lines.insert(1, ("unknown", printable(f"{', '.join(values[:8])} in {name}: differs from all fitted rows")))
    result = {"rows": n_rows, "columns": width, "written": [str(path) for path in paths]}
    about = {"command": command, "model": model, "data": data} | result
    return CommandOutput(align(lines), about, is_status=True), (fitted, saved_map), applied
