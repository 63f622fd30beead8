"""Indices of classes: Wilks' Λ of the projected rows (LDA), and with a penalty for more columns than rows (PDA)."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.data.target import target_array
from lowdim.errors import BadInput, NotEnoughData
from lowdim.linear.projection_pursuit.indices import Array, Codes, Objective, ProjectionIndex
from lowdim.linear.projection_pursuit.row_passes import RowPasses

__all__ = ["LdaIndex", "PdaIndex", "read_classes"]


class PdaIndex(ProjectionIndex):
    """1 - |Aᵀ((1 - λ) W + nλI) A| / |Aᵀ((1 - λ) (W + B) + nλI) A| for the penalty λ.

    W and B are the scatter matrices within and between classes.
    """

    supervised = True

    def __init__(self, penalty: float) -> None:
        self.penalty = penalty

    def objective(self, Y: Array | RowPasses, codes: Codes) -> Objective:
        assert codes is not None
        within, total = Y.scatter(codes) if isinstance(Y, RowPasses) else _scatter(Y, codes)
        ridge = len(Y) * self.penalty * np.eye(Y.shape[1])
        within, total = (1 - self.penalty) * within + ridge, (1 - self.penalty) * total + ridge

        def value_and_gradient(A: Array) -> tuple[float, Array]:
            inner, outer = within @ A, total @ A
            small, large = A.T @ inner, A.T @ outer
            # A perfect separation would divide by zero.
            floor = 1e-12 * max(float(np.trace(large)), np.finfo(float).tiny) * np.eye(A.shape[1])
            small, large = small + floor, large + floor
            ratio = float(np.exp(np.linalg.slogdet(small)[1] - np.linalg.slogdet(large)[1]))
            slope = np.linalg.solve(large, outer.T).T - np.linalg.solve(small, inner.T).T
            return 1 - ratio, 2 * ratio * slope

        return value_and_gradient


class LdaIndex(PdaIndex):
    """1 - |AᵀWA| / |Aᵀ(W + B)A|: 1 minus Wilks' Λ of the projected rows; W and B within and between classes."""

    def __init__(self) -> None:
        super().__init__(0.0)


def read_classes(y: Any, n: int, index: str) -> Codes:
    """The class of each row as a number from 0, (n,); raises BadInput for what is no class."""
    if y is None:
        raise BadInput(
            f"index={index!r} needs classes, one per row: requires y to be passed, but the target y is None. "
            "Use fit(X, y), or another index."
        )
    labels = target_array(y)
    labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (n,):
        raise BadInput(f"y must have one class per row ({n}); got shape {labels.shape}.")
    missing = np.flatnonzero([_is_missing(label) for label in labels.tolist()])
    if len(missing):
        raise BadInput(f"y has no class for {len(missing)} of {n} rows (row {missing[0]} first). Drop such rows.")
    if labels.dtype.kind == "f" and (labels != np.rint(labels)).any():
        raise BadInput(
            f"y holds numbers with decimals ({len(np.unique(labels))} different ones), which are no classes. Give "
            "integers or texts, or cut the numbers into classes."
        )
    names = np.array([str(label) for label in labels.tolist()]) if labels.dtype.kind == "O" else labels
    codes = np.unique(names, return_inverse=True)[1].astype(np.intp)
    counts = np.bincount(codes)
    if len(counts) < 2:
        raise BadInput(f"y has one class, and index={index!r} separates at least two. Use an index without classes.")
    if counts.max() < 2:
        raise NotEnoughData(f"every class of y has a single row, so that nothing varies within classes (n = {n}).")
    return codes


def _is_missing(label: Any) -> bool:
    """None, NaN, NaT, or pandas' NA, whose comparisons have no truth value."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _scatter(Y: Array, codes: Any) -> tuple[Array, Array]:
    """Within-class and total scatter, (r, r)."""
    counts = np.bincount(codes)
    means = np.stack([np.bincount(codes, column) for column in Y.T], axis=1) / counts[:, None]
    inside, around = Y - means[codes], Y - Y.mean(axis=0)
    return inside.T @ inside, around.T @ around
