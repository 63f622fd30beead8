"""Fit a method to a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.base.estimator import Method
from lowdim.data.rows import Rows, first_nonfinite
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.registry import methods
from lowdim.runtime.param import parameters
from lowdim.workflow.source import label_vector
from lowdim.workflow.standardize import build_estimator, inner_estimator, should_standardize

__all__ = ["FittedModel", "fit_method", "naming_nonfinite", "require_rows"]

# Fitted attributes that are reported to programs, where an estimator has them.
REPORTED = (
    "n_components_",
    "explained_variance_ratio_",
    "stress_",
    "stress1_",
    "goodness_of_fit_",
    "nystrom_error_",
    "solver_",
    "n_iter_",
    "converged_",
)


@dataclass(frozen=True)
class FittedModel:
    """A fitted model and the rows that it was fitted to."""

    method: Method
    model: Any
    standardized: bool | None  # None: the data are distances
    rows: Rows

    @property
    def estimator(self) -> Any:
        """The fitted method itself, without the `Standardized` that may be around it."""
        return inner_estimator(self.model)

    def embedding(self) -> Any:
        """Coordinates of the fitted rows: as fitting found them, where the estimator keeps them."""
        found = getattr(self.estimator, "embedding_", None)
        return self.model.transform(self.rows) if found is None else found

    def to_dict(self) -> dict[str, Any]:
        """Parameters and results, for programs."""
        model = self.estimator
        given = {"method": self.method.name, "standardized": self.standardized, "parameters": model.get_params()}
        return given | {name.rstrip("_"): getattr(model, name) for name in REPORTED if hasattr(model, name)}


def fit_method(method: Method, settings: dict[str, Any], table: Table, standardize: bool | None) -> FittedModel:
    """Fit a method, with the labels if it is supervised; `standardize` None leaves that to `should_standardize`."""
    settings = dict(settings)
    standardized = should_standardize(settings, table, standardize)
    if table.kind == "distances":
        require_rows(table, method)
        settings.setdefault("metric", "precomputed")
    rows, labels = table.rows(), label_vector(table)
    if method.supervised and labels is None:
        raise BadInput(f"{method.name} is supervised, but {table.source} has no labels. Name their column by --label.")
    model = build_estimator(method, settings, standardized)
    with naming_nonfinite(rows, table, model):
        model.fit(rows, labels) if method.supervised else model.fit(rows)
    return FittedModel(method, model, standardized, rows)


def require_rows(table: Table, method: Method | None) -> None:
    """Raise BadInput if the table holds distances and the method can't take them; None takes none."""
    if table.kind != "distances" or (method is not None and _accepts_distances(method)):
        return
    able = ", ".join(known.name for known in methods() if _accepts_distances(known))
    what = "this command" if method is None else method.name
    raise BadInput(
        f"{table.source} holds distances between rows, but {what} needs the rows themselves. "
        f"Methods that take distances: {able or 'none'}."
    )


@contextmanager
def naming_nonfinite(rows: Rows, table: Table, model: Any, use: str = "use") -> Iterator[None]:
    """Replace an error about values that are not finite by one that names the row, the column and the remedy."""
    try:
        yield
    except (BadParameter, NotEnoughData):
        raise
    except ValueError as error:  # BadInput, or scikit-learn's own
        missing = getattr(model, "missing", None)  # how the method treats NaN, if it has a choice
        found = None if missing == "em" else first_nonfinite((chunk.start, chunk.load()) for chunk in rows.chunks())
        if found is None:
            raise
        row, column, value = found
        remedy = f", or {use} --missing em, which imputes NaN" if missing and np.isnan(value) else ""
        raise BadInput(
            f"{table.source}: column {table.names[column]!r} of row {row + 1} is {value}, but values must be finite. "
            f"Drop or fill such rows{remedy}."
        ) from error


def _accepts_distances(method: Method) -> bool:
    metric = parameters(method.cls).get("metric")
    return metric is not None and metric.domain.accepts("precomputed")
