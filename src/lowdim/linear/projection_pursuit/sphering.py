"""Sphered rows: centered, uncorrelated, of unit variance, so that an index sees structure and not scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.data.rows import Rows
from lowdim.data.validation import overflow_error, underflow_error
from lowdim.decomposition.principal_axes import PCAOptions, center_rows, principal_axes
from lowdim.errors import NotEnoughData
from lowdim.linalg.centered import Centered
from lowdim.linalg.projected_rows import projected_rows
from lowdim.linear.projection_pursuit.indices import Array
from lowdim.linear.projection_pursuit.row_passes import RowPasses
from lowdim.linear.projection_pursuit.search import MOST_ROWS
from lowdim.runtime.display import rows_and_columns

__all__ = ["SpheredRows", "sphere_rows", "standardize_rows"]


@dataclass(frozen=True)
class SpheredRows:
    """Rows Y = (X - mean) forward, and the way back."""

    rows: Array | RowPasses  # (n, r); in passes if there are more than restarts see
    mean: Array  # (d,)
    forward: Array  # (d, r)
    backward: Array  # (r, d): forward's pseudoinverse

    def standardized_backward(self) -> Array:
        """The way back to columns of unit variance, (r, d): its columns are of length 1, or 0 if constant."""
        largest = np.abs(self.backward).max(axis=0)  # first, so that no square vanishes
        scaled = self.backward / np.where(largest > 0, largest, 1.0)
        lengths = np.linalg.norm(scaled, axis=0)
        return np.asarray(scaled / np.where(lengths > 0, lengths, 1.0))


def sphere_rows(rows: Rows, n_axes: Any, seed: int, threads: int) -> SpheredRows:
    """Scores on the principal axes of the correlation matrix (n_axes of them, or all), each of unit variance.

    Axes without variance, as collinear and constant columns make them, are left out.
    """
    axes = principal_axes(rows, None, PCAOptions(n_axes, 0, True, None, 200, seed, threads))
    assert axes.scale is not None
    values = axes.values[: axes.vectors.shape[1]]
    values = values[values > rows.d * np.finfo(rows.dtype).eps * values.max(initial=0.0)]
    roots, vectors = np.sqrt(values), axes.vectors[:, : len(values)]
    return _sphered(Centered(rows, axes.mean, 1 / axes.scale, None, threads), vectors / roots, (vectors * roots).T)


def standardize_rows(rows: Rows, seed: int, threads: int) -> SpheredRows:
    """Columns minus their means, divided by their standard deviations; correlations remain."""
    centered = center_rows(rows, None, PCAOptions(None, 0, True, None, 200, seed, threads))[1]
    return _sphered(centered, np.eye(rows.d), np.eye(rows.d))


def _sphered(centered: Centered, forward: Array, backward: Array) -> SpheredRows:
    """Rows, centered and scaled already, times a matrix (d, r) whose pseudoinverse is (r, d)."""
    rows, factors = centered.rows, centered.scale
    assert factors is not None
    if forward.shape[1] == 0:
        raise NotEnoughData(
            f"all columns are constant ({rows_and_columns(rows.count, rows.d)}), so there is nothing to project."
        )
    if not np.isfinite(factors).all():
        raise underflow_error()
    Y: Array | RowPasses
    if rows.count > MOST_ROWS:
        Y = RowPasses(projected_rows(centered, forward, np.float64), centered.threads)
    else:
        Y = centered.times(forward).astype(np.float64)
        if not np.isfinite(Y).all():
            raise overflow_error()
    return SpheredRows(Y, centered.mean, forward * factors[:, None], backward / factors)
