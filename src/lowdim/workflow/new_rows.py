"""New rows on the map of a fitted model, as a figure or a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lowdim.plot._new_rows import fitted_map
from lowdim.workflow.apply import AppliedModel
from lowdim.workflow.outputs import EmbeddingOutput, write_embedding
from lowdim.workflow.standardize import inner_estimator

__all__ = ["write_new_rows"]


def write_new_rows(path: Path, model: Any, applied: AppliedModel, behind: AppliedModel | None, title: str) -> bool:
    """Draw the rows that a model was applied to, on those that it was fitted to (`behind`), or on the map it keeps.

    Returns whether there was such a map.
    """
    inner = inner_estimator(model)
    background = fitted_map(model).embedding if behind is None else behind.result
    output = EmbeddingOutput(
        applied.result,
        applied.names or (),
        applied.table,
        applied.colors,
        None,
        title,
        explained_variance_ratio=getattr(inner, "explained_variance_ratio_", None),
        explained=getattr(type(inner), "_explained", "variance"),
        color_name=applied.color_name,
        background=background,
        background_colors=None if behind is None else behind.colors,
    )
    write_embedding(path, output)
    return background is not None
