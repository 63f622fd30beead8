"""Parquet files, read by row group, and Arrow IPC (Feather) files, read by memory-mapped record batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lowdim.data.io.arrow_source import Batch, TableSource, file_errors, pyarrow
from lowdim.errors import BadInput

__all__ = ["ArrowSource", "ParquetSource"]

BATCH_ROWS, LEAST_ROWS, BATCH_VALUES = 1 << 14, 1 << 10, 1 << 21  # of a batch: fewer rows of many columns
MOST_BUFFER, LEAST_BUFFER, BUFFER_BYTES = 1 << 20, 1 << 14, 32 << 20  # for one column, and for all of them


class ParquetSource(TableSource):
    """A Parquet file; a pass keeps only the pages that it is decoding in memory."""

    format = "a Parquet file"

    def __init__(self, path: Path) -> None:
        self.path = path
        with file_errors(path, self.format), self._opened() as file:
            self.schema, self.n = file.schema_arrow, int(file.metadata.num_rows)
            self.names = tuple(self.schema.names)

    def row_groups(self) -> list[int]:
        """The number of rows of every row group."""
        with file_errors(self.path, self.format), self._opened() as file:
            return [int(file.metadata.row_group(i).num_rows) for i in range(file.metadata.num_row_groups)]

    def batches(self, columns: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[Batch]:
        """Record batches of the selected columns, row group by row group; all of these unless `groups` names some."""
        size = min(BATCH_ROWS, max(LEAST_ROWS, BATCH_VALUES // max(len(columns), 1)))
        with file_errors(self.path, self.format), self._opened(len(columns)) as file:
            for batch in file.iter_batches(size, row_groups=groups, columns=list(columns)):
                # A name may also be the prefix of a nested column, so columns are selected again.
                selected = batch.select(list(columns))
                selected.validate(full=True)
                yield selected

    @contextmanager
    def _opened(self, columns: int = 1) -> Iterator[Any]:
        import pyarrow.parquet as parquet

        buffer = min(MOST_BUFFER, max(LEAST_BUFFER, BUFFER_BYTES // max(columns, 1)))  # each column has one

        with (
            pyarrow().OSFile(str(self.path)) as bytes_,
            parquet.ParquetFile(bytes_, buffer_size=buffer, pre_buffer=False) as file,
        ):
            yield file


class ArrowSource(TableSource):
    """An Arrow IPC file or stream. Feather version 2 files are IPC files."""

    format = "an Arrow (Feather) file"

    def __init__(self, path: Path) -> None:
        self.path = path
        with file_errors(path, self.format), self._opened([]) as reader:
            self.schema = reader.schema
            self.names = tuple(self.schema.names)
        if not self.names:
            raise BadInput(f"{path} has no columns.")
        # One column suffices to count the rows; the others are not read.
        with file_errors(path, self.format), self._opened([0]) as reader:
            self.n = sum(batch.num_rows for batch in _record_batches(reader))

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """The record batches of the file, with the selected columns only."""
        fields = sorted(self.schema.get_field_index(name) for name in columns)
        with file_errors(self.path, self.format), self._opened(fields) as reader:
            for batch in _record_batches(reader):
                selected = batch.select(list(columns))
                # The mapped bytes are used in place: offsets that point outside must be found first.
                selected.validate(full=True)
                yield selected

    @contextmanager
    def _opened(self, fields: list[int]) -> Iterator[Any]:
        pa = pyarrow()
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with pa.memory_map(str(self.path)) as bytes_:
            if bytes_.read(6) == b"ARROW1":
                bytes_.seek(0)
                yield pa.ipc.open_file(bytes_, options=options)
            else:
                bytes_.seek(0)
                yield pa.ipc.open_stream(bytes_, options=options)


def _record_batches(reader: Any) -> Iterator[Batch]:
    """The record batches of an IPC file or of an IPC stream."""
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)
