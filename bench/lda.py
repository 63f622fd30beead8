"""LDA against scikit-learn: fit + transform, accuracy on rows that were not fitted, and the angle to exact axes."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bench.case import Case, Contender
from bench.data import MNIST, mnist, mnist_or_synthetic
from lowdim import LDA

Data = tuple[np.ndarray, np.ndarray]  # rows and classes
TRAINING = 6 / 7  # of the rows: 60,000 of MNIST


@cache
def digits(dtype: Any = np.float32) -> Data:
    """MNIST with its labels; classes by the sign patterns of columns if it is not available."""
    X = mnist()
    if MNIST.exists():
        with np.load(MNIST) as archive:
            y = archive["y"].astype(np.int64)
    else:
        y = (X[:, :3] > X[:, :3].mean(axis=0)) @ np.array([1, 2, 4])
    return X.astype(dtype), y


@cache
def half_of_digits() -> Data:
    """35,000 rows of it in float64: scikit-learn's SVD of all of them takes minutes."""
    X, y = digits(np.float64)
    return np.ascontiguousarray(X[::2]), y[::2]


@cache
def gaussian_classes(n: int = 200_000, d: int = 100, classes: int = 20) -> Data:
    """Normal classes with one covariance, float64."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    mix = rng.standard_normal((d, d)) / np.sqrt(d)
    return rng.standard_normal((n, d)) @ mix + (0.4 * rng.standard_normal((classes, d)) @ mix)[y], y


_exact: dict[int, np.ndarray] = {}


def exact_axes(data: Data) -> np.ndarray:
    """Axes (k, d) of the training rows in float64, from the SVD of class-centered and standardized rows."""
    X, y = data
    if id(X) not in _exact:
        _exact[id(X)] = LDA(solver="svd").fit(*training((X.astype(np.float64), y))).components_
    return _exact[id(X)]


def training(data: Data) -> Data:
    cut = int(TRAINING * len(data[0]))
    return data[0][:cut], data[1][:cut]


def quality_of(data: Data, found: Any) -> dict[str, float]:
    """Accuracy on the other rows, and the largest angle between an axis and the exact one."""
    model, axes = found
    cut = int(TRAINING * len(data[0]))
    accuracy = float((model.predict(data[0][cut:]) == data[1][cut:]).mean())
    exact = exact_axes(data)
    angles = [scipy.linalg.subspace_angles(a[:, None], b[:, None])[0] for a, b in zip(axes, exact, strict=True)]
    return {"accuracy": accuracy, "angle": float(max(angles))}


def ours(**options: Any) -> Contender:
    def run(data: Data) -> Any:
        X, y = training(data)
        model = LDA(**options).fit(X, y)
        model.transform(X)
        return model, model.components_.astype(np.float64)

    return Contender("lowdim", run, role="ours")


def sklearn_lda(solver: str, **options: Any) -> Contender:
    def run(data: Data) -> Any:
        X, y = training(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # variables are collinear
            model = LinearDiscriminantAnalysis(solver=solver, **options).fit(X, y)
        model.transform(X)
        return model, model.scalings_.T[: len(model.classes_) - 1].astype(np.float64)

    return Contender(f"scikit-learn {solver}", run, "scikit-learn")


def scatter_floor(data: Data) -> None:
    X, _ = training(data)
    X.T @ X


def same_accuracy(quality: dict[str, float], peer: dict[str, float]) -> bool:
    return abs(quality["accuracy"] - peer["accuracy"]) <= 0.001


FLOOR = Contender("floor", scatter_floor, role="floor")
NOTE = (
    "Angles are to the axes of the SVD in float64. scikit-learn's eigen solver refuses constant columns, as MNIST has."
)

CASES = [
    Case(
        "lda-mnist",
        f"LDA fit + transform, 60,000 × 784, 10 classes, float32 ({mnist_or_synthetic()}); floor: XᵀX",
        digits, (ours(), sklearn_lda("svd"), FLOOR), quality_of, NOTE, bar=6, equal=same_accuracy, repeats=3,
    ),
    Case(
        "lda-mnist-double",
        f"LDA fit + transform, 30,000 × 784, 10 classes, float64 ({mnist_or_synthetic()}); floor: XᵀX",
        half_of_digits,
        (ours(), sklearn_lda("svd"), FLOOR), quality_of, NOTE, bar=6, equal=same_accuracy, repeats=3,
    ),
    Case(
        "lda-gaussian",
        "LDA fit + transform, 171,428 × 100, 20 classes, float64 (synthetic normal classes); floor: XᵀX",
        gaussian_classes,
        (ours(), sklearn_lda("svd"), sklearn_lda("eigen"), FLOOR), quality_of, NOTE, bar=6, equal=same_accuracy,
        repeats=5,
    ),
]  # fmt: skip
