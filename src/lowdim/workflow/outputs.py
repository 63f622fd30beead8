"""Files by their ending: pictures, pages and tables of coordinates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data.io.write import WRITE_EXTENSIONS, write_table
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter
from lowdim.workflow.source import color_values, flat_labels

__all__ = ["MAPS", "PICTURES", "TABLES", "Map", "outputs", "save_picture", "write_beside", "write_map"]

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)
TABLES = WRITE_EXTENSIONS
MAPS = (*PAGES, *PICTURES, *TABLES)


@dataclass(frozen=True)
class Map:
    """Coordinates and what is shown with them."""

    Z: Any  # (n, k)
    names: Sequence[str]  # of its columns
    table: Table
    color: str | None
    id_name: str | None
    title: str
    shares: Any = None  # of the variance, along each axis


def outputs(paths: Sequence[str], endings: Sequence[str], sources: Sequence[str]) -> list[Path]:
    """The files to write, refused before any work if they can't be written."""
    checked = []
    for given in paths:
        path = Path(os.path.abspath(given))
        if path.suffix.lower() not in endings:
            raise BadParameter(f"-o {given} must end in one of {', '.join(endings)}.")
        if any(path.exists() and Path(source).exists() and path.samefile(source) for source in sources):
            raise BadParameter(f"-o {given} would overwrite what is read. Give another name.")
        require_folder(path)
        checked.append(path)
    return checked


def require_folder(path: Path) -> None:
    """Raise BadInput if a file can't be put there."""
    if not path.parent.is_dir():
        raise BadInput(f"{path} can't be written: there is no folder {path.parent}. Create it first.")
    if path.is_dir():
        raise BadInput(f"{path} can't be written: it is a folder. Give the name of a file.")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(f"{path} can't be written: no permission for its folder. Choose another.")


def write_map(path: Path, drawn: Map) -> None:
    """Write the map as what the ending says."""
    ending = path.suffix.lower()
    if ending in TABLES:
        write_beside(path, drawn.Z, drawn.names, drawn.table, drawn.id_name)
    elif ending in PAGES:
        _write_page(path, drawn)
    else:
        _draw(path, drawn)


def write_beside(path: Path, X: Any, names: Sequence[str] | None, table: Table, id_name: str | None) -> None:
    """Write numbers with the ids and labels of the table they come from."""
    labels = flat_labels(table)
    names_beside = {"id_name": id_name or "id", "label_name": table.label_name or "label"}
    write_table(path, X, names, ids=table.ids, labels=labels, **names_beside)


def save_picture(path: Path, draw: Any) -> None:
    """Draw by calling `draw()`, without a window, and save it."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from lowdim import plot

    plot.save(draw(), path)


def _draw(path: Path, drawn: Map) -> None:
    from lowdim import plot

    labels = color_values(drawn.table, drawn.color)
    save_picture(
        path,
        lambda: plot.scatter(drawn.Z, labels, ids=drawn.table.ids, title=drawn.title, axis_names=_axes(drawn)),
    )


def _write_page(path: Path, drawn: Map) -> None:
    from lowdim import plot

    table = drawn.table
    labels = color_values(table, drawn.color)
    plot.page(drawn.Z, labels, ids=table.ids, images=_images(table, len(drawn.Z)), title=drawn.title, path=path)


def _axes(drawn: Map) -> list[str]:
    """Axes named with their share of the variance, where that is known."""
    shares = [None] * len(drawn.names) if drawn.shares is None else drawn.shares
    return [
        f"axis {i + 1}" if share is None else f"axis {i + 1} ({share:.1%} of the variance)"
        for i, share in enumerate(shares)
    ]


def _images(table: Table, n: int) -> Any:
    """The rows as pictures for the tooltip, if they are pictures and not too many; transparency is left out."""
    from lowdim.plot._thumbnails import MOST_IMAGES

    if table.image_shape is None or n > MOST_IMAGES:
        return None
    pictures = np.asarray(table.array()).reshape(n, *table.image_shape)
    if pictures.ndim == 4:
        return pictures[..., 0] if pictures.shape[3] == 1 else pictures[..., :3]
    return pictures
