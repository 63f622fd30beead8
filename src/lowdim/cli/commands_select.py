"""`lowdim select`: which features to keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lowdim.cli.command import method_choice
from lowdim.cli.options import Columns, Data, Drop, Id, Missing, column_selection
from lowdim.cli.output import CommandOutput, align, printable, written_lines
from lowdim.runtime.display import count

__all__ = ["select"]

SelectionTarget = Annotated[
    str | None,
    typer.Option("--target", metavar="COLUMN", help="Column of classes or numbers.", show_default="the labels"),
]
SelectorName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="One selector: variance, correlation, f, fisher, chi2, mutual_information, mrmr, hsic_lasso, relieff, "
        "surf, multisurf, laplacian, principal_features, forward, backward, sffs, sbfs, rfe or boruta.",
        show_default="compare the filters",
    ),
]
Count = Annotated[
    str | None,
    typer.Option("--k", metavar="K", help="Features to select: a number, a share, or 'best' for searches."),
]
Folds = Annotated[int, typer.Option("--cv", metavar="N", min=2, help="Folds of the cross-validation.")]
Resamples = Annotated[
    int, typer.Option("--resamples", metavar="N", min=2, help="Random halves that stability is measured on.")
]
SelectionSeed = Annotated[
    int, typer.Option("--random-state", metavar="N", min=0, help="Seed of the random number generator.")
]
SelectionOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .png, .svg, .pdf (picture), .csv, .tsv, .parquet, … (with --method the selected columns, "
        "else the ranks). Repeatable.",
    ),
]


def select(  # noqa: PLR0913  (one argument per flag)
    context: typer.Context,
    data: Data,
    target: SelectionTarget = None,
    method: SelectorName = None,
    k: Count = None,
    cv: Folds = 5,
    resamples: Resamples = 20,
    random_state: SelectionSeed = 0,
    output: SelectionOutputs = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    missing: Missing = None,
) -> CommandOutput:
    """Select the features that matter for a target.

    Without --method, ranks the features by every filter, and says how stable each choice is and how optimistic its
    score. With one, runs that filter or search, and can write the selected columns.

    Examples:
      lowdim select wine -o ranks.png
      lowdim select flowers.csv --target species --method mrmr --k 2 -o selected.csv
      lowdim select wine --method sffs -o path.png

    """
    from lowdim.cli.fit_output import table_data, table_lines
    from lowdim.select._catalog import find_selector
    from lowdim.workflow.fit import require_rows
    from lowdim.workflow.missing import complete_table
    from lowdim.workflow.output_paths import DRAWINGS, TABLES, check_outputs
    from lowdim.workflow.selection import describe_selection, fit_selector, selection_data, write_selection
    from lowdim.workflow.source import label_vector, read_with_target

    paths = check_outputs(output or [], (*DRAWINGS, *TABLES), [data])
    table, y = read_with_target(data, column_selection(columns, None, id, drop), target)
    require_rows(table, None)
    y = label_vector(table) if y is None else y
    complete = complete_table(table, missing)
    table, y = complete.table, complete.rows_of(y)
    if method is None:
        return _compare(data, complete, y, paths, k=k, cv=cv, n_resamples=resamples, random_state=random_state)
    cls, preset = find_selector(method)
    settings = _settings(cls, {"k": k, "cv": cv, "random_state": random_state}) | preset
    model = fit_selector(cls, settings | method_choice(context).settings, table, y)
    names = [printable(name) for name in table.names]
    for path in paths:
        write_selection(path, model, table, id, f"{printable(Path(data).name)}, {cls.__name__}")
    chosen = [("selected", f"{model.support_.sum()} of {count(len(names), 'feature')}")]
    lines = [*table_lines(complete), *chosen, *written_lines(paths)]
    found = {"command": "select", "data": data, **selection_data(model, table.names), **table_data(complete)}
    text = f"{cls.__name__}: {cls._method.title}\n\n{describe_selection(model, names)}\n\n{align(lines)}"
    return CommandOutput(text, {**found, "written": [str(path) for path in paths]})


def _compare(data: str, complete: Any, y: Any, paths: list[Path], *, k: str | None, **options: Any) -> CommandOutput:
    """Every filter side by side."""
    import lowdim
    from lowdim.cli.fit_output import table_data, table_lines
    from lowdim.workflow.fit import naming_nonfinite
    from lowdim.workflow.selection import require_target, write_ranking

    table = complete.table
    require_target(table, y)
    rows = table.rows()
    with naming_nonfinite(rows, table, None):
        found = lowdim.select.compare(rows, y, k=_count(k), **options)
    for path in paths:
        write_ranking(path, found, f"Which features? {printable(Path(data).name)}")
    result = {
        "command": "select",
        "data": data,
        **found.to_dict(),
        **table_data(complete),
        "written": [str(path) for path in paths],
    }
    lines = align([*table_lines(complete), *written_lines(paths)])
    text = "\n\n".join(part for part in (str(found), lines) if part)
    return CommandOutput(text, result)


def _settings(cls: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The command's own flags that the selector has; --k must be one of them if it is given."""
    from lowdim.cli.values import parse_value
    from lowdim.errors import BadParameter
    from lowdim.runtime.param import parameters

    known = parameters(cls)
    if given["k"] is not None:
        if "k" not in known:
            raise BadParameter(f"--k has no effect on {cls.__name__}, which finds the number of features itself.")
        given = given | {"k": parse_value("--k", given["k"], known["k"])}
    return {name: value for name, value in given.items() if name in known and value is not None}


def _count(word: str | None) -> Any:
    """A number of features, or a share."""
    from lowdim.errors import BadParameter
    from lowdim.select._selector import COUNT

    if word is None:
        return None
    try:
        value: Any = int(word) if word.strip().lstrip("+-").isdecimal() else float(word)
    except ValueError:
        value = None
    if not COUNT.accepts(value):
        raise BadParameter(f"--k must be {COUNT.text}; got {word!r}.")
    return value
