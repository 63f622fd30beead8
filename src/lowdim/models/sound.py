"""What must hold between the parts of a fitted model.

A checksum says that a file is as it was written, not that an honest model was written. Shapes that
disagree would surface much later as a strange error in `transform`, so they are refused at the door.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import ModelFileError
from lowdim.method.linear import Linear
from lowdim.method.lle import LLE
from lowdim.method.pca import PCA
from lowdim.param import Integer, Real
from lowdim.summaries.moments import Moments

__all__ = ["check_sound"]

COUNT = Integer(1)


def check_sound(model: Any) -> None:
    """Raise ModelFileError if fitted attributes contradict each other."""
    state = {name: value for name, value in vars(model).items() if name.endswith("_")}
    d = state.get("n_features_in_")
    if "n_features_in_" in state:
        _require(COUNT.accepts(d), f"n_features_in_ must be {COUNT.text}")
    if "feature_names_in_" in state:
        _require(_is_texts(state["feature_names_in_"], d), f"feature_names_in_ must be {d} texts")
    for name, value in state.items():
        if isinstance(value, Moments):
            _check_moments(value, name)
            _require(value.d == d, f"{name} must have {d} columns")
    if isinstance(model, Linear) and "components_" in state:
        _check_linear(state, d)
    if isinstance(model, LLE) and "embedding_" in state:
        _check_lle(state, d)
    if isinstance(model, PCA) and "components_" in state:
        _check_pca(state, len(state["components_"]))


def _check_linear(state: dict[str, Any], d: Any) -> None:
    components, scale = state["components_"], state.get("scale_")
    _require(isinstance(components, np.ndarray) and components.ndim == 2, "components_ must be a matrix")
    _require(_is_table(components, len(components), d), f"components_ must be finite, in {d} columns")
    _require(_is_table(state.get("mean_"), d), f"mean_ must be {d} finite numbers")
    _require("scale_" in state, "scale_ must be there beside components_")
    _require(scale is None or (_is_table(scale, d) and (scale > 0).all()), f"scale_ must be {d} positive numbers")


def _check_pca(state: dict[str, Any], k: int) -> None:
    _require(_is_table(state.get("explained_variance_"), k), f"explained_variance_ must be {k} finite numbers")
    found = state.get("n_components_")
    _require(COUNT.accepts(found) and found == k, f"n_components_ must be {k}, at least 1")
    _require(Real(0).accepts(state.get("noise_variance_")), f"noise_variance_ must be {Real(0).text}")


def _check_lle(state: dict[str, Any], d: Any) -> None:
    rows: Any = state.get("rows_")
    places, k = state["embedding_"], state.get("n_neighbors_")
    _require(_is_table(rows) and rows.ndim == 2 and rows.shape[1] == d, f"rows_ must be finite, in {d} columns")
    _require(_is_table(places) and places.ndim == 2, "embedding_ must be a finite table")
    _require(len(places) == len(rows), f"embedding_ must have {len(rows)} rows, as rows_ has")
    _require(COUNT.accepts(k) and int(k or 0) < len(rows), f"n_neighbors_ must be {COUNT.text}, below {len(rows)}")


def _check_moments(m: Moments, name: str) -> None:
    _require(COUNT.accepts(m.rows), f"{name}.rows must be {COUNT.text}")
    tables = all(_is_table(part) and part.dtype == np.float64 for part in (m.counts, m.means, m.within))
    _require(tables, f"{name} must hold finite numbers in float64")
    _require(m.means.ndim == 2 and len(m.means) > 0, f"{name}.means must have a row for every class")
    classes, d = m.means.shape
    _require(m.counts.shape == (classes,), f"{name}.counts must be {classes} numbers")
    _require((m.counts >= 0).all() and m.n > 0, f"{name}.counts must not be negative, nor all zero")
    _require(m.within.shape == (d, d), f"{name}.within must be {d} × {d}")
    labels = (1,) if m.classes is None else getattr(m.classes, "shape", None)
    _require(labels == (classes,), f"{name}.classes must be {classes} labels")
    # A dtype also equals None and texts, so its type is asked first.
    narrow_or_wide = isinstance(m.dtype, np.dtype) and m.dtype in (np.float32, np.float64)
    _require(narrow_or_wide, f"{name}.dtype must be float32 or float64")
    _require(m.feature_names is None or _is_texts(m.feature_names, d), f"{name}.feature_names must be {d} texts")


def _is_table(value: Any, *shape: Any) -> bool:
    """An array of finite float32 or float64, of this shape if one is given."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype in (np.float32, np.float64)
        and (not shape or value.shape == shape)
        and bool(np.isfinite(value).all())
    )


def _is_texts(value: Any, count: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object and value.shape == (count,)


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise ModelFileError(f"the model contradicts itself: {rule}. Fit it again.")
