"""Model files: an estimator, fitted or not, or a neighbor graph, in one file of arrays and text.

    lowdim.save(model, "map.lowdim")
    model = lowdim.load("map.lowdim")

The container is a safetensors file: fitted arrays are tensors, and everything else is in a JSON manifest with a schema
version and a checksum. Loading executes no code from the file: classes, attributes and rules are looked up in
allowlists, parameters are validated as in `fit`, and estimators check their state. Anything wrong raises
`ModelFileError`. docs/model-format.md specifies the format.

Imports `registry`, the methods and below.
"""

from __future__ import annotations

import os
from typing import Any

from lowdim.errors import BadParameter, ModelFileError
from lowdim.persistence.container import read_container, write_container
from lowdim.persistence.manifest import describe, from_text, restore, to_text
from lowdim.persistence.saved_map import SECTION, SavedMap

__all__ = ["SavedMap", "load", "load_with_map", "save", "save_with_map"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save an estimator or a Graph to one file.

    The file holds its parameters, everything that was fitted, and the choice of `set_output`. A loaded model gives the
    same bits from `transform`, and `partial_fit` continues where it stopped.

    Parameters
    ----------
    model : an estimator of lowdim, or a Graph
        An estimator may be fitted or not. Parameters that are code, such as a lambda or a random generator, can't be
        saved; the rules of `lowdim.choose` and the kernels of `lowdim.kernels` can.
    path : str or path
        The file, by convention `*.lowdim`. An existing file is replaced atomically: a reader sees the old model or the
        new one, and an error leaves the old one unchanged.

    """
    save_with_map(model, path, None)


def save_with_map(model: Any, path: str | os.PathLike[str], saved_map: SavedMap | None) -> None:
    """Save an estimator, and beside it the map of the rows that it was fitted to."""
    target = _decoded_path(path)
    manifest, tensors = describe(model)
    if saved_map is not None:
        manifest[SECTION] = saved_map.encode(tensors)
    write_container(target, to_text(manifest, tensors), tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Load an estimator or a Graph from a file written by `save`.

    Safe for untrusted files: nothing in them is executed. Whatever is wrong (no file, not a model, damaged, or written
    by a newer lowdim) raises `ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file, whatever its suffix.

    """
    return load_with_map(path)[0]


def load_with_map(path: str | os.PathLike[str]) -> tuple[Any, SavedMap | None]:
    """Load a model, and the map of its fitted rows if the file has one."""
    target = _decoded_path(path)
    try:
        text, tensors = read_container(target)
        manifest = from_text(text, tensors)
        saved_map = SavedMap.decode(manifest.pop(SECTION), tensors) if SECTION in manifest else None
        return restore(manifest, tensors), saved_map
    except ModelFileError as error:
        raise ModelFileError(f"{target}: {error}") from error
    except RecursionError as error:
        raise ModelFileError(f"{target}: the manifest is nested too deeply.") from error


def _decoded_path(path: Any) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise BadParameter(
            f"path must be a string or a path such as pathlib.Path; got {path!r}. Try 'model.lowdim'."
        ) from None
