"""The selectors by short names, for `compare` and the command line."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

from lowdim.errors import BadParameter

__all__ = ["FILTERS", "SELECTORS", "find_selector"]

# Filters that rank all features, and so can be compared.
FILTERS = {
    "variance": "VarianceThreshold",
    "f": "FTest",
    "fisher": "FisherScore",
    "chi2": "ChiSquared",
    "mutual_information": "MutualInformation",
    "mrmr": "MRMR",
    "hsic_lasso": "HSICLasso",
    "relieff": "ReliefF",
    "surf": "SURF",
    "multisurf": "MultiSURF",
    "laplacian": "LaplacianScore",
}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "correlation": ("CorrelationPruning", {}),
    "principal_features": ("PrincipalFeatureAnalysis", {}),
    "forward": ("SequentialSelection", {"direction": "forward"}),
    "backward": ("SequentialSelection", {"direction": "backward"}),
    "sffs": ("SequentialSelection", {"direction": "forward", "floating": True}),
    "sbfs": ("SequentialSelection", {"direction": "backward", "floating": True}),
    "rfe": ("RFE", {}),
    "boruta": ("Boruta", {}),
}
SELECTORS: dict[str, tuple[str, dict[str, Any]]] = {name: (cls, {}) for name, cls in FILTERS.items()} | OTHERS


def find_selector(name: str) -> tuple[type[Any], dict[str, Any]]:
    """The class of that name, short or its own, and the settings that the short name stands for."""
    asked = name.lower().replace("-", "_")
    known = SELECTORS | {cls.lower(): (cls, {}) for cls, _ in SELECTORS.values()}
    if asked not in known:
        near = get_close_matches(asked, known, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Selectors: {', '.join(SELECTORS)}."
        raise BadParameter(f"there is no selector {name!r}. {hint}")
    cls, settings = known[asked]
    return getattr(import_module("lowdim.select"), cls), dict(settings)
