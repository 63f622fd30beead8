"""Missing values of a table: estimated by EM, their rows or columns left out, or left to Gower's distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import Method
from lowdim.data.table import NamedArrayRows, Table
from lowdim.decomposition.ppca_em import impute_by_em
from lowdim.errors import BadInput, BadParameter
from lowdim.registry import methods
from lowdim.runtime.param import parameters
from lowdim.runtime.threads import thread_count

__all__ = ["TREATMENTS", "CompleteTable", "MissingValues", "complete_table"]

TREATMENTS = ("em", "drop-rows", "drop-columns", "error")
SHARE = 0.8  # of the variance that the components explain by which values are estimated


@dataclass(frozen=True)
class MissingValues:
    """What was missing, and what was done about it."""

    values: int  # missing ones, in rows that have others
    rows: int  # that they are in
    treatment: str
    empty_rows: int = 0  # without any value: left out
    dropped_columns: tuple[str, ...] = ()
    categories: int = 0  # missing cells of text

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "missing": self.treatment,
            "missing_values": self.values,
            "rows_with_missing_values": self.rows,
            "rows_without_values": self.empty_rows,
            "columns_left_out": list(self.dropped_columns),
            "missing_categories": self.categories,
        }


@dataclass(frozen=True)
class CompleteTable:
    """A table that a method can take, and the rows of the original one that it has."""

    table: Table
    missing: MissingValues | None  # None: nothing was missing
    kept: NDArray[np.bool_] | None = None  # (n,) rows that were kept; None for all
    settings: dict[str, Any] | None = None  # of a method that takes care of NaN itself

    def rows_of(self, values: Any) -> Any:
        """The values (n,) of the rows that were kept."""
        return values if values is None or self.kept is None or isinstance(values, str) else values[self.kept]


def complete_table(
    table: Table, treatment: str | None, method: Method | None = None, settings: Mapping[str, Any] | None = None
) -> CompleteTable:
    """Treat missing values; None estimates them by EM in a table in memory, and leaves a larger one as it is.

    A method that has a parameter `missing`, as PCA, estimates them itself, so that it can map new rows with gaps.
    Gower's distance, which the settings or the encoding of the table ask for, leaves them out of its comparisons.
    """
    if treatment is not None and treatment not in TREATMENTS:
        raise BadParameter(f"--missing must be one of {', '.join(TREATMENTS)}; got {treatment!r}.")
    if _uses_gower(table, method, settings or {}):
        return _with_gaps(table, treatment)
    if table.categories and treatment != "error":
        return _with_categories(table, treatment)
    in_memory = isinstance(table.rows(), NamedArrayRows)
    by_method = method is not None and "missing" in parameters(method.cls)
    if table.kind == "distances" or treatment == "error" or (treatment is None and not in_memory):
        return CompleteTable(table, None)
    if not in_memory and treatment == "em" and by_method:
        return CompleteTable(table, None, settings={"missing": "em"})
    absent = np.isnan(table.array()) if np.asarray(table.array()).dtype.kind == "f" else None
    if absent is None or not absent.any():
        return CompleteTable(table, None)
    return _treat(table, absent, treatment or "em", by_method)


def _uses_gower(table: Table, method: Method | None, settings: Mapping[str, Any]) -> bool:
    """Whether rows are compared by Gower's distance; raises BadParameter if the method can't."""
    metric = settings.get("metric")
    if table.encode != "gower" or table.kind == "distances":
        return bool(metric == "gower")
    if method is None or "metric" not in parameters(method.cls):
        able = ", ".join(known.name for known in methods() if "metric" in parameters(known.cls))
        what = "this command" if method is None else method.name
        raise BadParameter(
            f"--encode gower: {what} does not compare rows by a metric. Methods that do: {able}. Else use one-hot."
        )
    if metric not in (None, "gower"):
        raise BadParameter(f"--encode gower means --metric gower; got {metric!r}. Leave out one of them.")
    return True


def _with_gaps(table: Table, treatment: str | None) -> CompleteTable:
    """The table with its gaps, which Gower's distance leaves out; rows without any value are left out here."""
    settings = {"metric": "gower"}
    if treatment == "em":
        raise BadParameter("--missing em is not needed with Gower's distance, which leaves gaps out. Omit --missing.")
    absent = np.isnan(table.array())
    if not absent.any():
        return CompleteTable(table, None, settings=settings)
    if treatment == "error":
        row, column = (int(at) for at in np.argwhere(absent)[0])
        raise BadInput(f"{table.source}: row {row} has no value in {table.names[column]!r}. Omit --missing error.")
    return replace(_treat(table, absent, treatment or "gower", by_method=False), settings=settings)


def _with_categories(table: Table, treatment: str | None) -> CompleteTable:
    """Missing numbers are treated as in any table; missing text is a category of its own, or its rows are dropped."""
    blank = np.column_stack([values == "" for values in table.categories.values()])
    gaps = int(blank.sum())
    kept: NDArray[np.bool_] = np.ones(len(blank), dtype=bool)
    if treatment == "drop-rows":
        kept &= ~blank.any(axis=1)
    if not kept.any():
        raise BadInput(f"{table.source}: every row has missing text, so none is left. Drop such columns.")
    inner = complete_table(replace(table if kept.all() else table.select_rows(kept), categories={}), treatment)
    rows = kept.copy()
    rows[kept] = True if inner.kept is None else inner.kept
    categories = {name: values[rows] for name, values in table.categories.items()}
    settings = {"handle_missing": "category"} if gaps and treatment != "drop-rows" else None
    missing = inner.missing
    if gaps:
        missing = replace(missing or MissingValues(0, 0, treatment or "em"), categories=gaps)
    complete = replace(inner.table, categories=categories)
    return CompleteTable(complete, missing, None if rows.all() else rows, settings)


def _treat(table: Table, absent: NDArray[np.bool_], treatment: str, by_method: bool) -> CompleteTable:
    empty = absent.all(axis=1)
    kept: NDArray[np.bool_] = np.asarray(~(absent.any(axis=1) if treatment == "drop-rows" else empty))
    if not kept.any():
        hint = "" if treatment == "em" else " Use --missing em, which estimates them."
        raise BadInput(f"{table.source}: every row has missing values, so none is left.{hint}")
    table, count = (table if kept.all() else table.select_rows(kept)), int(empty.sum())
    inside = absent[~empty]
    missing = MissingValues(int(inside.sum()), int(inside.any(axis=1).sum()), treatment, count)
    mask = None if kept.all() else kept
    absent = absent[kept]
    if treatment == "drop-columns":
        incomplete = absent.any(axis=0)
        if incomplete.all():
            raise BadInput(f"{table.source}: every column has missing values. Use --missing em or drop-rows.")
        names = np.asarray(table.names, dtype=object)
        used = tuple(names[~incomplete].tolist())
        rows = table.named_rows().select(columns=np.asarray(~incomplete))
        table = replace(table, X=rows, names=used, image_shape=None)
        return CompleteTable(table, replace(missing, dropped_columns=tuple(names[incomplete].tolist())), mask)
    if treatment in ("drop-rows", "gower") or not absent.any():
        return CompleteTable(table, missing, mask)
    if by_method:
        return CompleteTable(table, missing, mask, {"missing": "em"})
    whole = impute_by_em(table.rows(), SHARE, thread_count())
    rows = NamedArrayRows(whole, getattr(table.rows(), "feature_names", None))
    return CompleteTable(replace(table, X=rows), missing, mask)
