"""Delimited text (CSV, TSV): parsed by pyarrow in blocks; errors name the line.

- The delimiter is a comma (.csv) or a tab (.tsv, .txt, .tab). If the first line has none, a semicolon, a tab or a
  comma in it is used instead.
- The first line is the header, unless all its cells are unquoted numbers: then the file has no header.
- A first column without a name holds the ids, which is how pandas and R write row names.
- Column types are inferred from the first block. A column that is numeric there must be numeric to the end.
- Empty cells, NA, NaN, null, ? and the like are missing values: NaN.
- Text that is not UTF-8 is read as Latin-1, and numbers with a decimal comma as such where commas do not delimit.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from lowdim.data.io import arrow_source
from lowdim.data.io.arrow_source import Batch, TableSource, file_errors, is_number, pyarrow
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.io.decompression import COMPRESSIONS, open_decompressed, require_file_expansion
from lowdim.data.io.text_dialect import (
    UTF8,
    column_type,
    detect_delimiter,
    detect_encoding,
    first_line,
    infer_type,
    is_boolean_text,
    is_number_text,
    missing_words,
    open_text,
)
from lowdim.data.table import default_names
from lowdim.errors import BadInput
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import interruptible

__all__ = ["DELIMITERS", "TextSource"]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".tab": "\t"}

LINES_LOOKED_AT = 20  # in search of decimal commas
COMMA_NUMBER, POINT_NUMBER = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")
BLOCK_BYTES = 4 << 20
MOST_COLUMNS = 100_000
COLUMN_BYTES = 20_000  # that pyarrow's reader needs for each column


class TextSource(TableSource):
    """A CSV or TSV file, possibly compressed."""

    format = "delimited text"
    n = None

    def __init__(self, path: Path, extension: str, selection: ColumnSelection) -> None:
        self.path = path
        self._selection = selection
        with file_errors(path, self.format):
            first = first_line(path)
            self._encoding = detect_encoding(path)
        self._delimiter = detect_delimiter(first, DELIMITERS[extension])
        self._decimal = "."
        # pyarrow needs every line to fit into a block.
        self._block_bytes = max(BLOCK_BYTES, 4 * len(first))
        with file_errors(path, self.format):
            header = self._header()
            self._decimal = "," if self._delimiter != "," and self._has_decimal_commas() else "."
            # Programs that quote text do not quote numbers, so quotes mean names.
            self.named = '"' in first or not all(self._is_number(cell) for cell in header)
        self._require_width(len(header))
        self._default_names = None if self.named else list(default_names(len(header)))
        self.schema = self._infer_schema(len(header))
        self.names = tuple(self.schema.names)
        # A number takes about as many bytes as text as in memory: such a file is not worth trying to load.
        self.notes = tuple(
            note
            for note, true in (
                ("read as Latin-1 text, since it is not UTF-8", self._encoding != UTF8),
                ("numbers with decimal commas", self._decimal == ","),
            )
            if true
        )
        self.large = path.suffix.lower() not in COMPRESSIONS and path.stat().st_size > 2 * arrow_source.IN_MEMORY_BYTES

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Record batches of the selected columns: numbers if the first block has numbers, else text."""
        text = pyarrow().string()
        kinds = {name: self.schema.field(name).type for name in columns}
        return self._batches({name: kind if is_number(kind) else text for name, kind in kinds.items()})

    def first_cells(self, name: str, n: int) -> list[str]:
        """The first cells of a column, without a pass over the first block."""
        column = self.names.index(name)
        return [line.cells[column] for line in islice(self._lines(body=True), n) if column < len(line.cells)]

    def column(self, name: str) -> Any:
        """One column in a pass of its own: integers, floats or text, whatever fits all of its cells."""
        pa = pyarrow()
        cells = pa.chunked_array([b.column(0) for b in self._batches({name: pa.string()})], type=pa.string())
        return infer_type(cells, self._decimal)

    def selection(self) -> ColumnSelection:
        """The selection, with an unnamed first column as the ids."""
        given = self._selection
        unnamed = self.names[:1] == ("",) and given.id is None
        selected = (*(given.columns or ()), *given.drop, given.label)
        return replace(given, id="") if unnamed and "" not in selected else given

    def _is_number(self, cell: str) -> bool:
        return is_number_text(cell.replace(",", ".", 1) if self._decimal == "," else cell)

    def _has_decimal_commas(self) -> bool:
        """Whether the first lines have numbers such as 1,5 and none such as 1.5."""
        cells = [cell for line in islice(self._lines(), LINES_LOOKED_AT) for cell in line.cells]
        return any(map(COMMA_NUMBER.fullmatch, cells)) and not any(map(POINT_NUMBER.fullmatch, cells))

    def _header(self) -> list[str]:
        for line in self._lines():
            return line.cells
        raise BadInput(f"{self.path}: the first line can't be split into cells; is it text, and every quote closed?")

    def _require_width(self, width: int) -> None:
        """Text takes a millisecond and 20 kB for each column before the first row is read."""
        remedy = "Save it as an npy file, or transpose it."
        if width > MOST_COLUMNS:
            raise BadInput(f"{self.path} has {width:,} columns; text may have at most {MOST_COLUMNS:,}. {remedy}")
        require_memory(width * COLUMN_BYTES, f"a reader of {width:,} columns of text", remedy)

    def _infer_schema(self, width: int) -> Any:
        pa = pyarrow()
        try:
            with file_errors(self.path, self.format), self._opened({}) as reader:
                schema = reader.schema
                names = schema.names
        except BadInput as error:
            raise self._explain(error, {}) from error
        if len(names) != width:
            raise BadInput(f"{self.path}: the header can't be split into names; quote them.")
        return pa.schema([(name, column_type(schema.field(i).type)) for i, name in enumerate(names)])

    def _batches(self, kinds: dict[str, Any]) -> Iterator[Batch]:
        try:
            with file_errors(self.path, self.format), self._opened(kinds) as reader:
                expanded = 0  # at least: every batch but the last is a whole block of text
                while (batch := interruptible(partial(next, reader, None), once=True)) is not None:
                    require_file_expansion(expanded, self.path)
                    expanded += self._block_bytes
                    if batch.num_rows:
                        yield batch
        except BadInput as error:
            raise self._explain(error, kinds) from error

    @contextmanager
    def _opened(self, kinds: dict[str, Any]) -> Iterator[Any]:
        import pyarrow.csv as arrow_csv

        read = arrow_csv.ReadOptions(
            block_size=self._block_bytes, column_names=self._default_names, encoding=self._encoding
        )
        parse = arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        convert = arrow_csv.ConvertOptions(
            include_columns=list(kinds),
            column_types=kinds,
            decimal_point=self._decimal,
            null_values=sorted(missing_words()),
        )
        bytes_ = open_decompressed(self.path)  # no Python object: pyarrow's threads may read on while Python ends
        try:
            yield interruptible(partial(arrow_csv.open_csv, bytes_, read, parse, convert), once=True)
        finally:
            if not isinstance(sys.exception(), KeyboardInterrupt):  # else an abandoned call may still be reading
                bytes_.close()

    def _lines(self, *, body: bool = False) -> Iterator[_Line]:
        """Lines that are not empty, split by the standard library: slow, for a few lines or to locate an error."""
        with open_text(self.path) as bytes_:
            encoding = "utf-8-sig" if self._encoding == UTF8 else self._encoding
            text = io.TextIOWrapper(bytes_, encoding=encoding, errors="replace", newline="")
            reader = csv.reader(text, delimiter=self._delimiter)
            row = 0 if self.named else 1
            with suppress(csv.Error):  # a cell too long for it, or a byte of 0: pyarrow reads what this can't
                for cells in reader:
                    if cells:
                        if row or not body:
                            yield _Line(reader.line_num, row, cells)
                        row += 1
                    if reader.line_num % 100_000 == 0:
                        report("locating the error", reader.line_num)

    def _explain(self, error: BadInput, kinds: dict[str, Any]) -> BadInput:
        """The error of pyarrow with its line and a remedy."""
        message = str(error.__cause__ or error)
        with file_errors(self.path, self.format):
            if "cannot infer number of columns" in message:
                return BadInput(f"{self.path} has a header but no rows.")
            if "UTF8" in message or isinstance(error.__cause__, UnicodeDecodeError):
                return BadInput(f"{self.path} is not UTF-8 text. Save it as UTF-8.")
            if "straddles two block" in message:
                return BadInput(
                    f"{self.path} has a line of more than {self._block_bytes} bytes; perhaps a quote is never closed."
                )
            if ragged := re.search(r"Expected (\d+) columns?, got (\d+)", message):
                return self._ragged_error(int(ragged[1]), int(ragged[2]))
            if wrong := re.search(r"In CSV column #(\d+): .*conversion error", message, re.DOTALL):
                return self._conversion_error(int(wrong[1]), kinds)
        return error

    def _ragged_error(self, expected: int, got: int) -> BadInput:
        remedy = "Every line must have as many cells as the first; quote cells that contain the delimiter."
        for line in self._lines():
            if len(line.cells) != expected:
                shown = self._delimiter.join(line.cells)[:80]
                return BadInput(
                    f"{self.path}: {line} has {len(line.cells)} cells, but the first line has {expected}: "
                    f"{shown!r}. {remedy}"
                )
        return BadInput(f"{self.path}: a line has {got} cells, but the first line has {expected}. {remedy}")

    def _conversion_error(self, column: int, kinds: dict[str, Any]) -> BadInput:
        name = self.names[column]
        boolean = pyarrow().types.is_boolean(kinds[name])
        where = "a line"
        for line in self._lines(body=True):
            cell = line.cells[column] if column < len(line.cells) else ""
            if not (is_boolean_text(cell) if boolean else self._is_number(cell) or cell in missing_words()):
                where = f"{line}: {cell[:60]!r}"
                break
        kind = "booleans" if boolean else "numbers"
        return BadInput(
            f"{self.path}: column {name!r} starts with {kind}, but has another value in {where}. Correct the cell, "
            f"leave it empty if it is missing, or leave the column out with {self._selection.spell('drop', name)}."
        )


@dataclass(frozen=True)
class _Line:
    number: int  # in the file, from 1, as in editors
    row: int  # 0 is the header, 1 the first row of the table
    cells: list[str]

    def __str__(self) -> str:
        """The line as editors count, and the row as everywhere in lowdim: from 0."""
        return f"line {self.number} (row {self.row - 1})" if self.row else f"line {self.number}"
