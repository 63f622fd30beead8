"""`lowdim recommend`, `lowdim choose` and `lowdim diagnose`: what to know about a table before reducing it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from lowdim.cli.options import (
    Columns,
    Data,
    Drop,
    Encode,
    Id,
    Label,
    MetricName,
    MetricParams,
    Missing,
    RandomState,
    Standardize,
    Target,
    column_selection,
)
from lowdim.cli.output import CommandOutput, align, printable, written_lines

__all__ = ["choose", "diagnose", "recommend"]

Replicates = Annotated[
    int, typer.Option(metavar="N", min=1, help="Tables of permuted columns that parallel analysis compares with.")
]
Sample = Annotated[int, typer.Option(metavar="N", min=3, help="Maximum number of rows to measure distances on.")]
ScreeOutputs = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", metavar="FILE", help="Scree plot: .html, .png, .svg or .pdf. Repeatable."),
]


def choose(  # noqa: PLR0913  (one argument per flag)
    data: Data,
    standardize: Standardize = None,
    replicates: Replicates = 100,
    random_state: RandomState = 0,
    output: ScreeOutputs = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    encode: Encode = "drop",
    missing: Missing = None,
) -> CommandOutput:
    """Choose the number of principal components.

    Recommends a number, with the reason and how far the established rules agree, and lists the answer of every rule.

    Example:
      lowdim choose wine -o scree.png

    """
    import lowdim
    from lowdim.cli.fit_output import table_data, table_lines
    from lowdim.registry import find_method
    from lowdim.workflow.fit import naming_nonfinite, require_rows
    from lowdim.workflow.missing import complete_table
    from lowdim.workflow.output_paths import DRAWINGS, check_outputs
    from lowdim.workflow.picture_files import save_figure
    from lowdim.workflow.source import read_data
    from lowdim.workflow.standardize import describe_standardization, should_standardize

    paths = check_outputs(output or [], DRAWINGS, [data])
    table = read_data(data, column_selection(columns, label, id, drop, encode))
    require_rows(table, find_method("pca"))
    complete = complete_table(table, missing)
    table = complete.table
    rows, standardized = table.rows(), bool(should_standardize({}, table, standardize))
    with naming_nonfinite(rows, table, None):
        found = lowdim.choose.table(rows, standardize=standardized, replicates=replicates, random_state=random_state)
    for path in paths:
        save_figure(path, found.plot)
    lines = [*table_lines(complete), ("columns", describe_standardization(standardized, table)), *written_lines(paths)]
    result = {
        "command": "choose",
        "data": data,
        **found.to_dict(),
        **table_data(complete),
        "written": [str(path) for path in paths],
    }
    return CommandOutput(f"{found}\n\n{align(lines)}", result)


def diagnose(  # noqa: PLR0913  (one argument per flag)
    data: Data,
    metric: MetricName = "euclidean",
    metric_params: MetricParams = None,
    standardize: Standardize = None,
    sample: Sample = 2000,
    random_state: RandomState = 0,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    encode: Encode = "drop",
    missing: Missing = None,
) -> CommandOutput:
    """Diagnose the curse of dimensionality.

    Measures correlation, intrinsic dimension, concentration of distances and hubness on the columns as `map` would use
    them, and says what to do.

    Examples:
      lowdim diagnose digits
      lowdim diagnose wine --no-standardize
      lowdim diagnose words.npz --metric cosine

    """
    import lowdim
    from lowdim.cli.fit_output import table_data, table_lines
    from lowdim.cli.values import parse_value
    from lowdim.diagnosis._advice import advise
    from lowdim.knn.index import SearchOptions
    from lowdim.runtime.param import parameters
    from lowdim.workflow.fit import require_rows
    from lowdim.workflow.missing import complete_table
    from lowdim.workflow.source import read_data
    from lowdim.workflow.standardize import describe_standardization, should_standardize

    table = read_data(data, column_selection(columns, label, id, drop, encode))
    require_rows(table, None)
    complete = complete_table(table, missing)
    settings: dict[str, Any] = {"metric": metric}
    if metric_params is not None:
        declared = parameters(SearchOptions)["metric_params"]
        settings["metric_params"] = parse_value("--metric-params", metric_params, declared)
    table, standardized = complete.table, bool(should_standardize(settings, complete.table, standardize))
    found = lowdim.diagnose(table, **settings, standardize=standardized, sample=sample, random_state=random_state)
    found = replace(found, verdict=advise(found, flags=True))
    lines = [*table_lines(complete), ("columns", describe_standardization(standardized, table))]
    result = {"command": "diagnose", "data": data, **found.to_dict(), **table_data(complete)}
    return CommandOutput(f"{found}\n\n{align(lines)}", result)


def recommend(
    data: Data,
    target: Target = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    standardize: Standardize = None,
    random_state: RandomState = 0,
) -> CommandOutput:
    """Recommend a method and a number of dimensions to start from.

    Says why, with the evidence: size, intrinsic dimension, linear or curved, noise, groups, labels, categories, missing
    values. Prints the command and the Python to run.

    Examples:
      lowdim recommend digits
      lowdim recommend houses.csv --target price

    """
    from pathlib import Path

    import lowdim
    from lowdim.advice._code import CommandLine
    from lowdim.cli.fit_output import column_lines, table_data
    from lowdim.workflow.missing import CompleteTable
    from lowdim.workflow.source import read_with_categories
    from lowdim.workflow.summary import summarize_table

    table, y = read_with_categories(data, column_selection(columns, label, id, drop), target)
    found = lowdim.recommend(table, target=y, standardize=standardize, random_state=random_state)
    named = label or (table.label_name if table.categories else None)
    flags = [("--label", named if target is None else label), ("--id", id)]
    flags += [("--drop", name) for name in drop or ()] + [("--columns", name) for name in columns or ()]
    words = tuple(word for flag, value in flags if value is not None for word in (flag, value))
    standardizes = table.image_shape is None
    found = replace(found, about=CommandLine(data, words, target, table.label_name, standardizes))
    read = [(printable(Path(data).name), printable(summarize_table(table, found.evidence.rows))), *column_lines(table)]
    result = {"command": "recommend", "data": data, **found.to_dict(), **table_data(CompleteTable(table, None))}
    return CommandOutput(f"{found}\n\n{align(read)}", result)
