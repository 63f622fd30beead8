"""Names of the features and components of a linear model."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["component_name", "feature_names"]


def feature_names(model: Any) -> list[str]:
    d = np.shape(model.components_)[1]
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{i}" for i in range(d)])]


def component_name(model: Any, i: int) -> str:
    """The name of a component with its share of the variance, where known."""
    prefix = {"PCA": "PC"}.get(type(model).__name__, "axis ")
    shares = getattr(model, "explained_variance_ratio_", None)
    return f"{prefix}{i + 1}" + ("" if shares is None else f" ({float(shares[i]):.1%})")
