"""Writing tables: by file extension, atomically, and safe to open in a spreadsheet."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.io.arrow_source import pyarrow
from lowdim.data.io.column_roles import require_unique_names
from lowdim.data.rows import unmasked
from lowdim.data.table import default_names
from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.atomic_write import atomic_write

__all__ = ["WRITE_EXTENSIONS", "write_table"]

Array = NDArray[Any]

WRITE_EXTENSIONS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".npy", ".npz")
# How a formula begins in a spreadsheet, which skips blanks, line breaks and characters that can't be seen before it.
FORMULA = re.compile(
    "[\t\r]|[\\s\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]"
)
SURROGATE = re.compile("[\ud800-\udfff]")


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
    """Write a table of numbers as .csv, .tsv, .parquet, .feather, .arrow, .npy or .npz, by the extension of `path`.

    The write is atomic. Ids are the first column and labels the last. In CSV and TSV, text that a spreadsheet would
    run as a formula is prefixed with an apostrophe; numbers are not. An .npy file holds the numbers only.

    Parameters
    ----------
    path : path of the file
        An existing file is replaced.
    X : array (n, d)
        The numbers.
    names : d names, optional
        Column names; x0, x1, … by default.
    ids, labels : n values each, optional
        One id and one label per row.
    id_name, label_name : str
        The names of these two columns.

    """
    try:
        target = Path(path)
    except TypeError:
        raise BadInputType(f"write_table needs the path of a file first, then the table; got {path!r:.60}.") from None
    extension = target.suffix.lower()
    if extension not in WRITE_EXTENSIONS:
        raise BadInput(
            f"{target} has the unknown extension {extension!r}. "
            f"Extensions that can be written: {', '.join(WRITE_EXTENSIONS)}."
        )
    if isinstance(names, str):
        raise BadInputType(f"names must be a list with one name per column; got {names!r:.60}.")
    X = np.asarray(unmasked(X))
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise BadInput(f"X must be a table of numbers; got {X.dtype} of shape {X.shape}.")
    known = default_names(X.shape[1]) if names is None else tuple(map(_encodable, names))
    if len(known) != X.shape[1]:
        raise BadInput(f"names must have one name per column ({X.shape[1]}); got {len(known)}.")
    id_name, label_name = _encodable(id_name), _encodable(label_name)
    first = {} if ids is None else {id_name: _column(id_name, ids, len(X))}
    last = {} if labels is None else {label_name: _column(label_name, labels, len(X))}
    if extension == ".npy":
        with atomic_write(target) as draft, draft.open("wb") as stream:
            np.save(stream, X, allow_pickle=False)
    elif extension == ".npz":
        kept = {"X": X, "names": None if names is None else np.asarray(known, dtype=str)}
        kept |= {"ids": first.get(id_name), "labels": last.get(label_name)}
        with atomic_write(target) as draft, draft.open("wb") as stream:
            np.savez(stream, **{key: array for key, array in kept.items() if array is not None})
    else:
        require_unique_names((*first, *known, *last), str(target))
        numbers = {name: X[:, j] for j, name in enumerate(known)}
        _write_columns(target, extension, first | numbers | last)


def _write_columns(target: Path, extension: str, columns: dict[str, Array]) -> None:
    pa = pyarrow()
    if extension in (".csv", ".tsv"):
        import pyarrow.csv as arrow_csv

        safe = [
            np.asarray([_escape_formula(cell) for cell in c]) if c.dtype.kind == "U" else c for c in columns.values()
        ]
        table = pa.Table.from_arrays([_arrow_array(c) for c in safe], names=[_escape_formula(name) for name in columns])
        with atomic_write(target) as draft, draft.open("wb") as stream:
            options = arrow_csv.WriteOptions(delimiter="," if extension == ".csv" else "\t")
            arrow_csv.write_csv(table, stream, options)
        return
    table = pa.table({name: _arrow_array(column) for name, column in columns.items()})
    with atomic_write(target) as draft, draft.open("wb") as stream:
        if extension == ".parquet":
            import pyarrow.parquet as parquet

            parquet.write_table(table, stream)
        else:
            with pa.ipc.new_file(stream, table.schema) as writer:
                writer.write_table(table)


def _column(name: str, values: Any, n: int) -> Array:
    """Ids or labels, one per row: numbers and booleans unchanged, anything else as text."""
    values = np.asarray(values)
    if values.shape != (n,):
        raise BadInput(f"{name} must have one value per row ({n}); got shape {values.shape}.")
    return values if values.dtype.kind in "fiub" else _valid_text(values)


def _valid_text(values: Array) -> Array:
    """Text that UTF-8 can encode; nearly always it is unchanged, which is seen at once."""
    text = values if values.dtype.kind == "U" else values.astype(str)
    codes = np.ascontiguousarray(text).view(np.uint32) if text.size and text.dtype.itemsize else np.zeros(0, np.uint32)
    if not ((codes >= 0xD800) & (codes <= 0xDFFF)).any():
        return np.asarray(text)
    return np.asarray([_encodable(cell) for cell in text.tolist()])


def _encodable(text: Any) -> str:
    """The text with a replacement character for each half of a surrogate pair, which UTF-8 can't encode."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def _arrow_array(column: Array) -> Any:
    """An Arrow array in native byte order; float16, which CSV lacks, becomes float32."""
    if column.dtype.kind == "U":
        return pyarrow().array(column.tolist(), pyarrow().string())  # from NumPy, text would end at a null character
    dtype = np.dtype(np.float32) if column.dtype == np.float16 else column.dtype.newbyteorder("=")
    return pyarrow().array(np.ascontiguousarray(column, dtype=dtype))


def _escape_formula(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) else str(text)
