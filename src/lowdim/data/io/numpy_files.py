"""npy and npz files: headers are validated before data are loaded, and nothing is ever unpickled."""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lowdim.data.io import arrow_source
from lowdim.data.io.arrow_source import file_errors
from lowdim.data.io.column_roles import ColumnSelection, assign_roles, require_unique_names
from lowdim.data.io.decompression import require_expansion
from lowdim.data.io.image_rows import declared_shape, image_shape_of
from lowdim.data.io.sparse_parts import sparse_table
from lowdim.data.table import NamedArrayRows, Table, default_names, is_distance_matrix
from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.memory import require_memory

__all__ = ["read_npy", "read_npz"]

Array = NDArray[Any]

LONGEST_HEADER = 10_000  # bytes; NumPy's own limit
READ_BYTES = 1 << 24  # read from an archive at a time
TABLE_KEYS = ("X", "x", "data")
LABEL_KEYS = ("y", "labels", "label", "target")
ID_KEYS = ("ids", "id")
NAME_KEYS = ("names", "feature_names", "columns")
IMAGE_KEY = "image_shape"
SPARSE_KEYS = {"data", "shape", "format"}  # of scipy.sparse.save_npz, in any format
CSR_KEYS = {"indices", "indptr"}  # beside these


@dataclass(frozen=True)
class NpyHeader:
    """The header of an npy file."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int  # of the data, in bytes

    @property
    def bytes(self) -> int:
        """The declared size of the data."""
        size = self.dtype.itemsize
        for length in self.shape:  # Python's integers don't overflow
            size *= length
        return size

    @property
    def numeric(self) -> bool:
        """Whether it holds real numbers or booleans."""
        return self.dtype.kind in "fiub"

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


def read_npy(path: Path, selection: ColumnSelection) -> Table:
    """The array of an npy file; a large one is memory-mapped."""
    where = str(path)
    with file_errors(path, "an npy file"), path.open("rb") as stream:
        header = _header(stream, where)
    _require_table(header, where)
    if header.offset + header.bytes > path.stat().st_size:
        raise BadInput(f"{where} declares {header}, but ends early; it is truncated.")
    order: Literal["C", "F"] = "F" if header.fortran_order else "C"
    with file_errors(path, "an npy file"):
        if header.bytes > arrow_source.IN_MEMORY_BYTES:
            mapped = np.memmap(path, header.dtype, "r", header.offset, header.shape, order)
            return _table(mapped, None, selection, where)
        flat = np.fromfile(path, header.dtype, int(np.prod(header.shape)), offset=header.offset)
        return _table(flat.reshape(header.shape, order=order), None, selection, where)


def read_npz(path: Path, selection: ColumnSelection) -> Table:
    """The table of an npz file, with its labels, ids and column names."""
    where = str(path)
    with file_errors(path, "an npz file"), zipfile.ZipFile(path) as archive:
        headers = _headers(archive, where)
        is_sparse = set(headers) >= SPARSE_KEYS
        keys = _sparse_keys(headers, where) if is_sparse else _select_keys(headers, selection, where)
        needed = sum(headers[key].bytes for key in keys.values())
        require_expansion(needed, path.stat().st_size, where, "save it by np.savez, or X as an npy file")
        require_memory(needed, f"the arrays of {where}", "Save X as an npy file, which is memory-mapped.")
        arrays = {role: _load(archive, key, headers[key], where) for role, key in keys.items()}
    if is_sparse:
        return sparse_table(arrays, selection, where)
    names = [str(name) for name in arrays["names"]] if "names" in arrays else None
    # Names of arrays are taken care of; the rest of the selection refers to columns.
    of_columns = replace(
        selection,
        label=None if "label" in arrays else selection.label,
        id=None if "id" in arrays else selection.id,
        drop=tuple(name for name in selection.drop if name not in headers),
    )
    declared = declared_shape(arrays["image"], arrays["table"].shape[1]) if "image" in arrays else None
    table = _table(arrays["table"], names, of_columns, where, declared)
    if "label" in arrays:
        table = replace(table, labels=arrays["label"], label_name=keys["label"])
    return replace(table, ids=arrays["id"]) if "id" in arrays else table


def _header(stream: IO[bytes], where: str) -> NpyHeader:
    magic = stream.read(npy.MAGIC_LEN)
    version = npy.read_magic(io.BytesIO(magic))
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise BadInput(f"{where} is a structured array (npy {version[0]}.{version[1]}). Save plain numbers.")
    # NumPy reads the whole header before it checks its length, which may be 4 GB in a compressed archive.
    length = stream.read(2 if version == (1, 0) else 4)
    if int.from_bytes(length, "little") > LONGEST_HEADER:
        raise BadInput(f"{where} has a header of {int.from_bytes(length, 'little')} bytes; it is damaged.")
    text = stream.read(int.from_bytes(length, "little"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about headers written by Python 2
        shape, fortran_order, dtype = readers[version](io.BytesIO(length + text))
    if any(length < 0 for length in shape):
        raise BadInput(f"{where} declares the shape {shape}; it is damaged.")
    return NpyHeader(tuple(int(length) for length in shape), bool(fortran_order), dtype, len(magic + length + text))


def _require_table(header: NpyHeader, where: str) -> None:
    """Raise unless the array is a table of numbers in two dimensions, or a stack of images."""
    if header.dtype.hasobject:
        raise BadInputType(
            f"{where} holds pickled Python objects, and lowdim never unpickles. "
            "Save numbers: np.save(path, X.astype(float))."
        )
    if not header.numeric:
        raise BadInputType(f"{where} holds values of type {header.dtype}, not numbers. Save float64 or float32.")
    if len(header.shape) not in (2, 3) and not (len(header.shape) == 4 and header.shape[3] in (1, 3, 4)):
        raise BadInput(
            f"{where} has shape {header.shape}; a table has 2 dimensions (rows, columns), images have 3 "
            "(n, height, width) or 4 with channels. Reshape it; X.reshape(-1, 1) turns a vector into one column."
        )
    if 0 in header.shape:
        raise BadInput(f"{where} has shape {header.shape}: it has no rows or no columns.")


def _table(
    X: Array,
    names: list[str] | None,
    selection: ColumnSelection,
    where: str,
    image: tuple[int, ...] | None = None,
) -> Table:
    """The table of an array: images flattened, columns selected; distances between rows are known as such."""
    if X.ndim > 2:
        image = X.shape[1:]
    elif image is None and names is None:
        image = image_shape_of(X)
    if X.ndim > 2 and not X.flags.c_contiguous:
        require_memory(X.nbytes, f"the images of {where}", "Save them in C order, which is memory-mapped.")
    X = X.reshape(len(X), -1)
    d = X.shape[1]
    if names is not None and len(names) != d:
        raise BadInput(f"{where} has {len(names)} names for {d} columns.")
    known = default_names(d) if names is None else tuple(names)
    require_unique_names(known, where)
    roles = assign_roles(known, selection, where)
    labels, ids = (None if n is None else np.array(X[:, known.index(n)]) for n in (roles.label, roles.id))
    if roles.numbers != known:
        require_memory(
            len(X) * len(roles.numbers) * X.dtype.itemsize, f"the selected columns of {where}", "Select fewer."
        )
        position = {name: j for j, name in enumerate(known)}
        X, image = _columns(X, [position[name] for name in roles.numbers]), None
    in_memory = not isinstance(X, np.memmap) and X.dtype.kind == "f"
    if image is None and selection.columns is None and in_memory and is_distance_matrix(X):
        return Table(X, roles.numbers, labels, roles.label, ids, where, kind="distances")
    rows = NamedArrayRows(X, None if names is None else roles.numbers)
    return Table(rows, roles.numbers, labels, roles.label, ids, where, image_shape=image)


def _columns(X: Array, which: list[int]) -> Array:
    """A copy of some columns, made in pieces: a file of many rows takes seconds, and Ctrl-C waits for one piece."""
    out = np.empty((len(X), len(which)), dtype=X.dtype)
    size = max(1, READ_BYTES // (X.itemsize * X.shape[1]))
    for start in range(0, len(X), size):
        out[start : start + size] = X[start : start + size][:, which]
    return out


def _headers(archive: zipfile.ZipFile, where: str) -> dict[str, NpyHeader]:
    """The headers of all arrays, by key; duplicate keys and false sizes are errors."""
    headers: dict[str, NpyHeader] = {}
    for member in archive.infolist():
        key = member.filename.removesuffix(".npy")
        if key in headers:
            raise BadInput(f"{where} has the key {key!r} twice; it is damaged.")
        with archive.open(member) as stream:
            header = _header(stream, f"{where}: {key!r}")
        if not header.dtype.hasobject and header.offset + header.bytes != member.file_size:
            raise BadInput(f"{where}: {key!r} declares {header}, but has {member.file_size} bytes; it is damaged.")
        headers[key] = header
    if not headers:
        raise BadInput(f"{where} has no arrays.")
    return headers


def _select_keys(headers: Mapping[str, NpyHeader], selection: ColumnSelection, where: str) -> dict[str, str]:
    """The key of the table, and those of the label, ids and names that fit it."""
    keys = {"table": _table_key(headers, selection, where)}
    table = headers[keys["table"]]
    _require_table(table, f"{where}: {keys['table']!r}")
    n, d = table.shape[0], int(np.prod(table.shape[1:]))
    for role, given, defaults, length in (
        ("label", selection.label, LABEL_KEYS, n),
        ("id", selection.id, ID_KEYS, n),
        ("names", None, NAME_KEYS, d),
    ):
        if given is not None and given in headers and given != keys["table"]:
            if not _is_vector(headers[given], length):
                raise BadInput(
                    f"{selection.spell(role)}: {given!r} of {where} is {headers[given]}; "
                    f"it must have one number or text per row ({n})."
                )
            keys[role] = given
        elif given is None:
            candidates = (
                k for k in defaults if k in headers and k not in selection.drop and _is_vector(headers[k], length)
            )
            if (key := next(candidates, None)) is not None:
                keys[role] = key
    if "names" in keys and headers[keys["names"]].dtype.kind != "U":
        del keys["names"]
    if IMAGE_KEY in headers and any(_is_vector(headers[IMAGE_KEY], sides) for sides in (2, 3)):
        keys["image"] = IMAGE_KEY
    return keys


def _sparse_keys(headers: Mapping[str, NpyHeader], where: str) -> dict[str, str]:
    """The keys of a CSR or CSC matrix."""
    if not set(headers) >= CSR_KEYS:
        raise BadInput(f"{where} is a SciPy sparse matrix of an unknown format. Save X.tocsr().")
    return {key: key for key in sorted(SPARSE_KEYS | CSR_KEYS)}


def _table_key(headers: Mapping[str, NpyHeader], selection: ColumnSelection, where: str) -> str:
    remaining = {
        key: header for key, header in headers.items() if key not in (*selection.drop, selection.label, selection.id)
    }
    for key in TABLE_KEYS:
        if key in remaining:
            return key
    tables = [key for key, header in remaining.items() if len(header.shape) > 1]
    if len(tables) == 1:
        return tables[0]
    if len(remaining) == 1:
        return next(iter(remaining))
    listed = ", ".join(f"{key} ({header})" for key, header in headers.items())
    raise BadInput(
        f"{where} holds {listed}, but none is named X or data. "
        f"Name the others in {selection.spell('drop')}, or save one as X."
    )


def _is_vector(header: NpyHeader, length: int) -> bool:
    """Whether it holds `length` numbers, booleans or texts (not Python objects, dates or records)."""
    return header.shape == (length,) and header.dtype.kind in "fiubU"


def _load(archive: zipfile.ZipFile, key: str, header: NpyHeader, where: str) -> Array:
    """An array of the archive, of exactly the declared size."""
    member = next(m for m in archive.infolist() if m.filename.removesuffix(".npy") == key)
    data = np.empty(header.bytes, dtype=np.uint8)
    with archive.open(member) as stream:
        stream.seek(header.offset)
        done = 0
        while done < header.bytes:
            part = stream.read(min(READ_BYTES, header.bytes - done))
            if not part:
                raise BadInput(f"{where}: {key!r} declares {header}, but ends early; it is truncated.")
            data[done : done + len(part)] = np.frombuffer(part, dtype=np.uint8)
            done += len(part)
    if header.dtype.kind == "U" and data.size:
        codes = data.view(np.dtype(np.uint32).newbyteorder(header.dtype.byteorder))
        if codes.max() > sys.maxunicode:
            raise BadInput(f"{where}: {key!r} holds numbers that are no characters; it is damaged.")
    return data.view(header.dtype).reshape(header.shape, order="F" if header.fortran_order else "C")
