"""The table that methods are compared on: read from whatever was given, completed, and described."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows, StreamRows
from lowdim.data.table import NamedArrayRows, Table, default_names
from lowdim.data.target import target_array
from lowdim.data.validation import FeatureRecord, read_rows
from lowdim.decomposition.ppca_em import impute_by_em
from lowdim.errors import BadInput, NotEnoughData
from lowdim.plot._point_colors import Categories, read_labels
from lowdim.runtime.display import count
from lowdim.runtime.threads import thread_count
from lowdim.runtime.warning import warn

__all__ = ["class_labels", "complete_rows", "data_facts", "label_column", "read_compared"]

Fact = tuple[str, str]
Array = NDArray[Any]

FEWEST_ROWS = 4
MOST_NAMES = 8  # of columns, in a line
MOST_CLASSES = 100  # above this, labels are no groups
SHARE = 0.8  # of the variance that the components explain by which values are estimated, as on the command line


def read_compared(X: Any, labels: Any, label_name: str | None, ids: Any, metric: str) -> Table:
    """X as a table in memory, with labels and ids: of a `Table` or a file its own, unless others are given."""
    if isinstance(X, str | os.PathLike):
        from lowdim.data.io.read import read_table

        X = read_table(X)
    if isinstance(X, Table):
        table = X if isinstance(X.rows(), NamedArrayRows) or X.rows().sparse else replace(X, X=X.named_rows())
    else:
        rows = _read(X)
        names = tuple(str(name) for name in getattr(rows, "feature_names", None) or default_names(rows.d))
        table = Table(rows, names, kind="distances" if metric == "precomputed" else "rows")
    n = table.rows().count
    if labels is not None:
        table = replace(table, labels=_vector(labels, n, "labels"), label_name=label_name or _name(labels))
    elif label_name is not None:
        table = replace(table, label_name=label_name)
    if ids is not None:
        table = replace(table, ids=_vector(ids, n, "ids"))
    return table


def _read(X: Any) -> Rows:
    record = FeatureRecord()
    rows = read_rows(record, X, fitting=True)
    if isinstance(rows, StreamRows):
        raise BadInput("methods are compared on all rows at once; give an array, a dataframe or a file, no stream.")
    names = getattr(record, "feature_names_in_", None)
    if rows.sparse:
        return rows
    return NamedArrayRows(rows.whole(), None if names is None else tuple(str(name) for name in names))


def _vector(values: Any, n: int, what: str) -> Array:
    out = target_array(values)
    if out.ndim != 1 or len(out) != n:
        raise BadInput(f"{what} must have one entry per row ({n}); got shape {out.shape}.")
    return out


def _name(labels: Any) -> str | None:
    name = getattr(labels, "name", None)
    return name if isinstance(name, str) else None


def label_column(table: Table) -> Array | None:
    """One label per row: the first column, where a data set has several."""
    labels = table.labels
    return labels if labels is None or np.ndim(labels) == 1 else labels[:, 0]


def class_labels(table: Table) -> Array | None:
    """Labels that are groups, for the measures that compare groups; None if they are numbers, or some are missing."""
    labels = label_column(table)
    found = None if labels is None else read_labels(labels, len(labels))
    if not isinstance(found, Categories) or not 2 <= len(found.names) <= MOST_CLASSES:
        return None
    names = np.asarray(found.names)
    complete = len(set(found.names)) == len(names) and not read_missing(found)
    return names[found.codes] if complete else None


def read_missing(found: Categories) -> bool:
    """Whether a category stands for rows without a label."""
    from lowdim.plot._colors import ABSENT

    return ABSENT in found.colors


def complete_rows(table: Table, metric: str, n_jobs: int | None) -> tuple[Table, list[Fact]]:
    """The table with its missing values estimated by EM, unless the metric leaves them out; and what was done."""
    n = table.rows().count
    if n < FEWEST_ROWS:
        raise NotEnoughData(f"methods are compared on at least {FEWEST_ROWS} rows; got {n}.")
    if table.rows().sparse or table.kind == "distances" or metric in ("gower", "precomputed"):
        return table, []
    X = np.asarray(table.array())
    absent = np.isnan(X) if X.dtype.kind == "f" else np.zeros(X.shape, dtype=bool)
    if not absent.any():
        return table, []
    if absent.all(axis=1).any():
        row = int(np.flatnonzero(absent.all(axis=1))[0])
        raise BadInput(f"row {row} has no value at all, so that nothing can be said of its place. Leave such rows out.")
    text = f"{count(int(absent.sum()), 'value')} in {count(int(absent.any(axis=1).sum()), 'row')} estimated by EM"
    warn(f"missing values: {text}. Impute them first to choose another way, or use metric='gower'.")
    whole = impute_by_em(table.rows(), SHARE, thread_count(n_jobs))
    return replace(table, X=NamedArrayRows(whole, table.names)), [("missing", text)]


def data_facts(table: Table, standardized: bool | None, metric: str) -> list[Fact]:
    """What the rows and columns are, and what was done to them."""
    n = table.rows().count
    if table.kind == "distances":
        lines = [("rows", f"distances between {count(n, 'row')}")]
    else:
        lines = [("rows", f"{n:,}"), ("columns", f"{len(table.names):,}: {_listed(table.names)}")]
    if table.image_shape is not None:
        lines.append(("images", f"every row is an image of {' × '.join(map(str, table.image_shape))}"))
    if table.labels is not None:
        lines.append(("labels", f"{table.label_name or 'label'} (not used by the maps, unless a method is supervised)"))
    lines += _column_facts(table)
    if standardized is not None:
        why = "" if standardized or table.image_shape is None else ", because the rows are images"
        done = "divided by their standard deviations" if standardized else f"not standardized{why}"
        lines.append(("units", f"columns {done}"))
    return [*lines, ("distance", "as given" if metric == "precomputed" else metric)]


def _column_facts(table: Table) -> list[Fact]:
    report = table.report
    if report is None:
        return []
    lines = []
    if report.encoded:
        how = "equal or different" if report.encoding == "gower" else "a column of 0 and 1 per value"
        lines.append(("encoded", f"{_listed(report.encoded)} ({how})"))
    if report.annotations:
        lines.append(("not used", f"{_listed(report.annotations)} (text, dates or years)"))
    by_reason: dict[str, list[str]] = {}
    for name, reason in report.left_out:
        by_reason.setdefault(reason, []).append(name)
    lines += [("left out", f"{_listed(names)} ({reason})") for reason, names in by_reason.items()]
    if report.years:
        lines.append(("years", f"{_listed(report.years)} (used as numbers)"))
    if report.constant:
        lines.append(("constant", f"{_listed(report.constant)} (no effect)"))
    return [*lines, *(("note", note) for note in report.notes)]


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(names[:MOST_NAMES])
    return text if len(names) <= MOST_NAMES else f"{text}, …"
