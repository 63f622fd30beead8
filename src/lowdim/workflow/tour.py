"""A tour of a table: rows, standardized or sphered, and the frames that they are projected on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter
from lowdim.linalg.dense_eigen import eigh_largest
from lowdim.linear.projection_pursuit.catalog import SUPERVISED
from lowdim.linear.tour import grand_tour, guided_tour, local_tour, sphere
from lowdim.runtime.display import count
from lowdim.summaries.moments import moments
from lowdim.workflow.fit import naming_nonfinite, require_rows
from lowdim.workflow.source import label_vector
from lowdim.workflow.standardize import describe_standardization, should_standardize

__all__ = ["TOUR_KINDS", "TableTour", "make_tour"]

TOUR_KINDS = ("grand", "guided", "local")


@dataclass(frozen=True)
class TableTour:
    """Rows, the frames (d, 2) that they are projected on, and what was done to the columns."""

    rows: NDArray[Any]  # (n, d)
    frames: Iterator[NDArray[np.float64]]
    columns: str


def make_tour(
    table: Table, kind: str, index: str, target: Any, standardize: bool | None, random_state: int
) -> TableTour:
    """A grand tour, a local one around the first two principal components, or one guided by a projection index.

    A guided tour is one of sphered rows, but with the index "pda" of standardized ones.
    """
    require_rows(table, None)
    if target is not None and (kind != "guided" or index not in SUPERVISED):
        raise BadParameter(
            f"--target is for --kind guided with --index {' or '.join(SUPERVISED)}; to color by a column, use --color."
        )
    if len(table.names) < 3:
        raise BadInput(
            f"{table.source} has {count(len(table.names), 'column')}, and a tour of two dimensions needs three."
        )
    rows = table.rows()
    with naming_nonfinite(rows, table, None):
        if kind == "guided" and index != "pda":
            Y, done = sphere(rows), "sphered: uncorrelated, of unit variance"
            return TableTour(Y, _guided(Y, index, target, table, random_state), done)
        standardized = kind == "guided" or bool(should_standardize({}, table, standardize))
        summary = moments(rows)
        Y = (np.asarray(table.array(), dtype=np.float64) - summary.mean) / (summary.scale() if standardized else 1.0)
        done = describe_standardization(standardized, table)
        if kind == "guided":
            return TableTour(Y, _guided(Y, index, target, table, random_state), done)
        if kind == "local":
            principal = eigh_largest(Y.T @ Y, 2).vectors
            return TableTour(Y, local_tour(principal, random_state=random_state), done)
        return TableTour(Y, grand_tour(Y.shape[1], random_state=random_state), done)


def _guided(Y: NDArray[Any], index: str, target: Any, table: Table, seed: int) -> Iterator[NDArray[np.float64]]:
    if index in SUPERVISED and target is None:
        target = label_vector(table)
        if target is None:
            raise BadInput(f"--index {index} needs classes, and {table.source} has none. Name a column by --target.")
    return guided_tour(Y, index, target, random_state=seed)
