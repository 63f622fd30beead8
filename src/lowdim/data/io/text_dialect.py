"""The dialect of delimited text: encoding, delimiter, and which cells are numbers, booleans or missing."""

from __future__ import annotations

import codecs
import re
from functools import cache
from pathlib import Path
from typing import Any

from lowdim.data.io.arrow_source import is_number, pyarrow
from lowdim.data.io.decompression import COMPRESSIONS, CountedStream, open_decompressed
from lowdim.errors import BadInput

__all__ = [
    "UTF8",
    "column_type",
    "detect_delimiter",
    "detect_encoding",
    "first_line",
    "infer_type",
    "is_boolean_text",
    "is_number_text",
    "missing_words",
    "open_text",
]

UTF8 = "utf8"
ENCODING_BYTES = 16 << 20  # that must be UTF-8
READ_BYTES = 1 << 16  # in search of the first line
LONGEST_LINE = 16 << 20


def open_text(path: Path) -> Any:
    """The bytes of the file, counted where they are decompressed."""
    stream = open_decompressed(path)
    return CountedStream(stream, path) if path.suffix.lower() in COMPRESSIONS else stream


def first_line(path: Path) -> str:
    """The first line that is not empty: it shows the delimiter and how long lines are."""
    line, size = bytearray(), 0
    with open_text(path) as bytes_:
        while part := bytes_.read(READ_BYTES):
            if size == 0 and part[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise BadInput(f"{path} is UTF-16 text. Save it as UTF-8.")
            size += len(part)
            if size > LONGEST_LINE:
                raise BadInput(f"{path}: the first line does not end within {LONGEST_LINE >> 20} MB; is it text?")
            part = part if line else part.lstrip(b"\xef\xbb\xbf\r\n")
            if ended := re.search(rb"[\r\n]", part):
                line += part[: ended.start()]
                break
            line += part
    if not line.strip():
        raise BadInput(f"{path} is empty: it has no header and no rows.")
    return line.decode("utf-8", errors="replace")


def detect_encoding(path: Path) -> str:
    """UTF-8, or Latin-1 if the beginning of the file is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    seen = 0
    with open_text(path) as bytes_:
        while seen < ENCODING_BYTES and (part := bytes_.read(READ_BYTES)):
            seen += len(part)
            try:
                decoder.decode(part)
            except UnicodeDecodeError:
                return "latin-1"
    return UTF8


def detect_delimiter(line: str, default: str) -> str:
    """The delimiter of this kind of file, or the one that the first line has instead."""
    return next((character for character in (default, ";", "\t", ",") if character in line), default)


def column_type(kind: Any) -> Any:
    """float64 for all numbers: integers in the first block do not rule out fractions later."""
    pa = pyarrow()
    return kind if pa.types.is_boolean(kind) or not is_number(kind) else pa.float64()


def infer_type(cells: Any, decimal: str) -> Any:
    """Text as integers if no digit is lost (007 stays text), else as floats, else unchanged."""
    pa = pyarrow()
    import pyarrow.compute as compute

    present = compute.if_else(compute.equal(cells, ""), pa.scalar(None, pa.string()), cells)
    if present.null_count == len(present):
        return cells
    for kind in (pa.int64(), pa.float64()):
        pointed = compute.replace_substring(present, ",", ".") if decimal == "," and kind == pa.float64() else present
        try:
            numbers = pointed.cast(kind)
        except pa.ArrowInvalid:
            continue
        exact = kind == pa.float64() or numbers.cast(pa.string()).equals(present)
        return numbers if exact else cells
    return cells


def is_number_text(cell: str) -> bool:
    """Whether a cell is a number with a decimal point, as Python writes it."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_boolean_text(cell: str) -> bool:
    """Whether a cell is a truth value, or missing."""
    return cell in _boolean_words() or cell in missing_words()


@cache
def missing_words() -> frozenset[str]:
    """What stands for a missing value in a cell of text: empty, NA, NaN, null and the like."""
    import pyarrow.csv as arrow_csv

    return frozenset((*arrow_csv.ConvertOptions().null_values, "?", ".", "-", "--"))


@cache
def _boolean_words() -> frozenset[str]:
    import pyarrow.csv as arrow_csv

    options = arrow_csv.ConvertOptions()
    return frozenset((*options.true_values, *options.false_values))
