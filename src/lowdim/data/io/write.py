"""Tables into files: by ending, whole or not at all, and safe to open in a spreadsheet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.io.arrow_source import pyarrow
from lowdim.data.io.column_roles import require_unique_names
from lowdim.data.table import default_names
from lowdim.errors import BadInput
from lowdim.runtime.atomic_write import draft_beside

__all__ = ["WRITE_EXTENSIONS", "write_table"]

Array = NDArray[Any]

WRITE_EXTENSIONS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".npy", ".npz")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula


def write_table(
    path: str | os.PathLike[str],
    X: Any,
    names: Sequence[str] | None = None,
    *,
    ids: Any = None,
    labels: Any = None,
    id_name: str = "id",
    label_name: str = "label",
) -> None:
    """Write a table of numbers as .csv, .tsv, .parquet, .feather, .arrow, .npy or .npz, by the ending of `path`.

    The file appears whole or not at all: it is written beside its place and then moved there. Ids
    come first and labels last. Text in CSV and TSV that a spreadsheet would run as a formula gets an
    apostrophe in front; numbers stay numbers. An .npy file holds the numbers alone.

    Parameters
    ----------
    path : path of the file
        A file that is there is replaced.
    X : array (n, d)
        The numbers.
    names : d names, optional
        The columns' names; x0, x1, … without.
    ids, labels : n values each, optional
        What stands beside the numbers.
    id_name, label_name : str
        The names of their columns.

    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in WRITE_EXTENSIONS:
        raise BadInput(
            f"{target} ends in {ending!r}, which is no format that lowdim writes: {', '.join(WRITE_EXTENSIONS)}."
        )
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise BadInput(f"only a table of numbers can be written; got {X.dtype} of shape {X.shape}.")
    known = default_names(X.shape[1]) if names is None else tuple(str(name) for name in names)
    if len(known) != X.shape[1]:
        raise BadInput(f"names must have one name a column ({X.shape[1]}); got {len(known)}.")
    beside_first = {} if ids is None else {id_name: _beside(id_name, ids, len(X))}
    beside_last = {} if labels is None else {label_name: _beside(label_name, labels, len(X))}
    if ending == ".npy":
        with draft_beside(target) as draft, draft.open("wb") as stream:
            np.save(stream, X, allow_pickle=False)
    elif ending == ".npz":
        kept = {"X": X, "names": None if names is None else np.asarray(known, dtype=str)}
        kept |= {"ids": beside_first.get(id_name), "labels": beside_last.get(label_name)}
        with draft_beside(target) as draft, draft.open("wb") as stream:
            np.savez(stream, **{key: array for key, array in kept.items() if array is not None})
    else:
        require_unique_names((*beside_first, *known, *beside_last), str(target))
        numbers = {name: X[:, j] for j, name in enumerate(known)}
        _write_columns(target, ending, beside_first | numbers | beside_last)


def _write_columns(target: Path, ending: str, columns: dict[str, Array]) -> None:
    pa = pyarrow()
    if ending in (".csv", ".tsv"):
        import pyarrow.csv as arrow_csv

        safe = [np.asarray([_harmless(cell) for cell in c]) if c.dtype.kind == "U" else c for c in columns.values()]
        table = pa.Table.from_arrays([_arrow(c) for c in safe], names=[_harmless(name) for name in columns])
        with draft_beside(target) as draft, draft.open("wb") as stream:
            options = arrow_csv.WriteOptions(delimiter="," if ending == ".csv" else "\t")
            arrow_csv.write_csv(table, stream, options)
        return
    table = pa.table({name: _arrow(column) for name, column in columns.items()})
    with draft_beside(target) as draft, draft.open("wb") as stream:
        if ending == ".parquet":
            import pyarrow.parquet as parquet

            parquet.write_table(table, stream)
        else:
            with pa.ipc.new_file(stream, table.schema) as writer:
                writer.write_table(table)


def _beside(name: str, values: Any, n: int) -> Array:
    """Ids or labels as plain values, one a row: numbers and truth values as they are, all else as text."""
    values = np.asarray(values)
    if values.shape != (n,):
        raise BadInput(f"{name} must have one value a row ({n}); got shape {values.shape}.")
    return np.asarray(values if values.dtype.kind in "fiubU" else values.astype(str))


def _arrow(column: Array) -> Any:
    """An Arrow array, which knows one order of bytes; half precision, which CSV does not know, is widened."""
    dtype = np.dtype(np.float32) if column.dtype == np.float16 else column.dtype.newbyteorder("=")
    return pyarrow().array(np.ascontiguousarray(column, dtype=dtype))


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else str(text)
