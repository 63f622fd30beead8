"""New rows on the map of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._scatter import scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FittedMap", "fitted_map", "new_rows"]

Array = NDArray[Any]


@dataclass(frozen=True)
class FittedMap:
    """The map that new rows are drawn on, and the names of its axes."""

    embedding: Array | None  # (m, k) of the fitted rows; None if the model keeps none and they were not given
    axis_names: list[str]


def fitted_map(model: Any, fitted: Any = None) -> FittedMap:
    """The map of the fitted rows: as the model keeps it, or of `fitted`, the rows that it was fitted to."""
    inner = getattr(model, "model_", model)  # of `Standardized`
    kept = getattr(inner, "embedding_", None)
    embedding = model.transform(fitted) if fitted is not None else kept
    ratios = getattr(inner, "explained_variance_ratio_", None)
    k = len(model.get_feature_names_out()) if hasattr(model, "get_feature_names_out") else len(inner.components_)
    if ratios is None:
        return FittedMap(embedding, [f"axis {i + 1}" for i in range(k)])
    what = getattr(type(inner), "_explained", "variance")
    return FittedMap(embedding, [f"axis {i + 1} ({float(ratio):.1%} of the {what})" for i, ratio in enumerate(ratios)])


def new_rows(
    model: Any, X: Any, labels: Any = None, *, fitted: Any = None, fitted_labels: Any = None, **options: Any
) -> Axes:
    """Draw new rows on the map of a fitted model, whose own rows are pale.

    Parameters
    ----------
    model : a fitted method
        With `transform`.
    X : table (n, d)
        The new rows.
    labels : n labels, optional
        Colors, as for `scatter`.
    fitted : table (m, d), optional
        The rows that the model was fitted to; None takes its `embedding_`. A model without one, as PCA, draws the new
        rows alone.
    fitted_labels : m labels, optional
        Their categories keep the colors that they have alone.
    **options
        As for `scatter`: ax, title, ids, colors, legend, …

    """
    drawn = fitted_map(model, fitted)
    options.setdefault("axis_names", drawn.axis_names)
    behind = None if drawn.embedding is None else {"background": drawn.embedding, "background_labels": fitted_labels}
    return scatter(np.asarray(model.transform(X)), labels, **(behind or {}), **options)
