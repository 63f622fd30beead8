"""Atomic writes: a file appears whole or not at all.

What is being written is a draft beside the file. A killed process leaves its draft behind; the name of a draft says
which process writes it, and the next write into the folder deletes those of dead processes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from lowdim.errors import BadInput

__all__ = ["atomic_write", "sweep_drafts"]

NAME_BYTES = 120  # of the file's name in that of its draft; file systems allow 255 in all
DRAFT = re.compile(r"\..*\.([0-9a-f]{12})-([0-9]{1,10})-([0-9]{1,20})-[0-9a-f]{8}\.part", re.DOTALL)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path that replaces `path` once everything is written; on an error `path` is left as it was.

    The temporary file stands in the same folder, is flushed to disk and then renamed, so that a reader sees the old
    file or the new one. A symbolic link keeps pointing to its target, and an existing file keeps its permissions.
    """
    place = Path(os.path.realpath(path))
    draft = _draft_path(place)
    try:
        if place.exists() and not place.is_file():
            raise BadInput(f"{str(path)!r} exists and is not a regular file. Give the path of a file.")
        sweep_drafts(place.parent)
        draft.touch(exist_ok=False)  # reserves the name, with the permissions that a new file gets here
        mode = (place if place.exists() else draft).stat().st_mode
        yield draft
        draft.chmod(mode)
        _flush(draft)
        os.replace(draft, place)
    except OSError as error:
        _discard(draft)
        full = error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
        remedy = "Free some space, or choose another folder" if full else "Choose a folder that exists and is writable"
        raise BadInput(f"can't write {str(path)!r}: {error.strerror or error}. {remedy}.") from error
    except BaseException:
        _discard(draft)
        raise
    with suppress(OSError):  # of the rename itself, which not every file system can flush
        _flush(place.parent)


def sweep_drafts(folder: Path) -> None:
    """Delete the drafts of dead processes in a folder; those of live ones and of other machines are left alone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = DRAFT.fullmatch(entry.name) if entry.name.endswith(".part") else None
            if match is not None and match[1] == _machine() and _is_dead(int(match[2]), int(match[3])):
                _discard(Path(entry.path))


def _draft_path(place: Path) -> Path:
    name = os.fsdecode(os.fsencode(place.name)[:NAME_BYTES])
    pid = os.getpid()
    return place.with_name(f".{name}.{_machine()}-{pid}-{_start_time(pid) or 0}-{secrets.token_hex(4)}.part")


@cache
def _machine() -> str:
    """Where a process id means something: this machine since it was started, and this namespace of processes."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:12]


def _is_dead(pid: int, start_time: int) -> bool:
    """Whether the process that began at this time has ended; in doubt it has not."""
    if os.name != "posix":
        return False  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    found = _start_time(pid)
    return found is not None and start_time > 0 and found != start_time  # the number went to another process


def _start_time(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; -1 of one that has ended, None where that is not known."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
        fields = status.rpartition(b")")[2].split()  # after the name, which may hold anything
        return -1 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, IndexError, ValueError):
        return None


def _discard(draft: Path) -> None:
    with suppress(OSError):
        draft.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Flush a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
