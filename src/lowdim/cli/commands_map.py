"""`lowdim map`: read, standardise, reduce, draw."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from lowdim.cli.command import DEFAULT_METHOD, wanted
from lowdim.cli.options import Columns, Data, Drop, Id, Label, MethodName, Standardize, listed
from lowdim.cli.output import Answer, printable

__all__ = ["draw_map"]

Color = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Colour by this column, be it text or numbers. [the labels]")
]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to: .html (interactive), .png .svg .pdf (picture), .csv .tsv .parquet .feather .arrow .npy .npz "
        "(coordinates). May be repeated. [map.html and map.png]",
    ),
]
Keep = Annotated[str | None, typer.Option("--save-model", metavar="FILE", help="Keep the fitted model here.")]


def draw_map(  # noqa: PLR0913  (a flag each)
    context: typer.Context,
    data: Data,
    method: MethodName = DEFAULT_METHOD,
    color: Color = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    standardize: Standardize = None,
    output: Maps = None,
    save_model: Keep = None,
) -> Answer:
    """Draw a map of the rows: read, standardise, reduce, draw.

    lowdim map digits

    lowdim map flowers.csv --color species -o map.html -o map.csv
    """
    from lowdim.persistence import save
    from lowdim.workflow.fit import fit_method, told
    from lowdim.workflow.outputs import MAPS, Map, outputs, require_folder, write_map
    from lowdim.workflow.source import Asked, color_values, read_source

    start = perf_counter()
    paths = outputs(output or ["map.html", "map.png"], MAPS, [data])
    kept = None if save_model is None else Path(save_model).absolute()
    if kept is not None:
        require_folder(kept)
    table = read_source(data, Asked(label, id, listed(drop), listed(columns)), color)
    color_values(table, color)  # a wrong name is told before the work
    fitted = fit_method(wanted(context), table, standardize)
    Z = fitted.places()
    names = [str(axis) for axis in fitted.model.get_feature_names_out()]
    shares = getattr(fitted.reduction, "explained_variance_ratio_", None)
    drawn = Map(Z, names, table, color, id, f"{printable(Path(data).name)}, {fitted.method.name}", shares)
    for path in paths:
        write_map(path, drawn)
    if kept is not None:
        save(fitted.model, kept)
        paths.append(kept)
    return told("map", data, table, fitted, len(Z), paths, perf_counter() - start)
