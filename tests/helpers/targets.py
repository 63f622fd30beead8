"""A target for methods that can't do without one, and a table for those that don't take any numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim

SUPERVISED = {method.name for method in lowdim.methods() if method.supervised}


def target_for(name: str, X: Any, classes: int = 4) -> np.ndarray | None:
    """Labels of so many classes in turn, one per row of X; None for a method without a target, and for no table."""
    shape = getattr(X, "shape", ())
    known = name in SUPERVISED and isinstance(shape, tuple) and shape
    return np.arange(shape[0]) % classes if known else None


def table_for(name: str, X: Any) -> Any:
    """X, or numbers made of it that the method takes: counts without a sign for CA, three categories for MCA."""
    if name == "CA":
        return np.abs(X)
    return np.mod(np.rint(X), 3).astype(X.dtype) if name == "MCA" else X
