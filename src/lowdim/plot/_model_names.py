"""Names of the features and components of a linear model."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.base.axis_names import axis_names

__all__ = ["component_name", "feature_names"]


def feature_names(model: Any) -> list[str]:
    inner = getattr(model, "model_", model)  # of `Standardized`
    d = np.shape(inner.components_)[1] if hasattr(inner, "components_") else int(model.n_features_in_)
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{i}" for i in range(d)])]


def component_name(model: Any, i: int) -> str:
    """The name of a component with its share of the variance, where known."""
    shares = getattr(model, "explained_variance_ratio_", None)
    return axis_names(model, i + 1)[i] + ("" if shares is None else f" ({float(shares[i]):.1%})")
