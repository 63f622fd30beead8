"""Fuzzing: a mutated file gives a table or one of lowdim's errors, and is never unpickled."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fuzzing.files import mutated
from lowdim.data.io import arrow_source, delimited_text
from lowdim.data.io.read import read_table
from lowdim.data.io.write import write_table
from lowdim.data.table import Table
from lowdim.errors import LowdimError

X = np.random.default_rng(0).normal(size=(40, 3))
FRAME = pa.table({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "k": ["red", "green"] * 20})


def as_csv():
    lines = [f"{a:.6f},{b:.6f},{'red' if i % 2 else 'green'}" for i, (a, b, _) in enumerate(X)]
    return "\n".join(["a,b,k", *lines, ""]).encode()


def as_npy():
    stream = io.BytesIO()
    np.save(stream, X)
    return stream.getvalue()


def as_npz(save=np.savez_compressed):
    stream = io.BytesIO()
    save(stream, X=X, y=np.arange(40), names=np.array(["a", "b", "c"]))
    return stream.getvalue()


def as_parquet(**options):
    stream = io.BytesIO()
    pq.write_table(FRAME, stream, row_group_size=16, **options)
    return stream.getvalue()


def as_arrow(new=pa.ipc.new_file):
    stream = io.BytesIO()
    with new(stream, FRAME.schema) as writer:
        writer.write_table(FRAME, max_chunksize=16)
    return stream.getvalue()


FILES = {
    "a.csv": as_csv(),
    "a.csv.gz": gzip.compress(as_csv(), mtime=0),
    "a.npy": as_npy(),
    "a.npz": as_npz(),
    "stored.npz": as_npz(np.savez),
    "a.parquet": as_parquet(),
    "plain.parquet": as_parquet(compression="none", use_dictionary=False),
    "a.arrow": as_arrow(),
    "stream.arrow": as_arrow(pa.ipc.new_stream),
}


def survives(path, **asked):
    """Read the file and all its numbers; the only exceptions allowed are lowdim's."""
    try:
        table = read_table(path, **asked)
        array = table.array()
    except LowdimError as error:
        assert str(error)
        return
    assert isinstance(table, Table)
    assert array.ndim == 2 and array.dtype in (np.float32, np.float64)
    assert array.shape[1] == len(table.names)
    assert table.labels is None or len(table.labels) == len(array)
    "".join(map(str, (*table.names, *([] if table.labels is None else table.labels))))


@pytest.fixture(autouse=True)
def no_pickle(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a file was unpickled")

    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)


@pytest.mark.parametrize("limit", [0, 1 << 28], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", FILES)
def test_mutated_files(tmp_path, monkeypatch, name, limit):
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", limit)
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 300)
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 1 << 28)
    draw = random.Random(name)
    path = tmp_path / name
    numpy = name.endswith((".npy", ".npz"))
    for trial in range(150):
        path.write_bytes(mutated(FILES[name], draw))
        survives(path, **({} if numpy or trial % 5 == 0 else {"label": "k"}))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_mutated_text_in_a_whole_compressed_file(tmp_path, monkeypatch, ending):
    """Whose checksum is right, so that the text itself is parsed."""
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 300)
    draw, path = random.Random(ending), tmp_path / f"a.csv{ending}"
    for trial in range(60):
        with pa.output_stream(str(path)) as stream:
            stream.write(mutated(as_csv(), draw))
        survives(path, **({} if trial % 5 == 0 else {"label": "k"}))


def test_mutated_arrays_in_a_whole_archive(tmp_path, monkeypatch):
    """Whose checksums and sizes are right, so that headers, text and numbers themselves are looked at."""
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 1 << 28)
    draw, path = random.Random("archive"), tmp_path / "a.npz"
    with zipfile.ZipFile(io.BytesIO(as_npz())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(150):
        spoiled = draw.choice(list(members))
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, mutated(content, draw) if name == spoiled else content)
        survives(path)


@pytest.mark.parametrize("name", FILES)
def test_unmutated_files_are_read(tmp_path, name):
    """Otherwise the test above would prove nothing."""
    (tmp_path / name).write_bytes(FILES[name])
    numpy = name.endswith((".npy", ".npz"))
    table = read_table(tmp_path / name, **({} if numpy else {"label": "k"}))
    assert table.array().shape == (40, 3 if numpy else 2)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz", ".parquet", ".arrow"])
@given(content=st.binary(max_size=300))
def test_any_bytes(tmp_path_factory, ending, content):
    path = tmp_path_factory.mktemp("any") / f"a{ending}"
    path.write_bytes(content)
    survives(path)


@given(content=st.text(alphabet='ab01.,;-\t"\n\r eéN', max_size=80), label=st.sampled_from([None, "a", "b"]))
@settings(max_examples=300)
def test_any_text(tmp_path_factory, content, label):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_bytes(content.encode())
    survives(path, label=label)


cells = st.floats(allow_nan=True, allow_infinity=True, width=64)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(
    values=st.lists(st.tuples(cells, cells), min_size=1, max_size=8),
    names=st.lists(words.map(lambda w: f"n{w}"), min_size=2, max_size=2, unique=True),
    ending=st.sampled_from([".csv", ".tsv", ".parquet", ".feather", ".npz"]),
    data=st.data(),
)
@settings(max_examples=150)
def test_round_trip(tmp_path_factory, values, names, ending, data):
    """Any numbers, names and labels, including quotes, delimiters and line breaks."""
    labels = data.draw(st.lists(words.map(lambda w: f"l{w}"), min_size=len(values), max_size=len(values)))
    path = tmp_path_factory.mktemp("round") / f"a{ending}"
    write_table(path, np.array(values), names, labels=labels, label_name="the label")
    table = read_table(path, **({} if ending == ".npz" else {"label": "the label", "columns": names}))
    assert_array_equal(table.array(), np.array(values))
    assert list(table.names) == names
    assert list(table.labels) == list(np.asarray(labels, dtype=str))
