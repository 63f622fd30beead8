"""Attempts with selectors and subspace clusterers: any table, any target, any parameters."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzzing.parameters import VALUES
from fuzzing.values import any_table, tell
from lowdim.runtime.param import parameters
from other_estimators import QUICK, apply, clusterers, fitted_arrays, selectors

__all__ = ["make"]

LONG = ("max_iter", "n_init", "n_resamples", "cv", "xi", "patience")  # much of it is much work, which is no defect


def make(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A selector or clusterer with one or two odd parameters, or fitted to an odd table, or with an odd target."""
    name = r.choice(sorted(selectors() | clusterers()))
    cls = (selectors() | clusterers())[name]
    odd = r.choice(["table", "parameters", "target"])
    chosen = {r.choice(list(parameters(cls))): r.choice(VALUES) for _ in range(r.choice([1, 2]))}
    chosen.pop("checkpoint", None)
    for long in LONG:
        if isinstance(chosen.get(long), int | float | np.number) and chosen[long] > 20:
            chosen[long] = 3
    options = QUICK.get(name, {}) | (chosen if odd == "parameters" else {})
    rng = np.random.default_rng(0)
    X = any_table(r) if odd == "table" else rng.random((30, 4))
    new = any_table(r) if r.random() < 0.3 else X
    y = _target(r, X, odd == "target")

    def work() -> Any:
        model = cls(**options)
        model.fit(*((X, y) if name in selectors() else (X,)))
        found = fitted_arrays(model)
        if any(array.dtype.kind == "f" and np.isnan(array).any() for array in found if isinstance(array, np.ndarray)):
            raise AssertionError("a fitted attribute with NaN")
        apply(model, new)

    return f"{name} {chosen if odd == 'parameters' else ''} {tell(X)} {tell(y)} {tell(new)}", work


def _target(r: random.Random, X: Any, odd: bool) -> Any:
    shape = getattr(X, "shape", ())
    n = int(shape[0]) if isinstance(shape, tuple) and shape and isinstance(shape[0], int) else 5
    if not odd:
        return r.choice([np.arange(n) % 2, np.arange(n) % 3, np.arange(n) / 7])
    options: list[Any] = [None, np.zeros(n), np.arange(n), np.full(n, np.nan), np.arange(n) * 1e300, "text", 3]
    options += [np.arange(n + 1), np.ones((n, 2)), ["a", 1] * (n // 2), [None] * n, {1, 2}, np.arange(n) % 2 == 0]
    options += [np.array(["b", "a"] * n)[:n], np.full(n, np.inf), np.arange(n) * 1j, [[]] * n, object()]
    return r.choice(options)
