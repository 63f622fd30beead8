"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lowdim.errors import BadInput

__all__ = ["draft_beside"]


@contextmanager
def draft_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write that takes the place of `path` when all is written; on an error nothing has happened.

    The draft is a neighbour, made durable and then renamed, so a reader sees the old file or the new one.
    A link keeps pointing to what it names, and a file that is there keeps its permissions.
    """
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        if place.exists() and not place.is_file():
            raise BadInput(f"{str(path)!r} is there and is no regular file. Give the path of a file.")
        draft.touch(exist_ok=False)  # claims the name, with the permissions that a new file gets here
        mode = (place if place.exists() else draft).stat().st_mode
        yield draft
        draft.chmod(mode)
        _flush(draft)
        os.replace(draft, place)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise BadInput(
            f"can't write {str(path)!r}: {error.strerror or error}. Choose a folder that exists and may be written."
        ) from error
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # the rename itself; not every file system can wait for it
        _flush(place.parent)


def _flush(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
