"""Decompression with a limit: a file that expands to far more than its own size is refused.

Tables compress to a tenth or a thirtieth, but deflate can store a thousand bytes in one, and bzip2 and Zstandard
millions. What is declared is compared with the limit before the work, and what is read is counted.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from lowdim.data.io.arrow_source import pyarrow
from lowdim.errors import BadInput

__all__ = ["COMPRESSIONS", "CountedStream", "open_decompressed", "require_expansion", "require_file_expansion"]

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}

ALWAYS_BYTES = 128 << 20  # expanded, whatever the file's own size
MOST_EXPANSION = 100  # times the file's own size


def require_expansion(expanded: int, compressed: int, where: str, remedy: str) -> None:
    """Raise BadInput if so many bytes can't be an honest table of so many compressed ones."""
    if expanded > max(ALWAYS_BYTES, MOST_EXPANSION * compressed):
        raise BadInput(
            f"{where} expands to {expanded >> 20:,} MB or more, over {MOST_EXPANSION} times its own size, as files do "
            f"that are made to exhaust memory. If it is right, {remedy}."
        )


def require_file_expansion(expanded: int, path: Path) -> None:
    """The same of a file, if it is a compressed one."""
    if path.suffix.lower() in COMPRESSIONS:
        require_expansion(expanded, path.stat().st_size, str(path), "decompress the file first")


def open_decompressed(path: Path) -> Any:
    """The bytes of the file, decompressed as they are read, as a stream of pyarrow."""
    return pyarrow().input_stream(str(path), compression=COMPRESSIONS.get(path.suffix.lower()))


class CountedStream(io.BufferedIOBase):
    """The decompressed bytes of a file; reading beyond the limit raises BadInput."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path = stream, path
        self._count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """At most `size` bytes; all of them only up to the limit."""
        data: bytes = self._stream.read(io.DEFAULT_BUFFER_SIZE if size is None or size < 0 else size)
        self._count += len(data)
        require_file_expansion(self._count, self._path)
        return data

    def read1(self, size: int = -1, /) -> bytes:
        """The same."""
        return self.read(size)

    def readable(self) -> bool:
        """Always."""
        return True

    def close(self) -> None:
        """Close the file too."""
        self._stream.close()
        super().close()
