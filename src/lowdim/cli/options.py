"""Arguments and flags that several commands share."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Annotated

import typer

from lowdim.errors import BadParameter

__all__ = [
    "Columns",
    "Data",
    "Drop",
    "Id",
    "Label",
    "MethodName",
    "ModelPath",
    "Outputs",
    "Seed",
    "Standardize",
    "listed",
]

Data = Annotated[
    str,
    typer.Argument(metavar="DATA", help="A file (.csv, .tsv, .parquet, .arrow, .npy, .npz …) or a built-in data set."),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A file that `fit` or `map --save-model` wrote.")]
MethodName = Annotated[str, typer.Option("--method", metavar="NAME", help="`lowdim methods` lists them.")]
Label = Annotated[str | None, typer.Option(metavar="COLUMN", help="A label for each row: kept, not reduced.")]
Id = Annotated[str | None, typer.Option(metavar="COLUMN", help="A name for each row: kept, not reduced.")]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Leave these out: a,b or repeated.")]
Columns = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Use these alone: a,b or repeated.")]
Outputs = Annotated[list[str] | None, typer.Option("--output", "-o", metavar="FILE")]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Divide every column by its standard deviation, or not.",
        show_default="yes, unless rows are images",
    ),
]
Seed = Annotated[int, typer.Option("--random-state", metavar="N", min=0, help="Seed of the random draws.")]


def listed(words: Sequence[str] | None) -> tuple[str, ...]:
    """Names from a repeated flag, each word split at its commas; quotes hold a name with a comma together."""
    if not words:
        return ()
    try:
        names = [name for row in csv.reader(words, skipinitialspace=True, strict=True) for name in row]
    except csv.Error as error:
        raise BadParameter(f"column names {', '.join(words)!r} can't be split at commas: {error}.") from error
    return tuple(names)
