"""`lowdim compare`: several methods side by side, and how far each map can be trusted."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from lowdim.cli.options import (
    Color,
    Columns,
    Data,
    Drop,
    Encode,
    Id,
    Label,
    Missing,
    NumericOnly,
    RandomState,
    Standardize,
    Target,
    column_selection,
)
from lowdim.cli.output import CommandOutput, align, printable, written_lines

__all__ = ["compare"]

Methods = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Methods, comma-separated; `lowdim methods` lists them.",
        show_default="pca,isomap,tsne,umap; isomap up to 10,000 rows",
    ),
]
Neighbors = Annotated[int, typer.Option("--k", metavar="N", min=1, help="Neighbors that the measures compare.")]
MetricName = Annotated[str, typer.Option(metavar="NAME", help="Distance between rows.")]
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
    output: ReportOutput = "compare.html",
) -> CommandOutput:
    """Compare methods on DATA, and say how far each of their maps can be trusted.

    Writes one page that works offline: the maps side by side and linked, figures with intervals and baselines, words.

    Examples:
      lowdim compare digits
      lowdim compare flowers.csv --methods pca,umap --label species -o report.html

    """
    from lowdim.cli.fit_output import table_data, table_lines
    from lowdim.report.comparison import CompareOptions
    from lowdim.workflow.compare import compare_data
    from lowdim.workflow.outputs import PAGES, check_outputs

    start = perf_counter()
    paths = check_outputs([output], PAGES, [data])
    selection = column_selection(columns, label, id, drop, encode, numeric_only)
    title = f"{printable(Path(data).name)}, compared"
    options = CompareOptions(standardize, metric, k, title=title, random_state=random_state)
    words = sys.argv[1:] if sys.argv[1:2] == ["compare"] else ["compare", data]
    result, complete = compare_data(
        data, selection, methods, options, missing=missing, target=target, color=color, words=words
    )
    result.save(paths[0])
    spent = perf_counter() - start
    lines = [*table_lines(complete), *result.done, ("time", f"{spent:.1f} s"), *written_lines(paths)]
    found = result.to_dict()
    found.pop("maps")
    done = {"seconds_in_all": spent, "written": [str(path) for path in paths]}
    text = f"{result}\n\n{align((name, printable(words)) for name, words in lines)}"
    return CommandOutput(text, {"command": "compare", "data": data, **found, **table_data(complete), **done})
