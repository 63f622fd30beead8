"""h5ad files, written here by their documented layout: dense, CSR and CSC matrices, obs columns, hostile files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.cli import main
from lowdim.errors import BadInput

h5py = pytest.importorskip("h5py")

N, D = 30, 6
KINDS = np.array([f"type {i % 3}" for i in range(N)])


def write(path, X, change=None):
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        if sp.issparse(X):
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{X.format}_matrix", X.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(X, part)
        else:
            file["X"] = X
        for name, index in (("obs", [f"cell {i}" for i in range(N)]), ("var", [f"gene {j}" for j in range(D)])):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=index, dtype=text)
        file["obs"].attrs["column-order"] = ["kind", "depth", "note", "batch"]
        kind = file["obs"].create_group("kind")
        kind.create_dataset("categories", data=["type 0", "type 1", "type 2"], dtype=text)
        kind["codes"] = np.where(np.arange(N) == 4, -1, np.arange(N) % 3).astype(np.int8)
        file["obs"]["depth"] = np.arange(N) / 2
        file["obs"].create_dataset("note", data=[f"n{i}" for i in range(N)], dtype=text)
        batch = file["obs"].create_group("batch")
        batch["values"], batch["mask"] = np.arange(N), np.arange(N) == 3
        if change is not None:
            change(file)
    return path


@pytest.fixture
def X(rng):
    return np.where(rng.random((N, D)) < 0.5, rng.poisson(4.0, (N, D)), 0).astype(np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_the_matrix_and_what_is_known_of_its_cells(tmp_path, X, form) -> None:
    table = lowdim.read_table(write(tmp_path / "cells.h5ad", form(X)))
    rows = np.asarray(table.array().todense() if sp.issparse(table.array()) else table.array())
    assert np.array_equal(rows, X) and rows.dtype == np.float32
    assert sp.issparse(table.array()) == (form is not np.asarray)
    assert table.names[2] == "gene 2" and table.ids[7] == "cell 7" and table.label_name == "kind"
    assert np.array_equal(table.labels, np.where(np.arange(N) == 4, "", KINDS))
    assert list(table.annotations) == ["depth", "note", "batch"] and table.annotations["depth"][3] == 1.5
    assert np.isnan(table.annotations["batch"][3]) and table.annotations["batch"][5] == 5


def test_columns_are_chosen_by_name(tmp_path, X) -> None:
    path = write(tmp_path / "cells.h5ad", sp.csr_array(X))
    table = lowdim.read_table(path, columns=["gene 3", "gene 1"], label="depth", id="note", drop="batch")
    assert np.array_equal(table.array().toarray(), X[:, [3, 1]])
    assert table.label_name == "depth" and table.ids[2] == "n2" and list(table.annotations) == ["kind"]
    with pytest.raises(BadInput, match=r"gene 9.*Did you mean"):
        lowdim.read_table(path, columns=["gene 9"])
    with pytest.raises(BadInput, match="no column 'sort'"):
        lowdim.read_table(path, label="sort")


def test_commands_read_it(tmp_path, X, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "cells.h5ad", sp.csr_array(X))
    for words in (
        ["map", "cells.h5ad", "--color", "depth", "-o", "a.csv", "--save-model", "m.lowdim"],
        ["map", "cells.h5ad", "--method", "umap", "--label", "kind", "-o", "b.csv"],
        ["transform", "m.lowdim", "cells.h5ad", "-o", "c.csv"],
    ):
        assert main(words) == 0, capsys.readouterr().err
    a, c = ((tmp_path / name).read_text().splitlines() for name in ("a.csv", "c.csv"))
    assert len(a) == len(c) == N + 1 and "cell 7" in a[8]


def _set(name, value):
    def change(file):
        del file[name]
        file[name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("X/indices", np.array([99])),
        _set("X/indptr", np.arange(4)),
        _set("X/data", h5py.ExternalLink("other.h5", "/data")),
        _set("obs/depth", np.arange(3)),
        _set("obs/kind/codes", np.full(N, 7, dtype=np.int8)),
        _set("var/_index", h5py.SoftLink("/obs/_index")),
        lambda file: file["X"].attrs.__setitem__("shape", (10**9, 10**9)),
        lambda file: file["X"].attrs.__setitem__("encoding-type", "pickle"),
        lambda file: file.__delitem__("X"),
        lambda file: file.__delitem__("obs"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path, X, change) -> None:
    with pytest.raises(BadInput, match=r"cells\.h5ad"):
        lowdim.read_table(write(tmp_path / "cells.h5ad", sp.csr_array(X), change))


def test_a_heap_that_does_not_advance_is_refused(tmp_path, X) -> None:
    """The HDF5 library would walk it for ever."""
    path = write(tmp_path / "cells.h5ad", X)
    whole = path.read_bytes()
    heap = whole.index(b"GCOL\x01")
    first = heap + 16  # the first object: index, references, reserved, size
    for size in (2**64 - 16, 2**40, 4080):
        path.write_bytes(whole[: first + 8] + size.to_bytes(8, "little") + whole[first + 16 :])
        with pytest.raises(BadInput, match="heap of its texts"):
            lowdim.read_table(path)
    path.write_bytes(whole[: heap + 5] + b"abc" + whole[heap + 8 : first] + bytes(16) + whole[first + 16 :])
    with pytest.raises(BadInput, match="heap of its texts"):
        lowdim.read_table(path)


def test_a_declared_size_without_data_is_refused(tmp_path, X) -> None:
    def grow(file):
        del file["X"]
        file.create_dataset("X", shape=(10**6, 10**6), dtype="f4", chunks=(1000, 1000))

    with pytest.raises(lowdim.errors.LowdimError, match=r"cells\.h5ad"):
        lowdim.read_table(write(tmp_path / "cells.h5ad", X, grow))


def test_what_is_no_hdf5_file_is_refused(tmp_path) -> None:
    (tmp_path / "cells.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n" + b"x" * 500)
    with pytest.raises(BadInput, match=r"cells\.h5ad"):
        lowdim.read_table(tmp_path / "cells.h5ad")
