"""Tables from files, by the ending of their name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from lowdim.data.io.arrow_formats import ArrowSource, ParquetSource
from lowdim.data.io.arrow_source import load_table
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.io.delimited_text import COMPRESSIONS, DELIMITERS, TextSource
from lowdim.data.io.numpy_files import read_npy, read_npz
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadInputType

__all__ = ["READ_EXTENSIONS", "read_table"]

READ_EXTENSIONS = (
    *DELIMITERS,
    *(f".csv{packed}" for packed in COMPRESSIONS),
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

    Columns of numbers and truth values are used; a column of anything else must be named in one of
    the arguments, or it is an error. What is missing becomes NaN. Columns that are all float32 stay
    so, others are computed in float64.

    A table of less than 256 MB is read at once. A larger one is read by whoever uses `X`, chunk by
    chunk in every pass, so that `PCA().fit(read_table("big.parquet").X)` needs little memory. Labels
    and ids are read at once, in a pass of their own.

    Parameters
    ----------
    path : path of a file
        Its ending says what it is: .csv, .tsv, .txt, .tab (also compressed: .csv.gz, .bz2, .zst),
        .parquet, .arrow, .feather, .npy, .npz. The first row of a text file holds the names, unless
        all of it are bare numbers; a first column without a name is the ids. Arrays without names
        have columns x0, x1, …; images (n, h, w) are flattened. An npz gives its `X` or `data`, or its
        only table; `y` or `labels`, `ids` and `names` beside it are used where they fit.
    columns : names, optional
        The columns to use, in this order; the others are left out.
    label, id : name, optional
        Columns with a label and a name for each row: not used as numbers, kept beside them.
    drop : names, optional
        Columns to leave out.

    """
    file = _file(path)
    selection = ColumnSelection.of(columns, label, id, drop)
    ending = _ending(file)
    if ending in DELIMITERS:
        text = TextSource(file, ending)
        return load_table(text, text.with_ids(selection))
    if ending in (".npy", ".npz"):
        return (read_npy if ending == ".npy" else read_npz)(file, selection)
    return load_table((ParquetSource if ending == ".parquet" else ArrowSource)(file), selection)


def _file(path: str | os.PathLike[str]) -> Path:
    """The path of a file that is there and is not empty."""
    try:
        file = Path(path)
    except TypeError:
        raise BadInputType(f"path must be the name of a file; got {path!r}.") from None
    try:
        if file.is_dir():
            raise BadInput(f"{file} is a folder; give a file in it.")
        if not file.exists():
            raise BadInput(f"there is no file {file}.{_near(file)}")
        if not file.is_file():
            raise BadInput(f"{file} is not a regular file; copy what it gives into one.")
        if file.stat().st_size == 0:
            raise BadInput(f"{file} is empty.")
        file.open("rb").close()
    except (OSError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{file} can't be opened: {error}.") from error
    return file


def _near(file: Path) -> str:
    folder = file.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = get_close_matches(file.name, names, n=3)
    return f" Did you mean {', '.join(near)}?" if near else ""


def _ending(file: Path) -> str:
    """The ending that says the format: .csv for data.csv and for data.csv.gz."""
    last, *before = [suffix.lower() for suffix in reversed(file.suffixes)] or [""]
    if last in COMPRESSIONS and before and before[0] in DELIMITERS:
        return before[0]
    if last not in READ_EXTENSIONS:
        raise BadInput(f"{file} ends in {last!r}, which is no format that lowdim reads: {', '.join(READ_EXTENSIONS)}.")
    return last
