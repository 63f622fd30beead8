"""`lowdim fit`, `transform` and `inverse`: a model file, and rows through it."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli.command import DEFAULT_METHOD, wanted
from lowdim.cli.options import Columns, Data, Drop, Id, Label, MethodName, ModelPath, Standardize, listed
from lowdim.cli.output import Answer, aligned, number, wrote

if TYPE_CHECKING:
    from lowdim.workflow.source import Asked

__all__ = ["fit", "inverse", "transform"]

ModelOutput = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The model file; .lowdim is usual.")]
Tables = Annotated[
    list[str],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to: .csv .tsv .parquet .feather .arrow .npy .npz. May be repeated.",
    ),
]


def fit(  # noqa: PLR0913  (a flag each)
    context: typer.Context,
    data: Data,
    output: ModelOutput,
    method: MethodName = DEFAULT_METHOD,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    standardize: Standardize = None,
) -> Answer:
    """Fit a method, and keep the model in a file.

    lowdim fit flowers.csv --label species -o flowers.lowdim
    """
    from lowdim.persistence import save
    from lowdim.workflow.fit import fit_method, told
    from lowdim.workflow.outputs import require_folder
    from lowdim.workflow.source import Asked, named_rows, read_source

    start = perf_counter()
    path = Path(output).absolute()
    require_folder(path)
    table = read_source(data, Asked(label, id, listed(drop), listed(columns)))
    fitted = fit_method(wanted(context), table, standardize)
    save(fitted.model, path)
    rows = int(getattr(fitted.reduction, "n_samples_", None) or named_rows(table).count)
    return told("fit", data, table, fitted, rows, [path], perf_counter() - start)


def transform(
    model: ModelPath,
    data: Data,
    output: Tables,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
) -> Answer:
    """Put rows on the map of a model. Columns are found by the names that the model knows.

    lowdim transform flowers.lowdim new.csv -o z.csv
    """
    from lowdim.workflow.source import Asked

    return _sent("transform", model, data, output, Asked(label, id, listed(drop), listed(columns)))


def inverse(
    model: ModelPath,
    data: Annotated[str, typer.Argument(metavar="Z", help="Coordinates: a file that `transform` or `map` wrote.")],
    output: Tables,
    label: Label = None,
    id: Id = None,
) -> Answer:
    """Take coordinates back to the space of the data.

    lowdim inverse flowers.lowdim z.csv -o x.csv
    """
    from lowdim.workflow.source import Asked

    return _sent("inverse", model, data, output, Asked(label, id))


def _sent(command: str, model: str, data: str, output: list[str], asked: Asked) -> Answer:
    """Send a table through the model of a file, one way or the other, and write the result with ids and labels."""
    from lowdim.workflow.apply import WAYS, load_fitted
    from lowdim.workflow.outputs import TABLES, outputs, write_beside

    paths = outputs(output, TABLES, [model, data])
    table, result, names = WAYS[command](load_fitted(model), data, asked)
    for path in paths:
        write_beside(path, result, names, table, asked.id)
    rows, columns = result.shape
    lines = [("rows", f"{rows:,}, now of {number(columns, 'column')}"), *wrote(paths)]
    found = {"rows": rows, "columns": columns, "written": [str(path) for path in paths]}
    return Answer(aligned(lines), {"command": command, "model": model, "data": data} | found, remark=True)
