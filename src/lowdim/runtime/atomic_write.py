"""Atomic writes: a file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lowdim.errors import BadInput

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path that replaces `path` once everything is written; on an error `path` is left as it was.

    The temporary file stands in the same folder, is flushed to disk and then renamed, so that a reader sees the old
    file or the new one. A symbolic link keeps pointing to its target, and an existing file keeps its permissions.
    """
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        if place.exists() and not place.is_file():
            raise BadInput(f"{str(path)!r} exists and is not a regular file. Give the path of a file.")
        draft.touch(exist_ok=False)  # reserves the name, with the permissions that a new file gets here
        mode = (place if place.exists() else draft).stat().st_mode
        yield draft
        draft.chmod(mode)
        _flush(draft)
        os.replace(draft, place)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise BadInput(
            f"can't write {str(path)!r}: {error.strerror or error}. Choose a folder that exists and is writable."
        ) from error
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # of the rename itself, which not every file system can flush
        _flush(place.parent)


def _flush(path: Path) -> None:
    """Flush a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
