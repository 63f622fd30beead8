"""A method fitted to a table, and what can be said about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.cli.answer import number, printable
from lowdim.cli.source import flat_labels, named_rows
from lowdim.cli.standardizing import by_itself, standardized, z_scores
from lowdim.data.rows import Rows, first_nonfinite
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.estimator import Method, methods
from lowdim.param import parameters

if TYPE_CHECKING:
    from lowdim.cli.command import Wanted

__all__ = [
    "Fitted",
    "described_table",
    "explained_gaps",
    "fit_method",
    "headline",
    "refuse_distances",
    "traits",
]

FIT = ("stress_", "stress1_", "goodness_of_fit_", "nystrom_error_")  # what maps and approximations tell of themselves


@dataclass(frozen=True)
class Fitted:
    """A fitted model, whether columns were standardised (None: there are none), and the rows that it was fitted to."""

    method: Method
    model: Any
    standardized: bool | None
    rows: Rows

    def places(self) -> Any:
        """The map of the fitted rows: as fitting found it, where the method keeps it."""
        found = getattr(self.model, "embedding_", None)
        return self.model.transform(self.rows) if found is None else found

    def to_dict(self) -> dict[str, Any]:
        """What was asked and what was found, for programs."""
        told = {"method": self.method.name, "standardized": self.standardized, "parameters": self.model.get_params()}
        found = ("n_components_", "explained_variance_ratio_", *FIT, "solver_", "n_iter_", "converged_")
        return told | {name.rstrip("_"): getattr(self.model, name) for name in found if hasattr(self.model, name)}


def fit_method(wanted: Wanted, table: Table, standardize: bool | None, kept: bool) -> Fitted:
    """Fit the wanted method, with the labels if it learns from them; `kept` says that the model goes to a file."""
    method = wanted.method
    settings = dict(wanted.settings)
    scaled = standardized(method, settings, table, standardize, kept)
    if scaled is not None and by_itself(method):
        settings["standardize"] = scaled
    if table.kind == "distances":
        refuse_distances(table, method)
        settings.setdefault("metric", "precomputed")
    rows, labels = named_rows(table), flat_labels(table)
    if method.supervised and labels is None:
        raise BadInput(f"{method.name} learns from labels, and {table.source} has none. Name them by --label.")
    model = method.cls(**settings)
    with explained_gaps(rows, table, model):
        used = z_scores(rows) if scaled and not by_itself(method) else rows
        model.fit(used, labels) if method.supervised else model.fit(used)
    return Fitted(method, model, scaled, used)


def refuse_distances(table: Table, method: Method | None) -> None:
    """Raise BadInput if the table holds distances and the method can't start from them."""
    if table.kind != "distances" or (method is not None and _takes_distances(method)):
        return
    able = [known.name.lower() for known in methods() if _takes_distances(known)]
    advice = f"Use --method {' or '.join(able)}" if able else "Give the rows that the distances are between"
    what = "this command" if method is None else method.name
    raise BadInput(f"{table.source} holds distances between rows, and {what} needs rows of measurements. {advice}.")


@contextmanager
def explained_gaps(rows: Rows, table: Table, model: Any, use: str = "use") -> Iterator[None]:
    """Say of a value that is not finite where it is, by the names of this table, and what this model could do."""
    try:
        yield
    except (BadParameter, NotEnoughData):
        raise
    except ValueError as error:  # BadInput, or scikit-learn's own
        way = getattr(model, "missing", None)  # how the method treats NaN, if it knows them
        found = None if way == "em" else first_nonfinite((chunk.start, chunk.load()) for chunk in rows.chunks())
        if found is None:
            raise
        row, column, value = found
        remedy = f", or {use} --missing em, which estimates what is missing" if way and np.isnan(value) else ""
        raise BadInput(
            f"{table.source} has no finite number in column {table.names[column]!r} of row {row + 1}, but {value}. "
            f"Drop or fill such rows{remedy}."
        ) from error


def headline(fitted: Fitted) -> str:
    """The most important thing that fitting found."""
    model = fitted.model
    count = getattr(model, "n_components_", None)
    words = [] if count is None else [number(int(count), "component")]
    shares = getattr(model, "explained_variance_ratio_", None)
    if shares is not None:
        each = " + ".join(f"{share:.1%}" for share in shares[:3]) + (" + …" if len(shares) > 3 else "")
        words.append(f"{float(np.sum(shares)):.1%} of the variance" + (f" ({each})" if len(shares) > 1 else ""))
    if hasattr(model, "stress1_"):
        words.append(f"stress-1 {model.stress1_:.4g}")
    if hasattr(model, "goodness_of_fit_"):
        of_all, of_positive = model.goodness_of_fit_
        words.append(f"goodness of fit {of_all:.1%} of all eigenvalues, {of_positive:.1%} of the positive ones")
    if getattr(model, "solver_", None) == "nystrom":
        missed = model.nystrom_error_
        words.append("by Nyström's approximation" + (f", which can't see {missed:.1%}" if np.isfinite(missed) else ""))
    if getattr(model, "converged_", True) is False:
        words.append("NOT CONVERGED" + ("; raise --max-iter" if "max_iter" in parameters(type(model)) else ""))
    return ", ".join(words) or "fitted"


def described_table(table: Table, rows: int) -> str:
    """How large the table is and what stands beside it."""
    words = f"{number(rows, 'row')} × {number(len(table.names), 'column')}"
    labels = flat_labels(table)
    if labels is not None:
        words += f", labels {printable(table.label_name or 'label')!r}"
    return words


def traits(method: Method) -> dict[str, bool]:
    """What a method can do, by the names in the registry."""
    return {field.name: bool(getattr(method, field.name)) for field in fields(method) if field.type == "bool"}


def _takes_distances(method: Method) -> bool:
    metric = parameters(method.cls).get("metric")
    return metric is not None and metric.domain.accepts("precomputed")
