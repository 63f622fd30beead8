"""Excel workbooks (.xlsx): the first sheet with cells, its first row the header, read by openpyxl."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from lowdim.data.io.arrow_source import Batch, TableSource, file_errors, pyarrow
from lowdim.data.io.decompression import require_expansion
from lowdim.data.table import default_names
from lowdim.errors import BadInput, MissingExtra
from lowdim.runtime.progress import report

__all__ = ["ExcelSource"]

MOST_CELLS = 20_000_000


class ExcelSource(TableSource):
    """A workbook, held in memory as a pyarrow table."""

    format = "an Excel workbook"

    def __init__(self, path: Path) -> None:
        self.path = path
        with file_errors(path, self.format):
            self._require_size()
            header, columns = _sheet(path)
            self.named = not all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in header)
            names = (
                [_name(cell, i) for i, cell in enumerate(header)] if self.named else list(default_names(len(header)))
            )
            if not self.named:
                columns = [[first, *rest] for first, rest in zip(header, columns, strict=True)]
            self._table = pyarrow().Table.from_arrays([_arrow_column(cells) for cells in columns], names=names)
        self.schema, self.names, self.n = self._table.schema, tuple(names), self._table.num_rows
        if not self.n:
            raise BadInput(f"{path} has a header but no rows.")

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Record batches of the selected columns."""
        return iter(self._table.select(list(columns)).to_batches())

    def _require_size(self) -> None:
        """A workbook is a zip archive, whose declared sizes must be plausible."""
        with zipfile.ZipFile(self.path) as archive:
            declared = sum(member.file_size for member in archive.infolist())
        require_expansion(declared, self.path.stat().st_size, str(self.path), "save it as CSV")


def _sheet(path: Path) -> tuple[list[Any], list[list[Any]]]:
    """The header, and the cells below it by column."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("Excel files need openpyxl; install it with pip install 'lowdim[app]'.") from error
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            rows = (row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row))
            header = next(rows, None)
            if header is None:
                continue
            width = max(i + 1 for i, cell in enumerate(header) if cell is not None)
            columns: list[list[Any]] = [[] for _ in range(width)]
            for number, row in enumerate(rows, start=1):
                if number * width > MOST_CELLS:
                    raise BadInput(f"{path} has more than {MOST_CELLS:,} cells. Save it as CSV or Parquet.")
                for i, cells in enumerate(columns):
                    cells.append(row[i] if i < len(row) else None)
                if number % 1000 == 0:
                    report("reading the workbook", number)
            return list(header[:width]), columns
    finally:
        book.close()
    raise BadInput(f"{path} has no cells.")


def _name(cell: Any, position: int) -> str:
    return "" if cell is None and position == 0 else f"x{position}" if cell is None else str(cell)


def _arrow_column(cells: list[Any]) -> Any:
    """Numbers, booleans or dates if all cells are, else text; error values and empty text are missing."""
    pa = pyarrow()
    cells = [None if isinstance(cell, str) and (not cell.strip() or cell.startswith("#")) else cell for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds <= {date, datetime, time}:
        return pa.array([None if cell is None else cell.isoformat() for cell in cells], pa.string())
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
