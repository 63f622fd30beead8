"""Attempts with parameters: any value for any parameter of any estimator."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import lowdim
from fuzzing.values import QUICK
from lowdim.runtime.param import parameters
from targets import table_for, target_for

__all__ = ["VALUES", "make"]

VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 3, 5, 7, -1, -2, 10**6, 10**8, 2**31, 2**31 - 1, 2**63, 2**64, 10**400, -(10**400)),
    *(0.0, 0.5, 1.0, 1.5, 0.99, 1e-300, 1e300, 1e-10, -0.5, float("nan"), float("inf"), float("-inf")),
    *("auto", "euclidean", "cosine", "precomputed", "", "no such word", "pca", "random", "\0", "é" * 300),
    *(b"bytes", [], [1, 2], (1,), (0.1, 0.2), {}, {"a": 1}, set(), object(), Ellipsis, range(3), slice(1)),
    *(np.int8(3), np.uint8(2), np.int16(2), np.int64(2), np.float16(0.5), np.float32(0.5), np.float64(2)),
    *(np.longdouble(0.5), np.bool_(True), np.array(2), np.array([1, 2]), np.array([[1.0, 2.0]]), np.zeros((20, 2))),
    *(np.nan, np.str_("auto"), Fraction(1, 2), Decimal("0.5"), 1j, np.random.default_rng(0)),
    *(lambda *a: 1, lambda *a: (1, 2), lambda *a: "x"),
]


def make(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """An estimator with one or two parameters of any value, fitted to an ordinary table."""
    method = r.choice(lowdim.methods())
    names = list(parameters(method.cls))
    chosen = {r.choice(names): r.choice(VALUES) for _ in range(r.choice([1, 1, 2]))}
    options = {"n_components": 2} | QUICK.get(method.name, {}) | chosen
    options.pop("checkpoint", None)
    # A long fit is what was asked for, not a defect.
    for name in ("max_iter", "n_epochs", "n_init"):
        if isinstance(options.get(name), int | float | np.number) and abs(options[name]) > 1000:
            options[name] = 5
    X = np.random.default_rng(0).normal(size=(20, 4))
    new = np.random.default_rng(1).normal(size=(3, 4))
    X, new = table_for(method.name, X), table_for(method.name, new)

    def work() -> Any:
        model = method.cls(**options)
        found = model.fit_transform(X, target_for(method.name, X))
        return found, model.transform(new)

    return f"{method.name} {chosen}", work
