"""Projection indices: how interesting the projection of sphered rows onto an orthonormal frame is.

| index           | dimensions | large for                                     | reference                       |
|-----------------|------------|-----------------------------------------------|---------------------------------|
| holes           | any        | few rows near the center                      | Cook, Buja and Cabrera 1993     |
| central_mass    | any        | many rows near the center                     | Cook, Buja and Cabrera 1993     |
| friedman_tukey  | 1, 2       | dense spots: ∫f², by pairs of near rows       | Friedman and Tukey 1974         |
| legendre        | 1, 2       | any density but the normal one                | Friedman 1987                   |
| negentropy      | 1          | robust approximation of negative entropy      | Hyvärinen 1998                  |
| moment          | 1          | skewness and kurtosis: negative entropy       | Jones and Sibson 1987           |
| kurtosis        | 1          | outliers, or two clusters                     |                                 |
| skewness        | 1          | asymmetry                                     |                                 |
| lda             | any, with y | separated classes                            | Lee, Cook, Klinke, Lumley 2005  |
| pda             | any, with y | separated classes, more columns than rows    | Lee and Cook 2010               |

An index becomes an objective on frames A (r, k) with AᵀA = I once it knows the rows Y (n, r). A frame of more columns
than the index has dimensions is found one direction after another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.linear.projection_pursuit.row_passes import RowPasses, times, transpose_times

__all__ = ["Array", "Codes", "FunctionIndex", "Objective", "ProjectionIndex", "ScoreIndex"]

Array = NDArray[np.float64]
Codes = NDArray[np.intp] | None
# The value of a frame A (r, k), and its gradient (r, k); None where there is none.
Objective = Callable[[Array], "tuple[float, Array | None]"]


class ProjectionIndex(ABC):
    """A measure of projections, which is maximized."""

    dimensions: int | None = None  # the most columns of a frame that it measures at once; None: any number
    supervised = False  # whether it needs classes
    differentiable = True
    rotation_invariant = True  # whether a rotation within the projection leaves it the same
    guide: ProjectionIndex | None = None  # an index whose maxima are better starts for the ascent than random frames

    @abstractmethod
    def objective(self, Y: Array | RowPasses, codes: Codes) -> Objective:
        """The index as a function of frames, for rows Y (n, r) and the classes of rows, (n,)."""


class ScoreIndex(ProjectionIndex):
    """An index of the scores Z = Y A alone."""

    @abstractmethod
    def measure(self, Z: Array) -> tuple[float, Array]:
        """The value for scores Z (n, k), and its gradient by Z, (n, k)."""

    def objective(self, Y: Array | RowPasses, codes: Codes) -> Objective:
        def value_and_gradient(A: Array) -> tuple[float, Array]:
            value, slope = self.measure(times(Y, A))
            return value, transpose_times(Y, slope)

        return value_and_gradient


class FunctionIndex(ProjectionIndex):
    """A function of scores (n, k) that returns a number, and has no gradient."""

    differentiable = False
    rotation_invariant = False

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self.function = function

    def objective(self, Y: Array | RowPasses, codes: Codes) -> Objective:
        def value(A: Array) -> tuple[float, None]:
            found = self.function(times(Y, A))
            try:
                number = float(found)
            except (TypeError, ValueError) as error:
                raise BadInput(f"the index function must return a number; got {found!r:.60}.") from error
            if not np.isfinite(number):
                raise BadInput(f"the index function must return a finite number; got {number}.")
            return number, None

        return value
