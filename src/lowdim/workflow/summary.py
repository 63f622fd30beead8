"""One line about a table, and one about a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lowdim.data.table import ColumnReport, Table
from lowdim.runtime.param import parameters
from lowdim.workflow.fit import FittedModel
from lowdim.workflow.missing import MissingValues
from lowdim.workflow.source import label_vector

__all__ = ["count", "summarize_columns", "summarize_fit", "summarize_missing", "summarize_table"]

MOST_NAMES = 8  # of columns, in a line

# Measures of fit, by the fitted attribute that holds them.
MEASURES: dict[str, Callable[[Any], str]] = {
    "stress1_": lambda stress: f"stress-1 {stress:.4g}",
    "goodness_of_fit_": lambda fit: f"goodness of fit {fit[0]:.1%} ({fit[1]:.1%} of the positive eigenvalues)",
    "residual_variance_": lambda residual: f"residual variance {residual[-1]:.1%}",
    "reconstruction_error_": lambda error: f"reconstruction error {error:.3g}",
    "kl_divergence_": lambda divergence: f"KL divergence {divergence:.3g}",
    "index_": lambda values: f"index {' + '.join(f'{value:.4g}' for value in values)}",
    "verdict_": lambda verdict: verdict,
    "n_connected_components_": lambda components: count(components, "connected component"),
}


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 row, 1,797 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summarize_table(table: Table, n_rows: int) -> str:
    """Its size, and the name of its labels."""
    if table.kind == "distances":
        size = f"distances between {count(n_rows, 'row')}"
    else:
        size = f"{count(n_rows, 'row')} × {count(len(table.names) + len(table.categories), 'column')}"
    return size if label_vector(table) is None else f"{size}, labels {table.label_name or 'label'!r}"


def summarize_columns(report: ColumnReport) -> list[tuple[str, str]]:
    """What became of the columns: a line for every kind that nobody named."""
    lines = []
    if report.label is not None:
        lines.append(("label", f"{report.label} (text of few values; --label names another)"))
    if report.id is not None:
        lines.append(("row names", f"{report.id} (all values differ; --id names another)"))
    if report.encoded:
        lines.append(("encoded", f"{_listed(report.encoded)} (one-hot: a column of 0 and 1 per value)"))
    if report.categories:
        lines.append(("categories", f"{_listed(report.categories)} (text; --drop leaves out)"))
    if report.annotations:
        lines.append(("not used", f"{_listed(report.annotations)} (text or dates: shown on the page)"))
    by_reason: dict[str, list[str]] = {}
    for name, reason in report.left_out:
        by_reason.setdefault(reason, []).append(name)
    lines += [("left out", f"{_listed(names)} ({reason})") for reason, names in by_reason.items()]
    lines += [("note", note) for note in report.notes]
    if report.constant:
        lines.append(("constant", f"{_listed(report.constant)} (no effect)"))
    return lines


def summarize_missing(missing: MissingValues) -> str:
    """How many values are missing, and what was done about them."""
    if missing.values:
        gaps = f"{count(missing.values, 'value')} in {count(missing.rows, 'row')}"
        done = {
            "em": "estimated by EM",
            "drop-rows": "missing: the rows were left out",
            "drop-columns": f"missing: left out {_listed(missing.dropped_columns)}",
        }
        parts = [f"{gaps} {done[missing.treatment]}"]
    else:
        parts = []
    if missing.categories:
        became = "the rows were left out" if missing.treatment == "drop-rows" else "a category of its own"
        parts.append(f"{count(missing.categories, 'cell')} of text missing: {became}")
    if missing.empty_rows:
        parts.append(f"{count(missing.empty_rows, 'row')} without any value left out")
    return "; ".join(parts) or "none"


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(names[:MOST_NAMES])
    return text if len(names) <= MOST_NAMES else f"{text}, … ({len(names)} in all)"


def summarize_fit(fitted: FittedModel) -> str:
    """Number of components, explained variance or another measure of fit, and convergence."""
    model = fitted.estimator
    parts = []
    components = getattr(model, "n_components_", None)
    if components is not None:
        parts.append(count(int(components), "component"))
    ratios = getattr(model, "explained_variance_ratio_", None)
    if ratios is not None:
        each = " + ".join(f"{ratio:.1%}" for ratio in ratios[:3]) + (" + …" if len(ratios) > 3 else "")
        what = type(model)._explained
        parts.append(f"{float(np.sum(ratios)):.1%} of the {what}" + (f" ({each})" if len(ratios) > 1 else ""))
    parts += [describe(getattr(model, name)) for name, describe in MEASURES.items() if hasattr(model, name)]
    if getattr(model, "solver_", None) == "nystrom":
        error = model.nystrom_error_
        parts.append("Nyström approximation" + (f" with error {error:.1%}" if np.isfinite(error) else ""))
    if getattr(model, "converged_", True) is False:
        parts.append("NOT CONVERGED" + ("; raise --max-iter" if "max_iter" in parameters(type(model)) else ""))
    return ", ".join(parts) or "fitted"
