"""Output files, by suffix: figures, web pages, and tables of coordinates."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data.io.write import WRITE_EXTENSIONS, write_table
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter
from lowdim.runtime.command_process import import_without_docstrings, is_command
from lowdim.workflow.source import label_vector

__all__ = [
    "DRAWINGS",
    "FIGURES",
    "MAPS",
    "PAGES",
    "TABLES",
    "EmbeddingOutput",
    "check_outputs",
    "check_writable",
    "save_figure",
    "write_embedding",
    "write_labeled_table",
]

FIGURES = (".png", ".svg", ".pdf")
PAGES = (".html",)
DRAWINGS = (*PAGES, *FIGURES)
TABLES = WRITE_EXTENSIONS
MAPS = (*DRAWINGS, *TABLES)
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


def check_outputs(paths: Sequence[str], suffixes: Sequence[str], inputs: Sequence[str]) -> list[Path]:
    """The absolute paths to write; raises before any work is done if one of them can't be written."""
    checked = []
    for given in paths:
        path = Path(os.path.abspath(given))
        if path.suffix.lower() not in suffixes:
            raise BadParameter(f"-o {given} must end in one of {', '.join(suffixes)}.")
        if any(path.exists() and Path(read).exists() and path.samefile(read) for read in inputs):
            raise BadParameter(f"-o {given} would overwrite the input. Choose another name.")
        check_writable(path)
        checked.append(path)
    return checked


def check_writable(path: Path) -> None:
    """Raise BadInput if a file can't be created there."""
    if not path.parent.is_dir():
        raise BadInput(f"{path} can't be written: there is no folder {path.parent}. Create it first.")
    if path.is_dir():
        raise BadInput(f"{path} can't be written: it is a folder. Give the name of a file.")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(f"{path} can't be written: its folder is not writable. Choose another.")


def write_embedding(path: Path, output: EmbeddingOutput) -> None:
    """Write a figure, a page or a table, as the suffix says."""
    suffix = path.suffix.lower()
    if suffix in TABLES:
        write_labeled_table(path, output.embedding, output.names, output.table, output.id_name)
    elif suffix in PAGES:
        _write_page(path, output)
    else:
        _write_scatter(path, output)


def write_labeled_table(path: Path, X: Any, names: Sequence[str] | None, table: Table, id_name: str | None) -> None:
    """Write numbers with the ids and labels of the table that they come from."""
    column_names = {"id_name": id_name or "id", "label_name": table.label_name or "label"}
    write_table(path, X, names, ids=table.ids, labels=label_vector(table), **column_names)


def save_figure(path: Path, draw: Callable[[], Any]) -> None:
    """Save what `draw` returns, Matplotlib's axes or figure, to a figure or a page; no window is opened."""
    # Without a home it logs where it keeps its cache, which is no news about the picture.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    if is_command():
        import_without_docstrings()
    from lowdim import plot
    from lowdim.plot._theme import only_files

    with only_files():
        plot.save(draw(), path)


def _write_scatter(path: Path, output: EmbeddingOutput) -> None:
    from lowdim import plot
    from lowdim.plot._point_colors import Categories, read_labels

    table, Z = output.table, output.embedding
    axes = _axis_titles(output)
    ellipses = output.ellipses and np.shape(Z)[1] > 1 and isinstance(read_labels(output.colors, len(Z)), Categories)
    shown = {"ids": table.row_names, "axis_names": axes, "ellipses": ellipses, **_shared_options(output)}
    save_figure(path, lambda: plot.scatter(Z, output.colors, **shown))


def _write_page(path: Path, output: EmbeddingOutput) -> None:
    from lowdim import plot

    table, Z = output.table, output.embedding
    shown = {
        "ids": table.ids,
        "show_ids": table.row_names is not None,
        "axis_names": _axis_titles(output),
        **_shared_options(output),
    }
    plot.page(
        Z,
        output.colors,
        hover=_hover(output),
        images=_images(table, len(Z)),
        neighbors=output.neighbors,
        **shown,
        path=path,
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
