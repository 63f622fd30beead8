"""Arguments and options that several commands share."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.data.io.column_roles import ColumnSelection

__all__ = [
    "Cluster",
    "Color",
    "Columns",
    "Data",
    "DataFiles",
    "Drop",
    "Encode",
    "Id",
    "Label",
    "MethodName",
    "MetricName",
    "MetricParams",
    "Missing",
    "ModelPath",
    "NumericOnly",
    "RandomState",
    "Standardize",
    "TableOutputs",
    "Target",
    "column_selection",
    "one_table",
    "split_names",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (.csv, .parquet, .xlsx, .npy, …), - for standard input, or a built-in data set.",
    ),
]
DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A file (.csv, .parquet, .xlsx, .npy, …), a folder or pattern of Parquet files, - for standard input, or "
        "a built-in data set.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask scheduler (tcp://host:8786), whose workers read the Parquet files of DATA; 'local' "
        "starts workers on this machine.",
        show_default="this process",
    ),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A file written by `fit` or `map --save-model`.")]
MetricName = Annotated[str, typer.Option(metavar="NAME", help="Distance between rows.")]
MetricParams = Annotated[
    str | None,
    typer.Option(metavar="VALUES", help="Parameters of the metric: p=3, or as JSON.", show_default="none"),
]
MethodName = Annotated[str, typer.Option("--method", metavar="NAME", help="The method; `lowdim methods` lists them.")]
Label = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of labels; kept, but not reduced.")]
Id = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row names; kept, but not reduced.")]
Target = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of classes or numbers that supervises the method; not reduced."),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to leave out, comma-separated. Repeatable.")
]
Color = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Any column of the file to color by, text or numbers.", show_default="the labels"
    ),
]
Columns = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to use, comma-separated. Repeatable.")
]
Encode = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="Text that is neither label nor row names: drop, one-hot (0 and 1 per value), or gower (categories, for "
        "methods with --metric; missing values are allowed then). MCA and FAMD take it as categories anyway.",
    ),
]
NumericOnly = Annotated[
    bool, typer.Option("--numeric-only", help="Read numbers alone; take no label or row names from text.")
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="Missing values: em (estimate them), drop-rows, drop-columns or error. Rows without any value are left "
        "out.",
        show_default="em",
    ),
]
TableOutputs = Annotated[
    list[str],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .csv, .tsv, .parquet, .feather, .arrow, .npy or .npz. Repeatable.",
    ),
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Divide every column by its standard deviation.",
        show_default="standardize, unless rows are images",
    ),
]
RandomState = Annotated[
    int, typer.Option("--random-state", metavar="N", min=0, help="Seed of the random number generator.")
]


def column_selection(
    columns: Sequence[str] | None,
    label: str | None,
    id: str | None,
    drop: Sequence[str] | None,
    encode: str = "drop",
    numeric_only: bool = False,
) -> ColumnSelection:
    """The columns that --columns, --label, --id and --drop name, and what becomes of the others."""
    from lowdim.data.io.column_roles import ColumnSelection

    used = split_names(columns) or None
    return ColumnSelection.of(used, label, id, split_names(drop), flags=True, encode=encode, numeric_only=numeric_only)


def one_table(data: Sequence[str]) -> str:
    """DATA as one argument: a shell may have replaced a pattern by the files that match it."""
    if len(data) == 1:
        return data[0]
    folder, ending = Path(data[0]).parent, Path(data[0]).suffix
    pattern = folder / f"*{ending}"
    if ending and sorted(map(Path, data)) == sorted(folder.glob(f"*{ending}")):
        return str(pattern)
    raise BadParameter(
        f"DATA is {len(data)} files, which are not all {ending or 'the'} files of one folder. Give the folder, or a "
        "quoted pattern: 'folder/part-*.parquet'."
    )


def split_names(words: Sequence[str] | None) -> tuple[str, ...]:
    """The column names of a repeatable flag, split at commas; quotes protect a comma in a name."""
    if not words:
        return ()
    try:
        names = [name for row in csv.reader(words, skipinitialspace=True, strict=True) for name in row]
    except csv.Error as error:
        raise BadParameter(f"column names {', '.join(words)!r} can't be split at commas: {error}.") from error
    return tuple(names)
