"""The methods that slice the response: SIR, SAVE, directional regression."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.base.fit_memory import FitMemory
from lowdim.base.state import StateCheck
from lowdim.data.rows import Rows
from lowdim.linear.sdr.base import SufficientReduction
from lowdim.linear.sdr.order_tests import OrderTests
from lowdim.linear.sdr.slice_moments import SliceMoments, slice_moments
from lowdim.linear.sdr.slicing import SlicingMixin, slice_responses
from lowdim.linear.sdr.solution import Sample, Solution

__all__ = ["SecondMomentReduction", "SlicedReduction"]

Floats = NDArray[np.float64]


@dataclasses.dataclass(eq=False, repr=False)
class SlicedReduction(SlicingMixin, SufficientReduction):
    """A reduction that reads the rows by slices of the response."""

    _doc_parts: ClassVar[dict[str, str]] = {
        "slices": """
            slice_names_, slice_sizes_, slice_means_ : array (H,), (H,), (H, d)
                The interval or class of each slice, its sum of weights, and its means.
            slice_edges_ : array (H - 1,)
                Edges between the slices of one numeric response, else None.
            """
    }

    def _target(self, y: Any, n: int, weights: Floats | None) -> dict[str, Any]:
        return {"slices": slice_responses(y, n, weights, self.n_slices, self.slicing)}

    def _one_pass(self) -> bool:
        return self.slicing == "category"

    def _keep(self, sample: Sample, solution: Solution, tests: OrderTests | None, k: int) -> Self:
        super()._keep(sample, solution, tests, k)
        moments, slices = solution.moments, sample.slices
        names = [str(label) for label in np.asarray(moments.classes).tolist()] if slices is None else slices.names
        self.slice_names_ = np.array(names, dtype=object)
        self.slice_edges_ = None if slices is None else slices.edges
        self.slice_sizes_ = moments.counts
        self.slice_means_ = moments.means.astype(sample.rows.dtype)
        return self

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.texts("slice_names_", "H")
        check.floats("slice_sizes_", "H", low=0)
        check.floats("slice_means_", "H", "d")
        edges = check.floats("slice_edges_", None, optional=True)
        check.require(edges is None or len(edges) == check.sizes["H"] - 1, "slice_edges_ must lie between the slices")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class SecondMomentReduction(SlicedReduction):
    """A reduction that reads the covariances of the slices."""

    def _summarize(self, sample: Sample) -> SliceMoments:
        return slice_moments(sample.rows, sample.weights, sample.threads)

    def _memory_model(self, rows: Rows) -> FitMemory:
        """A scatter matrix of every slice, in the summary of every block."""
        return FitMemory(scatters=1 + min(self.n_slices, rows.count))  # more slices than rows are refused by name
