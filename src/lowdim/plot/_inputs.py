"""Inputs of plots: points, pairs, texts and models, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.state import fitted_names
from lowdim.data.rows import first_nonfinite, open_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.plot._text import drawable
from lowdim.runtime.display import count

__all__ = [
    "plain_scores",
    "read_pairs",
    "read_points",
    "read_texts",
    "require_fitted",
]

Array = NDArray[Any]


def read_pairs(edges: Any, n: int) -> NDArray[np.int64]:
    """Pairs (e, 2) of n rows."""
    pairs = np.asarray(edges)
    whole = pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype.kind in "iu"
    if not whole or (pairs.size and not (pairs.min() >= 0 and pairs.max() < n)):
        raise BadInput(f"edges must be pairs of rows, (e, 2) whole numbers from 0 to {n - 1}; got shape {pairs.shape}.")
    return pairs.astype(np.int64)


def read_points(Z: Any, what: str = "Z", columns: int = 1) -> Array:
    """Z as a finite array (n, k) with n ≥ 1 and k ≥ columns."""
    if np.ndim(Z) != 2 and not hasattr(Z, "shape"):
        raise BadInputType(f"{what} must be a table of numbers, one row per point; got {type(Z).__name__}.")
    if len(Z.shape if hasattr(Z, "shape") else np.shape(Z)) != 2:
        raise BadInput(f"{what} must have two dimensions, one row per point; got shape {np.shape(Z)}.")
    rows = open_rows(Z)
    if rows.sparse:
        raise BadInputType(f"{what} is sparse, and a plot needs a dense array. Give {what}.toarray().")
    if rows.count == 0 or rows.d < columns:
        raise BadInput(
            f"{what} must have at least 1 row and {count(columns, 'column')}; got shape ({rows.n}, {rows.d})."
        )
    try:
        points = rows.whole()
    except (TypeError, ValueError) as error:
        raise BadInputType(f"{what} must hold numbers; {error}.") from error
    found = first_nonfinite([(0, points)])
    if found is not None:
        raise BadInput(
            f"{what} has the value {found[2]} at row {found[0]}, column {found[1]}, which can't be "
            "drawn. Drop such rows."
        )
    # matplotlib squares and subtracts the limits, which overflows well below the largest float.
    if np.abs(points).max() > (1e30 if points.dtype == np.float32 else 1e140):
        raise BadInput(f"{what} has values beyond 1e30 (float32) or 1e140, too large to draw. Rescale it.")
    return np.asarray(points)


def read_texts(texts: Any, n: int, what: str) -> list[str] | None:
    """One text per row."""
    if texts is None:
        return None
    out = np.asarray(texts, dtype=object)
    if out.ndim != 1 or len(out) != n:
        raise BadInput(f"{what} must have one entry per row ({n}); got shape {out.shape}.")
    return [drawable(str(text)) for text in out]


def require_fitted(model: Any, *attributes: str) -> None:
    """Raise BadInput unless the model is a fitted linear one, which has these attributes."""
    kind = type(model).__name__
    passed_on = kind == "Standardized"  # what it passes on is in other units than its rows
    missing = [name for name in attributes if not hasattr(model, name) or (passed_on and name not in vars(model))]
    if not missing:
        return
    from lowdim.base.linear import LinearProjection  # scikit-learn comes with it
    from lowdim.registry import methods

    linear = [
        method.name
        for method in methods()
        if issubclass(method.cls, LinearProjection) and all(name in (method.cls.__doc__ or "") for name in attributes)
    ]
    if kind in linear or hasattr(type(model), "components_") or not fitted_names(model):
        raise BadInput(f"model must be fitted; this {kind} has no {' and no '.join(missing)}. Call fit first.")
    remedy = " Use PCA(standardize=True), which has." if kind == "Standardized" else ""
    if isinstance(model, LinearProjection):
        why = "though it is linear: its axes are not those of a covariance matrix"
    else:
        why = "because it does not project rows linearly, or not onto axes with variances"
    raise BadInput(
        f"{kind} has no loadings ({', '.join(missing)}), {why}. Models with loadings: {', '.join(linear)}.{remedy}"
    )


def plain_scores(model: Any, X: Any) -> NDArray[np.float64]:
    """Unwhitened scores of rows, (n, k)."""
    scores = np.asarray(model.transform(X), dtype=np.float64)
    if getattr(model, "whiten", False):
        scores = scores * np.sqrt(np.maximum(np.asarray(model.explained_variance_, dtype=np.float64), 0.0))
    return scores


def is_pca(model: Any) -> bool:
    """Whether the model's axes are those of a covariance matrix, as of PCA here and in scikit-learn."""
    return type(model).__name__ == "PCA"


def require_linear(model: Any) -> None:
    """Raise BadInput unless the model is a fitted linear method, also inside `Standardized`."""
    inner = getattr(model, "model_", model)
    if not hasattr(inner, "components_"):
        require_fitted(inner, "components_")


def column_correlations(model: Any, X: Any) -> NDArray[np.float64]:
    """Correlations of the columns of X with the scores of its rows, (d, k)."""
    from lowdim.linear.loadings import correlation_loadings  # scikit-learn comes with it

    return np.asarray(correlation_loadings(model, X), dtype=np.float64)
