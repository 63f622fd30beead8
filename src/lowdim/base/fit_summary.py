"""What a fit found, in a few words: rows, components, explained variance or another measure of fit, convergence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lowdim.base.state import fitted_names
from lowdim.runtime.display import count
from lowdim.runtime.param import parameters

__all__ = ["FIT_SECONDS", "describe_fit", "describe_model"]

# How long fits of this process took: no part of a model, so that equal fits are equal objects.
FIT_SECONDS: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

MOST_SHARES = 3  # of single components, in a line

# Measures of fit, by the fitted attribute that holds them.
MEASURES: dict[str, Callable[[Any], str]] = {
    "stress1_": lambda stress: f"stress-1 {stress:.4g}",
    "goodness_of_fit_": lambda fit: f"goodness of fit {fit[0]:.1%} ({fit[1]:.1%} of the positive eigenvalues)",
    "residual_variance_": lambda residual: f"residual variance {residual[-1]:.1%}",
    "reconstruction_error_": lambda error: f"reconstruction error {error:.3g}",
    "kl_divergence_": lambda divergence: f"KL divergence {divergence:.3g}",
    "order_p_values_": lambda values: _order_tests(values),
    "index_": lambda values: f"index {' + '.join(f'{value:.4g}' for value in values)}",
    "verdict_": lambda verdict: verdict,
    "n_connected_components_": lambda components: count(components, "connected component"),
}


def describe_fit(model: Any, max_iter: str = "max_iter") -> list[str]:
    """Number of components, explained variance or another measure of fit, and convergence, where an estimator has them.

    `max_iter` is what the parameter of that name is called where the words are read.
    """
    parts = []
    components = getattr(model, "n_components_", None)
    if components is not None:
        parts.append(count(int(components), "component"))
    ratios = getattr(model, "explained_variance_ratio_", None)
    if ratios is not None:
        each = " + ".join(f"{ratio:.1%}" for ratio in ratios[:MOST_SHARES]) + " + …" * (len(ratios) > MOST_SHARES)
        total = f"{float(np.sum(ratios)):.1%} of the {type(model)._explained}"
        parts.append(total + (f" ({each})" if len(ratios) > 1 else ""))
    parts += [describe(getattr(model, name)) for name, describe in MEASURES.items() if hasattr(model, name)]
    parts = [part for part in parts if part]
    parts += _adjusted(model)
    if getattr(model, "solver_", None) == "nystrom":
        error = model.nystrom_error_
        parts.append("Nyström approximation" + (f" with error {error:.1%}" if np.isfinite(error) else ""))
    if getattr(model, "converged_", True) is False:
        parts.append("NOT CONVERGED" + (f"; raise {max_iter}" if "max_iter" in parameters(type(model)) else ""))
    return parts


def describe_model(model: Any) -> str | None:
    """One line about a fitted estimator: rows and columns, what it found, and how long it took; None before fit."""
    if not fitted_names(model):
        return None
    inner = getattr(model, "model_", model)  # within Standardized
    columns = getattr(model, "n_features_in_", None)
    rows = getattr(inner, "n_samples_", None) or _rows(inner)
    size = [count(rows, "row")] if rows is not None else []
    size += [count(columns, "column")] if columns is not None else []
    found = [*_dimensions(inner), *describe_fit(inner)]
    seconds = FIT_SECONDS.get(model)
    if seconds is not None:
        found.append(f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s")
    return f"fitted to {' × '.join(size) or 'a graph'}: {', '.join(found)}".removesuffix(": ")


def _order_tests(p_values: Any) -> str:
    """How many directions the tests of a sufficient reduction find, with the p-values up to the first above 0.05."""
    if p_values is None:
        return ""
    enough = np.flatnonzero(np.asarray(p_values) >= 0.05)
    found = int(enough[0]) if len(enough) else len(p_values)
    each = ", ".join("< 0.0001" if p < 1e-4 else f"= {p:.2g}" for p in p_values[: found + 1])
    return f"{count(found, 'direction')} by the order tests (p {each})"


def _adjusted(model: Any) -> list[str]:
    """Parameters that the fit did not take as they were given: too few rows for them, or another has precedence."""
    parts, rows = [], _rows(model)
    asked = np.atleast_1d(getattr(model, "perplexity", ()))
    used = np.asarray(getattr(model, "perplexity_", ()))
    if asked.dtype.kind in "iuf" and len(used) == len(asked) and (used < asked).any():
        parts.append(f"perplexity lowered to {', '.join(f'{value:.3g}' for value in used)}")
    radius, neighbors = getattr(model, "radius", None), getattr(model, "n_neighbors", None)
    if isinstance(radius, int | float):
        parts.append(f"neighbors within {radius:g}")
    elif rows is not None and isinstance(neighbors, int) and neighbors > rows - 1:
        parts.append(f"fewer neighbors than {neighbors}, as there are {rows} rows")
    return parts


def _rows(model: Any) -> int | None:
    """The number of fitted rows, where what was fitted has one entry per row."""
    for name in ("embedding_", "labels_", "X_fit_"):
        if getattr(model, name, None) is not None:
            return int(np.shape(getattr(model, name))[0])
    return None


def _dimensions(model: Any) -> list[str]:
    """Dimensions, selected columns or clusters, if `describe_fit` does not say how many."""
    if hasattr(model, "clusters_"):
        return [count(len(model.clusters_), "cluster")]
    if hasattr(model, "support_"):
        return [f"{count(int(np.sum(model.support_)), 'column')} selected"]
    if hasattr(model, "n_components_") or not hasattr(model, "_n_features_out"):
        return []
    return [count(model._n_features_out, "dimension")]
