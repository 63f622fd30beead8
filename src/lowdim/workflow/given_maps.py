"""Maps that were made elsewhere, or earlier: coordinates from files, and tables of what is known of their points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.table import Table
from lowdim.errors import BadInput
from lowdim.report.comparison import MethodComparison
from lowdim.workflow.outputs import write_labeled_table
from lowdim.workflow.source import read_data

__all__ = ["read_maps", "write_point_values"]

Array = NDArray[Any]


def read_maps(paths: Sequence[str], axes: Sequence[str] | None, table: Table) -> dict[str, Array]:
    """The coordinates in these files, (n, k) each, by the names of the files."""
    maps: dict[str, Array] = {}
    for path in paths:
        name, number = Path(path).stem, 2
        while name in maps:
            name, number = f"{Path(path).stem} {number}", number + 1
        maps[name] = _coordinates(path, axes, table)
    return maps


def _coordinates(path: str, axes: Sequence[str] | None, table: Table) -> Array:
    """All columns of numbers but the label and the row names that `lowdim map` writes beside them; or the `axes`."""
    columns = None if axes is None else tuple(axes)
    found = read_data(path, ColumnSelection.of(columns, None, None, (), flags=True))
    if columns is None:
        _same_rows(path, found, table)
        no_axes = {"id", "label", table.label_name}
        kept = [j for j, name in enumerate(found.names) if name not in no_axes]
    else:
        kept = list(range(len(found.names)))
    if not kept:
        raise BadInput(f"{path} has no column of coordinates. Name them by --axes.")
    Z = np.asarray(found.array())[:, kept]
    n = table.rows().count
    if len(Z) != n:
        raise BadInput(f"{path} has {len(Z)} rows, but {table.source} has {n}. Give one row of coordinates per row.")
    return Z


def _same_rows(path: str, found: Table, table: Table) -> None:
    """Raise if both files name their rows, and not alike: then the coordinates belong to other rows."""
    if found.ids is None or table.ids is None or len(found.ids) != len(table.ids):
        return
    differ = np.flatnonzero(np.asarray(found.ids).astype(str) != np.asarray(table.ids).astype(str))
    if len(differ):
        i = int(differ[0])
        raise BadInput(
            f"row {i} is {found.ids[i]!s:.40} in {path}, but {table.ids[i]!s:.40} in {table.source}: the rows must be "
            "in the same order."
        )


def write_point_values(path: Path, result: MethodComparison, id_name: str | None) -> None:
    """Write one row per point, and a column per map and measure; empty where a point was not measured."""
    qualities = result.table.maps
    alone = len(qualities) == 1
    columns = {
        measure if alone else f"{name} {measure}": values
        for name, quality in qualities.items()
        for measure, values in quality.point_values.items()
    }
    write_labeled_table(path, np.column_stack(list(columns.values())), list(columns), result.rows.table, id_name)
