"""File formats: round trips are exact, and streamed files give the results of arrays."""

from __future__ import annotations

import csv
import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from lowdim import PCA
from lowdim.data.io import arrow_source, delimited_text, numpy_files
from lowdim.data.io.arrow_source import RecordBatchRows
from lowdim.data.io.read import read_table
from lowdim.data.io.write import write_table
from lowdim.data.table import NamedArrayRows
from lowdim.errors import BadInput, MemoryTooSmall

NAMES = ("height", "width", "log depth")


@pytest.fixture
def streaming(monkeypatch):
    """Treat every file as large, and read it in small blocks."""
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 500)
    monkeypatch.setattr(RecordBatchRows, "chunk_rows", 64)


def numbers(rng, n=300, d=3):
    return rng.normal(size=(n, d)) * [10.0**j for j in range(d)] + 5


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".npz"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_round_trips_are_exact(tmp_path, rng, ending, dtype):
    X = numbers(rng).astype(dtype)
    X[3, 1] = np.nan
    ids, labels = np.array([f"row {i}" for i in range(300)]), np.arange(300) % 4
    path = tmp_path / f"table{ending}"
    write_table(path, X, NAMES, ids=ids, labels=labels)
    asked = {} if ending == ".npz" else {"label": "label", "id": "id"}
    table = read_table(path, **asked)
    assert table.names == NAMES
    assert table.X.feature_names == NAMES
    assert_array_equal(table.array().astype(dtype), X)
    assert_array_equal(table.ids, ids)
    assert_array_equal(table.labels, labels)
    assert table.source == str(path)
    text = ending in (".csv", ".tsv")
    assert table.array().dtype == (np.float64 if text else dtype)


@pytest.mark.parametrize("order", ["C", "F"])
def test_some_columns_of_an_npy_are_copied_in_pieces(tmp_path, rng, monkeypatch, order):
    X = np.asarray(rng.normal(size=(57, 4)), order=order)
    np.save(tmp_path / "a.npy", X)
    monkeypatch.setattr(numpy_files, "READ_BYTES", 320)  # ten rows
    table = read_table(tmp_path / "a.npy", columns=["x3", "x0"], label="x1")
    assert_array_equal(table.array(), X[:, [3, 0]])
    assert_array_equal(table.labels, X[:, 1])


def test_npy_round_trip_has_no_feature_names(tmp_path, rng):
    X = numbers(rng)
    write_table(tmp_path / "a.npy", X)
    table = read_table(tmp_path / "a.npy")
    assert table.names == ("x0", "x1", "x2") and table.X.feature_names is None
    assert_array_equal(table.array(), X)
    picked = read_table(tmp_path / "a.npy", columns=["x2", "x0"], label="x1")
    assert_array_equal(picked.array(), X[:, [2, 0]])
    assert_array_equal(picked.labels, X[:, 1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_npy_is_memory_mapped_and_gives_the_same_components(tmp_path, rng, monkeypatch, order):
    X = np.asarray(numbers(rng), order=order)
    np.save(tmp_path / "a.npy", X)
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", 0)
    rows = read_table(tmp_path / "a.npy").X
    assert isinstance(rows.X, np.memmap)
    assert_array_equal(PCA(2).fit(rows).components_, PCA(2).fit(X).components_)


def test_images_are_flattened_and_their_shape_is_kept(tmp_path, rng, monkeypatch):
    images = rng.random((5, 4, 3))
    for order in "CF":
        np.save(tmp_path / "i.npy", np.asarray(images, order=order))
        for limit in (0, 1 << 20):
            monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", limit)
            table = read_table(tmp_path / "i.npy")
            assert table.image_shape == (4, 3)
            assert_array_equal(np.asarray(table.array()).reshape(5, 4, 3), images)
    assert read_table(tmp_path / "i.npy", drop="x0").image_shape is None
    np.savez(tmp_path / "i.npz", data=np.zeros((5, 4, 3, 3)))
    assert read_table(tmp_path / "i.npz").image_shape == (4, 3, 3)


def test_npz_selects_table_labels_and_ids(tmp_path, rng):
    X, y = numbers(rng), np.arange(300)
    path = tmp_path / "a.npz"
    np.savez(path, other=np.zeros((2, 2)), X=X, y=y, names=np.array(NAMES))
    table = read_table(path)
    assert_array_equal(table.array(), X)
    assert_array_equal(table.labels, y)
    assert (table.label_name, table.names) == ("y", NAMES)
    np.savez_compressed(path, alone=X, kind=y, y=np.zeros(7))
    table = read_table(path, label="kind")
    assert_array_equal(table.labels, y)  # y has another length and is left alone
    assert_array_equal(table.array(), X)
    np.savez(path, a=X, b=X + 1)
    assert_array_equal(read_table(path, drop="a").array(), X + 1)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array])
def test_npz_of_a_sparse_matrix_stays_sparse(tmp_path, kind):
    X = kind(sp.random(30, 12, 0.2, random_state=1))
    path = tmp_path / "words.npz"
    sp.save_npz(path, X)
    table = read_table(path, drop="x3")
    assert table.rows().sparse
    assert_array_equal(table.rows().whole().toarray(), np.delete(X.toarray(), 3, axis=1))
    assert_array_equal(read_table(path).rows().whole().toarray(), X.toarray())
    with pytest.raises(BadInput, match=r"tocsr"):
        sp.save_npz(path, X.tobsr())
        read_table(path)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", np.array([0, 99])),
        ("indices", np.array([0, -1])),
        ("indptr", np.array([0, 2, 1])),
        ("indptr", np.array([0, 1, 3])),
        ("shape", np.array([2, 0])),
        ("shape", np.array([2.5, 3.0])),
        ("data", np.array(["a", "b"])),
        ("data", np.array([1.0])),
    ],
)
def test_parts_of_a_sparse_npz_that_contradict_each_other(tmp_path, part, value):
    parts = {"data": np.ones(2), "indices": np.array([0, 2]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 3])}
    np.savez(tmp_path / "a.npz", format=b"csr", **(parts | {part: value}))
    with pytest.raises(BadInput, match="damaged"):
        read_table(tmp_path / "a.npz")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv", ".csv.gz"])
def test_streamed_components_equal_those_of_the_array(tmp_path, rng, streaming, ending, threads):
    X = numbers(rng, n=1000, d=4)
    path = tmp_path / f"big{ending}"
    names = [f"c{j}" for j in range(4)]
    table = pa.table(dict(zip(names, X.T, strict=True)))
    if ending == ".parquet":
        pq.write_table(table, path, row_group_size=37)
    elif ending == ".feather":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=41)
    else:
        write_table(tmp_path / "plain.csv", X, names)
        text = (tmp_path / "plain.csv").read_bytes()
        path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    rows = read_table(path).X
    assert isinstance(rows, RecordBatchRows) and rows.feature_names == tuple(names)
    assert next(c.stop - c.start for c in rows.chunks()) in (63, 64)
    streamed, held = PCA(None, n_jobs=threads).fit(rows), PCA(None).fit(X)
    assert_allclose(streamed.components_, held.components_, atol=1e-10)
    assert_allclose(streamed.explained_variance_, held.explained_variance_, rtol=1e-10)
    assert_allclose(streamed.transform(rows), held.transform(X), atol=1e-9)  # a second pass
    assert rows.count == 1000
    assert_array_equal(rows.whole(), X)
    assert_array_equal(rows.block(60, 131), X[60:131])


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_streamed_components_do_not_depend_on_threads_or_pass(tmp_path, rng, streaming, ending):
    write_table(tmp_path / f"a{ending}", numbers(rng, 1000))
    rows = read_table(tmp_path / f"a{ending}").X
    first = PCA(None, n_jobs=1).fit(rows)
    assert rows.count == 1000  # counting must not change the chunks
    assert_array_equal(PCA(None, n_jobs=4).fit(rows).components_, first.components_)


def test_labels_and_ids_of_a_streamed_file(tmp_path, rng, streaming):
    X, ids = numbers(rng), [f"{i:03d}" for i in range(300)]
    for ending in (".csv", ".parquet"):
        write_table(tmp_path / f"a{ending}", X, NAMES, ids=ids, labels=np.arange(300) / 2)
        table = read_table(tmp_path / f"a{ending}", label="label", id="id")
        assert_array_equal(table.ids, ids)  # 007 is a name, not a number
        assert_array_equal(table.labels, np.arange(300) / 2)


def test_small_batches_and_every_numeric_type(tmp_path):
    table = pa.table(
        {
            "integer": pa.array([1, None, 3], pa.int32()),
            "boolean": pa.array([True, None, False]),
            "half": pa.array(np.array([1, 2, 3], dtype=np.float16)),
            "money": pa.array([1, 2, None], pa.decimal128(7, 2)),
            "nothing": pa.nulls(3),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    nan = np.nan
    expected = [[1, 1, 1, 1], [nan, nan, 2, 2], [3, 0, 3, nan]]  # nothing is left out
    for name in ("a.parquet", "a.arrow"):
        found = read_table(tmp_path / name, label="kind")
        assert_array_equal(found.array(), expected)
        assert_array_equal(found.labels, ["a", "b", "a"])
    narrow = read_table(tmp_path / "a.parquet", columns="half")
    assert narrow.array().dtype == np.float32


def text(tmp_path, content, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_first_line_of_numbers_is_data(tmp_path):
    table = read_table(text(tmp_path, "1,2\n3,4"))
    assert_array_equal(table.array(), [[1, 2], [3, 4]])
    assert table.names == ("x0", "x1") and table.X.feature_names is None
    assert_array_equal(read_table(text(tmp_path, '"1990","1991"\n3,4\n')).array(), [[3, 4]])


def test_an_unnamed_first_column_holds_the_ids(tmp_path):
    table = read_table(text(tmp_path, ",a,b\n0,1,2\n1,3,4\n"))
    assert_array_equal(table.array(), [[1, 2], [3, 4]])
    assert_array_equal(table.ids, [0, 1])
    assert read_table(text(tmp_path, ",a\n0,1\n"), drop="").ids is None


def test_delimiters_headers_missing_values_and_quotes(tmp_path):
    for content, name in [
        ("\ufeffa,b\r\n1, 2.5\r\n\r\n,NA\r\n", "a.csv"),
        ("a;b\n1;2.5\n;nan\n", "a.csv"),
        ("a\tb\n1\t2.5\n\tnull\n", "a.tsv"),
        ("a\tb\n1\t2.5\nNaN\t\n", "a.txt"),
        ("a,b\n1,2.5\n#N/A,NULL\n", "a.txt"),
    ]:
        table = read_table(text(tmp_path, content, name))
        assert table.names == ("a", "b")
        assert_array_equal(table.array(), [[1, 2.5], [np.nan, np.nan]])
    quoted = read_table(text(tmp_path, 'v,w\n1,"two\nlines, and a comma"\n2,plain\n'), label="w")
    assert_array_equal(quoted.labels, ["two\nlines, and a comma", "plain"])
    assert_array_equal(read_table(text(tmp_path, "t,v\nTrue,1\nfalse,2\n")).array(), [[1, 1], [0, 2]])


def test_a_column_that_starts_with_integers_may_continue_with_fractions(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 100)
    content = "a,b\n" + "1,\n" * 100 + "2.5,7\n"
    table = read_table(text(tmp_path, content), label="b")
    assert table.array()[-1, 0] == 2.5
    assert np.isnan(table.labels[0]) and table.labels[-1] == 7


def test_csv_text_is_never_a_spreadsheet_formula(tmp_path):
    ids = ["=1+1", "+2", "-3", "@cmd", "\tx", "plain"]
    path = tmp_path / "out.csv"
    write_table(path, -np.arange(6.0)[:, None], ["=name"], ids=ids, labels=-np.arange(6))
    raw = path.read_text()
    assert raw.splitlines()[0] == '"id","\'=name","label"'
    table = read_table(path, id="id", label="label")
    assert_array_equal(table.ids, ["'=1+1", "'+2", "'-3", "'@cmd", "'\tx", "plain"])
    assert_array_equal(table.array()[:, 0], -np.arange(6.0))  # numbers stay numbers
    assert_array_equal(table.labels, -np.arange(6))


@pytest.mark.parametrize(
    "before", ["", " ", "\n", "\r\n", "\xa0", "\u2003", "\ufeff", "\u200b", "\x00", "\x1f ", "\u202e"]
)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
def test_nothing_that_is_skipped_hides_a_formula(before, sign, tmp_path):
    cell = f"{before}{sign}1"
    write_table(tmp_path / "out.csv", np.ones((1, 1)), [cell], ids=[cell], labels=[f"a{cell}"])
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        (_, name, _), (id_, _, label) = csv.reader(stream.read().splitlines(keepends=True))
    assert (name, id_, label) == (f"'{cell}", f"'{cell}", f"a{cell}")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "npz"])
def test_half_surrogates_and_control_characters_leave_a_valid_file(suffix, tmp_path):
    words = np.array(["half\ud800", "\udfff", "bell\a", "\x1b[31m"])
    path = tmp_path / f"out.{suffix}"
    write_table(path, np.ones((4, 1)), ["x\ud800"], ids=words, labels=words.astype(object), id_name="id\ud801")
    mark = "\N{REPLACEMENT CHARACTER}"
    table = read_table(
        path, label="labels" if suffix == "npz" else "label", id="ids" if suffix == "npz" else f"id{mark}"
    )
    for found in (table.ids, table.labels):
        assert_array_equal(found, [f"half{mark}", mark, "bell\a", "\x1b[31m"])
    assert table.names == (f"x{mark}",)


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    write_table(path, np.ones((2, 2)))
    before = path.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(BadInput, match="disk full"):
            write_table(path, np.zeros((2, 2)))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.csv"]


def test_writing_to_a_symbolic_link_replaces_its_target(tmp_path):
    write_table(tmp_path / "real.npy", np.ones((2, 2)))
    (tmp_path / "link.npy").symlink_to(tmp_path / "real.npy")
    write_table(tmp_path / "link.npy", np.zeros((2, 2)))
    assert (tmp_path / "link.npy").is_symlink()
    assert_array_equal(np.load(tmp_path / "real.npy"), np.zeros((2, 2)))


def test_errors_of_write_table(tmp_path):
    for arguments, words in [
        ((tmp_path / "a.xls", np.ones((2, 2))), r"\.xls"),
        ((tmp_path / "a.csv", np.ones(2)), "table of numbers"),
        ((tmp_path / "a.csv", np.ones((2, 2)), ["a"]), "one name per column"),
        ((tmp_path / "a.csv", np.ones((2, 2)), ["a", "a"]), "both named 'a'"),
        ((tmp_path / "no" / "a.csv", np.ones((2, 2))), "can't write"),
    ]:
        with pytest.raises(BadInput, match=words):
            write_table(*arguments)
    with pytest.raises(BadInput, match="one value per row"):
        write_table(tmp_path / "a.csv", np.ones((2, 2)), labels=[1])


def test_a_file_too_large_for_memory_is_refused_before_reading(tmp_path, rng, streaming, monkeypatch):
    write_table(tmp_path / "a.parquet", numbers(rng))
    rows = read_table(tmp_path / "a.parquet").X
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryTooSmall, match="300 rows"):
        rows.whole()


def test_big_endian_strided_and_half_arrays_are_written(tmp_path, rng):
    X = rng.normal(size=(6, 8)).astype(np.float16)
    for ending in (".csv", ".parquet", ".feather"):
        write_table(tmp_path / f"a{ending}", X.astype(">f4")[::2, ::3])
        assert_array_equal(read_table(tmp_path / f"a{ending}").array().astype(np.float16), X[::2, ::3])
        write_table(tmp_path / f"a{ending}", X)
        assert_array_equal(read_table(tmp_path / f"a{ending}").array().astype(np.float16), X)


def test_named_array_rows_convert_to_arrays(tmp_path):
    rows = read_table(text(tmp_path, "a,b\n1,2\n3,4\n")).X
    assert isinstance(rows, NamedArrayRows)
    assert_array_equal(np.asarray(rows), [[1, 2], [3, 4]])


def test_feature_names_of_a_file_are_recorded_and_compared(tmp_path, rng):
    X = rng.standard_normal((30, 3))
    write_table(tmp_path / "a.csv", X, ["x", "y", "z"])
    write_table(tmp_path / "b.csv", X[:, ::-1], ["z", "y", "x"])
    write_table(tmp_path / "c.csv", X[:, :2], ["x", "y"])
    model = PCA(2).fit(read_table(tmp_path / "a.csv").X)
    assert model.feature_names_in_.tolist() == ["x", "y", "z"]
    with pytest.raises(BadInput, match="column 0 is 'z', but was 'x'"):
        model.transform(read_table(tmp_path / "b.csv").X)
    with pytest.raises(BadInput, match="has 2 features"):
        model.transform(read_table(tmp_path / "c.csv").X)


def test_an_estimator_takes_the_path_of_a_file(tmp_path, rng):
    X = rng.standard_normal((60, 4))
    path = tmp_path / "table.parquet"
    write_table(path, X)
    model = PCA(2).fit(path)
    want = PCA(2).fit(X)
    assert_array_equal(model.transform(str(path)), want.transform(X))
    with pytest.raises(BadInput, match="there is no file"):
        PCA(2).fit(str(tmp_path / "absent.parquet"))
