"""Parquet files of one folder or pattern as one table: read here in passes, or by the workers of a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.io.arrow_formats import ParquetSource
from lowdim.data.io.arrow_source import Batch, RecordBatchRows, TableSource, block_of_batches, file_errors
from lowdim.data.rows.dask import DaskRows
from lowdim.errors import BadInput

__all__ = ["ParquetFiles", "parquet_paths", "partitioned_rows"]

Array = NDArray[Any]

PARTITION_BYTES = 128 << 20  # row groups of a file are read together up to so many bytes of numbers


def parquet_paths(path: Path) -> list[Path] | None:
    """The Parquet files of a folder, or of a pattern such as folder/*.parquet, in natural order; None for others."""
    if path.is_dir():
        found = sorted(path.rglob("*.parquet"), key=_natural)
        if not found:
            raise BadInput(f"{path} is a folder without Parquet files (*.parquet). Give a file in it.")
    elif has_magic(str(path)) and not path.exists():
        found = sorted(map(Path, glob(str(path), recursive=True)), key=_natural)
        if not found:
            raise BadInput(f"no file matches {path}.")
        if others := [file.name for file in found if file.suffix.lower() != ".parquet"]:
            raise BadInput(f"{path} matches {others[0]}, which is not a Parquet file. Several files must be Parquet.")
    else:
        return None
    return found


class ParquetFiles(TableSource):
    """Files that have the same columns, one after the other."""

    format = "Parquet files"

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self.path, self.files = path, [ParquetSource(file) for file in files]
        first = self.files[0]
        self.schema, self.names = first.schema.remove_metadata(), first.names
        for other in self.files[1:]:
            _require_same_columns(first, other)
        self.n = sum(int(file.n or 0) for file in self.files)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Record batches of the selected columns, file by file."""
        for file in self.files:
            yield from file.batches(columns)


def partitioned_rows(source: ParquetSource | ParquetFiles, columns: Sequence[str]) -> DaskRows:
    """Rows that the workers read themselves, some row groups at a time; their number stands in the files."""
    from dask.delayed import delayed

    like = RecordBatchRows(source, columns)
    read = delayed(_read_row_groups, pure=False)
    parts, lengths = [], []
    for file in source.files if isinstance(source, ParquetFiles) else [source]:
        for groups, n in _grouped(file.row_groups(), max(1, PARTITION_BYTES // (like.d * like.dtype.itemsize))):
            parts.append(read(str(file.path.absolute()), groups, tuple(columns), like.dtype))
            lengths.append(n)
    return DaskRows(parts, lengths, like.d, like.dtype, feature_names=like.feature_names)


def _read_row_groups(path: str, groups: list[int], columns: Sequence[str], dtype: np.dtype[Any]) -> Array:
    """The numbers of some row groups, (n, d)."""
    file = Path(path)
    with file_errors(file, ParquetSource.format):
        batches = list(ParquetSource(file).batches(columns, groups))
        return block_of_batches(batches, len(columns), dtype)


def _grouped(sizes: Sequence[int], most: int) -> Iterator[tuple[list[int], int]]:
    """Neighboring row groups of at most so many rows together (or one that has more), and their rows."""
    groups: list[int] = []
    rows = 0
    for group, size in enumerate(sizes):
        if groups and rows + size > most:
            yield groups, rows
            groups, rows = [], 0
        groups.append(group)
        rows += size
    if groups:
        yield groups, rows


def _require_same_columns(first: ParquetSource, other: ParquetSource) -> None:
    known, found = ({field.name: field.type for field in file.schema} for file in (first, other))
    for name in (*known, *found):
        if known.get(name) != found.get(name):
            had, has = (str(kind.get(name, "missing")) for kind in (known, found))
            raise BadInput(
                f"{first.path} and {other.path} differ in column {name!r} ({had}, and {has}); files of one table must "
                "have the same columns."
            )


def _natural(path: Path) -> list[tuple[int, str]]:
    """A key by which part.9 comes before part.10."""
    return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", str(path))]
