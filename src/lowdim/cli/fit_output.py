"""Output of the commands that fit: `lowdim map` and `lowdim fit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lowdim.cli.output import CommandOutput, align, printable, written_lines
from lowdim.data.table import Table
from lowdim.workflow.fit import FittedModel
from lowdim.workflow.standardize import describe_standardization
from lowdim.workflow.summary import summarize_fit, summarize_missing, summarize_table

__all__ = ["fit_output"]


def fit_output(
    command: str, data: str, table: Table, fitted: FittedModel, n_rows: int, paths: Sequence[Path], seconds: float
) -> CommandOutput:
    """What was read, done, found and written."""
    lines = [(printable(Path(data).name), printable(summarize_table(table, n_rows)))]
    if fitted.standardized is not None:
        lines.append(("columns", describe_standardization(fitted.standardized, table)))
    if fitted.missing is not None:
        lines.append(("missing", summarize_missing(fitted.missing)))
    lines += [(fitted.method.name, summarize_fit(fitted)), ("time", f"{seconds:.1f} s"), *written_lines(paths)]
    read = {"command": command, "data": data, "rows": n_rows, "columns": list(table.names), "label": table.label_name}
    done = {"seconds": seconds, "written": [str(path) for path in paths]}
    return CommandOutput(align(lines), read | fitted.to_dict() | done, is_status=True)
