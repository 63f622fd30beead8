"""CSV and TSV: parsed by pyarrow block by block, with faults located by line.

- The separator is the comma (.csv) or the tab (.tsv, .txt, .tab); a first line without it but with
  a semicolon, a tab or a comma changes that.
- The first row holds the names, unless every cell of it is a bare number: then the file has no names.
- A first column without a name holds the ids, as pandas and R write the names of rows.
- Types come from the first block; a number there makes the column one of numbers to the end.
- An empty cell, NA, NaN, null and their kin are missing numbers: NaN.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from lowdim.data.io import arrow_source
from lowdim.data.io.arrow_source import Batch, TableSource, file_errors, is_number, pyarrow
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.table import default_names
from lowdim.errors import BadInput
from lowdim.runtime.progress import report

__all__ = ["COMPRESSIONS", "DELIMITERS", "TextSource"]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".tab": "\t"}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}

BLOCK_BYTES = 4 << 20
LONGEST_LINE = 64 << 20


class TextSource(TableSource):
    """A CSV or TSV file, perhaps compressed."""

    what = "text in columns"
    n = None

    def __init__(self, path: Path, ending: str) -> None:
        self.path = path
        with file_errors(path, self.what):
            first = _first_line(path)
        self._separator = _separator(first, DELIMITERS[ending])
        # pyarrow needs a line to fit in a block.
        self._block_bytes = max(BLOCK_BYTES, 4 * len(first))
        with file_errors(path, self.what):
            header = next(self._lines()).cells
            # Programs that quote text leave numbers bare, so quotes mean names.
            self.named = '"' in first or not all(_is_bare_number(cell) for cell in header)
        self._made_up = None if self.named else list(default_names(len(header)))
        self.schema = self._guess_schema(len(header))
        self.names = tuple(self.schema.names)
        # A number takes about as many bytes in text as in memory, so this one is not worth a try.
        self.large = path.suffix.lower() not in COMPRESSIONS and path.stat().st_size > 2 * arrow_source.IN_MEMORY_BYTES

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Batches of the chosen columns: numbers where the first block has them, else text."""
        text = pyarrow().string()
        kinds = {name: self.schema.field(name).type for name in columns}
        return self._batches({name: kind if is_number(kind) else text for name, kind in kinds.items()})

    def column(self, name: str) -> Any:
        """One column in a pass of its own: whole numbers, numbers or text, as all of its cells allow."""
        pa = pyarrow()
        cells = pa.chunked_array([b.column(0) for b in self._batches({name: pa.string()})], type=pa.string())
        return _typed(cells)

    def example(self, name: str) -> str:
        """The first cell that is not a number, and its line."""
        place = self.schema.get_field_index(name)
        for line in self._lines(body=True):
            if place < len(line.cells) and not _is_cell_number(line.cells[place]):
                return f" (first in {line}: {line.cells[place][:60]!r})"
        return ""

    def with_ids(self, selection: ColumnSelection) -> ColumnSelection:
        """The selection, with a first column without a name taken as ids."""
        unnamed = self.names[:1] == ("",) and selection.id is None
        asked = (*(selection.columns or ()), *selection.drop, selection.label)
        return replace(selection, id="") if unnamed and "" not in asked else selection

    def _guess_schema(self, width: int) -> Any:
        pa = pyarrow()
        try:
            with file_errors(self.path, self.what), self._opened({}) as reader:
                schema = reader.schema
                names = schema.names
        except BadInput as error:
            raise self._explained(error, {}) from error
        if len(names) != width:
            raise BadInput(f"{self.path}: the first line can't be split into names; quote them.")
        return pa.schema([(name, _working_type(schema.field(i).type)) for i, name in enumerate(names)])

    def _batches(self, kinds: dict[str, Any]) -> Iterator[Batch]:
        try:
            with file_errors(self.path, self.what), self._opened(kinds) as reader:
                for batch in reader:
                    if batch.num_rows:
                        yield batch
        except BadInput as error:
            raise self._explained(error, kinds) from error

    @contextmanager
    def _opened(self, kinds: dict[str, Any]) -> Iterator[Any]:
        import pyarrow.csv as arrow_csv

        with _bytes(self.path) as bytes_:
            yield arrow_csv.open_csv(
                bytes_,
                arrow_csv.ReadOptions(block_size=self._block_bytes, column_names=self._made_up),
                arrow_csv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
                arrow_csv.ConvertOptions(include_columns=list(kinds), column_types=kinds),
            )

    def _lines(self, *, body: bool = False) -> Iterator[_Line]:
        """Lines that are not empty, split by the standard library: slow, for a few or after a fault."""
        with _bytes(self.path) as bytes_:
            text = io.TextIOWrapper(bytes_, encoding="utf-8-sig", errors="replace", newline="")
            reader = csv.reader(text, delimiter=self._separator)
            row = 0 if self.named else 1
            for cells in reader:
                if cells:
                    if row or not body:
                        yield _Line(reader.line_num, row, cells)
                    row += 1
                if reader.line_num % 100_000 == 0:
                    report("looking for the fault", reader.line_num)

    def _explained(self, error: BadInput, kinds: dict[str, Any]) -> BadInput:
        """What pyarrow says, with the line it comes from and what to do."""
        told = str(error.__cause__ or error)
        with file_errors(self.path, self.what):
            if "cannot infer number of columns" in told:
                return BadInput(f"{self.path} has a header but no rows.")
            if "UTF8" in told or isinstance(error.__cause__, UnicodeDecodeError):
                return BadInput(f"{self.path} holds bytes that are not UTF-8. Save it as UTF-8 text.")
            if "straddles two block" in told:
                return BadInput(
                    f"{self.path} has a line of more than {self._block_bytes} bytes; "
                    "perhaps a quote is opened and never closed."
                )
            if ragged := re.search(r"Expected (\d+) columns?, got (\d+)", told):
                return self._ragged(int(ragged[1]), int(ragged[2]))
            if wrong := re.search(r"In CSV column #(\d+): .*conversion error", told, re.DOTALL):
                return self._not_a_number(int(wrong[1]), kinds)
        return error

    def _ragged(self, expected: int, got: int) -> BadInput:
        advice = "Every line must have as many as the first; quote a cell that contains the separator."
        for line in self._lines():
            if len(line.cells) != expected:
                shown = self._separator.join(line.cells)[:80]
                return BadInput(
                    f"{self.path}: {line} has {len(line.cells)} cells and the first line {expected}: "
                    f"{shown!r}. {advice}"
                )
        return BadInput(f"{self.path}: a line has {got} cells and the first line {expected}. {advice}")

    def _not_a_number(self, place: int, kinds: dict[str, Any]) -> BadInput:
        name = self.names[place]
        truth = pyarrow().types.is_boolean(kinds[name])
        where = "a line"
        for line in self._lines(body=True):
            cell = line.cells[place]
            if not (_is_truth(cell) if truth else _is_cell_number(cell)):
                where = f"{line}: {cell[:60]!r}"
                break
        kind = "truth value" if truth else "number"
        return BadInput(
            f"{self.path}: column {name!r} starts with {kind}s and has something else in {where}. "
            f"Correct the cell, leave it empty if it is missing, or "
            f"leave the column out with drop=[{name!r}] (--drop {name})."
        )


@dataclass(frozen=True)
class _Line:
    number: int  # in the file, from 1, as editors count
    row: int  # of data, from 1
    cells: list[str]

    def __str__(self) -> str:
        return f"line {self.number} (row {self.row})" if self.row else f"line {self.number}"


def _bytes(path: Path) -> Any:
    """The bytes of the file, unpacked as they are read."""
    return pyarrow().input_stream(str(path), compression=COMPRESSIONS.get(path.suffix.lower()))


def _first_line(path: Path) -> str:
    """The first line that is not empty: enough to see the separator and how long lines are."""
    with _bytes(path) as bytes_:
        head = b""
        while len(head) < LONGEST_LINE:
            more = bytes_.read(1 << 16)
            head += more
            line = re.split(rb"[\r\n]", head.lstrip(b"\xef\xbb\xbf\r\n"), maxsplit=1)
            if not more or len(line) > 1:
                break
        else:
            raise BadInput(f"{path}: the first line does not end within {LONGEST_LINE >> 20} MB; is it text?")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{path} is UTF-16 text. Save it as UTF-8.")
    if not line[0].strip():
        raise BadInput(f"{path} is empty: it has neither names nor rows.")
    return line[0].decode("utf-8", errors="replace")


def _separator(line: str, usual: str) -> str:
    return next((mark for mark in (usual, ";", "\t", ",") if mark in line), usual)


def _working_type(kind: Any) -> Any:
    """Numbers are read as float64, so that a whole number in the first block promises nothing."""
    pa = pyarrow()
    return kind if pa.types.is_boolean(kind) or not is_number(kind) else pa.float64()


def _typed(cells: Any) -> Any:
    """Text as whole numbers if no digit would be lost (007 stays text), else as numbers, else as it is."""
    pa = pyarrow()
    import pyarrow.compute as compute

    present = compute.if_else(compute.equal(cells, ""), pa.scalar(None, pa.string()), cells)
    if present.null_count == len(present):
        return cells
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = present.cast(kind)
        except pa.ArrowInvalid:
            continue
        exact = kind == pa.float64() or numbers.cast(pa.string()).equals(present)
        return numbers if exact else cells
    return cells


def _is_bare_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _is_cell_number(cell: str) -> bool:
    return _is_bare_number(cell) or cell in _missing_words()


def _is_truth(cell: str) -> bool:
    return cell in _truth_words() or cell in _missing_words()


@cache
def _missing_words() -> frozenset[str]:
    import pyarrow.csv as arrow_csv

    return frozenset(arrow_csv.ConvertOptions().null_values)


@cache
def _truth_words() -> frozenset[str]:
    import pyarrow.csv as arrow_csv

    options = arrow_csv.ConvertOptions()
    return frozenset((*options.true_values, *options.false_values))
