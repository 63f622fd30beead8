"""The target of a selection: classes or a measurement, and the table that it comes with."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.target import class_labels, numeric_responses, read_supervised, target_array
from lowdim.errors import BadInput, NotEnoughData
from lowdim.runtime.display import count
from lowdim.runtime.param import Choice, param
from lowdim.select._selector import Filter, finite_table

__all__ = ["SupervisedFilter", "Target", "TaskMixin", "is_classification", "read_labeled_table", "read_target"]

Floats = NDArray[np.float64]

FEW_CLASSES = 20  # whole numbers with no more distinct values are classes, however few the rows
ROWS_PER_CLASS = 10  # beyond that, numbers with fewer rows per distinct value are a measurement


@dataclasses.dataclass(frozen=True)
class Target:
    """One class or one number per row."""

    classes: NDArray[Any] | None  # (C,), sorted; None for a measurement
    codes: NDArray[np.int32] | None  # (n,) indices into classes
    response: Floats | None  # (n,)

    @property
    def is_discrete(self) -> bool:
        """Whether it is classes."""
        return self.classes is not None

    @property
    def values(self) -> NDArray[Any]:
        """Codes of the classes, or the numbers, (n,)."""
        found = self.response if self.codes is None else self.codes
        assert found is not None
        return found


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class TaskMixin:
    """Adds `task`."""

    task: str = param(
        "auto",
        Choice("auto", "classification", "regression"),
        "What y is: classes or a measurement. 'auto': numbers with decimals, and whole numbers with more than 20 "
        "distinct values and fewer than 10 rows for each, are a measurement.",
    )


@dataclasses.dataclass(eq=False, repr=False)
class SupervisedFilter(TaskMixin, Filter):
    """Base of filters that read the whole table with its target."""


def is_classification(y: Any, task: str) -> bool:
    """Whether y is read as classes."""
    if task != "auto":
        return task == "classification"
    values = target_array(y)
    if values.dtype.kind not in "iuf" or not values.ndim:
        return True  # class_labels refuses what has no rows
    if values.dtype.kind == "f" and not np.array_equal(values, np.round(values)):
        return bool(np.isnan(values).any())  # which class_labels refuses by name
    return bool(len(np.unique(values)) <= max(FEW_CLASSES, len(values) / ROWS_PER_CLASS))


def read_target(y: Any, n: int | None, task: str) -> Target:
    """The target as the task says, with at least two values that differ."""
    if is_classification(y, task):
        labels = class_labels(y, n)
        require_classes(labels.classes)
        return Target(labels.classes, labels.codes, None)
    values = numeric_responses(y, n)
    if values.shape[1] > 1:
        raise BadInput(f"y must have one number per row for feature selection; got {values.shape[1]} columns.")
    response = np.ascontiguousarray(values[:, 0])
    if response.min() == response.max():
        raise NotEnoughData("y is constant, so no feature can explain it. Give a target that varies.")
    return Target(None, None, response)


def require_classes(classes: NDArray[Any]) -> None:
    """Raise NotEnoughData unless there are at least two classes."""
    if len(classes) < 2:
        raise NotEnoughData(
            f"the target has {count(len(classes), 'class', 'classes')}{': ' if len(classes) else ''}"
            f"{', '.join(map(repr, classes.tolist()))}, and a minimum of 2 is required. Give rows of another class."
        )


def read_labeled_table(owner: Any, X: Any, y: Any, task: str, min_rows: int = 2) -> tuple[NDArray[Any], Target]:
    """All rows as one dense finite table, which must not be written into, and their target."""
    rows, y = read_supervised(owner, X, y, min_rows=min_rows)
    return finite_table(rows), read_target(y, rows.count, task)
