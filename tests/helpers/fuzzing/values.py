"""Attempts with values: tables of every kind, healthy and broken, for every estimator and function."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

import lowdim
from targets import target_for

__all__ = ["QUICK", "SourceFailed", "any_table", "healthy", "make", "tell"]


class SourceFailed(OSError):
    """What the source of a stream raises; it must reach the caller."""


QUICK = {
    "TSNE": {"max_iter": 30},
    "UMAP": {"n_epochs": 15},
    "MDS": {"max_iter": 15},
    "NonmetricMDS": {"max_iter": 8},
    "ProjectionPursuit": {"n_init": 1, "n_null": 1, "max_iter": 5},
}
SCALES = (1, 1, 1, 0, 1e-30, 1e8, 1e12, 1e-150, 1e150, 1e-300, 1e300, 1e-320)
KINDS = ["f8", "f8", "f4", "f2", "g", "i1", "u1", "i2", "i4", "u4", "i8", "u8", "?", "O", ">f8", ">f4", ">i4"]
KINDS += ["c16", "U5", "S5", "M8[s]", "m8[s]"]


def healthy(r: random.Random) -> np.ndarray:
    """A table of finite numbers: often ordinary, else with ties, constants, few rows or extreme scales."""
    n, d = r.choice([1, 2, 3, 5, 12, 25, 40]), r.choice([1, 2, 3, 6])
    rng = np.random.default_rng(r.getrandbits(32))
    X = r.choice([rng.normal, rng.random])(size=(n, d))
    change = r.randrange(8)
    if change == 0:
        X = np.round(X * 2)
    elif change == 1:
        X[:, r.randrange(d)] = 3.0
    elif change == 2:
        X[:] = X[0]
    elif change == 3:
        X[r.randrange(n)] *= 1e9
    return X * r.choice(SCALES) + r.choice([0, 0, 0, 1e8, -1e12])


def any_table(r: random.Random) -> Any:
    """A table in any container, or something that is none."""
    X = healthy(r)
    if r.random() < 0.3:
        X[r.randrange(len(X)), r.randrange(X.shape[1])] = r.choice([np.nan, np.inf, -np.inf, 1e308, -1e308])
    kind = np.dtype(r.choice(KINDS))
    with np.errstate(all="ignore"):
        X = (
            (np.nan_to_num(X, nan=1) * 10).clip(-100, 100).astype("i8").astype(kind)
            if kind.kind in "mM"
            else _cast(X, kind)
        )
    container = r.choice(CONTAINERS)
    try:
        return container(r, X)
    except (TypeError, ValueError, OverflowError, NotImplementedError, pa.ArrowException):
        return X  # this container can't hold these values


def _cast(X: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    if kind.kind not in "iumM":
        return X.astype(kind)
    whole = np.nan_to_num(X, nan=1, posinf=9, neginf=-9).clip(-100, 100)
    return whole.astype(kind) if kind.kind in "iu" else whole.astype(np.int64).astype(kind)


def _broken_sparse(r: random.Random, X: np.ndarray) -> Any:
    S = sp.csr_array(X.astype(np.float64))
    S.indices, S.indptr = S.indices.copy(), S.indptr.copy()
    part = r.choice(["index", "pointer", "negative", "duplicate", "short"])
    if part == "index" and S.nnz:
        S.indices[r.randrange(S.nnz)] = r.choice([X.shape[1], 10**6, 2**31 - 1])
    elif part == "pointer":
        S.indptr[r.randrange(len(S.indptr))] = r.choice([-1, 10**6, 2**31 - 1])
    elif part == "negative" and S.nnz:
        S.indices[r.randrange(S.nnz)] = -r.choice([1, 5, 10**6])
    elif part == "duplicate" and S.nnz:
        S.indices[:] = 0
    elif part == "short":
        S.data = S.data[: S.nnz // 2]
    return S


def _chunks(r: random.Random, X: np.ndarray) -> Any:
    pieces: list[Any] = np.array_split(X, r.choice([1, 2, 3]))
    odd = r.randrange(6)
    if odd == 0:
        pieces.append(X[:, :-1])
    elif odd == 1:
        pieces.insert(0, X[0])
    elif odd == 2:
        pieces.append("text")

    def generate():
        yield from pieces
        if odd == 3:
            raise SourceFailed

    return r.choice([generate(), iter(pieces), generate])


CONTAINERS: list[Callable[[random.Random, np.ndarray], Any]] = [
    *[lambda r, X: X] * 6,
    lambda r, X: np.asfortranarray(X),
    lambda r, X: np.repeat(X, 2, axis=1)[:, ::2],
    lambda r, X: X[::-1],
    lambda r, X: np.broadcast_to(X[0], X.shape),
    lambda r, X: X.tolist(),
    lambda r, X: [tuple(row) for row in X.tolist()],
    lambda r, X: [row[: len(row) - (i == 0)] for i, row in enumerate(X.tolist())],  # ragged
    lambda r, X: X[0],
    lambda r, X: X[None],
    lambda r, X: X[0, 0],
    lambda r, X: X[:0],
    lambda r, X: X[:, :0],
    lambda r, X: np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) % 5 == 0),
    lambda r, X: np.asmatrix(X),
    lambda r, X: np.rec.fromarrays([X[:, 0], X[:, 0]], names="a,b"),
    lambda r, X: memoryview(np.ascontiguousarray(X)),
    lambda r, X: sp.csr_array(X),
    lambda r, X: sp.csc_matrix(X),
    lambda r, X: sp.coo_array(X),
    lambda r, X: sp.bsr_array(X),
    lambda r, X: sp.lil_array(X),
    lambda r, X: sp.dok_array(X),
    lambda r, X: sp.dia_array(X),
    _broken_sparse,
    _broken_sparse,
    _chunks,
    _chunks,
    lambda r, X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    lambda r, X: pd.DataFrame(X, columns=["same"] * X.shape[1]),
    lambda r, X: pd.DataFrame(X, columns=[i if i % 2 else str(i) for i in range(X.shape[1])]),
    lambda r, X: pd.DataFrame({"a": X[:, 0], "b": ["x"] * len(X)}),
    lambda r, X: pd.DataFrame({"a": X[:, 0], "t": [datetime.datetime(2020, 1, 1)] * len(X)}),
    lambda r, X: pd.DataFrame(X).convert_dtypes(dtype_backend="pyarrow"),
    lambda r, X: pd.DataFrame(X).astype(pd.SparseDtype("float", 0.0)),
    lambda r, X: pd.DataFrame({"a": pd.Categorical(X[:, 0])}),
    lambda r, X: pd.Series(X[:, 0]),
    lambda r, X: pl.DataFrame(X),
    lambda r, X: pl.DataFrame(X).lazy(),
    lambda r, X: pa.table({f"c{i}": pa.array(X[:, i]) for i in range(X.shape[1])}),
    lambda r, X: pa.table({"a": pa.array([None if i % 3 else 1.0 for i in range(len(X))])}),
    lambda r, X: lowdim.Table(X),
    lambda r, X: [[Fraction(1, 3), 10**400], [1, 2]],
    lambda r, X: {"a": X[:, 0]},
    lambda r, X: "no such file.csv",
    lambda r, X: b"bytes",
    lambda r, X: None,
    lambda r, X: object(),
    lambda r, X: {1, 2, 3},
    lambda r, X: lambda: X,
    lambda r, X: type(X),
]


def weights(r: random.Random, n: int) -> Any:
    """Sample weights, mostly wrong."""
    options = [
        np.ones(n),
        np.zeros(n),
        -np.ones(n),
        np.full(n, np.nan),
        np.ones(n + 1),
        np.ones((n, 2)),
        "text",
        1,
        None,
    ]
    return r.choice([*options, sp.csr_array(np.ones((1, n))), ["a"] * n, [[1]] * n, [None] * n, np.full(n, 1e300)])


def make(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """An estimator fitted to any table, and asked for any other."""
    method = r.choice(lowdim.methods())
    model = method.cls(r.choice([1, 1, 2, 3]), **QUICK.get(method.name, {}))
    if standardized := r.random() < 0.15:
        model = lowdim.Standardized(model)
    X, new = any_table(r), any_table(r)
    weighted = method.weights and not standardized and isinstance(X, np.ndarray) and X.ndim == 2 and r.random() < 0.3
    options = {"sample_weight": weights(r, len(X))} if weighted else {}
    good = np.random.default_rng(0).normal(size=(30, r.choice([1, 2, 3, 6])))

    def fit() -> Any:
        return model.fit_transform(X, target_for(method.name, X, 2), **options)

    def fit_then_new() -> Any:
        return model.fit(good, target_for(method.name, good)).transform(new)

    def fit_both() -> Any:
        return model.fit(X, target_for(method.name, X, 2), **options).transform(new)

    def back() -> Any:
        model.fit(good, target_for(method.name, good))
        if not hasattr(model, "inverse_transform"):
            return None
        return model.inverse_transform(new)

    work = r.choice([fit, fit, fit_then_new, fit_both, back])
    return f"{type(model).__name__} {method.name} {work.__name__} {tell(X)} {tell(new)} {options}", work


def tell(X: Any) -> str:
    """A few words about any object."""
    shape = np.shape(X) if isinstance(X, np.ndarray) else ""
    return f"{type(X).__module__.split('.')[0]}.{type(X).__name__}{shape} {getattr(X, 'dtype', '')}"
