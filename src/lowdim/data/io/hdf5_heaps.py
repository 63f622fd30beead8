"""The global heaps of an HDF5 file, where texts of any length lie, checked before the HDF5 library reads them.

The library walks a heap by the sizes of its objects without asking whether it advances: a size of zero, or one that
wraps around, keeps it busy for ever, and neither Ctrl-C nor a time limit gets it out.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from lowdim.errors import BadInput

__all__ = ["require_sound_heaps"]

SIGNATURE = b"GCOL\x01"  # with version 1; three reserved bytes follow, which the library does not look at
RESERVED = 3
HEADER = struct.Struct("<HHIQ")  # of an object: index, reference count, reserved, size
SMALLEST = 4096  # bytes of a heap


def require_sound_heaps(path: Path) -> None:
    """Raise unless the objects of every global heap follow one another to its end."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data.find(SIGNATURE)
        while start >= 0:
            if not _is_sound(data, start):
                raise BadInput(f"{path}: a heap of its texts, at byte {start}, is damaged. Write the file again.")
            start = data.find(SIGNATURE, start + 1)


def _is_sound(data: mmap.mmap, start: int) -> bool:
    at = start + len(SIGNATURE) + RESERVED
    size = int.from_bytes(data[at : at + 8], "little")
    end = start + size
    if size < SMALLEST or end > len(data):
        return False
    at += 8
    while at + HEADER.size <= end:
        index, _, _, length = HEADER.unpack_from(data, at)
        if index == 0 and length < HEADER.size:  # free space, which includes its own header
            return False
        at += length if index == 0 else HEADER.size + (length + 7) // 8 * 8
    return at <= end
