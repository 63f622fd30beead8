"""What must hold between the parts of a fitted model.

A checksum says that a file is as it was written, not that an honest model was written. Shapes that
disagree would surface much later as a strange error in `transform`, so they are refused at the door.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.linear import Linear
from lowdim.base.standardized import Standardized
from lowdim.errors import ModelFileError
from lowdim.linear.pca import PCA
from lowdim.mds.base import Scaling as PairScaling
from lowdim.runtime.param import Integer, Real
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
    if isinstance(model, Standardized) and "model_" in state:
        _check_standardized(state, d)
    if isinstance(model, Linear) and "components_" in state:
        _check_linear(state, d)
    if isinstance(model, PairScaling) and "embedding_" in state:
        _check_scaling(state, d)
    if isinstance(model, PCA) and "components_" in state:
        _check_pca(state, len(state["components_"]))
    if "alphas_" in state:
        _check_dual(state, d)


def _check_standardized(state: dict[str, Any], d: Any) -> None:
    for name in ("mean_", "scale_"):
        whole = _is_table(state.get(name), d) and state[name].dtype == np.float64
        _require(whole, f"{name} must be {d} finite numbers in float64")
    _require((state["scale_"] > 0).all(), "scale_ must be positive")
    _require(getattr(state["model_"], "n_features_in_", None) == d, f"the method must have been fitted to {d} columns")
    check_sound(state["model_"])


def _check_dual(state: dict[str, Any], d: Any) -> None:
    """What methods of a Gram matrix keep: new rows are (k(y, rows) - means) alphas."""
    alphas, rows = state["alphas_"], state.get("X_fit_")
    _require(isinstance(alphas, np.ndarray) and alphas.ndim == 2 and alphas.size > 0, "alphas_ must be a matrix")
    n, k = alphas.shape
    _require(_is_table(alphas), "alphas_ must be finite")
    _require(_is_table(state.get("kernel_means_"), n), f"kernel_means_ must be {n} finite numbers")
    _require(rows is None or _is_table(rows, n, d), f"X_fit_ must be {n} rows of {d} finite numbers")
    if "embedding_" in state:
        _require(Real(0, open=True).accepts(state.get("unit_")), "unit_ must be a positive number")
        _require(Real(0).accepts(state.get("constant_")), "constant_ must be a number of at least 0")
    for name, shape in (("scores_", (n, k)), ("mean_weights_", (n,))):
        _require(name not in state or _is_table(state[name], *shape), f"{name} must be finite, of shape {shape}")


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


def _check_scaling(state: dict[str, Any], d: Any) -> None:
    """Maps of pairs: new rows are measured against X_fit_, and their distances bent by the curve."""
    Z = _map_of(state)
    n = len(Z)
    for name in ("X_fit_", "disparity_curve_"):
        _require(name in state, f"{name} must be there beside embedding_")
    rows, curve = state["X_fit_"], state["disparity_curve_"]
    _require(rows is None or _is_table(rows, n, d), f"X_fit_ must be finite, {n} × {d}")
    bent = curve is None or (_is_table(curve) and curve.ndim == 2 and curve.shape[0] == 2 and curve.shape[1] > 0)
    _require(bent, "disparity_curve_ must be two rows of finite numbers")
    _require(curve is None or (np.diff(curve[0]) >= 0).all(), "disparity_curve_ must rise along its first row")


def _map_of(state: dict[str, Any]) -> NDArray[Any]:
    Z: Any = state["embedding_"]
    _require(_is_table(Z) and Z.ndim == 2 and Z.size > 0, "embedding_ must be a table of finite numbers")
    return np.asarray(Z)


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
