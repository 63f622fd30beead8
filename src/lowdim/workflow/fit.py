"""A method fitted to a table, and what can be said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.base.estimator import Method
from lowdim.cli.output import Answer, aligned, number, printable, wrote
from lowdim.data.rows import Rows, first_nonfinite
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.registry import methods
from lowdim.runtime.param import parameters
from lowdim.workflow.source import flat_labels, named_rows
from lowdim.workflow.standardize import on_columns, reduction, scaling, standardized

if TYPE_CHECKING:
    from lowdim.cli.command import Wanted

__all__ = [
    "Fitted",
    "explained_gaps",
    "fit_method",
    "headline",
    "refuse_distances",
    "told",
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

    @property
    def reduction(self) -> Any:
        """The fitted method itself."""
        return reduction(self.model)

    def places(self) -> Any:
        """The map of the fitted rows: as fitting found it, where the method keeps it."""
        found = getattr(self.reduction, "embedding_", None)
        return self.model.transform(self.rows) if found is None else found

    def to_dict(self) -> dict[str, Any]:
        """What was asked and what was found, for programs."""
        model = self.reduction
        asked = {"method": self.method.name, "standardized": self.standardized, "parameters": model.get_params()}
        found = ("n_components_", "explained_variance_ratio_", *FIT, "solver_", "n_iter_", "converged_")
        return asked | {name.rstrip("_"): getattr(model, name) for name in found if hasattr(model, name)}


def fit_method(wanted: Wanted, table: Table, standardize: bool | None) -> Fitted:
    """Fit the wanted method, with the labels if it learns from them."""
    method = wanted.method
    settings = dict(wanted.settings)
    scaled = standardized(settings, table, standardize)
    if table.kind == "distances":
        refuse_distances(table, method)
        settings.setdefault("metric", "precomputed")
    rows, labels = named_rows(table), flat_labels(table)
    if method.supervised and labels is None:
        raise BadInput(f"{method.name} learns from labels, and {table.source} has none. Name them by --label.")
    model = on_columns(method, settings, scaled)
    with explained_gaps(rows, table, model):
        model.fit(rows, labels) if method.supervised else model.fit(rows)
    return Fitted(method, model, scaled, rows)


def told(command: str, data: str, table: Table, fitted: Fitted, rows: int, paths: list[Path], seconds: float) -> Answer:
    """What a command that fitted has read, done, found and written."""
    lines = [
        (printable(Path(data).name), _described(table, rows)),
        ("columns", scaling(fitted.standardized, table)),
        (fitted.method.name, headline(fitted)),
        ("time", f"{seconds:.1f} s"),
        *wrote(paths),
    ]
    read = {"command": command, "data": data, "rows": rows, "columns": list(table.names), "label": table.label_name}
    done = {"seconds": seconds, "written": [str(path) for path in paths]}
    return Answer(aligned(lines), read | fitted.to_dict() | done, remark=True)


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


# What a method says of its own fit, by the attribute that it stands in.
FIGURES: dict[str, Callable[[Any], str]] = {
    "stress1_": lambda stress: f"stress-1 {stress:.4g}",
    "goodness_of_fit_": lambda fit: (
        f"goodness of fit {fit[0]:.1%} of all eigenvalues, {fit[1]:.1%} of the positive ones"
    ),
    "residual_variance_": lambda left: f"{left[-1]:.1%} of the geodesics' variance left over",
    "reconstruction_error_": lambda error: f"reconstruction error {error:.3g}",
    "kl_divergence_": lambda divergence: f"KL divergence {divergence:.3g}",
}


def headline(fitted: Fitted) -> str:
    """The most important thing that fitting found."""
    model = fitted.reduction
    count = getattr(model, "n_components_", None)
    words = [] if count is None else [number(int(count), "component")]
    shares = getattr(model, "explained_variance_ratio_", None)
    if shares is not None:
        each = " + ".join(f"{share:.1%}" for share in shares[:3]) + (" + …" if len(shares) > 3 else "")
        words.append(f"{float(np.sum(shares)):.1%} of the variance" + (f" ({each})" if len(shares) > 1 else ""))
    words += [say(getattr(model, name)) for name, say in FIGURES.items() if hasattr(model, name)]
    pieces = getattr(model, "n_connected_components_", None)
    if pieces is not None:
        words.append("a graph in one piece" if pieces == 1 else f"a graph in {pieces:,} pieces")
    if getattr(model, "solver_", None) == "nystrom":
        missed = model.nystrom_error_
        words.append("by Nyström's approximation" + (f", which can't see {missed:.1%}" if np.isfinite(missed) else ""))
    if getattr(model, "converged_", True) is False:
        words.append("NOT CONVERGED" + ("; raise --max-iter" if "max_iter" in parameters(type(model)) else ""))
    return ", ".join(words) or "fitted"


def _described(table: Table, rows: int) -> str:
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
