"""One value of an estimator as JSON, and back.

| value                              | JSON                                                     |
|------------------------------------|----------------------------------------------------------|
| None, bool, str, int, finite float | itself                                                   |
| nan, inf, -inf                     | {"float": "nan"}                                         |
| list, tuple                        | [...], {"tuple": [...]}                                  |
| array of numbers or truth values   | {"array": dtype, "shape": [...]} and a tensor            |
| NumPy scalar                       | {"scalar": dtype} and a tensor without axes              |
| array of str, one axis             | {"strings": [...], "dtype": "object" or "str"}           |
| sparse matrix (csr_array)          | {"csr": dtype, "shape": [...], "stored": n}, 3 tensors    |
| dtype                              | {"dtype": name}                                          |
| summary such as Moments            | {"state": class, "fields": {...}}                        |
| rule of lowdim.choose              | {"rule": class, "fields": {...}}                         |

A tensor has the name of the place where its value stood: `components_`, `state.moments.means`. NumPy scalars
keep their type because it decides the type of what is computed with them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import ModelFileError
from lowdim.persistence.allowlist import rules, states
from lowdim.persistence.container import DTYPES, Tensors

__all__ = ["Unstorable", "decode", "encode"]

INT_LIMIT = 1 << 128  # wider than any count or seed, and still a finite float
SIZE_LIMIT = 1 << 48  # of an axis


class Unstorable(Exception):
    """A value that a model file can't hold; the message says what it is."""


def encode(value: Any, name: str, tensors: Tensors) -> Any:
    """JSON for a value; its arrays are added to `tensors` under `name`."""
    if isinstance(value, np.generic) and not isinstance(value, np.str_):
        _keep(np.asarray(value), name, tensors)
        return {"scalar": value.dtype.name}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if abs(value) >= INT_LIMIT:
            raise Unstorable("a whole number of more than 128 bits")
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, list | tuple):
        items = [encode(item, f"{name}.{i}", tensors) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, np.dtype):
        return {"dtype": _storable(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, tensors)
    if isinstance(value, sp.csr_array):
        return _encode_csr(value, name, tensors)
    return _encode_object(value, name, tensors)


def _encode_array(value: NDArray[Any], name: str, tensors: Tensors) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        raise Unstorable("a masked array")
    if value.dtype.kind in "UO":
        items = value.tolist()
        if value.ndim != 1 or not all(isinstance(item, str) for item in items):
            raise Unstorable(f"an array of Python objects, shape {value.shape}")
        return {"strings": items, "dtype": "object" if value.dtype.kind == "O" else "str"}
    _keep(value, name, tensors)
    return {"array": value.dtype.name, "shape": list(value.shape)}


def _encode_csr(value: sp.csr_array, name: str, tensors: Tensors) -> Any:
    """Canonical rows, their indices in 64 bits."""
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    _keep(value.data, f"{name}.data", tensors)
    _keep(value.indices.astype(np.int64), f"{name}.indices", tensors)
    _keep(value.indptr.astype(np.int64), f"{name}.indptr", tensors)
    return {"csr": value.dtype.name, "shape": list(value.shape), "stored": int(value.nnz)}


def _encode_object(value: Any, name: str, tensors: Tensors) -> Any:
    cls: Any = type(value)
    kind: str = cls.__name__
    is_state = states().get(kind) is cls
    if not is_state and rules().get(kind) is not cls:
        raise Unstorable(f"a {kind}")
    fields = {field: encode(getattr(value, field), f"{name}.{field}", tensors) for field in _field_names(cls)}
    return {"state" if is_state else "rule": kind, "fields": fields}


def _keep(value: NDArray[Any], name: str, tensors: Tensors) -> None:
    _storable(value.dtype)
    tensors[name] = np.asarray(value, dtype=value.dtype.newbyteorder("="), order="C")


def _storable(dtype: np.dtype[Any]) -> str:
    if dtype.name not in DTYPES.values():
        raise Unstorable(f"values of dtype {dtype}")
    return dtype.name


def decode(value: Any, name: str, tensors: Tensors) -> Any:
    """The value of its JSON; its arrays are taken out of `tensors`."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return _checked(value, abs(value) < INT_LIMIT, name, "a whole number of at most 128 bits")
    if isinstance(value, list):
        return [decode(item, f"{name}.{i}", tensors) for i, item in enumerate(value)]
    for tag, (others, decoder) in _DECODERS.items():
        if isinstance(value, dict) and value.keys() == {tag, *others}:
            return decoder(value, name, tensors)
    raise ModelFileError(f"{name} is stored as {_short(value)}, which this lowdim can't read.")


def _decode_float(value: Any, name: str, tensors: Tensors) -> float:
    text = value["float"]
    return float(_checked(text, text in ("nan", "inf", "-inf"), name, "nan, inf or -inf"))


def _decode_tuple(value: Any, name: str, tensors: Tensors) -> tuple[Any, ...]:
    items = _checked(value["tuple"], isinstance(value["tuple"], list), name, "a list of items")
    return tuple(decode(items, name, tensors))


def _decode_dtype(value: Any, name: str, tensors: Tensors) -> np.dtype[Any]:
    return np.dtype(_dtype_name(value["dtype"], name))


def _decode_array(value: Any, name: str, tensors: Tensors) -> NDArray[Any]:
    dtype, shape = _dtype_name(value["array"], name), value["shape"]
    whole = isinstance(shape, list) and all(type(size) is int for size in shape)
    return _take(name, dtype, tuple(_checked(shape, whole, name, "a list of sizes")), tensors)


def _decode_csr(value: Any, name: str, tensors: Tensors) -> sp.csr_array:
    dtype, shape, stored = _dtype_name(value["csr"], name), value["shape"], value["stored"]
    _checked(dtype, dtype in ("float32", "float64"), name, "a sparse matrix of float32 or float64")
    sized = isinstance(shape, list) and len(shape) == 2 and all(type(size) is int for size in (*shape, stored))
    sized = sized and all(0 <= size < SIZE_LIMIT for size in (*shape, stored))
    _checked(shape, sized, name, "a sparse matrix of two sizes and its number of entries")
    n, d = shape
    data = _take(f"{name}.data", dtype, (stored,), tensors)
    columns = _take(f"{name}.indices", "int64", (stored,), tensors)
    starts = _take(f"{name}.indptr", "int64", (n + 1,), tensors)
    rises = np.diff(columns) > 0
    spans = starts[0] == 0 and starts[-1] == stored and bool((np.diff(starts) >= 0).all())
    if spans:
        later = starts[(starts > 0) & (starts < stored)]
        rises[later - 1] = True  # there a row begins
    within = stored == 0 or (columns.min() >= 0 and columns.max() < d)
    if not (spans and within and rises.all() and np.isfinite(data).all()):
        raise ModelFileError(
            f"the sparse matrix {name!r} must have starts that span its entries, columns from 0 to {d - 1} that ascend "
            "within a row, and finite values."
        )
    return sp.csr_array((data, columns, starts), shape=(n, d))


def _decode_scalar(value: Any, name: str, tensors: Tensors) -> Any:
    return _take(name, _dtype_name(value["scalar"], name), (), tensors)[()]


def _decode_strings(value: Any, name: str, tensors: Tensors) -> NDArray[Any]:
    items, kind = value["strings"], value["dtype"]
    texts = isinstance(items, list) and all(isinstance(item, str) for item in items)
    _checked(items, texts, name, "a list of texts")
    _checked(kind, kind in ("object", "str"), name, "'object' or 'str'")
    return np.array(items, dtype=object if kind == "object" else np.str_)


def _decode_state(value: Any, name: str, tensors: Tensors) -> Any:
    return _build(states(), value["state"], value["fields"], name, tensors)


def _decode_rule(value: Any, name: str, tensors: Tensors) -> Any:
    return _build(rules(), value["rule"], value["fields"], name, tensors)


_DECODERS: dict[str, tuple[tuple[str, ...], Callable[[Any, str, Tensors], Any]]] = {
    "float": ((), _decode_float),
    "tuple": ((), _decode_tuple),
    "dtype": ((), _decode_dtype),
    "array": (("shape",), _decode_array),
    "csr": (("shape", "stored"), _decode_csr),
    "scalar": ((), _decode_scalar),
    "strings": (("dtype",), _decode_strings),
    "state": (("fields",), _decode_state),
    "rule": (("fields",), _decode_rule),
}


def _build(known: dict[str, type], kind: Any, fields: Any, name: str, tensors: Tensors) -> Any:
    """An instance of a class on a list; a field that the class got later has its default."""
    cls = known.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ModelFileError(f"{name} is stored as a {_short(kind)}, which is none of {', '.join(known) or 'nothing'}.")
    own = isinstance(fields, dict) and fields.keys() <= set(_field_names(cls))
    _checked(fields, own, name, f"fields of {kind}")
    values = {field: decode(value, f"{name}.{field}", tensors) for field, value in fields.items()}
    try:
        return cls(**values)
    except Exception as error:  # whatever the class has against these values, the file is to blame
        raise ModelFileError(f"{name} can't be made into a {kind}: {str(error)[:500]}") from error


def _field_names(cls: Any) -> list[str]:
    """What makes one object another: fields that are not compared are not kept."""
    return [field.name for field in dataclasses.fields(cls) if field.init and field.compare]


def _take(name: str, dtype: str, shape: tuple[int, ...], tensors: Tensors) -> NDArray[Any]:
    if name not in tensors:
        raise ModelFileError(f"the tensor {name!r} of the manifest is missing.")
    tensor = tensors.pop(name)
    if tensor.dtype.name != dtype or tensor.shape != shape:
        raise ModelFileError(
            f"the tensor {name!r} is {tensor.dtype.name} {tensor.shape}; the manifest says {dtype} {shape}."
        )
    return tensor


def _dtype_name(value: Any, name: str) -> str:
    known = isinstance(value, str) and value in DTYPES.values()
    return str(_checked(value, known, name, "one of " + ", ".join(DTYPES.values())))


def _checked(value: Any, holds: bool, name: str, rule: str) -> Any:
    if not holds:
        raise ModelFileError(f"{name} must be stored as {rule}; got {_short(value)}.")
    return value


def _short(value: Any) -> str:
    """A value from a stranger's file, cut to what a message can bear."""
    kind = type(value).__name__
    return repr(value)[:80] if isinstance(value, str) else f"a JSON {kind}"
