"""`lowdim choose` and `lowdim diagnose`: look before reducing."""

from __future__ import annotations

from typing import Annotated

import typer

from lowdim.cli.options import Columns, Data, Drop, Id, Label, Seed, Standardize, listed
from lowdim.cli.output import Answer, printable

__all__ = ["choose", "diagnose"]

Replicates = Annotated[int, typer.Option(metavar="N", min=1, help="Shuffled tables that parallel analysis makes.")]
Sample = Annotated[int, typer.Option(metavar="N", min=3, help="The most rows on which distances are measured.")]
Pictures = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", metavar="FILE", help="Draw the scree: .png .svg .pdf. May be repeated."),
]


def choose(  # noqa: PLR0913  (a flag each)
    data: Data,
    standardize: Standardize = None,
    replicates: Replicates = 100,
    random_state: Seed = 0,
    output: Pictures = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
) -> Answer:
    """How many components: what every rule says, and why.

    lowdim choose wine -o scree.png
    """
    import lowdim
    from lowdim.cli.flags import find_method
    from lowdim.workflow.fit import explained_gaps, refuse_distances
    from lowdim.workflow.outputs import PICTURES, outputs, save_picture
    from lowdim.workflow.source import Asked, named_rows, read_source
    from lowdim.workflow.standardize import scaling, standardized

    paths = outputs(output or [], PICTURES, [data])
    table = read_source(data, Asked(label, id, listed(drop), listed(columns)))
    pca = find_method("pca")
    refuse_distances(table, pca)
    rows, scaled = named_rows(table), bool(standardized({}, table, standardize))
    with explained_gaps(rows, table, None):
        found = lowdim.choose.table(rows, standardize=scaled, replicates=replicates, random_state=random_state)
    for path in paths:
        save_picture(path, found.plot)
    lines = [str(found), "", f"columns  {scaling(scaled, table)}"]
    lines += [f"wrote    {printable(str(path))}" for path in paths]
    data_ = {"command": "choose", "data": data, **found.to_dict()}
    return Answer("\n".join(lines), data_ | {"written": [str(path) for path in paths]})


def diagnose(
    data: Data,
    sample: Sample = 2000,
    random_state: Seed = 0,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
) -> Answer:
    """What so many dimensions do to this table, and what helps.

    lowdim diagnose digits
    """
    import lowdim
    from lowdim.workflow.fit import refuse_distances
    from lowdim.workflow.source import Asked, named_rows, read_source

    table = read_source(data, Asked(label, id, listed(drop), listed(columns)))
    refuse_distances(table, None)
    found = lowdim.diagnose(named_rows(table), sample=sample, random_state=random_state)
    return Answer(str(found), {"command": "diagnose", "data": data, **found.to_dict()})
