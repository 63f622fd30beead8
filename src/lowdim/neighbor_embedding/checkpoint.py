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

    def read(self) -> tuple[dict[str, NDArray[Any]], int, int] | None:
        """State, steps done and steps in all; None if there is no file yet."""
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
        return state, done, total

    def write(self, state: LoopState, done: int, total: int) -> None:
        """Replace the file atomically."""
        arrays = {name: np.ascontiguousarray(value) for name, value in state.items()}
        try:
            with atomic_write(self.path) as draft:
                save_file(arrays, draft, metadata={KEY: self.fingerprint, "done": str(done), "total": str(total)})
        except SafetensorError as error:
            raise BadInput(
                f"can't write the checkpoint {str(self.path)!r}: {error}. Choose a place with enough space."
            ) from error


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
