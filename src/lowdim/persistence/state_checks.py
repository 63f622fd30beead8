"""What must hold between the parts of a fitted model.

A checksum says that a file is as it was written, not that an honest model was written. Shapes that
disagree would surface much later as a strange error in `transform`, so they are refused at the door.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.base.standardized import Standardized
from lowdim.errors import ModelFileError
from lowdim.mds.base import Scaling as PairScaling
from lowdim.neighbor_embedding.tsne.estimator import TSNE
from lowdim.neighbor_embedding.umap.densmap import Agreement
from lowdim.neighbor_embedding.umap.estimator import UMAP
from lowdim.runtime.param import Integer, Real

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
    if isinstance(model, Standardized) and "model_" in state:
        _check_standardized(state, d)
    if isinstance(model, TSNE) and "embedding_" in state:
        _check_tsne(state, d)
    if isinstance(model, UMAP) and "embedding_" in state:
        _check_umap(state, d, model.metric == "precomputed")
    if isinstance(model, PairScaling) and "embedding_" in state:
        _check_scaling(state, d)
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


def _check_tsne(state: dict[str, Any], d: Any) -> None:
    Z = _map_of(state)
    n = len(Z)
    _require("X_fit_" in state, "X_fit_ must be there beside embedding_")
    _require(state["X_fit_"] is None or _is_rows(state["X_fit_"], n, d), f"X_fit_ must be finite, {n} × {d}")
    perplexity: Any = state.get("perplexity_")
    positive = _is_table(perplexity) and perplexity.ndim == 1 and (perplexity >= 1).all()
    _require(positive, "perplexity_ must be finite numbers of at least 1")


def _check_umap(state: dict[str, Any], d: Any, by_distances: bool) -> None:
    Z = _map_of(state)
    n = len(Z)
    first: Any = state.get("distinct_")
    which: Any = state.get("which_")
    edges: Any = state.get("edges_")
    _require(_is_indices(first, n) and first.ndim == 1 and (np.diff(first) > 0).all(), f"distinct_ must be rows of {n}")
    m = len(first)
    _require(_is_indices(which, m) and which.shape == (n,), f"which_ must say for {n} rows which of {m} they are")
    _require((which[first] == np.arange(m)).all(), "which_ must agree with distinct_")
    _require("X_fit_" in state, "X_fit_ must be there beside embedding_")
    _require(state["X_fit_"] is None or _is_rows(state["X_fit_"], m, d), f"X_fit_ must be finite, {m} × {d}")
    _require(not by_distances or d == m, f"n_features_in_ must be {m}, a distance to every row")
    weights: Any = state.get("weights_")
    _require(_is_indices(edges, n) and edges.ndim == 2 and edges.shape[1] == 2, f"edges_ must be pairs of {n} rows")
    _require(_is_table(weights, len(edges)), f"weights_ must be {len(edges)} finite numbers")
    _require(((weights >= 0) & (weights <= 1)).all(), "weights_ must be from 0 to 1")
    k = state.get("n_neighbors_")
    _require(k is not None and COUNT.accepts(k) and k <= m, f"n_neighbors_ must be {COUNT.text}, up to {m}")
    _require(COUNT.accepts(state.get("n_epochs_")), f"n_epochs_ must be {COUNT.text}")
    _require(Integer(0, 2**64 - 1).accepts(state.get("seed_")), "seed_ must be a whole number of 64 bits")
    curve = all(Real(0, open=True).accepts(state.get(name)) for name in ("a_", "b_"))
    _require(curve, "a_ and b_ must be positive numbers")
    _require(isinstance(state.get("supervised_"), bool), "supervised_ must be true or false")
    crowding: Any = state.get("crowding_")
    numbers = len(dataclasses.fields(Agreement))
    _require(crowding is None or _is_table(crowding, numbers), f"crowding_ must be {numbers} finite numbers")
    if crowding is not None:
        agreement = Agreement(*crowding.tolist())
        spread = min(agreement.table_spread, agreement.map_spread) > 0 and agreement.least <= agreement.most
        _require(spread, "crowding_ must have positive spreads")


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


def _is_table(value: Any, *shape: Any) -> bool:
    """An array of finite float32 or float64, of this shape if one is given."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype in (np.float32, np.float64)
        and (not shape or value.shape == shape)
        and bool(np.isfinite(value).all())
    )


def _is_rows(value: Any, n: int, d: Any) -> bool:
    """A table (n, d), dense or sparse; a sparse one was found finite when it was read."""
    return value.shape == (n, d) if isinstance(value, sp.csr_array) else _is_table(value, n, d)


def _is_indices(value: Any, limit: int) -> bool:
    """Whole numbers from 0 to limit - 1."""
    whole = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    return whole and (value.size == 0 or bool(value.min() >= 0 and value.max() < limit))


def _is_texts(value: Any, count: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object and value.shape == (count,)


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise ModelFileError(f"the model contradicts itself: {rule}. Fit it again.")
