"""Compare methods on a table from the command line, and say how to do it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from lowdim.data import datasets
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.registry import find_method
from lowdim.report.comparison import CompareOptions, MethodComparison, compare_table
from lowdim.report.reproduce import Reproduction, python_code
from lowdim.workflow.fit import naming_nonfinite
from lowdim.workflow.missing import CompleteTable, complete_table
from lowdim.workflow.source import column_values, read_with_target
from lowdim.workflow.summary import summarize_missing

__all__ = ["compare_data"]


def compare_data(
    data: str,
    selection: ColumnSelection,
    methods: str | None,
    options: CompareOptions,
    *,
    missing: str | None = None,
    target: str | None = None,
    color: str | None = None,
    words: Sequence[str] = (),
) -> tuple[MethodComparison, CompleteTable]:
    """Read, complete, fit and measure; `words` are those of the command line."""
    table, y = read_with_target(data, selection, target, color)
    colors = None if color is None else column_values(data, table, selection, color, "color")
    gower = table.encode == "gower" and table.kind != "distances"
    complete = complete_table(table, missing, find_method("umap") if gower else None)
    if gower:
        options = CompareOptions(**{**vars(options), "metric": "gower"})
    done = [] if complete.missing is None else [("missing", summarize_missing(complete.missing))]
    again = Reproduction(_python(data, selection, methods, options, complete, target), shlex.join(["lowdim", *words]))
    table = complete.table
    with naming_nonfinite(table.rows(), table, None):
        result = compare_table(
            table,
            methods,
            options,
            y=complete.rows_of(y),
            again=again,
            done=done,
            colors=complete.rows_of(colors),
            color_name=color,
        )
    return result, complete


def _python(
    data: str,
    selection: ColumnSelection,
    methods: str | None,
    options: CompareOptions,
    complete: CompleteTable,
    target: str | None,
) -> str:
    """The same in Python, where the library itself reads the data so; else nothing."""
    chosen = selection.columns or selection.label or selection.id or selection.drop or selection.numeric_only
    built_in = data in datasets.names()
    treated = complete.missing is not None and complete.missing.treatment != "em"
    if data == "-" or treated or target is not None or complete.kept is not None or (built_in and chosen):
        return ""
    asked: dict[str, Any] = {
        "columns": None if selection.columns is None else list(selection.columns),
        "label": selection.label,
        "id": selection.id,
        "drop": list(selection.drop),
        "encode": selection.encode,
        "numeric_only": selection.numeric_only,
    }
    plain: dict[str, Any] = {
        "columns": None,
        "label": None,
        "id": None,
        "drop": [],
        "encode": "drop",
        "numeric_only": False,
    }
    arguments = [repr(data), *(f"{name}={value!r}" for name, value in asked.items() if value != plain[name])]
    read = f"lowdim.datasets.load({data!r})" if built_in else f"lowdim.read_table({', '.join(arguments)})"
    settings = {name: value for name, value in vars(options).items() if name != "n_jobs"}
    return python_code(methods, settings, [f"X = {read}"])
