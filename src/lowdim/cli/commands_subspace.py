"""`lowdim subspace`: clusters that live in some of the columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lowdim.cli.command import DEFAULT_CLUSTERER, method_choice
from lowdim.cli.options import Columns, Data, Drop, Id, Label, Missing, column_selection
from lowdim.cli.output import CommandOutput, align, printable, written_lines
from lowdim.runtime.display import count

__all__ = ["subspace"]

ClustererName = Annotated[
    str,
    typer.Option("--method", metavar="NAME", help="The clusterer: clique, proclus, pcluster, subclu, doc or mineclus."),
]
ClusterOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .png, .svg, .pdf (a heat map; parallel coordinates or one panel per cluster if the name "
        "ends in parallel or panels), or .csv, .parquet, … (the clusters of each row). Repeatable.",
    ),
]
SaveModel = Annotated[str | None, typer.Option("--save-model", metavar="FILE", help="Save the fitted clusterer.")]

MOST_SHOWN = 20  # clusters in the text; --json has all
LINE, OR = 100, " ∨ "


def subspace(  # noqa: PLR0913  (one argument per flag)
    context: typer.Context,
    data: Data,
    method: ClustererName = DEFAULT_CLUSTERER,
    output: ClusterOutputs = None,
    save_model: SaveModel = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    missing: Missing = None,
) -> CommandOutput:
    """Find clusters that live in some of the columns.

    Prints the rows, columns and, for CLIQUE, DOC and MineClus, the region of each cluster in words.

    Examples:
      lowdim subspace wine --xi 5 --tau 0.1 -o wine.png
      lowdim subspace subspaces --method proclus --n-clusters 3 --n-dimensions 4 -o parallel.png -o clusters.csv

    """
    from lowdim.cli.fit_output import table_data, table_lines
    from lowdim.persistence import save
    from lowdim.workflow.cluster import find_clusters, write_clusters
    from lowdim.workflow.fit import require_rows
    from lowdim.workflow.missing import complete_table
    from lowdim.workflow.output_paths import DRAWINGS, TABLES, check_outputs, check_writable
    from lowdim.workflow.source import read_data

    paths = check_outputs(output or [], (*DRAWINGS, *TABLES), [data])
    model_path = None if save_model is None else Path(save_model).absolute()
    if model_path is not None:
        check_writable(model_path)
    choice = method_choice(context)
    table = read_data(data, column_selection(columns, label, id, drop))
    require_rows(table, None)
    complete = complete_table(table, missing)
    table = complete.table
    model = find_clusters(choice.method, choice.settings, table)
    for path in paths:
        write_clusters(path, model, table, f"{printable(Path(data).name)}, {choice.method.name}")
    if model_path is not None:
        save(model, model_path)
        paths.append(model_path)
    result = {
        "command": "subspace",
        "data": data,
        "method": choice.method.name,
        "parameters": model.get_params(),
        "rows": len(model.labels_),
        "rows_in_clusters": int((model.labels_ >= 0).sum()),
        "clusters": [cluster.to_dict() for cluster in model.clusters_],
        **table_data(complete),
        "written": [str(path) for path in paths],
    }
    return CommandOutput(_text(model, choice.method.name, [*table_lines(complete), *written_lines(paths)]), result)


def _text(model: Any, name: str, further: list[tuple[str, str]]) -> str:
    """One line per cluster, a summary, and what became of columns and files."""
    lines = []
    for c, cluster in enumerate(model.clusters_[:MOST_SHOWN]):
        where = _broken(printable(cluster.description or ", ".join(cluster.names)))
        lines.append((f"cluster {c}", f"{cluster.size:>6,} rows  {where[0]}"))
        lines += [("", f"{'':13}{further}") for further in where[1:]]
    if len(model.clusters_) > MOST_SHOWN:
        lines.append(("…", f"{len(model.clusters_) - MOST_SHOWN} more; --json has all of them"))
    inside = int((model.labels_ >= 0).sum())
    clusters = count(len(model.clusters_), "cluster")
    summary = f"{clusters} by {name}; {inside:,} of {count(len(model.labels_), 'row')} are in one"
    return align([*lines, ("found", summary), *further])


def _broken(where: str) -> list[str]:
    """A region in words, broken before ∨ into lines that fit a terminal where its boxes do."""
    lines: list[str] = []
    for part in where.split(OR):
        if lines and len(lines[-1]) + len(OR) + len(part) <= LINE:
            lines[-1] += OR + part
        else:
            lines.append(("∨ " if lines else "") + part)
    return lines
