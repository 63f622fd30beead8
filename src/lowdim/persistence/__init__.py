"""Model files: one estimator, fitted or not, or one graph of neighbours, in one file of plain arrays and text.

    lowdim.save(model, "map.lowdim")
    model = lowdim.load("map.lowdim")

The file is a safetensors file: fitted arrays are tensors, everything else stands in a JSON manifest
with a schema version and a checksum. Reading runs no code from the file: classes, rules and summaries
are looked up in fixed lists, and parameters pass the same validation as in `fit`. A file that is
not exactly what it should be is a `ModelFileError` and nothing else. docs/model-format.md has the format.
"""

from __future__ import annotations

import os
from typing import Any

from lowdim.errors import BadParameter, ModelFileError
from lowdim.persistence.container import read_container, write_container
from lowdim.persistence.manifest import describe, from_text, restore, to_text

__all__ = ["load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator, or a Graph, to one file.

    Kept are its parameters, everything that fitting found, and `set_output`'s choice; a loaded model gives
    the same bits from `transform` and goes on with `partial_fit` as if it had never left.

    Parameters
    ----------
    model : an estimator of lowdim, or a Graph
        An estimator may be fitted or not. Parameters that are code (a lambda, a random generator) can't be kept;
        rules of `lowdim.choose` can.
    path : str or path
        The file; `.lowdim` is the usual ending. A file that is there is replaced in one step: whoever
        reads it sees the old model or the new one, and an error leaves the old one as it was.

    """
    target = _checked(path)
    manifest, tensors = describe(model)
    write_container(target, to_text(manifest, tensors), tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator or a Graph from a file that `save` wrote, in this version or an earlier one.

    Safe on files from strangers: nothing in them is run. Whatever is wrong (no file, not a model,
    damaged, or made by a newer lowdim) is a `ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file, whatever its ending.

    """
    target = _checked(path)
    try:
        text, tensors = read_container(target)
        return restore(from_text(text, tensors), tensors)
    except ModelFileError as error:
        raise ModelFileError(f"{target}: {error}") from error
    except RecursionError as error:
        raise ModelFileError(f"{target}: the manifest is nested too deeply for a model.") from error


def _checked(path: Any) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise BadParameter(
            f"path must be a str or a path such as pathlib.Path; got {path!r}. Try 'model.lowdim'."
        ) from None
