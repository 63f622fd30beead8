"""Checkpoint files: the state of an optimizer loop on disk, from which a stopped fit resumes to the same bits.

The format is safetensors: the arrays of the state, and in the metadata the steps done, the steps in all, and a
fingerprint of the inputs and parameters, so that no fit resumes from another's checkpoint.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from lowdim.errors import BadInput
from lowdim.runtime.atomic_write import atomic_write
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Maybe, Such

__all__ = ["CHECKPOINT_PATH", "Checkpoint", "LoopState", "fingerprint"]

LoopState = Mapping[str, NDArray[Any]]

CHECKPOINT_PATH = Maybe(Such("the path of a file", lambda value: isinstance(value, str | os.PathLike)))
KEY = "lowdim-checkpoint"  # names the fingerprint in the metadata


@dataclass(frozen=True)
class Checkpoint:
    """A file that the loop state is written to every `every` steps, for the work with this fingerprint."""

    path: str | os.PathLike[str]
    fingerprint: str
    every: int = 50

    def read(self, initial: LoopState) -> tuple[dict[str, NDArray[Any]], int, int] | None:
        """State, steps done and steps in all; None if there is no file yet. The state must be of the initial's form."""
        if not os.path.exists(self.path):
            return None
        if os.path.isdir(self.path):
            raise BadInput(f"the checkpoint {str(self.path)!r} is a folder. Give the path of a file in it.")
        require_memory(os.path.getsize(self.path), f"the checkpoint {self.path}", "Use a machine with more memory.")
        try:
            with safe_open(self.path, framework="np") as file:
                metadata = file.metadata() or {}
                state = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
                done, total = int(metadata.get("done", "")), int(metadata.get("total", ""))
        except (SafetensorError, OSError, ValueError) as error:
            raise BadInput(f"{str(self.path)!r} is not a lowdim checkpoint, or is damaged: {error}.") from error
        if metadata.get(KEY) != self.fingerprint:
            raise BadInput(
                f"the checkpoint {str(self.path)!r} belongs to other data or other parameters. "
                "Give another path, or delete the file to start over."
            )
        if metadata.get("sha256") != _checksum(state, done, total) or not (
            0 <= done <= total and _same_form(state, initial)
        ):
            raise BadInput(f"the checkpoint {str(self.path)!r} is damaged. Delete the file to start over.")
        return state, done, total

    def write(self, state: LoopState, done: int, total: int) -> None:
        """Replace the file atomically."""
        arrays = {name: np.ascontiguousarray(value) for name, value in state.items()}
        metadata = {KEY: self.fingerprint, "sha256": _checksum(arrays, done, total)}
        metadata |= {"done": str(done), "total": str(total)}
        try:
            with atomic_write(self.path) as draft:
                save_file(arrays, draft, metadata=metadata)
        except SafetensorError as error:
            raise BadInput(
                f"can't write the checkpoint {str(self.path)!r}: {error}. Choose a place with enough space."
            ) from error


def _checksum(state: LoopState, done: int, total: int) -> str:
    return fingerprint(*(part for name in sorted(state) for part in (name, state[name])), done, total)


def _same_form(state: LoopState, initial: LoopState) -> bool:
    """Whether the state has the arrays of the initial one: names, types, shapes, finite numbers, permutations."""
    if state.keys() != initial.keys():
        return False
    for name, first in initial.items():
        stored, first = state[name], np.asarray(first)
        if stored.dtype != first.dtype or stored.shape != first.shape:
            return False
        if first.dtype.kind == "f" and np.isfinite(first).all() and not np.isfinite(stored).all():
            return False
        if first.dtype.kind == "i" and not np.array_equal(np.sort(stored, axis=None), np.sort(first, axis=None)):
            return False
    return True


def fingerprint(*parts: Any) -> str:
    """SHA-256 of arrays and plain values: equal inputs and parameters have equal fingerprints."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()
