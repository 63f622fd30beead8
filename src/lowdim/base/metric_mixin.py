"""The parameter `metric`, for every method that measures distances between rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from lowdim.distance.metrics import MetricLike
from lowdim.runtime.param import param

__all__ = ["MetricMixin"]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MetricMixin:
    """Adds `metric`, and tells scikit-learn when X holds distances (the tag `pairwise`)."""

    metric: str | Callable[[Any, Any], float] = param(
        "euclidean", MetricLike(), "Distance between two rows; 'precomputed' if X holds distances."
    )

    @property
    def _precomputed(self) -> bool:
        """Whether X holds distances instead of rows."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._precomputed
        return tags
