"""Sparse matrices from the parts that files hold: values, indices and pointers, which may contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.io.column_roles import ColumnSelection, assign_roles
from lowdim.data.table import NamedSparseRows, Table, default_names
from lowdim.errors import BadInput

__all__ = ["sparse_of_parts", "sparse_table"]

Array = NDArray[Any]


def sparse_of_parts(parts: tuple[Array, Array, Array], shape: tuple[int, ...], by_rows: bool, where: str) -> Any:
    """The CSR matrix of (data, indices, indptr), by rows or by columns; raises where they do not agree."""
    values, indices, pointers = parts
    if len(shape) != 2 or any(part.ndim != 1 for part in parts) or min(shape) < 1:
        raise BadInput(f"{where}: X has no valid shape; the file is damaged.")
    major, minor = shape if by_rows else shape[::-1]
    right = (
        len(pointers) == major + 1 and len(values) == len(indices) and pointers[0] == 0 and pointers[-1] == len(values)
    )
    if not right or (np.diff(pointers) < 0).any() or (len(indices) and not 0 <= indices.min() <= indices.max() < minor):
        raise BadInput(f"{where}: the parts of the sparse X do not agree; the file is damaged.")
    return sp.csr_array(parts, shape=shape) if by_rows else sp.csr_array(sp.csc_array(parts, shape=shape))


def sparse_table(arrays: dict[str, Array], selection: ColumnSelection, where: str) -> Table:
    """The table of the arrays that scipy.sparse.save_npz writes for a CSR or CSC matrix."""
    kind = arrays["format"].reshape(-1)[:1].astype(str)[0] if arrays["format"].dtype.kind in "SU" else ""
    if kind not in ("csr", "csc"):
        raise BadInput(f"{where} is a sparse matrix in {kind or 'an unknown'!r} format. Save X.tocsr().")
    whole = all(arrays[name].dtype.kind in "iu" for name in ("indices", "indptr", "shape"))
    if not whole or arrays["data"].dtype.kind not in "fiub":
        raise BadInput(f"{where}: the parts of the sparse X are no numbers; the file is damaged.")
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    X = sparse_of_parts(parts, tuple(int(size) for size in arrays["shape"].reshape(-1)), kind == "csr", where)
    known = default_names(X.shape[1])
    kept = assign_roles(known, selection, where).numbers
    if kept == known:
        return Table(NamedSparseRows(X, None), known, None, None, None, where)
    place = {name: j for j, name in enumerate(known)}
    return Table(NamedSparseRows(X[:, [place[name] for name in kept]], kept), kept, None, None, None, where)
