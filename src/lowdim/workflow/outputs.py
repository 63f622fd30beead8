"""What is written of an embedding, by suffix: figures, web pages, and tables of coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data.io.write import write_table
from lowdim.data.table import Table
from lowdim.workflow.output_paths import PAGES, TABLES
from lowdim.workflow.picture_files import save_page, save_scatter
from lowdim.workflow.source import label_vector

__all__ = ["EmbeddingOutput", "embedding_writer", "write_labeled_table"]

MOST_HOVER_COLUMNS, MOST_HOVER_ROWS = 12, 100_000  # of numbers in tooltips


@dataclass(frozen=True)
class EmbeddingOutput:
    """Coordinates, and what is shown with them."""

    embedding: Any  # (n, k)
    names: Sequence[str]  # k column names
    table: Table
    colors: Any  # (n,) what to color the rows by, or None
    id_name: str | None
    title: str
    explained_variance_ratio: Any = None  # (k,)
    explained: str = "variance"  # what they are ratios of
    ellipses: bool = False  # of the categories of the colors, where there are any
    color_name: str | None = None  # of the column that the colors come from
    background: Any = None  # (m, k) the map that these rows are placed on
    background_colors: Any = None  # (m,)
    neighbors: Any = None  # of every row in the data and in the map, for a page


def embedding_writer(path: Path, output: EmbeddingOutput) -> Callable[[], Any]:
    """What writes a figure, a page or a table, as the suffix says.

    That of a figure or a page can be pickled, and holds nothing but what is shown.
    """
    suffix = path.suffix.lower()
    if suffix in TABLES:
        return partial(write_labeled_table, path, output.embedding, output.names, output.table, output.id_name)
    return _page_writer(path, output) if suffix in PAGES else _scatter_writer(path, output)


def write_labeled_table(path: Path, X: Any, names: Sequence[str] | None, table: Table, id_name: str | None) -> None:
    """Write numbers with the ids and labels of the table that they come from."""
    column_names = {"id_name": id_name or "id", "label_name": table.label_name or "label"}
    write_table(path, X, names, ids=table.ids, labels=label_vector(table), **column_names)


def _scatter_writer(path: Path, output: EmbeddingOutput) -> Callable[[], Any]:
    from lowdim.plot._point_colors import Categories, read_labels

    table, Z = output.table, output.embedding
    axes = _axis_titles(output)
    ellipses = output.ellipses and np.shape(Z)[1] > 1 and isinstance(read_labels(output.colors, len(Z)), Categories)
    shown = {"ids": table.row_names, "axis_names": axes, "ellipses": ellipses, **_shared_options(output)}
    return partial(save_scatter, path, Z, output.colors, shown)


def _page_writer(path: Path, output: EmbeddingOutput) -> Callable[[], Any]:
    table, Z, near = output.table, output.embedding, output.neighbors
    return partial(
        save_page,
        Z,
        output.colors,
        ids=table.ids,
        show_ids=table.row_names is not None,
        axis_names=_axis_titles(output),
        hover=_hover(output),
        images=_images(table, len(Z)),
        neighbors=None if near is None else (near.true_neighbors, near.map_neighbors),
        path=path,
        **_shared_options(output),
    )


def _shared_options(output: EmbeddingOutput) -> dict[str, Any]:
    """What a figure and a page have in common."""
    behind = {"background": output.background, "background_labels": output.background_colors}
    return {"title": output.title, "label_name": output.color_name, **behind}


def _hover(output: EmbeddingOutput) -> dict[str, Any]:
    """Columns for tooltips: labels and text beside the numbers, and the numbers themselves if they are few."""
    table = output.table
    texts = {**table.annotations, **table.categories}
    hover = {name: values for name, values in texts.items() if name != output.color_name}
    labels = label_vector(table)
    if labels is not None and table.label_name not in (None, output.color_name):
        hover = {str(table.label_name): labels, **hover}
    n = len(output.embedding)
    if table.kind == "rows" and len(table.names) <= MOST_HOVER_COLUMNS and n <= MOST_HOVER_ROWS:
        X = table.array()
        hover |= {name: X[:, j] for j, name in enumerate(table.names) if name != output.color_name}
    return hover


def _axis_titles(output: EmbeddingOutput) -> list[str]:
    """Titles of the axes, with their explained variance where it is known."""
    ratios = output.explained_variance_ratio
    if ratios is None:
        return list(output.names)
    told = zip(output.names, ratios, strict=True)
    return [f"{name} ({ratio:.1%} of the {output.explained})" for name, ratio in told]


def _images(table: Table, n: int) -> Any:
    """The rows as images for the tooltips, if they are images and not too many, without an alpha channel."""
    from lowdim.plot._thumbnails import MOST_IMAGES

    if table.image_shape is None or n > MOST_IMAGES:
        return None
    images = np.asarray(table.array()).reshape(n, *table.image_shape)
    if images.ndim == 4:
        return images[..., 0] if images.shape[3] == 1 else images[..., :3]
    return images
