"""Feature selection of a table: fit a selector by name, and say what it found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data.io.write import write_table
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.runtime.display import p_value
from lowdim.runtime.param import parameters
from lowdim.select._comparison import aligned
from lowdim.select._wrapper import standard_errors
from lowdim.workflow.fit import naming_nonfinite
from lowdim.workflow.output_paths import TABLES
from lowdim.workflow.outputs import write_labeled_table
from lowdim.workflow.picture_files import save_figure

__all__ = ["describe_selection", "fit_selector", "require_target", "selection_data", "write_ranking", "write_selection"]

MOST_PRINTED = 40  # features in the printed table


def fit_selector(cls: type[Any], settings: dict[str, Any], table: Table, y: Any) -> Any:
    """A selector fitted to the rows of the table, with a target if there is one."""
    known = parameters(cls)
    for name in settings:
        if name not in known:
            raise BadParameter(f"--{name.replace('_', '-')} has no effect on {cls.__name__}. Leave it out.")
    model, rows = cls(**settings), table.rows()
    if y is None and cls._method.supervised:
        raise BadInput(f"{cls.__name__} needs a target, and {table.source} has no labels. Name a column by --target.")
    with naming_nonfinite(rows, table, None):
        return model.fit(rows, y)


def require_target(table: Table, y: Any) -> None:
    """Raise BadInput if there is nothing to compare the features with."""
    if y is None:
        raise BadInput(
            f"a comparison needs a target, and {table.source} has no labels. Name a column by --target, or a selector "
            "that needs none by --method: variance, correlation, laplacian, principal_features."
        )


def selection_data(model: Any, names: Any) -> dict[str, Any]:
    """What a selector found, for programs."""
    data: dict[str, Any] = {
        "selector": type(model).__name__,
        "parameters": {name: value for name, value in model.get_params(deep=False).items() if name != "estimator"},
        "features": list(names),
        "selected": [names[j] for j in np.flatnonzero(model.support_)],
    }
    for name in ("ranking_", "scores_", "pvalues_", "decision_", "hits_", "importances_", "correlation_"):
        if hasattr(model, name):
            data[name.rstrip("_")] = getattr(model, name).tolist()
    if hasattr(model, "cv_scores_"):
        sizes, scores = model.subsets_.sum(axis=1), model.cv_scores_
        data["path"] = [
            {"size": int(size), "features": [names[j] for j in np.flatnonzero(mask)], "scores": values.tolist()}
            for size, mask, values in zip(sizes, model.subsets_, scores, strict=True)
        ]
    return data


def describe_selection(model: Any, names: Any) -> str:
    """What a selector found, as a table for people."""
    return _path_table(model, names) if hasattr(model, "cv_scores_") else _feature_table(model, names)


def _feature_table(model: Any, names: Any) -> str:
    """One line per feature, best first: its scores, and a mark if it is selected."""
    columns: list[tuple[str, Any]] = []
    if hasattr(model, "ranking_"):
        columns.append(("rank", [str(rank) for rank in model.ranking_]))
    for title, name, form in (
        ("score", "scores_", "{:.4g}".format),
        ("p-value", "pvalues_", p_value),
        ("importance", "importances_", "{:.4g}".format),
        ("hits", "hits_", str),
        ("largest |r|", "correlation_", "{:.3f}".format),
    ):
        if hasattr(model, name):
            columns.append((title, [form(value) for value in getattr(model, name)]))
    if hasattr(model, "decision_"):
        columns.append(("decision", [{1: "confirmed", 0: "tentative", -1: "rejected"}[v] for v in model.decision_]))
    if hasattr(model, "representative_"):
        columns.append(("stands for it", [names[j] for j in model.representative_]))
    keys = (
        model.ranking_ if hasattr(model, "ranking_") else -getattr(model, "importances_", model.support_.astype(float))
    )
    order = np.lexsort((np.arange(len(names)), keys))
    rows = [["", "feature", *(title for title, _ in columns)]]
    for j in order[:MOST_PRINTED]:
        rows.append(["*" if model.support_[j] else "", names[j], *(cells[j] for _, cells in columns)])
    more = len(names) - MOST_PRINTED
    return aligned(rows, left=2) + (f"\n… and {more} more" if more > 0 else "")


def _path_table(model: Any, names: Any) -> str:
    """One line per size: the score with its standard error, and the features."""
    means, errors = model.cv_scores_.mean(axis=1), standard_errors(model.cv_scores_)
    rows = [["", "size", "score", "± error", "features"]]
    for mask, mean, error in zip(model.subsets_, means, errors, strict=True):
        chosen = "*" if np.array_equal(mask, model.support_) else ""
        features = ", ".join(names[j] for j in np.flatnonzero(mask)[:8]) + (", …" if mask.sum() > 8 else "")
        rows.append([chosen, str(mask.sum()), f"{mean:.4f}", f"{error:.4f}", features])
    width = max(len(row[-1]) for row in rows)
    return aligned([[*row[:-1], row[-1].ljust(width)] for row in rows])


def write_selection(path: Path, model: Any, table: Table, id_name: str | None, title: str) -> None:
    """The selected columns as a table, or a picture of the path or the scores."""
    if path.suffix.lower() in TABLES:
        if not model.support_.any():
            raise NotEnoughData(f"no feature was selected, so there is no table to write to {path}.")
        names = [table.names[j] for j in np.flatnonzero(model.support_)]
        write_labeled_table(path, np.asarray(model.transform(table.rows())), names, table, id_name)
        return
    from lowdim import plot

    if hasattr(model, "cv_scores_"):
        save_figure(path, lambda: plot.selection_path(model, title=title))
    else:
        save_figure(path, lambda: plot.feature_scores(model, names=table.names, title=title))


def write_ranking(path: Path, found: Any, title: str) -> None:
    """The ranks of the features by every filter as a table, or as a picture."""
    if path.suffix.lower() in TABLES:
        ranks = np.column_stack([*(result.ranking for result in found.results), found.mean_ranking])
        names = [*(result.name for result in found.results), "mean"]
        write_table(path, ranks.astype(np.float64), names, ids=np.array(found.features), id_name="feature")
        return
    from lowdim import plot

    save_figure(path, lambda: plot.rankings(found, title=title))
