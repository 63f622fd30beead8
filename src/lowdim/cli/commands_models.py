"""`lowdim fit`, `transform` and `inverse`: a model file, and rows through it."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli.answer import Answer, aligned, number, printable
from lowdim.cli.command import DEFAULT_METHOD, wanted
from lowdim.cli.options import Columns, Data, Drop, Id, Label, MethodName, ModelPath, Standardize, listed

if TYPE_CHECKING:
    from lowdim.data.table import Table

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
    from lowdim.cli.fitting import described_table, fit_method, headline
    from lowdim.cli.source import Asked, named_rows, read_source
    from lowdim.cli.standardizing import scaling
    from lowdim.cli.writing import require_folder
    from lowdim.models import save

    start = perf_counter()
    path = Path(output).absolute()
    require_folder(path)
    table = read_source(data, Asked(label, id, listed(drop), listed(columns)))
    fitted = fit_method(wanted(context), table, standardize, kept=True)
    save(fitted.model, path)
    rows = int(getattr(fitted.model, "n_samples_", None) or named_rows(table).count)
    seconds = perf_counter() - start
    told = [
        (printable(Path(data).name), described_table(table, rows)),
        ("columns", scaling(fitted.standardized, table)),
        (fitted.method.name, headline(fitted)),
        ("time", f"{seconds:.1f} s"),
        ("wrote", printable(str(path))),
    ]
    data_ = {"command": "fit", "data": data, "rows": rows, "columns": list(table.names), "label": table.label_name}
    return Answer(aligned(told), data_ | fitted.to_dict() | {"seconds": seconds, "written": [str(path)]}, remark=True)


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
    from lowdim.cli.source import Asked
    from lowdim.cli.through import known_columns, load_fitted, through
    from lowdim.cli.writing import TABLES, outputs

    paths = outputs(output, TABLES, [model, data])
    fitted = load_fitted(model)
    asked = Asked(label, id, listed(drop), listed(columns))
    done = through(fitted, fitted.transform, data, asked, known_columns(fitted), int(fitted.n_features_in_))
    names = [str(name) for name in fitted.get_feature_names_out()]
    return _written(done, names, paths, id, {"command": "transform", "model": model, "data": data})


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
    from lowdim.cli.source import Asked
    from lowdim.cli.through import known_columns, load_fitted, through
    from lowdim.cli.writing import TABLES, outputs
    from lowdim.errors import BadParameter

    paths = outputs(output, TABLES, [model, data])
    fitted = load_fitted(model)
    if not hasattr(fitted, "inverse_transform"):
        raise BadParameter(f"{type(fitted).__name__} has no way back; `lowdim methods` tells which methods have.")
    axes = tuple(str(name) for name in fitted.get_feature_names_out())
    done = through(fitted, lambda rows: fitted.inverse_transform(rows.whole()), data, Asked(label, id), axes, len(axes))
    return _written(done, known_columns(fitted), paths, id, {"command": "inverse", "model": model, "data": data})


def _written(
    done: tuple[Table, Any], names: Any, paths: list[Path], id_name: str | None, told: dict[str, Any]
) -> Answer:
    """Write the result with what stands beside it; `told` is what the command knows besides."""
    from lowdim.cli.writing import write_beside

    table, result = done
    for path in paths:
        write_beside(path, result, names, table, id_name)
    rows, columns = result.shape
    lines = [
        ("rows", f"{rows:,}, now of {number(columns, 'column')}"),
        *(("" if i else "wrote", printable(str(path))) for i, path in enumerate(paths)),
    ]
    found = {"rows": rows, "columns": columns, "written": [str(path) for path in paths]}
    return Answer(aligned(lines), told | found, remark=True)
