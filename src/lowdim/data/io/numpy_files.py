"""npy and npz: headers are read and judged before anything is loaded, and nothing is ever unpickled."""

from __future__ import annotations

import io
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
from lowdim.data.table import NamedArrayRows, Table, default_names
from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.memory import require_memory

__all__ = ["read_npy", "read_npz"]

Array = NDArray[Any]

LONGEST_HEADER = 10_000  # NumPy's own limit
PIECE = 1 << 24  # bytes read from an archive at a time
TABLE_KEYS = ("X", "x", "data")
LABEL_KEYS = ("y", "labels", "label", "target")
ID_KEYS = ("ids", "id")
NAME_KEYS = ("names", "feature_names", "columns")
SPARSE_KEYS = {"data", "indices", "indptr", "shape"}


@dataclass(frozen=True)
class Header:
    """What the first bytes of an npy file declare."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int  # of the first byte of data

    @property
    def bytes(self) -> int:
        size = self.dtype.itemsize
        for length in self.shape:  # Python's integers don't overflow
            size *= length
        return size

    @property
    def numbers(self) -> bool:
        """Whether it holds real numbers or truth values."""
        return self.dtype.kind in "fiub"

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


def read_npy(path: Path, selection: ColumnSelection) -> Table:
    """The array of an npy file; a large one is mapped and read as it is used."""
    where = str(path)
    with file_errors(path, "an npy file"), path.open("rb") as stream:
        header = _header(stream, where)
    _require_table(header, where)
    if header.offset + header.bytes > path.stat().st_size:
        raise BadInput(f"{where} declares {header} and ends before; it is cut short.")
    order: Literal["C", "F"] = "F" if header.fortran else "C"
    with file_errors(path, "an npy file"):
        if header.bytes > arrow_source.IN_MEMORY_BYTES:
            mapped = np.memmap(path, header.dtype, "r", header.offset, header.shape, order)
            return _table(mapped, None, selection, where)
        flat = np.fromfile(path, header.dtype, int(np.prod(header.shape)), offset=header.offset)
        return _table(flat.reshape(header.shape, order=order), None, selection, where)


def read_npz(path: Path, selection: ColumnSelection) -> Table:
    """The table of an npz file, with the labels, ids and names that lie beside it."""
    where = str(path)
    with file_errors(path, "an npz file"), zipfile.ZipFile(path) as archive:
        headers = _headers(archive, where)
        keys = _choose(headers, selection, where)
        require_memory(
            sum(headers[key].bytes for key in keys.values()),
            f"what {where} declares",
            "Save it as npy, to be mapped.",
        )
        held = {role: _load(archive, key, headers[key], where) for role, key in keys.items()}
    names = [str(name) for name in held["names"]] if "names" in held else None
    # What the archive holds is taken from it; the rest of the selection is about columns.
    inner = replace(
        selection,
        label=None if "label" in held else selection.label,
        id=None if "id" in held else selection.id,
        drop=tuple(name for name in selection.drop if name not in headers),
    )
    table = _table(held["table"], names, inner, where)
    if "label" in held:
        table = replace(table, labels=held["label"], label_name=keys["label"])
    return replace(table, ids=held["id"]) if "id" in held else table


def _header(stream: IO[bytes], where: str) -> Header:
    magic = stream.read(npy.MAGIC_LEN)
    version = npy.read_magic(io.BytesIO(magic))
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise BadInput(f"{where} has fields with names (npy {version[0]}.{version[1]}); save plain numbers.")
    # NumPy reads the whole header before it looks at its length, which may be 4 GB of an archive's air.
    length = stream.read(2 if version == (1, 0) else 4)
    if int.from_bytes(length, "little") > LONGEST_HEADER:
        raise BadInput(f"{where} has a header of {int.from_bytes(length, 'little')} bytes; it is damaged.")
    text = stream.read(int.from_bytes(length, "little"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        shape, fortran, dtype = readers[version](io.BytesIO(length + text))
    if any(length < 0 for length in shape):
        raise BadInput(f"{where} declares a shape of {shape}; it is damaged.")
    return Header(tuple(int(length) for length in shape), bool(fortran), dtype, len(magic + length + text))


def _require_table(header: Header, where: str) -> None:
    """Raise unless the array can be a table: numbers in two dimensions, or images."""
    if header.dtype.hasobject:
        raise BadInputType(
            f"{where} holds Python objects, which only unpickling could read, and lowdim never unpickles. "
            "Save numbers: np.save(path, X.astype(float))."
        )
    if not header.numbers:
        raise BadInputType(f"{where} holds {header.dtype}, not numbers. Save them as float64 or float32.")
    if len(header.shape) not in (2, 3) and not (len(header.shape) == 4 and header.shape[3] in (1, 3, 4)):
        raise BadInput(
            f"{where} has shape {header.shape}; a table has 2 dimensions (rows, columns), images have 3 "
            "(n, height, width) or 4 with channels. Reshape it: X.reshape(-1, 1) makes one column of a list."
        )
    if 0 in header.shape:
        raise BadInput(f"{where} has shape {header.shape}: no rows, or no columns.")


def _table(X: Array, names: list[str] | None, selection: ColumnSelection, where: str) -> Table:
    """The table of an array: images flattened, columns chosen."""
    image = X.shape[1:] if X.ndim > 2 else None
    if image is not None and not X.flags.c_contiguous:
        require_memory(X.nbytes, f"the images of {where}", "Save them in C order, to be mapped.")
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
            len(X) * len(roles.numbers) * X.dtype.itemsize, f"the chosen columns of {where}", "Choose fewer."
        )
        place = {name: j for j, name in enumerate(known)}
        X, image = X[:, [place[name] for name in roles.numbers]], None
    rows = NamedArrayRows(X, None if names is None else roles.numbers)
    return Table(rows, roles.numbers, labels, roles.label, ids, where, image_shape=image)


def _headers(archive: zipfile.ZipFile, where: str) -> dict[str, Header]:
    """The headers of all arrays, by key; a key that is there twice or lies about its size is refused."""
    headers: dict[str, Header] = {}
    for member in archive.infolist():
        key = member.filename.removesuffix(".npy")
        if key in headers:
            raise BadInput(f"{where} holds {key!r} twice; it is damaged.")
        with archive.open(member) as stream:
            header = _header(stream, f"{where}: {key!r}")
        if not header.dtype.hasobject and header.offset + header.bytes != member.file_size:
            raise BadInput(f"{where}: {key!r} declares {header} and has {member.file_size} bytes; it is damaged.")
        headers[key] = header
    if not headers:
        raise BadInput(f"{where} holds no arrays.")
    return headers


def _choose(headers: Mapping[str, Header], selection: ColumnSelection, where: str) -> dict[str, str]:
    """The key of the table, and those of the label, id and names where they fit it."""
    if set(headers) >= SPARSE_KEYS:
        raise BadInput(f"{where} is a sparse matrix of SciPy; read it with scipy.sparse.load_npz and give that to fit.")
    keys = {"table": _choose_table(headers, selection, where)}
    table = headers[keys["table"]]
    _require_table(table, f"{where}: {keys['table']!r}")
    n, d = table.shape[0], int(np.prod(table.shape[1:]))
    for role, asked, usual, length in (
        ("label", selection.label, LABEL_KEYS, n),
        ("id", selection.id, ID_KEYS, n),
        ("names", None, NAME_KEYS, d),
    ):
        if asked is not None and asked in headers and asked != keys["table"]:
            if not _is_list(headers[asked], length):
                raise BadInput(
                    f"{role}: {asked!r} of {where} is {headers[asked]}; it needs one plain value a row ({n})."
                )
            keys[role] = asked
        elif asked is None:
            fitting = (k for k in usual if k in headers and k not in selection.drop and _is_list(headers[k], length))
            if (key := next(fitting, None)) is not None:
                keys[role] = key
    if "names" in keys and headers[keys["names"]].dtype.kind != "U":
        del keys["names"]
    return keys


def _choose_table(headers: Mapping[str, Header], selection: ColumnSelection, where: str) -> str:
    left = {
        key: header for key, header in headers.items() if key not in (*selection.drop, selection.label, selection.id)
    }
    for key in TABLE_KEYS:
        if key in left:
            return key
    tables = [key for key, header in left.items() if len(header.shape) > 1]
    if len(tables) == 1:
        return tables[0]
    if len(left) == 1:
        return next(iter(left))
    listed = ", ".join(f"{key} ({header})" for key, header in headers.items())
    raise BadInput(
        f"{where} holds {listed}, and none is named X or data. Name the others in drop=[…] (--drop), or save one as X."
    )


def _is_list(header: Header, length: int) -> bool:
    """Whether it holds `length` plain values (not Python objects, dates or records)."""
    return header.shape == (length,) and header.dtype.kind in "fiubU"


def _load(archive: zipfile.ZipFile, key: str, header: Header, where: str) -> Array:
    """An array of the archive, of exactly the bytes that it declares."""
    member = next(m for m in archive.infolist() if m.filename.removesuffix(".npy") == key)
    held = np.empty(header.bytes, dtype=np.uint8)
    with archive.open(member) as stream:
        stream.seek(header.offset)
        done = 0
        while done < header.bytes:
            piece = stream.read(min(PIECE, header.bytes - done))
            if not piece:
                raise BadInput(f"{where}: {key!r} declares {header} and ends before; it is cut short.")
            held[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            done += len(piece)
    return held.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C")
