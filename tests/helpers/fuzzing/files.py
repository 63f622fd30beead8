"""Attempts with files: models, graphs, checkpoints and tables whose bytes or fields were changed."""

from __future__ import annotations

import contextlib
import copy
import gzip
import hashlib
import io
import json
import random
import struct
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import scipy.sparse as sp

import lowdim
from fuzzing.values import QUICK
from lowdim.errors import Cancelled, LowdimError
from other_estimators import apply, clusterers, quick, savable, selectors
from targets import table_for, target_for

__all__ = ["make_checkpoint", "make_field", "make_model", "make_table", "mutated"]

X = np.random.default_rng(0).normal(size=(24, 3))
NEW = np.random.default_rng(1).normal(size=(4, 3))
WRONG: list[Any] = [None, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, 1e300, "text", "", [], [1], {}, True, [[0]], "NaN"]


def mutated(content: bytes, r: random.Random) -> bytes:
    """The content with a few bytes changed, deleted, repeated or inserted, or truncated."""
    out = bytearray(content)
    for _ in range(r.choice([1, 1, 2, 5, 20])):
        at = r.randrange(len(out) + 1)
        match r.randrange(6):
            case 0:
                out[at : at + 1] = bytes([r.randrange(256)])
            case 1 if at < len(out):
                out[at] ^= 1 << r.randrange(8)
            case 2:
                del out[at : at + r.randrange(1, 16)]
            case 3:
                out[at:at] = out[max(0, at - 16) : at]
            case 4:
                out[at : at + 4] = r.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b'",\n\r'])
            case 5 if r.random() < 0.2:
                del out[at:]
    return bytes(out)


@cache
def _saved(name: str) -> bytes:
    """The file of a fitted model, or of a graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.lowdim"
        if name == "Graph":
            lowdim.save(lowdim.neighbors(X, 4), path)
        elif name == "Standardized":
            lowdim.save(lowdim.Standardized(lowdim.UMAP(n_epochs=15)).fit(X), path)
        elif name in selectors() or name in clusterers():
            model = quick(name).fit(np.abs(X), *([np.arange(24) % 2] if name in selectors() else []))
            lowdim.save(savable(model), path)
        else:
            lowdim.save(
                getattr(lowdim, name)(2, **QUICK.get(name, {})).fit(table_for(name, X), target_for(name, X)), path
            )
        return path.read_bytes()


def _names() -> list[str]:
    return [*(method.name for method in lowdim.methods()), "Standardized", "Graph", *selectors(), *clusterers()]


def _loaded(content: bytes) -> Any:
    """Load the file and use what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.lowdim"
        path.write_bytes(content)
        loaded = lowdim.load(path)
        if type(loaded).__name__ in selectors() | clusterers():
            return apply(loaded, NEW)
        return (
            loaded.distances
            if isinstance(loaded, lowdim.Graph)
            else loaded.transform(table_for(type(loaded).__name__, NEW))
        )


def make_model(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A model file, byte by byte."""
    name = r.choice(_names())
    content = mutated(_saved(name), r)
    return f"{name}, bytes", lambda: _loaded(content)


def make_field(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A model file, field by field, with a checksum that fits."""
    name = r.choice(_names())
    raw = _saved(name)
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__")
    key = next(iter(metadata))
    manifest = json.loads(metadata[key])
    tensors = {
        tensor: (entry["dtype"], list(entry["shape"]), raw[slice(*(8 + length + at for at in entry["data_offsets"]))])
        for tensor, entry in header.items()
    }
    story = _change_tensor(r, tensors) if tensors and r.random() < 0.5 else _change_field(r, manifest)
    content = _signed_file(key, manifest, tensors)
    return f"{name}, {story}", lambda: _loaded(content)


def _change_tensor(r: random.Random, tensors: dict[str, tuple[str, list[int], bytes]]) -> str:
    tensor = r.choice(sorted(tensors))
    code, shape, data = tensors[tensor]
    change = r.choice(["gone", "shorter", "transposed", "bytes", "huge", "nan"])
    if change == "gone":
        del tensors[tensor]
    elif change == "shorter" and shape and shape[0]:
        rest = len(data) // shape[0]
        tensors[tensor] = (code, [shape[0] - 1, *shape[1:]], data[: len(data) - rest])
    elif change == "transposed":
        tensors[tensor] = (code, shape[::-1], data)
    elif change == "bytes" and data:
        out = bytearray(data)
        out[r.randrange(len(out))] ^= 1 << r.randrange(8)
        tensors[tensor] = (code, shape, bytes(out))
    elif data and code in ("F64", "I64"):
        number = struct.pack("<d", float("nan")) if code == "F64" else struct.pack("<q", r.choice([-1, 2**62, 10**9]))
        at = 8 * r.randrange(len(data) // 8)
        tensors[tensor] = (code, shape, data[:at] + number + data[at + 8 :])
    return f"tensor {tensor}: {change}"


def _change_field(r: random.Random, manifest: dict[str, Any]) -> str:
    place, path = manifest, []
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = r.choice([k for k in keys if k != "sha256"] or keys)
        path.append(str(key))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or r.random() < 0.15:
            break
        place = inner
    if isinstance(place, dict) and r.random() < 0.25:
        del place[key]
        return f"field {'.'.join(path)}: gone"
    place[key] = copy.deepcopy(r.choice(WRONG))
    return f"field {'.'.join(path)}: {place[key]!r}"


def _signed_file(key: str, manifest: dict[str, Any], tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    manifest.pop("sha256", None)
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode())
    for tensor in sorted(tensors):
        digest.update(tensors[tensor][2])
    header: dict[str, Any] = {"__metadata__": {key: json.dumps(manifest | {"sha256": digest.hexdigest()})}}
    data = b""
    for tensor, (code, shape, content) in tensors.items():
        header[tensor] = {"dtype": code, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class _Stop(Exception):
    pass


@cache
def _checkpoint(name: str) -> bytes:
    """The checkpoint of a fit that was stopped half way."""

    def stop(step: Any) -> None:
        if step.done >= 60:
            raise _Stop

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        with contextlib.suppress(_Stop, Cancelled), lowdim.watch(stop):
            _with_checkpoint(name, path).fit(X)
        return path.read_bytes()


def _with_checkpoint(name: str, path: Path) -> Any:
    options = {"max_iter": 120} if name == "TSNE" else {"n_epochs": 120}
    return getattr(lowdim, name)(2, checkpoint=path, **options)


def make_checkpoint(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A checkpoint, byte by byte."""
    name = r.choice(["TSNE", "UMAP"])
    content = mutated(_checkpoint(name), r)

    def work() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "checkpoint"
            path.write_bytes(content)
            return _with_checkpoint(name, path).fit_transform(X)

    return f"{name}, checkpoint", work


@cache
def _tables() -> dict[str, bytes]:
    frame = pa.table({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "k": ["red", "green"] * 12})
    text = "\n".join(["a,b,k", *(f"{a:.6f},{b:.6f},red" for a, b, _ in X), ""]).encode()

    def written(write: Callable[[Any], Any]) -> bytes:
        stream = io.BytesIO()
        write(stream)
        return stream.getvalue()

    return {
        "a.xlsx": written(_write_excel),
        "a.h5ad": written(lambda stream: _write_h5ad(stream, sparse=False)),
        "sparse.h5ad": written(lambda stream: _write_h5ad(stream, sparse=True)),
        "a.csv": text,
        "a.tsv": text.replace(b",", b"\t"),
        "a.csv.gz": gzip.compress(text, mtime=0),
        "a.npy": written(lambda stream: np.save(stream, X)),
        "a.npz": written(lambda stream: np.savez_compressed(stream, X=X, y=np.arange(24))),
        "a.parquet": written(lambda stream: pq.write_table(frame, stream)),
        "a.feather": written(lambda stream: pa.feather.write_feather(frame, stream)),
    }


def _write_excel(stream: Any) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("a", "b", "k"), *((a, b, "red") for a, b, _ in X.tolist())):
        book.active.append(row)
    book.save(stream)


def _write_h5ad(stream: Any, *, sparse: bool) -> None:
    """The documented layout of an annotated matrix: X, and two frames of names."""
    import h5py

    with h5py.File(stream, "w") as file:
        if sparse:
            parts = sp.csr_array(np.where(X > 0, X, 0))
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
            for part in ("data", "indices", "indptr"):
                group.create_dataset(part, data=getattr(parts, part))
        else:
            file["X"] = X
        for name, size in (("obs", 24), ("var", 3)):
            frame = file.create_group(name)
            frame.attrs.update({"_index": "_index", "column-order": ["kind"] if name == "obs" else []})
            frame["_index"] = [f"{name}{i}" for i in range(size)]
        file["obs/kind"] = ["red", "green"] * 12


def make_table(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A file of a table, byte by byte, read and fitted."""
    name = r.choice(sorted(_tables()))
    content = mutated(_tables()[name], r)

    def work() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            table = lowdim.read_table(path, drop=() if name.endswith(("npy", "npz", "h5ad")) else "k")
            with contextlib.suppress(LowdimError):  # cells may be huge, or missing
                return lowdim.PCA(1).fit_transform(table.array())

    return name, work
