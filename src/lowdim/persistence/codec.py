"""One value of an estimator as JSON, and back.

| value                              | JSON                                                     |
|------------------------------------|----------------------------------------------------------|
| None, bool, str, int, finite float | itself                                                   |
| nan, inf, -inf                     | {"float": "nan"}                                         |
| list, tuple                        | [...], {"tuple": [...]}                                  |
| dict with names as keys            | {"dict": {...}}                                          |
| array of numbers or booleans       | {"array": dtype, "shape": [...]} and a tensor            |
| NumPy scalar                       | {"scalar": dtype} and a 0-d tensor                       |
| 1-d array of str                   | {"strings": [...], "dtype": "object" or "str"}           |
| sparse matrix (csr_array)          | {"csr": dtype, "shape": [...], "stored": n}, 3 tensors   |
| dtype                              | {"dtype": name}                                          |
| dataclass of a fitted state        | {"state": class, "fields": {...}}                        |
| rule of lowdim.choose, or kernel   | {"rule": class, "fields": {...}}                         |

A tensor is named after the path of its value: `components_`, `state.moments.means`. NumPy scalars keep their type
because it decides the type of what is computed with them.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import LowdimWarning, ModelFileError
from lowdim.persistence.allowlist import find_state, rules, states
from lowdim.persistence.container import DTYPES, Tensors

__all__ = ["NotSerializable", "decode", "encode"]

Find = Callable[[str], type | None]  # an allowlisted class by its name
Known = Callable[[], dict[str, type]]  # all of them

INT_LIMIT = 1 << 128  # wider than any count or seed, and still a finite float
SIZE_LIMIT = 1 << 48  # elements along one axis


class NotSerializable(Exception):
    """A value that a model file can't hold; the message says what it is."""


def encode(value: Any, name: str, tensors: Tensors) -> Any:
    """JSON for a value; its arrays are added to `tensors` under `name`."""
    if isinstance(value, np.generic) and not isinstance(value, np.str_):
        _add_tensor(np.asarray(value), name, tensors)
        return {"scalar": value.dtype.name}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if abs(value) >= INT_LIMIT:
            raise NotSerializable("an integer of more than 128 bits")
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, list | tuple):
        items = [encode(item, f"{name}.{i}", tensors) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, f"{name}.{key}", tensors) for key, item in value.items()}}
    if isinstance(value, np.dtype):
        return {"dtype": _dtype_code(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, tensors)
    if isinstance(value, sp.csr_array):
        return _encode_csr(value, name, tensors)
    return _encode_object(value, name, tensors)


def _encode_array(value: NDArray[Any], name: str, tensors: Tensors) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        raise NotSerializable("a masked array")
    if value.dtype.kind in "UO":
        items = value.tolist()
        if value.ndim != 1 or not all(isinstance(item, str) for item in items):
            raise NotSerializable(f"an array of Python objects, shape {value.shape}")
        return {"strings": items, "dtype": "object" if value.dtype.kind == "O" else "str"}
    _add_tensor(value, name, tensors)
    return {"array": value.dtype.name, "shape": list(value.shape)}


def _encode_csr(value: sp.csr_array, name: str, tensors: Tensors) -> Any:
    """CSR in canonical form, with 64-bit indices."""
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    _add_tensor(value.data, f"{name}.data", tensors)
    _add_tensor(value.indices.astype(np.int64), f"{name}.indices", tensors)
    _add_tensor(value.indptr.astype(np.int64), f"{name}.indptr", tensors)
    return {"csr": value.dtype.name, "shape": list(value.shape), "stored": int(value.nnz)}


def _encode_object(value: Any, name: str, tensors: Tensors) -> Any:
    cls: Any = type(value)
    kind: str = cls.__name__
    is_state = find_state(kind) is cls
    if not is_state and rules().get(kind) is not cls:
        raise NotSerializable(f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}")
    _valid(lambda: value, name, kind)
    fields = {field: encode(getattr(value, field), f"{name}.{field}", tensors) for field in _fields(cls)}
    return {"state" if is_state else "rule": kind, "fields": fields}


def _add_tensor(value: NDArray[Any], name: str, tensors: Tensors) -> None:
    _dtype_code(value.dtype)  # refuses dtypes that safetensors lacks
    tensors[name] = np.asarray(value, dtype=value.dtype.newbyteorder("="), order="C")


def _dtype_code(dtype: np.dtype[Any]) -> str:
    if dtype.name not in DTYPES.values():
        raise NotSerializable(f"values of dtype {dtype}")
    return dtype.name


def decode(value: Any, name: str, tensors: Tensors) -> Any:
    """The value of its JSON; its arrays are taken out of `tensors`."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return _require(value, abs(value) < INT_LIMIT, name, "an integer of at most 128 bits")
    if isinstance(value, list):
        return [decode(item, f"{name}.{i}", tensors) for i, item in enumerate(value)]
    for tag, (others, decoder) in _DECODERS.items():
        if isinstance(value, dict) and value.keys() == {tag, *others}:
            return decoder(value, name, tensors)
    raise ModelFileError(f"{name} is stored as {_short(value)}, which this lowdim can't read.")


def _decode_float(value: Any, name: str, tensors: Tensors) -> float:
    text = value["float"]
    return float(_require(text, text in ("nan", "inf", "-inf"), name, "nan, inf or -inf"))


def _decode_tuple(value: Any, name: str, tensors: Tensors) -> tuple[Any, ...]:
    items = _require(value["tuple"], isinstance(value["tuple"], list), name, "a list of items")
    return tuple(decode(items, name, tensors))


def _decode_dict(value: Any, name: str, tensors: Tensors) -> dict[str, Any]:
    items = _require(value["dict"], isinstance(value["dict"], dict), name, "values by name")
    return {key: decode(item, f"{name}.{key}", tensors) for key, item in items.items()}


def _decode_dtype(value: Any, name: str, tensors: Tensors) -> np.dtype[Any]:
    return np.dtype(_dtype_name(value["dtype"], name))


def _decode_array(value: Any, name: str, tensors: Tensors) -> NDArray[Any]:
    dtype, shape = _dtype_name(value["array"], name), value["shape"]
    whole = isinstance(shape, list) and all(type(size) is int for size in shape)
    return _pop_tensor(name, dtype, tuple(_require(shape, whole, name, "a list of sizes")), tensors)


def _decode_csr(value: Any, name: str, tensors: Tensors) -> sp.csr_array:
    dtype, shape, stored = _dtype_name(value["csr"], name), value["shape"], value["stored"]
    _require(dtype, dtype in ("float32", "float64"), name, "a sparse matrix of float32 or float64")
    sized = isinstance(shape, list) and len(shape) == 2 and all(type(size) is int for size in (*shape, stored))
    sized = sized and all(0 <= size < SIZE_LIMIT for size in (*shape, stored))
    _require(shape, sized, name, "a sparse matrix with two dimensions and a number of entries")
    n, d = shape
    data = _pop_tensor(f"{name}.data", dtype, (stored,), tensors)
    indices = _pop_tensor(f"{name}.indices", "int64", (stored,), tensors)
    indptr = _pop_tensor(f"{name}.indptr", "int64", (n + 1,), tensors)
    ascends = np.diff(indices) > 0
    spans = indptr[0] == 0 and indptr[-1] == stored and bool((np.diff(indptr) >= 0).all())
    if spans:
        row_starts = indptr[(indptr > 0) & (indptr < stored)]
        ascends[row_starts - 1] = True  # the last entry of one row and the first of the next
    in_bounds = stored == 0 or (indices.min() >= 0 and indices.max() < d)
    if not (spans and in_bounds and ascends.all() and np.isfinite(data).all()):
        raise ModelFileError(
            f"the sparse matrix {name!r} must have an indptr from 0 to {stored}, column indices from 0 to {d - 1} that "
            "ascend within each row, and finite values."
        )
    return sp.csr_array((data, indices, indptr), shape=(n, d))


def _decode_scalar(value: Any, name: str, tensors: Tensors) -> Any:
    return _pop_tensor(name, _dtype_name(value["scalar"], name), (), tensors)[()]


def _decode_strings(value: Any, name: str, tensors: Tensors) -> NDArray[Any]:
    items, kind = value["strings"], value["dtype"]
    strings = isinstance(items, list) and all(isinstance(item, str) for item in items)
    _require(items, strings, name, "a list of strings")
    _require(kind, kind in ("object", "str"), name, "'object' or 'str'")
    return np.array(items, dtype=object if kind == "object" else np.str_)


def _decode_state(value: Any, name: str, tensors: Tensors) -> Any:
    return _build(find_state, states, value, "state", name, tensors)


def _decode_rule(value: Any, name: str, tensors: Tensors) -> Any:
    return _build(rules().get, rules, value, "rule", name, tensors)


_DECODERS: dict[str, tuple[tuple[str, ...], Callable[[Any, str, Tensors], Any]]] = {
    "float": ((), _decode_float),
    "tuple": ((), _decode_tuple),
    "dict": ((), _decode_dict),
    "dtype": ((), _decode_dtype),
    "array": (("shape",), _decode_array),
    "csr": (("shape", "stored"), _decode_csr),
    "scalar": ((), _decode_scalar),
    "strings": (("dtype",), _decode_strings),
    "state": (("fields",), _decode_state),
    "rule": (("fields",), _decode_rule),
}


def _build(find: Find, known: Known, value: dict[str, Any], sort: str, name: str, tensors: Tensors) -> Any:
    """An instance of an allowlisted class, validated; fields with a default may be absent from the file."""
    kind, fields = value[sort], value["fields"]
    cls: Any = find(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ModelFileError(f"{name} is stored as {_short(kind)}, which must be one of {', '.join(known())}.")
    declared = _fields(cls)
    own = isinstance(fields, dict) and fields.keys() <= declared.keys()
    _require(fields, own, name, f"fields of {kind}")
    absent = [field for field in declared if field not in fields and not _has_default(declared[field])]
    if absent:
        raise ModelFileError(f"{name}: the {kind} has no {absent[0]}.")
    values = {field: decode(value, f"{name}.{field}", tensors) for field, value in fields.items()}
    return _valid(lambda: cls(**values), name, kind)


def _valid(make: Callable[[], Any], name: str, kind: str) -> Any:
    """The dataclass that `make` returns, if its constructor and its `_validate`, where it has one, accept it.

    What a constructor corrects, with a warning, a file must not hold.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LowdimWarning)
            instance = make()
            if hasattr(instance, "_validate"):
                instance._validate()
    except Exception as error:  # whatever the class has against these values, the model is to blame
        raise ModelFileError(f"the model contradicts itself: {name} is no valid {kind}: {str(error)[:500]}") from error
    return instance


def _fields(cls: Any) -> dict[str, dataclasses.Field[Any]]:
    """What makes two objects equal: fields that are not compared are not saved."""
    return {field.name: field for field in dataclasses.fields(cls) if field.init and field.compare}


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _pop_tensor(name: str, dtype: str, shape: tuple[int, ...], tensors: Tensors) -> NDArray[Any]:
    if name not in tensors:
        raise ModelFileError(f"the manifest refers to a tensor {name!r}, which is missing.")
    tensor = tensors.pop(name)
    if tensor.dtype.name != dtype or tensor.shape != shape:
        raise ModelFileError(
            f"the tensor {name!r} is {tensor.dtype.name} {tensor.shape}; the manifest says {dtype} {shape}."
        )
    return tensor


def _dtype_name(value: Any, name: str) -> str:
    known = isinstance(value, str) and value in DTYPES.values()
    return str(_require(value, known, name, "one of " + ", ".join(DTYPES.values())))


def _require(value: Any, holds: bool, name: str, rule: str) -> Any:
    if not holds:
        raise ModelFileError(f"{name} must be stored as {rule}; got {_short(value)}.")
    return value


def _short(value: Any) -> str:
    """A value from an untrusted file, cut to fit into a message."""
    return repr(value)[:80] if isinstance(value, str) else f"a JSON {type(value).__name__}"
