"""Find the subspace clusters of a table, and write them: figures, or the table with a label per row."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from lowdim import subspace
from lowdim.base.estimator import Method
from lowdim.data.table import Table
from lowdim.errors import BadParameter
from lowdim.workflow.fit import naming_nonfinite, require_rows
from lowdim.workflow.output_paths import DRAWINGS
from lowdim.workflow.outputs import write_labeled_table
from lowdim.workflow.picture_files import save_figure

__all__ = ["CLUSTERERS", "find_clusterer", "find_clusters", "write_clusters"]

CLUSTERERS = ("CLIQUE", "PROCLUS", "PCluster", "SUBCLU", "DOC", "MineClus")
PICTURES = {"parallel": "parallel_coordinates", "panels": "subspace_panels"}  # by the end of the file's name


def find_clusterer(name: str) -> Method:
    """The subspace clusterer of that name; case, hyphens and underscores don't matter."""
    known = {clusterer.lower(): clusterer for clusterer in CLUSTERERS}
    found = known.get(name.lower().replace("-", "").replace("_", ""))
    if found is None:
        near = get_close_matches(name.lower(), known, n=2, cutoff=0.4)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Clusterers: {', '.join(known)}."
        raise BadParameter(f"there is no subspace clusterer {name!r}. {hint}")
    method: Method = getattr(subspace, found)._method
    return method


def find_clusters(method: Method, settings: dict[str, Any], table: Table) -> Any:
    """The fitted clusterer."""
    require_rows(table, None)
    model, rows = method.cls(**settings), table.rows()
    with naming_nonfinite(rows, table, model):
        return model.fit(rows)


def write_clusters(path: Path, model: Any, table: Table, title: str) -> None:
    """Write a figure (a heat map; parallel coordinates or panels, if the name ends so), or a table of memberships."""
    from lowdim import plot

    if path.suffix.lower() not in DRAWINGS:
        columns = [model.labels_, *_memberships(model)]
        names = ["subspace_cluster", *(f"in_cluster_{c}" for c in range(len(model.clusters_)))]
        write_labeled_table(path, np.stack(columns, axis=1).astype(np.float64), names, table, None)
        return
    kind = next((kind for end, kind in PICTURES.items() if path.stem.lower().endswith(end)), "subspace_heatmap")
    drawn = getattr(plot, kind)
    save_figure(path, lambda: np.ravel(drawn(model, table, title=title))[0])


def _memberships(model: Any) -> list[Any]:
    return [np.isin(np.arange(len(model.labels_)), cluster.rows) for cluster in model.clusters_]
