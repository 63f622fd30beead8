"""The container: a safetensors file, written atomically, and measured before it is parsed."""

from __future__ import annotations

import os
import stat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from lowdim.errors import BadInput, ModelFileError
from lowdim.runtime.atomic_write import atomic_write
from lowdim.runtime.memory import require_memory

__all__ = ["DTYPES", "Tensors", "read_container", "write_container"]

Tensors = dict[str, NDArray[Any]]

KEY = "lowdim-model"  # of the manifest, in the metadata of safetensors
HEADER_LIMIT = 16 << 20  # bytes: a parsed header takes about twenty times its size in memory
DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}  # safetensors' name -> NumPy's


def write_container(path: str, text: str, tensors: Tensors) -> None:
    """Write manifest and tensors atomically: to a temporary file beside `path`, which then replaces it."""
    try:
        with atomic_write(path) as draft:
            save_file(tensors, draft, metadata={KEY: text})
            _measure(str(draft))
    except BadInput as error:
        raise ModelFileError(f"{error} An existing file is unchanged.") from error
    except (ModelFileError, SafetensorError, ValueError) as error:  # ValueError: a null character in the path
        raise ModelFileError(f"can't write {path!r}: {error} An existing file is unchanged.") from error


def read_container(path: str) -> tuple[str, Tensors]:
    """Manifest text and tensors of a file, or ModelFileError."""
    size = _measure(path)
    require_memory(size, f"the model {path}", "Load it on a machine with more memory.")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            if KEY not in metadata:
                raise ModelFileError("a safetensors file, but not a lowdim model: it has no manifest.")
            names = list(file.keys())
            return metadata[KEY], {name: _tensor(file, name) for name in names}
    except ModelFileError:
        raise
    except (SafetensorError, OSError, ValueError) as error:  # ValueError: a shape that NumPy refuses
        raise ModelFileError(f"not a lowdim model, or damaged: {error}.") from error


def _measure(path: str) -> int:
    """The size in bytes; raises for anything but a regular file with a header of plausible length."""
    try:
        status = os.stat(path)  # before opening: opening a pipe would block
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("not a regular file. Give the path of a model file.")
        with open(path, "rb") as file:
            start = file.read(8)
    except FileNotFoundError as error:
        raise ModelFileError("there is no such file. Check the path.") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise ModelFileError(f"can't be read: {error}.") from error
    header = int.from_bytes(start, "little")
    if len(start) < 8 or header > status.st_size - 8:
        raise ModelFileError(
            f"not a lowdim model, or truncated: {status.st_size} bytes can't hold its header. "
            "Copy the file again, or save the model again."
        )
    if header > HEADER_LIMIT:
        raise ModelFileError(
            f"the header takes {header} bytes, more than the limit of {HEADER_LIMIT}. It contains the feature names: "
            "use shorter names, or none."
        )
    return status.st_size


def _tensor(file: Any, name: str) -> NDArray[Any]:
    """One tensor, copied into memory that NumPy owns; dtypes that NumPy lacks are rejected before they are read."""
    view = file.get_slice(name)
    code, shape = view.get_dtype(), view.get_shape()
    if code not in DTYPES:
        raise ModelFileError(f"tensor {name[:80]!r} has the dtype {code}; a model holds {', '.join(DTYPES)}.")
    if len(shape) > 32 or any(size >= 1 << 48 for size in shape):
        raise ModelFileError(f"tensor {name[:80]!r} has an impossible shape.")
    values = np.array(file.get_tensor(name), order="C")
    if code == "BOOL" and values.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError(f"tensor {name[:80]!r} holds a boolean that is neither 0 nor 1.")
    return values
