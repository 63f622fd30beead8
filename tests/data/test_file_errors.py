"""Malformed files: each error names the file, the location and a remedy."""

from __future__ import annotations

import gzip
import io
import os
import struct
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from lowdim import PCA
from lowdim.data.io import arrow_source, delimited_text, load_table, text_dialect
from lowdim.data.io.arrow_source import RecordBatchRows
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.io.read import read_table
from lowdim.data.io.write import write_table
from lowdim.errors import BadInput, BadInputType, BadParameter, MemoryTooSmall, MissingExtra


def save(tmp_path, content, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def says(path, *words, error=BadInput, **asked):
    with pytest.raises(error) as caught:
        read_table(path, **asked)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    return caught.value


GOOD = "alpha,beta,kind\n1,2,x\n3,4,y\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"\n\r\n  \n", ["empty"]),
        (b"a,b\n", ["no rows"]),
        (b"a,b", ["no rows"]),
        (b"a,b\n1,2\n\n3\n", ["line 4", "row 1", "1 cells", "first line has 2", "'3'"]),
        (b"a,b\n1,2\n1,2,3\n", ["line 3", "3 cells", "'1,2,3'"]),
        (b"a,b,a\n1,2,3\n", ["columns 1 and 3", "both named 'a'"]),
        (b"a,b\ny,x\nz,x\n", ["no column of numbers", "'a', 'b' hold text", "encode one-hot"]),
        ("a,b\n1,2\n".encode("utf-16"), ["UTF-16", "UTF-8"]),
    ],
)
def test_malformed_text(tmp_path, content, words):
    path = save(tmp_path, content)
    says(path, str(path), *words)


@pytest.mark.parametrize("limit", [0, 1 << 28])
def test_text_late_in_a_numeric_column_is_located(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 200)
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", limit)
    path = save(tmp_path, "a,b\n" + "1,2\n" * 5000 + "1,oops\n" + "1,2\n" * 9)
    with pytest.raises(BadInput) as caught:
        PCA(1).fit(read_table(path).X)
    for word in ("column 'b'", "line 5002", "row 5000", "'oops'", "drop=['b']"):
        assert word in str(caught.value)
    path = save(tmp_path, "t\n" + "true\n" * 500 + "maybe\n")
    with pytest.raises(BadInput, match=r"booleans.*line 502 \(row 500\): 'maybe'"):
        PCA(1).fit(read_table(path).X)


@pytest.mark.parametrize("packed", [False, True])
def test_a_late_ragged_line_is_located(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 200)
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", 0)
    content = b"1,2\n" * 5000 + b"1\n"  # no header
    path = save(tmp_path, gzip.compress(content) if packed else content, "a.csv.gz" if packed else "a.csv")
    with pytest.raises(BadInput, match=r"line 5001 \(row 5000\) has 1 cells, but the first line has 2"):
        PCA(1).fit(read_table(path).X)


@pytest.mark.parametrize("limit", [0, 1 << 28])
@pytest.mark.parametrize(("cell", "value"), [("", "nan"), ("-inf", "-inf")])
def test_a_late_missing_value_is_located(tmp_path, monkeypatch, limit, cell, value):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 200)
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", limit)
    monkeypatch.setattr(arrow_source.RecordBatchRows, "chunk_rows", 64)
    path = save(tmp_path, "a,b\n" + "1,2\n2,5\n" * 500 + f"1,{cell}\n" + "1,2\n" * 99)
    with pytest.raises(BadInput, match=rf"row 1000, column 1, 'b' \({value}\)"):
        PCA(1).fit(read_table(path).X)


def test_a_missing_value_in_a_stream_is_located(rng):
    X = rng.normal(size=(90, 3))
    X[71, 2] = np.nan
    with pytest.raises(BadInput, match=r"row 71, column 2 \(nan\)"):
        PCA(1).fit(iter(np.split(X, 6)))
    with pytest.raises(BadInput, match="overflow"):
        PCA(1).fit(iter(np.split(np.nan_to_num(X) * 1e200, 6)))


def test_an_endless_line(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 200)
    says(save(tmp_path, 'a,b\n1,"' + "x" * 5000), "line of more than 200 bytes", "quote", label="b")
    monkeypatch.setattr(text_dialect, "LONGEST_LINE", 1000)
    says(save(tmp_path, b"\0" * (1 << 17)), "does not end")


def test_truncated_compressed_text(tmp_path):
    whole = gzip.compress(b"a,b\n" + os.urandom(3000).hex().encode())
    says(save(tmp_path, whole[:-200], "a.csv.gz"), "a.csv.gz", "complete")
    says(save(tmp_path, b"not gzip at all", "a.csv.gz"), "a.csv.gz")


def test_missing_files_folders_and_unknown_extensions(tmp_path):
    save(tmp_path, GOOD, "people.csv")
    says(tmp_path / "poeple.csv", "there is no file", "people.csv")
    says(tmp_path / "no" / "x.csv", "there is no file")
    says(tmp_path, "folder")
    says(save(tmp_path, "x", "a.xls"), ".xls", ".parquet", ".csv")
    says(save(tmp_path, "x", "noextension"), "''")
    says(save(tmp_path, "x", "a.npy.gz"), ".gz")
    says("a\0b.csv", "csv")
    says(7, "path of a file", error=BadInputType)
    os.mkfifo(tmp_path / "pipe.csv")
    says(tmp_path / "pipe.csv", "regular file")  # and does not wait for a writer


def test_unknown_column_names(tmp_path):
    path = save(tmp_path, GOOD)
    says(path, "label", "'kidn'", "Did you mean 'kind'", label="kidn")
    says(path, "columns", "'alpah'", "'alpha'", columns=["alpah"])
    says(path, "drop", "It has 'alpha', 'beta', 'kind'", drop="zzz")
    says(path, "id", "'knd'", id="knd")
    says(path, "no feature columns are left", drop=["alpha", "beta", "kind"])
    says(path, "list of column names", columns=3, error=BadParameter)
    says(path, "list of column names", drop=[1], error=BadParameter)
    says(path, "column name or None", label=1, error=BadParameter)
    wide = save(tmp_path, ",".join(f"c{j}" for j in range(500)) + "\n" + ",".join("1" * 500) + "\n", "wide.csv")
    assert len(str(says(wide, "500 in all", label="zzz"))) < 500


def test_columns_that_are_not_numeric(tmp_path):
    path = save(tmp_path, GOOD)
    says(path, "column 'kind' holds text, not numbers", columns=["alpha", "kind"], error=BadInputType)
    assert read_table(path, drop="kind").names == ("alpha", "beta")
    for name in ("a.parquet", "a.arrow"):
        table = pa.table({"a": [1.0], "when": pa.array([0], pa.date32()), "c": pa.array(["q"]).dictionary_encode()})
        if name == "a.parquet":
            pq.write_table(table, tmp_path / name)
        else:
            with pa.ipc.new_file(tmp_path / name, table.schema) as writer:
                writer.write_table(table)
        words = ("'when' holds dates", "'c' holds text")
        says(tmp_path / name, *words, columns=["a", "when", "c"], error=BadInputType)
        assert read_table(tmp_path / name).annotations["when"].tolist() == ["1970-01-01"]


def test_malformed_parquet_and_arrow(tmp_path):
    for name in ("a.parquet", "a.arrow", "a.feather"):
        says(save(tmp_path, b"PAR1 but not really PAR1", name), name, "can't be read")
        says(save(tmp_path, b"", name), "empty")
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "none.parquet")
    says(tmp_path / "none.parquet", "no rows")
    repeated = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    pq.write_table(repeated, tmp_path / "repeated.parquet")
    says(tmp_path / "repeated.parquet", "columns 1 and 2", "'a'")
    with pa.ipc.new_file(tmp_path / "repeated.arrow", repeated.schema) as writer:
        writer.write_table(repeated)
    says(tmp_path / "repeated.arrow", "columns 1 and 2", "'a'")
    with pa.ipc.new_file(tmp_path / "void.arrow", pa.schema([])):
        pass
    says(tmp_path / "void.arrow", "no columns")


def test_a_false_number_of_rows(tmp_path):
    class FalseSource(arrow_source.TableSource):
        path, format = tmp_path / "false", "a false file"
        schema, names = pa.schema([("a", pa.float64())]), ("a",)

        def __init__(self, n):
            self.n = n

        def batches(self, columns):
            return iter([pa.record_batch({"a": [1.0, 2.0, 3.0]})])

    assert len(RecordBatchRows(FalseSource(3), ["a"]).whole()) == 3
    for n in (-50, 0, 2, 4, 10**15):
        with pytest.raises(BadInput, match="declares"):
            list(RecordBatchRows(FalseSource(n), ["a"]).chunks())
    false = FalseSource(3)
    false.column = lambda name: pa.chunked_array([[1.0, 2.0]])
    with pytest.raises(BadInput, match="columns of 3 and of 2 rows"):
        load_table.load_table(false, ColumnSelection.of("a", "a", None, ()))


class Bomb:
    """Fails the test if it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a file was unpickled",))


def test_objects_are_never_unpickled(tmp_path):
    bombs = np.array([[Bomb()]], dtype=object)
    np.save(tmp_path / "a.npy", bombs, allow_pickle=True)
    says(tmp_path / "a.npy", "never unpickles", "np.save", error=BadInputType)
    np.savez(tmp_path / "a.npz", X=bombs)
    says(tmp_path / "a.npz", "never unpickles", "'X'", error=BadInputType)
    np.savez(tmp_path / "b.npz", X=np.ones((1, 2)), y=np.array([Bomb()], dtype=object))
    assert read_table(tmp_path / "b.npz").labels is None
    says(tmp_path / "b.npz", "one number or text per row", label="y")


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.ones(5), ["(5,)", "2 dimensions", "reshape"]),
        (np.float64(3), ["()"]),
        (np.ones((2, 2, 2, 2)), ["(2, 2, 2, 2)"]),
        (np.ones((0, 3)), ["(0, 3)", "no rows"]),
        (np.ones((2, 2), complex), ["complex128", "not numbers"]),
        (np.array([["a", "b"]]), ["<U1", "not numbers"]),
        (np.zeros((2, 2), "M8[s]"), ["datetime64", "not numbers"]),
        (np.zeros((2, 2), [("f", "<f8")]), ["not numbers"]),
        (np.zeros((2, 2), [("日", "<f8")]), ["structured array"]),
    ],
)
@pytest.mark.filterwarnings("ignore:Stored array in format")
def test_arrays_that_are_not_tables(tmp_path, array, words):
    np.save(tmp_path / "a.npy", array)
    says(tmp_path / "a.npy", "a.npy", *words)
    np.savez(tmp_path / "a.npz", X=array)
    says(tmp_path / "a.npz", "a.npz", *words)


def npy_bytes(array, shape=None):
    stream = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(stream, header | {"shape": shape or array.shape})
    return stream.getvalue() + array.tobytes()


def test_truncated_npy_and_false_headers(tmp_path):
    whole = npy_bytes(np.ones((4, 4)))
    says(save(tmp_path, whole[:-1], "a.npy"), "truncated")
    says(save(tmp_path, whole[:40], "a.npy"), "a.npy")
    says(save(tmp_path, npy_bytes(np.ones((4, 4)), (1 << 60, 1 << 60)), "a.npy"), "truncated")
    says(save(tmp_path, npy_bytes(np.ones((4, 4)), (-4, 4)), "a.npy"), "-4")
    says(save(tmp_path, b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31) + b"{}", "a.npy"), "header of")
    says(save(tmp_path, b"PK nonsense", "a.npz"), "npz")


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for key, content in members.items():
            file.writestr(f"{key}.npy", content)


def test_npz_sizes_are_checked_before_loading(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    archive(path, X=npy_bytes(np.ones((4, 4)), (1 << 40, 4)))
    says(path, "'X'", "declares", "damaged")  # a header that asks for 32 TiB
    archive(path, X=npy_bytes(np.ones((4, 4))) + b"more")
    says(path, "'X'", "declares")
    np.savez_compressed(path, X=np.zeros((1000, 1000)), y=np.zeros(1000))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 8_000_000)
    says(path, "the arrays of", "GiB", error=MemoryTooSmall)  # one array fits, their sum does not
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 8_010_000)
    assert read_table(path).array().shape == (1000, 1000)


def test_npz_that_expands_to_more_than_it_declares(tmp_path):
    """A directory entry with a false size: the bytes that are read are counted."""
    path = tmp_path / "a.npz"
    content = npy_bytes(np.ones((4, 4)))
    archive(path, X=content + b"\0" * 100_000)
    raw = path.read_bytes()
    assert raw.count(struct.pack("<I", len(content) + 100_000)) == 2
    path.write_bytes(raw.replace(struct.pack("<I", len(content) + 100_000), struct.pack("<I", len(content))))
    says(path, "a.npz")


def test_ambiguous_npz(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, one=np.ones((2, 2)), two=np.ones((3, 2)))
    says(path, "one", "(2, 2)", "two", "named X or data", "drop")
    np.savez(path, X=np.ones((2, 2)), y=np.ones(3))
    says(path, "'y'", "one number or text per row (2)", label="y")
    np.savez(path)
    says(path, "no arrays")
    sp.save_npz(path, sp.dia_array(np.eye(3)))
    says(path, "sparse", "tocsr")
    archive(path, X=npy_bytes(np.ones((2, 2))))
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("X.npy", npy_bytes(np.zeros((2, 2))))
    says(path, "'X' twice")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = save(tmp_path, GOOD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    says(path, "pip install 'lowdim[app]'", error=MissingExtra)
    np.save(tmp_path / "a.npy", np.ones((2, 2)))
    assert read_table(tmp_path / "a.npy").array().shape == (2, 2)


def test_swapped_and_wrong_arguments_of_write_table(tmp_path):
    X = np.eye(2)
    with pytest.raises(BadInputType, match="path of a file first"):
        write_table(X, tmp_path / "a.csv")
    with pytest.raises(BadInputType, match="names must be a list"):
        write_table(tmp_path / "a.csv", X, "ab")
    with pytest.raises(BadInput, match="table of numbers"):
        write_table(tmp_path / "a.csv", sp.eye_array(2))
    masked = np.ma.masked_array(X, mask=X > 0)
    write_table(tmp_path / "a.npy", masked)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), masked.filled(np.nan))
