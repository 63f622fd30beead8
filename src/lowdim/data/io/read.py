"""Reading tables from files, by file extension."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from lowdim.data.io.arrow_formats import ArrowSource, ParquetSource
from lowdim.data.io.arrow_source import TableSource, file_errors
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.io.decompression import COMPRESSIONS
from lowdim.data.io.delimited_text import DELIMITERS, TextSource
from lowdim.data.io.excel import ExcelSource
from lowdim.data.io.h5ad import read_h5ad
from lowdim.data.io.load_table import load_table
from lowdim.data.io.numpy_files import read_npy, read_npz
from lowdim.data.io.parquet_files import ParquetFiles, parquet_paths
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
    ".xlsx",
    ".h5ad",
)


SOURCES: dict[str, Callable[[Path], TableSource]] = {
    ".parquet": ParquetSource,
    ".arrow": ArrowSource,
    ".feather": ArrowSource,
    ".xlsx": ExcelSource,
}


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,
    drop: str | Sequence[str] = (),
    encode: str = "drop",
    numeric_only: bool = False,
) -> Table:
    """Read a table from a CSV, TSV, Parquet, Arrow (Feather), Excel, h5ad, npy or npz file.

    Numeric and boolean columns are the features. A text column of few values is taken as the label and one whose values
    all differ as the ids, unless `label` and `id` name others; further text and dates are kept in `annotations`.
    Row numbers, numeric ids and columns without any value are left out. `report` of the table says what became of
    every column. A square symmetric table with zeros on its diagonal holds distances: its `kind` is "distances".

    Missing values become NaN. If all columns are float32 they stay float32; otherwise they are read as float64.

    A table of less than 256 MB is loaded into memory. A larger one is read chunk by chunk in every pass over `X`,
    so that `PCA().fit(read_table("big.parquet").X)` needs little memory. Labels and ids are always loaded.

    Parameters
    ----------
    path : path of a file
        A folder of Parquet files, or a pattern such as "folder/*.parquet", is one table, file after file. Otherwise
        the extension tells the format: .csv, .tsv, .txt, .tab (also compressed: .csv.gz, .bz2, .zst), .parquet,
        .arrow, .feather, .xlsx, .h5ad, .npy, .npz. The first line of a text file is the header, unless it holds only
        unquoted numbers; a first column without a name holds the ids. Columns without names are called x0, x1, …;
        images (n, h, w) are flattened, and rows of bytes are square images if every pixel is like those beside and
        below it. Of an npz file the array `X` or `data` is read, or the only table; `y` or `labels`, `ids`, `names`
        and `image_shape` (height, width) are used if their lengths fit. Of a workbook, the first sheet is read; of an
        h5ad file, `X`, with columns of `obs` as label, ids and annotations.
    columns : names, optional
        The columns to use, in this order, all of which must hold numbers; all others are left out.
    label, id : name, optional
        Columns that hold a label and a name for each row. They are kept, but are not features.
    drop : names, optional
        Columns to leave out.
    encode : "drop", "one-hot", "gower" or "categories"
        What becomes of text that is neither label nor ids: nothing; a feature of 0 and 1 per value (of columns with
        at most 50 values), named column=value; or codes of categories, for methods with metric="gower". "categories"
        keeps it as text in `categories`, for MCA and FAMD, and takes no label that is not named.
    numeric_only : bool
        Take neither labels nor ids nor annotations from columns that are not named.

    """
    return read_selection(path, ColumnSelection.of(columns, label, id, drop, encode=encode, numeric_only=numeric_only))


def read_selection(path: str | os.PathLike[str], selection: ColumnSelection) -> Table:
    """Read the selected columns of a file."""
    if isinstance(path, str | os.PathLike) and (files := parquet_paths(Path(path))) is not None:
        with file_errors(Path(path), ParquetFiles.format):
            return replace(load_table(ParquetFiles(Path(path), files), selection), encode=selection.encode)
    file = _require_file(path)
    extension = _extension(file)
    with file_errors(file, "a table"):
        return replace(_read(file, extension, selection), encode=selection.encode)


def _read(file: Path, extension: str, selection: ColumnSelection) -> Table:
    if extension in DELIMITERS:
        text = TextSource(file, extension, selection)
        return load_table(text, text.selection())
    if extension == ".h5ad":
        return read_h5ad(file, selection)
    if extension in (".npy", ".npz"):
        return (read_npy if extension == ".npy" else read_npz)(file, selection)
    return load_table(SOURCES[extension](file), selection)


def _require_file(path: str | os.PathLike[str]) -> Path:
    """The path, if it is a readable file that is not empty."""
    try:
        file = Path(path)
    except TypeError:
        raise BadInputType(f"path must be the path of a file; got {path!r}.") from None
    try:
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
