"""Reading tables from files, by file extension."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from lowdim.data.io.arrow_formats import ArrowSource, ParquetSource
from lowdim.data.io.arrow_source import file_errors, load_table
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.io.decompression import COMPRESSIONS
from lowdim.data.io.delimited_text import DELIMITERS, TextSource
from lowdim.data.io.numpy_files import read_npy, read_npz
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadInputType

__all__ = ["READ_EXTENSIONS", "read_selection", "read_table"]

READ_EXTENSIONS = (
    *DELIMITERS,
    *(f".csv{compression}" for compression in COMPRESSIONS),
    ".parquet",
    ".arrow",
    ".feather",
    ".npy",
    ".npz",
)


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,
    drop: str | Sequence[str] = (),
) -> Table:
    """Read a table of numbers from a CSV, TSV, Parquet, Arrow (Feather), npy or npz file.

    Numeric and boolean columns are the features; any other column must be named in `label`, `id` or `drop`. Missing
    values become NaN. If all columns are float32 they stay float32; otherwise they are read as float64.

    A table of less than 256 MB is loaded into memory. A larger one is read chunk by chunk in every pass over `X`,
    so that `PCA().fit(read_table("big.parquet").X)` needs little memory. Labels and ids are always loaded.

    Parameters
    ----------
    path : path of a file
        The extension tells the format: .csv, .tsv, .txt, .tab (also compressed: .csv.gz, .bz2, .zst), .parquet,
        .arrow, .feather, .npy, .npz. The first line of a text file is the header, unless it holds only unquoted
        numbers; a first column without a name holds the ids. Columns without names are called x0, x1, …; images
        (n, h, w) are flattened. Of an npz file the array `X` or `data` is read, or the only table; `y` or `labels`,
        `ids` and `names` are used if their lengths fit.
    columns : names, optional
        The columns to use, in this order; all others are left out.
    label, id : name, optional
        Columns that hold a label and a name for each row. They are kept, but are not features.
    drop : names, optional
        Columns to leave out.

    """
    return read_selection(path, ColumnSelection.of(columns, label, id, drop))


def read_selection(path: str | os.PathLike[str], selection: ColumnSelection) -> Table:
    """Read the selected columns of a file."""
    file = _require_file(path)
    extension = _extension(file)
    with file_errors(file, "a table"):
        if extension in DELIMITERS:
            text = TextSource(file, extension, selection)
            return load_table(text, text.selection())
        if extension in (".npy", ".npz"):
            return (read_npy if extension == ".npy" else read_npz)(file, selection)
        return load_table((ParquetSource if extension == ".parquet" else ArrowSource)(file), selection)


def _require_file(path: str | os.PathLike[str]) -> Path:
    """The path, if it is a readable file that is not empty."""
    try:
        file = Path(path)
    except TypeError:
        raise BadInputType(f"path must be the path of a file; got {path!r}.") from None
    try:
        if file.is_dir():
            raise BadInput(f"{file} is a folder. Give a file in it.")
        if not file.exists():
            raise BadInput(f"there is no file {file}.{_suggest(file)}")
        if not file.is_file():
            raise BadInput(f"{file} is not a regular file. Copy its contents into one.")
        if file.stat().st_size == 0:
            raise BadInput(f"{file} is empty.")
        file.open("rb").close()
    except (OSError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{file} can't be opened: {error}.") from error
    return file


def _suggest(file: Path) -> str:
    folder = file.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = get_close_matches(file.name, names, n=3)
    return f" Did you mean {', '.join(near)}?" if near else ""


def _extension(file: Path) -> str:
    """The extension that tells the format: .csv for data.csv and for data.csv.gz."""
    last, *before = [suffix.lower() for suffix in reversed(file.suffixes)] or [""]
    if last in COMPRESSIONS and before and before[0] in DELIMITERS:
        return before[0]
    if last not in READ_EXTENSIONS:
        raise BadInput(
            f"{file} has the unknown extension {last!r}. Extensions that can be read: {', '.join(READ_EXTENSIONS)}."
        )
    return last
