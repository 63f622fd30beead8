"""One line about a table, and one about a fitted model."""

from __future__ import annotations

from collections.abc import Sequence

from lowdim.base.fit_summary import describe_fit
from lowdim.data.table import ColumnReport, Table
from lowdim.runtime.display import count
from lowdim.workflow.fit import FittedModel
from lowdim.workflow.missing import MissingValues
from lowdim.workflow.source import label_vector

__all__ = ["count", "summarize_columns", "summarize_fit", "summarize_missing", "summarize_table"]

MOST_NAMES = 8  # of columns, in a line


def summarize_table(table: Table, n_rows: int) -> str:
    """Its size, and the name of its labels."""
    if table.kind == "distances":
        size = f"distances between {count(n_rows, 'row')}"
    else:
        size = f"{count(n_rows, 'row')} × {count(len(table.names) + len(table.categories), 'column')}"
    return size if label_vector(table) is None else f"{size}, labels {table.label_name or 'label'!r}"


def summarize_columns(report: ColumnReport) -> list[tuple[str, str]]:
    """What became of the columns: a line for every kind that nobody named."""
    lines = []
    if report.label is not None:
        lines.append(("label", f"{report.label} (text with few values; --label names another)"))
    if report.id == "":
        lines.append(("row names", "the unnamed first column (--id names another)"))
    elif report.id is not None:
        lines.append(("row names", f"{report.id} (all values differ; --id names another)"))
    if report.encoded:
        how = "Gower: equal or different" if report.encoding == "gower" else "one-hot: a column of 0 and 1 per value"
        lines.append(("encoded", f"{_listed(report.encoded)} ({how})"))
    if report.categories:
        lines.append(("categories", f"{_listed(report.categories)} (text; --drop leaves columns out)"))
    if report.annotations:
        lines.append(("not used", f"{_listed(report.annotations)} (text, dates or years, kept beside the numbers)"))
    by_reason: dict[str, list[str]] = {}
    for name, reason in report.left_out:
        by_reason.setdefault(reason, []).append(name)
    lines += [("left out", f"{_listed(names)} ({reason})") for reason, names in by_reason.items()]
    lines += [("note", note) for note in report.notes]
    if report.years:
        used = "used as a number" if len(report.years) == 1 else "used as numbers"
        drop = ",".join(report.years[:MOST_NAMES])
        lines.append(("years", f"{_listed(report.years)} ({used}; leave out by --drop {drop})"))
    if report.constant:
        lines.append(("constant", f"{_listed(report.constant)} (no effect)"))
    return lines


def summarize_missing(missing: MissingValues) -> str:
    """How many values are missing, and what was done about them."""
    if missing.values:
        gaps = f"{count(missing.values, 'value')} in {count(missing.rows, 'row')}"
        done = {
            "em": "estimated by EM",
            "gower": "missing: left out of the comparisons",
            "drop-rows": "missing: the rows were left out",
            "drop-columns": f"missing: left out {_listed(missing.dropped_columns)}",
        }
        parts = [f"{gaps} {done[missing.treatment]}"]
    else:
        parts = []
    if missing.categories:
        became = "the rows were left out" if missing.treatment == "drop-rows" else "a category of its own"
        parts.append(f"{count(missing.categories, 'cell')} of text missing: {became}")
    if missing.empty_rows:
        parts.append(f"{count(missing.empty_rows, 'row')} without any value left out")
    return "; ".join(parts) or "none"


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(names[:MOST_NAMES])
    return text if len(names) <= MOST_NAMES else f"{text}, … ({len(names)} in all)"


def summarize_fit(fitted: FittedModel) -> str:
    """Number of components, explained variance or another measure of fit, and convergence."""
    return ", ".join(describe_fit(fitted.estimator, "--max-iter")) or "fitted"
