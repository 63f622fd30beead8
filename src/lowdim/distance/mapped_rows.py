"""Rows as the kernel of a fitted metric compares them, (n, columns): mapped, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.distance.metrics import Metric
from lowdim.distance.unit_rows import table_of_blocks

__all__ = ["mapped_rows"]

Array = NDArray[Any]


def mapped_rows(rows: Rows, metric: Metric, threads: int) -> NDArray[np.float64]:
    """Rows under the metric's map, or as they are if it has none."""
    row_map = metric.row_map

    def convert(block: Array) -> Array:
        wide = block.astype(np.float64)
        return wide if row_map is None else row_map(wide)

    columns = rows.d if row_map is None else row_map.columns
    return table_of_blocks(rows, columns, threads, convert, np.float64, missing=metric.missing)
