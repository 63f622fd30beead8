"""The names of axes: one name in every table, model and picture."""

from __future__ import annotations

from typing import Any

__all__ = ["axis_names"]


def axis_names(model: Any, count: int) -> list[str]:
    """The names of the first axes of a method, given as an estimator or its class: PC1, PC2, … or UMAP 1, UMAP 2, ….

    An estimator class says by `_axis` what comes before the number, if it is not the name of the class.
    """
    inner = getattr(model, "model_", model)  # within Standardized
    cls = inner if isinstance(inner, type) else type(inner)
    prefix = getattr(cls, "_axis", None) or f"{cls.__name__} "
    return [f"{prefix}{i + 1}" for i in range(count)]
