"""Output of the commands that fit: `lowdim map` and `lowdim fit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lowdim.cli.output import CommandOutput, align, printable, written_lines
from lowdim.data.table import Table
from lowdim.workflow.fit import FittedModel
from lowdim.workflow.map_quality import JudgedMap
from lowdim.workflow.missing import CompleteTable
from lowdim.workflow.standardize import describe_standardization
from lowdim.workflow.summary import summarize_columns, summarize_fit, summarize_missing, summarize_table

__all__ = ["column_lines", "fit_output", "table_data", "table_lines"]


def column_lines(table: Table) -> list[tuple[str, str]]:
    """A line for every kind of column that was not named: label, row names, annotations, left out, constant."""
    report = table.report
    return [] if report is None else [(head, printable(text)) for head, text in summarize_columns(report)]


def table_lines(complete: CompleteTable) -> list[tuple[str, str]]:
    """What became of the columns and of missing values."""
    missing = complete.missing
    lines = column_lines(complete.table)
    return lines if missing is None else [*lines, ("missing", printable(summarize_missing(missing)))]


def table_data(complete: CompleteTable) -> dict[str, Any]:
    """The same for programs."""
    report, missing = complete.table.report, complete.missing
    data = {} if report is None else {"column_report": asdict(report)}
    return data if missing is None else data | missing.to_dict()


def fit_output(
    command: str,
    data: str,
    table: Table,
    fitted: FittedModel,
    n_rows: int,
    paths: Sequence[Path],
    seconds: float,
    judged: JudgedMap | None = None,
) -> CommandOutput:
    """What was read, done, found and written, and how far a map can be trusted."""
    lines = [(printable(Path(data).name), printable(summarize_table(table, n_rows))), *column_lines(table)]
    if fitted.standardized is not None:
        lines.append(("columns", describe_standardization(fitted.standardized, table)))
    if fitted.missing is not None:
        lines.append(("missing", summarize_missing(fitted.missing)))
    lines += [(fitted.method.name, summarize_fit(fitted))]
    lines += [] if judged is None else [(head, printable(text)) for head, text in judged.lines()]
    lines += [("time", f"{seconds:.1f} s"), *written_lines(paths)]
    read = {"command": command, "data": data, "rows": n_rows, "columns": list(table.names), "label": table.label_name}
    if table.report is not None:
        read["column_report"] = asdict(table.report)
    done = {"seconds": seconds, "written": [str(path) for path in paths]}
    found = fitted.to_dict() | ({} if judged is None else judged.to_dict())
    return CommandOutput(align(lines), read | found | done, is_status=True)
