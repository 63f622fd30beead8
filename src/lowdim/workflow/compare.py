"""Compare methods on a table from the command line, and say how to do it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lowdim.data import datasets
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.registry import find_method
from lowdim.report.comparison import CompareOptions, MethodComparison, compare_table
from lowdim.report.reproduce import Reproduction, python_code
from lowdim.workflow.fit import naming_nonfinite
from lowdim.workflow.given_maps import read_maps
from lowdim.workflow.missing import CompleteTable, complete_table
from lowdim.workflow.source import column_values, read_with_target
from lowdim.workflow.summary import summarize_missing

__all__ = ["GivenMaps", "compare_data"]


@dataclass(frozen=True)
class GivenMaps:
    """Files of coordinates."""

    paths: Sequence[str]
    axes: Sequence[str] | None  # columns; None for all that hold coordinates


def compare_data(
    data: str,
    selection: ColumnSelection,
    methods: str | GivenMaps | None,
    options: CompareOptions,
    *,
    missing: str | None = None,
    target: str | None = None,
    color: str | None = None,
    words: Sequence[str] = (),
) -> tuple[MethodComparison, CompleteTable]:
    """Read, complete, fit (or read coordinates) and measure; `words` are those of the command line."""
    table, y = read_with_target(data, selection, target, color)
    given = read_maps(methods.paths, methods.axes, table) if isinstance(methods, GivenMaps) else None
    colors = None if color is None else column_values(data, table, selection, color, "color")
    gower = table.encode == "gower" and table.kind != "distances"
    complete = complete_table(table, missing, find_method("umap") if gower else None)
    if gower:
        options = CompareOptions(**{**vars(options), "metric": "gower"})
    done = [] if complete.missing is None else [("missing", summarize_missing(complete.missing))]
    code = ""
    if not isinstance(methods, GivenMaps):
        code = _python(data, selection, methods, options, complete, target)
    again = Reproduction(code, shlex.join(["lowdim", *words]))
    table = complete.table
    compared: Any = methods if given is None else {name: complete.rows_of(Z) for name, Z in given.items()}
    with naming_nonfinite(table.rows(), table, None):
        result = compare_table(
            table,
            compared,
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
