"""The values of every point, of all maps of a comparison, as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lowdim.report.comparison import MethodComparison
from lowdim.workflow.outputs import write_labeled_table

__all__ = ["write_point_values"]


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
