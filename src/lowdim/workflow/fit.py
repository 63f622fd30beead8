"""Fit a method to a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import get_tags

from lowdim.base.estimator import Method
from lowdim.base.standardized import Standardized
from lowdim.data.rows import ArrayRows, Rows, SparseRows, first_nonfinite
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.registry import find_method, methods
from lowdim.runtime.display import count
from lowdim.runtime.param import parameters
from lowdim.runtime.warning import warn
from lowdim.workflow.missing import CompleteTable, MissingValues
from lowdim.workflow.source import label_vector
from lowdim.workflow.standardize import build_estimator, inner_estimator, should_standardize

if TYPE_CHECKING:
    from lowdim.persistence import SavedMap

__all__ = [
    "FittedModel",
    "check_target",
    "default_method",
    "fit_method",
    "naming_nonfinite",
    "require_rows",
]

TARGET_PREFIX = "target_"  # of parameters that say how an optional target is used

# Fitted attributes that are reported to programs, where an estimator has them.
REPORTED = (
    "n_components_",
    "explained_variance_ratio_",
    "order_p_values_",
    "stress_",
    "stress1_",
    "goodness_of_fit_",
    "nystrom_error_",
    "index_",
    "p_value_",
    "verdict_",
    "solver_",
    "n_iter_",
    "converged_",
)


@dataclass(frozen=True)
class FittedModel:
    """A fitted model and the rows that it was fitted to."""

    method: Method
    model: Any
    standardized: bool | None  # None: the data are distances, or the method weighs its columns itself
    rows: Rows | Table  # a table for methods that take categories
    missing: MissingValues | None = None  # None: nothing was missing

    @property
    def estimator(self) -> Any:
        """The fitted method itself, without the `Standardized` that may be around it."""
        return inner_estimator(self.model)

    def embedding(self) -> Any:
        """Coordinates of the fitted rows: as fitting found them, where the estimator keeps them."""
        found = getattr(self.estimator, "embedding_", None)
        return self.model.transform(self.rows) if found is None else found

    def map_to_save(self, labels: Any, label_name: str | None, embedding: Any = None) -> SavedMap | None:
        """The map that a model file keeps for pictures of new rows; None for rows that are not in memory."""
        rows = self.rows.rows() if isinstance(self.rows, Table) else self.rows
        if embedding is None and isinstance(rows, ArrayRows | SparseRows):
            embedding = self.embedding()
        if embedding is None or not np.isfinite(embedding).all():
            return None
        from lowdim.persistence import SavedMap  # safetensors comes with it

        return SavedMap.of(embedding, labels, label_name)

    def to_dict(self) -> dict[str, Any]:
        """Parameters and results, for programs."""
        model = self.estimator
        given = {"method": self.method.name, "standardized": self.standardized, "parameters": model.get_params()}
        if self.missing is not None:
            given |= self.missing.to_dict()
        return given | {name.rstrip("_"): getattr(model, name) for name in REPORTED if hasattr(model, name)}


def fit_method(
    method: Method, settings: dict[str, Any], complete: CompleteTable, standardize: bool | None, target: Any = None
) -> FittedModel:
    """Fit a method, to a target if one is given; `standardize` None leaves that to `should_standardize`.

    A method that can't do without a target, as it is set, takes the labels if none is given.
    """
    settings, table = {**settings, **(complete.settings or {})}, complete.table
    standardized = should_standardize(settings, table, standardize, method)
    if table.kind == "distances":
        require_rows(table, method)
        settings.setdefault("metric", "precomputed")
    rows = table if method.categories else table.rows()
    model = build_estimator(method, settings, standardized)
    if target is None and get_tags(model).target_tags.required:
        target = label_vector(table)
        if target is None:
            raise BadInput(
                f"{method.name} needs a target, and {table.source} has no labels. Name a column by --target."
            )
    _warn_of_unused_target(model, method, target)
    with naming_nonfinite(table.rows(), table, model):
        model.fit(rows) if target is None else model.fit(rows, target)
    return FittedModel(method, model, standardized, rows, complete.missing)


def default_method(table: Table, method: Method) -> Method:
    """The method if nobody named one: classical scaling of distances, given or Gower's."""
    return find_method("classicalmds") if table.kind == "distances" or table.encode == "gower" else method


def check_target(method: Method, settings: Mapping[str, Any], target: str | None) -> None:
    """Raise BadParameter for a target that the method ignores, and for settings that need one."""
    if target is not None and not _uses_target(method):
        able = ", ".join(known.name for known in methods() if _uses_target(known))
        raise BadParameter(f"--target: {method.name} does not use a target. Methods that do: {able}.")
    why = None if target is None else getattr(method.cls(**settings), "_why_target_is_ignored", lambda: None)()
    if why is not None:
        raise BadParameter(f"--target: {why}.")
    if target is None and not method.supervised:
        for name in settings:
            if name.startswith(TARGET_PREFIX):
                flag = f"--{name.replace('_', '-')}"
                raise BadParameter(f"{flag} has no effect without --target COLUMN, the column of classes or numbers.")


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


BY_EM = "Fill or leave out such rows, or use --missing em, which estimates them."


@contextmanager
def naming_nonfinite(rows: Rows, table: Table, model: Any, remedy: str = BY_EM) -> Iterator[None]:
    """Replace an error about values that are not finite by one that names the row, the column and the remedy."""
    try:
        yield
    except (BadParameter, NotEnoughData):
        raise
    except ValueError as error:  # BadInput, or scikit-learn's own
        inner = inner_estimator(model)
        by_method = getattr(inner, "missing", None) == "em" or getattr(inner, "_mixed", False)
        found = None if by_method else first_nonfinite((chunk.start, chunk.load()) for chunk in rows.chunks())
        if found is None:
            raise
        raise BadInput(f"{table.source}: {_told(rows, table, found, remedy)}") from error


def _told(rows: Rows, table: Table, found: tuple[int, int, float], remedy: str) -> str:
    """Where a value is missing or infinite, how many are missing, and what to do; rows are counted from 0."""
    row, column, value = found
    name = table.names[column]
    if not np.isnan(value):
        return f"row {row} holds {value} in {name!r}, but values must be finite. Correct it, or leave the row out."
    blocks = [np.isnan(chunk.load()) for chunk in rows.chunks()]
    values, incomplete = sum(int(b.sum()) for b in blocks), sum(int(b.any(axis=1).sum()) for b in blocks)
    missing = f"{count(values, 'value')} in {count(incomplete, 'row')} {'is' if values == 1 else 'are'} missing"
    return f"row {row} has no value in {name!r} ({missing}). {remedy}"


def _warn_of_unused_target(model: Any, method: Method, target: Any) -> None:
    """Some methods use a target with some settings only: projection pursuit with an index of classes, for instance."""
    inner = model.model if isinstance(model, Standardized) else model
    if target is not None and not getattr(inner, "_is_supervised", lambda: True)():
        warn(f"{method.name} does not use --target as it is set; an index of classes does (--index lda or pda).")


def _uses_target(method: Method) -> bool:
    return method.supervised or method.accepts_target


def _accepts_distances(method: Method) -> bool:
    metric = parameters(method.cls).get("metric")
    return metric is not None and metric.domain.accepts("precomputed")
