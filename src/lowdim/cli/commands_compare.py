"""`lowdim compare` and `lowdim quality`: maps side by side, made here or elsewhere, and how far each can be trusted."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli.options import (
    Color,
    Columns,
    Data,
    Drop,
    Encode,
    Id,
    Label,
    MetricName,
    Missing,
    NumericOnly,
    RandomState,
    Standardize,
    Target,
    column_selection,
    split_names,
)
from lowdim.cli.output import CommandOutput, align, printable, written_lines

if TYPE_CHECKING:
    from lowdim.report.comparison import MethodComparison
    from lowdim.workflow.missing import CompleteTable

__all__ = ["compare", "measure_maps"]

Methods = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Methods, comma-separated; `lowdim methods` lists them.",
        show_default="pca,isomap,tsne,umap; isomap up to 10,000 rows",
    ),
]
Neighbors = Annotated[int, typer.Option("--k", metavar="N", min=1, help="Neighbors that the measures compare.")]
Null = Annotated[
    bool | None,
    typer.Option(
        "--null/--no-null",
        help="Fit every method to shuffled columns too, and show its figures there: what chance alone would give.",
        show_default="up to 5,000 rows",
    ),
]
Maps = Annotated[
    list[str],
    typer.Argument(metavar="MAP...", help="Files of coordinates (.csv, .parquet, .npy, …), one row per row of DATA."),
]
Axes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns of MAP that hold coordinates, comma-separated. Repeatable.",
        show_default="all numbers but label and id",
    ),
]
QualityOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .html (the report), .csv, .tsv, .parquet, .feather, .arrow, .npy, .npz (the values of every "
        "point). Repeatable.",
        show_default="none",
    ),
]
ReportOutput = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The report to write: .html.")]


def compare(  # noqa: PLR0913  (one argument per flag)
    data: Data,
    methods: Methods = None,
    color: Color = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    target: Target = None,
    encode: Encode = "drop",
    numeric_only: NumericOnly = False,
    missing: Missing = None,
    standardize: Standardize = None,
    metric: MetricName = "euclidean",
    k: Neighbors = 15,
    random_state: RandomState = 0,
    null: Null = None,
    output: ReportOutput = "compare.html",
) -> CommandOutput:
    """Compare methods on DATA, and say how far each of their maps can be trusted.

    Writes one page that works offline: the maps side by side and linked, figures with intervals and baselines, words.

    Examples:
      lowdim compare digits
      lowdim compare flowers.csv --methods pca,umap --label species -o report.html

    """
    from lowdim.report.comparison import CompareOptions
    from lowdim.workflow.compare import compare_data
    from lowdim.workflow.output_paths import PAGES, check_outputs

    start = perf_counter()
    paths = check_outputs([output], PAGES, [data])
    selection = column_selection(columns, label, id, drop, encode, numeric_only)
    title = f"{printable(Path(data).name)}, compared"
    options = CompareOptions(standardize, metric, k, title=title, random_state=random_state, null=null)
    result, complete = compare_data(
        data, selection, methods, options, missing=missing, target=target, color=color, words=_words("compare", data)
    )
    result.save(paths[0])
    return _output("compare", data, result, complete, paths, perf_counter() - start)


def measure_maps(  # noqa: PLR0913  (one argument per flag)
    data: Data,
    maps: Maps,
    axes: Axes = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    encode: Encode = "drop",
    numeric_only: NumericOnly = False,
    missing: Missing = None,
    standardize: Standardize = None,
    metric: MetricName = "euclidean",
    k: Neighbors = 15,
    random_state: RandomState = 0,
    output: QualityOutputs = None,
) -> CommandOutput:
    """Measure how far maps of DATA can be trusted: coordinates of any program, one row per row of DATA.

    Prints every measure with its interval and baselines, and words; writes the values of points, or a page.

    Examples:
      lowdim map wine --method umap -o umap.csv && lowdim quality wine umap.csv
      lowdim quality cells.parquet tsne.csv umap.csv --label type -o report.html -o points.csv

    """
    from lowdim.report.comparison import CompareOptions
    from lowdim.workflow.compare import GivenMaps, compare_data
    from lowdim.workflow.given_maps import write_point_values
    from lowdim.workflow.output_paths import PAGES, TABLES, check_outputs

    start = perf_counter()
    paths = check_outputs(output or [], (*PAGES, *TABLES), [data, *maps])
    selection = column_selection(columns, label, id, drop, encode, numeric_only)
    title = f"{printable(Path(data).name)}, {'a map' if len(maps) == 1 else 'maps'} measured"
    options = CompareOptions(standardize, metric, k, title=title, random_state=random_state)
    given = GivenMaps(maps, None if axes is None else split_names(axes))
    result, complete = compare_data(
        data, selection, given, options, missing=missing, words=_words("quality", data, *maps)
    )
    for path in paths:
        if path.suffix.lower() in PAGES:
            result.save(path)
        else:
            write_point_values(path, result, id)
    return _output("quality", data, result, complete, paths, perf_counter() - start)


def _words(command: str, *arguments: str) -> list[str]:
    """The words of the command line, or what they must have been where the program was called from Python."""
    return sys.argv[1:] if sys.argv[1:2] == [command] else [command, *arguments]


def _output(
    command: str, data: str, result: MethodComparison, complete: CompleteTable, paths: list[Path], seconds: float
) -> CommandOutput:
    from lowdim.cli.fit_output import table_data, table_lines

    lines = [*table_lines(complete), *result.done, ("time", f"{seconds:.1f} s"), *written_lines(paths)]
    found = result.to_dict()
    found.pop("maps")
    done = {"seconds_in_all": seconds, "written": [str(path) for path in paths]}
    text = f"{result}\n\n{align((name, printable(words)) for name, words in lines)}"
    return CommandOutput(text, {"command": command, "data": data, **found, **table_data(complete), **done})
