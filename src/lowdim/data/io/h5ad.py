"""Annotated matrices of single cells (.h5ad), by their documented HDF5 layout; anndata itself is not needed.

`X` is a dataset, or a group of a CSR or CSC matrix, and stays sparse; `var` names the columns (genes), `obs` holds what
is known of every row (cell): its name, and columns of text, categories and numbers, none of which is a feature.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim.data.io.column_roles import ColumnSelection, assign_roles, require_column, require_unique_names
from lowdim.data.io.decompression import require_expansion
from lowdim.data.io.hdf5_heaps import require_sound_heaps
from lowdim.data.io.sparse_parts import sparse_of_parts
from lowdim.data.table import ColumnReport, NamedArrayRows, NamedSparseRows, Table
from lowdim.errors import BadInput, MissingExtra
from lowdim.runtime.memory import require_memory

__all__ = ["read_h5ad"]

MOST_LABELS = 100  # categories of an obs column that is taken as the label


def read_h5ad(path: Path, selection: ColumnSelection) -> Table:
    """The matrix X of an h5ad file with the names of genes and cells; columns of obs are labels and annotations."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("h5ad files need h5py; install it with pip install 'lowdim[app]'.") from error
    where = str(path)
    require_sound_heaps(path)
    with h5py.File(path, "r") as file:
        names = tuple(_texts(_frame_index(file, "var", where)))
        ids = np.array(_texts(_frame_index(file, "obs", where)))
        X = _matrix(_member(file, "X", where), path)
        if X.shape != (len(ids), len(names)):
            raise BadInput(f"{where}: X is {X.shape}, but there are {len(ids)} cells and {len(names)} genes: damaged.")
        obs = {
            name: _column(_member(file["obs"], name, where), where)
            for name in _texts(file["obs"].attrs.get("column-order", ()))
        }
    if any(len(values) != len(ids) for values in obs.values()):
        raise BadInput(f"{where}: a column of obs has another length than X has rows; the file is damaged.")
    require_unique_names(names, where)
    return _table(X, names, ids, obs, selection, where)


def _table(
    X: Any, names: tuple[str, ...], ids: Any, obs: dict[str, Any], selection: ColumnSelection, where: str
) -> Table:
    """The selected genes, the label and the other columns of obs."""
    for argument, name in (("label", selection.label), ("id", selection.id)):
        if name is not None:
            require_column(name, (*obs, *names), selection.spell(argument), where)
    dropped = set(selection.drop) - set(names)
    for name in sorted(dropped):
        require_column(name, tuple(obs), selection.spell("drop"), where)
    genes = ColumnSelection(selection.columns, None, None, tuple(set(selection.drop) & set(names)), selection.flags)
    kept = assign_roles(names, genes, where).numbers
    if kept != names:
        place = {name: j for j, name in enumerate(names)}
        X = X[:, [place[name] for name in kept]]
    rest = {name: values for name, values in obs.items() if name not in dropped}
    label = selection.label or _inferred_label(rest, selection)
    if selection.id is not None:
        ids = rest.pop(selection.id)
    labels = None if label is None else rest.pop(label) if label in rest else _gene(X, kept.index(label))
    rows = NamedSparseRows(X, kept) if sp.issparse(X) else NamedArrayRows(X, kept)
    report = None
    if selection.columns is None:
        inferred = label if selection.label is None else None
        report = ColumnReport(kept, inferred, None, tuple(rest))
    return Table(rows, kept, labels, label, ids, where, annotations=rest, report=report)


def _inferred_label(obs: dict[str, Any], selection: ColumnSelection) -> str | None:
    """The first column of text with few values, each of which recurs on average."""
    if selection.numeric_only:
        return None
    for name, values in obs.items():
        if values.dtype.kind == "U" and 2 <= len(np.unique(values)) <= min(MOST_LABELS, len(values) // 2):
            return name
    return None


def _gene(X: Any, column: int) -> Any:
    return X[:, [column]].toarray()[:, 0] if sp.issparse(X) else X[:, column]


def _member(group: Any, name: str, where: str) -> Any:
    """A member that lies in this file: a link to another file is not followed."""
    import h5py

    link = group.get(name, getlink=True) if name in group else None
    if not isinstance(link, h5py.HardLink):
        raise BadInput(f"{where} has no {name!r} of its own: it is no h5ad file, or made by anndata before 0.7.")
    found = group[name]
    if isinstance(found, h5py.Dataset) and (found.external or found.is_virtual):
        raise BadInput(f"{where}: {name!r} lies in another file. Write the h5ad file anew.")
    return found


def _values(data: Any, where: str) -> Any:
    """A dataset of one or two dimensions, if its declared size is plausible."""
    import h5py

    if not isinstance(data, h5py.Dataset) or data.ndim not in (1, 2):
        raise BadInput(
            f"{where} holds something else than arrays of one or two dimensions where its numbers should be."
        )
    size = int(data.size) * data.dtype.itemsize
    require_expansion(size, Path(where).stat().st_size, where, "write it without compression")
    require_memory(size, f"{data.name} of {where}", "Select fewer cells or genes.")
    return data.asstr()[...] if h5py.check_string_dtype(data.dtype) else data[...]


def _matrix(data: Any, path: Path) -> Any:
    """X as an array, or as a sparse matrix whose parts are checked where its rows are made."""
    import h5py

    where = str(path)
    if isinstance(data, h5py.Dataset):
        return _values(data, where)
    kind = str(data.attrs.get("encoding-type", ""))
    if kind not in ("csr_matrix", "csc_matrix"):
        raise BadInput(f"{where}: X is stored as {kind or 'an unknown group'!r}, not as an array, CSR or CSC matrix.")
    shape = tuple(int(size) for size in data.attrs.get("shape", ()))
    values, indices, pointers = (_values(_member(data, name, where), where) for name in ("data", "indices", "indptr"))
    return sparse_of_parts((values, indices, pointers), shape, kind == "csr_matrix", where)


def _frame_index(file: Any, name: str, where: str) -> Any:
    """The names of the rows of a dataframe."""
    frame = _member(file, name, where)
    return _values(_member(frame, str(frame.attrs.get("_index", "_index")), where), where)


def _column(data: Any, where: str) -> Any:
    """A column of a dataframe: numbers, text, or the text of categories; missing values are '' or NaN."""
    import h5py

    if isinstance(data, h5py.Dataset):
        values = _values(data, where)
        return np.array(_texts(values)) if values.dtype.kind in "OSU" else values
    if "codes" in data:
        names = np.array([*_texts(_values(_member(data, "categories", where), where)), ""])
        codes = _values(_member(data, "codes", where), where)
        if len(codes) and not -1 <= codes.min() <= codes.max() < len(names) - 1:
            raise BadInput(f"{where}: {data.name} has a code without a category; the file is damaged.")
        return names[codes]
    values = _values(_member(data, "values", where), where)  # a nullable column
    mask = _values(_member(data, "mask", where), where)
    if values.dtype.kind in "OSU":
        return np.where(mask, "", np.array(_texts(values)))
    return np.where(mask, np.nan, values.astype(float))


def _texts(values: Any) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]
