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

from lowdim.base.linear import Linear
from lowdim.base.standardized import Standardized
from lowdim.decomposition.gower import Scaling
from lowdim.errors import ModelFileError
from lowdim.linear.pca import PCA
from lowdim.manifold.isomap.estimator import Isomap
from lowdim.manifold.isomap.shortest_paths import Roads
from lowdim.manifold.laplacian.estimator import LaplacianEigenmaps
from lowdim.manifold.lle.estimator import LLE
from lowdim.mds.base import Scaling as PairScaling
from lowdim.neighbor_embedding.tsne.estimator import TSNE
from lowdim.neighbor_embedding.umap.densmap import Agreement
from lowdim.neighbor_embedding.umap.estimator import UMAP
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
    if isinstance(model, Isomap | LaplacianEigenmaps) and "embedding_" in state:
        _check_map(state, d)
    if isinstance(model, LLE) and "embedding_" in state:
        _check_lle(state, d)
    if isinstance(model, TSNE) and "embedding_" in state:
        _check_tsne(state, d)
    if isinstance(model, UMAP) and "embedding_" in state:
        _check_umap(state, d, model.metric == "precomputed")
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


def _check_map(state: dict[str, Any], d: Any) -> None:
    """Parts that are there for every row of a map agree on their number."""
    Z, rows = state["embedding_"], state.get("X_fit_")
    _require(_is_table(Z) and Z.ndim == 2, "embedding_ must be a table of finite numbers")
    n = len(Z)
    _require(rows is None or _is_table(rows, n, d), f"X_fit_ must be finite, {n} × {d}")
    for name in ("reaches_", "sigma_", "densities_", "degrees_"):
        _require(state.get(name) is None or _is_table(state[name], n), f"{name} must be {n} finite numbers")
    labels: Any = state.get("components_of_rows_")
    roads: Any = state.get("roads_")
    if labels is not None:
        values: Any = state.get("component_eigenvalues_")
        offsets = state.get("offsets_")
        _require(_is_table(values) and values.ndim == 2, "component_eigenvalues_ must be a table of finite numbers")
        _require(values.shape[1] == Z.shape[1], f"component_eigenvalues_ must have {Z.shape[1]} columns")
        _require(_is_table(offsets, len(values)), f"offsets_ must be {len(values)} finite numbers")
        whole = isinstance(labels, np.ndarray) and labels.shape == (n,) and labels.dtype.kind in "iu"
        _require(whole and ((labels >= 0) & (labels < len(values))).all(), f"components_of_rows_ must be {n} labels")
    if roads is not None:
        scaling: Any = state.get("scaling_")
        ways: Any = state.get("landmark_ways_")
        _require(isinstance(roads, Roads) and roads.n == n, f"roads_ must have {n} rows")
        _require(isinstance(scaling, Scaling) and scaling.axes.shape[1] == Z.shape[1], "scaling_ must fit embedding_")
        m = n if ways is None else len(ways)
        _require(len(scaling.means) == m, f"scaling_ must have {m} rows")
        _require(ways is None or _is_table(ways, m, n), f"landmark_ways_ must be finite, {m} × {n}")
        _require(Real(0, open=True).accepts(state.get("unit_")), "unit_ must be a positive number")


def _check_pca(state: dict[str, Any], k: int) -> None:
    _require(_is_table(state.get("explained_variance_"), k), f"explained_variance_ must be {k} finite numbers")
    found = state.get("n_components_")
    _require(COUNT.accepts(found) and found == k, f"n_components_ must be {k}, at least 1")
    _require(Real(0).accepts(state.get("noise_variance_")), f"noise_variance_ must be {Real(0).text}")


def _check_lle(state: dict[str, Any], d: Any) -> None:
    rows: Any = state.get("X_fit_")
    places, k = state["embedding_"], state.get("n_neighbors_")
    _require(_is_table(rows) and rows.ndim == 2 and rows.shape[1] == d, f"X_fit_ must be finite, in {d} columns")
    _require(_is_table(places) and places.ndim == 2, "embedding_ must be a finite table")
    _require(len(places) == len(rows), f"embedding_ must have {len(rows)} rows, as X_fit_ has")
    labels: Any = state.get("components_of_rows_")
    whole = isinstance(labels, np.ndarray) and labels.shape == (len(rows),) and labels.dtype.kind in "iu"
    _require(whole, f"components_of_rows_ must be {len(rows)} labels")
    fits = k is not None and COUNT.accepts(k) and k < len(rows)
    _require(fits, f"n_neighbors_ must be {COUNT.text}, below {len(rows)}")


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
