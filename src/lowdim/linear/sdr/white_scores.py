"""Projections whose scores are uncorrelated and of unit variance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.base.linear import LinearProjection
from lowdim.base.state import StateCheck
from lowdim.runtime.param import Integer

__all__ = ["WhiteScores"]

Array = NDArray[Any]


class WhiteScores(LinearProjection):
    """A projection with VᵀSV = I, whose private state holds the `loadings` VᵀS (k, d)."""

    _doc_parts: ClassVar[dict[str, str]] = {
        "directions": """
            components_ : array (k, d)
                Directions in rows, scaled so that the scores have unit variance.
            n_components_ : int
                Number of directions.
            mean_, scale_ : array (d,)
                Means of the columns; None.
            """
    }

    eigenvalues_: Array  # (≥ k,)
    n_components_: int

    def _reconstruction(self) -> Array:
        """The regression of the columns on the scores, which are uncorrelated and of unit variance."""
        return np.asarray(self._state.loadings)

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.floats("eigenvalues_", None)
        check.require(len(self.eigenvalues_) >= check.sizes["k"], "eigenvalues_ must have a value for every direction")
        check.number("n_components_", Integer(check.sizes["k"], check.sizes["k"]))
        check.instance("state", self._state_classes[0])
        check.floats("state.loadings", "k", "d")
