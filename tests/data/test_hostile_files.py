"""Files that are made, or damaged, to exhaust time or memory are refused before they do."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile

import numpy as np
import pytest

from lowdim.data.io import decompression, delimited_text, text_dialect
from lowdim.data.io.read import read_table
from lowdim.errors import BadInput, MemoryTooSmall


def compressed(path, body, times, head=b"a,b\n", module=gzip):
    with module.open(path, "wb") as stream:
        stream.write(head)
        for _ in range(times):
            stream.write(body)
    return path


@pytest.mark.parametrize(("ending", "module"), [(".gz", gzip), (".bz2", bz2)])
def test_a_small_file_that_expands_to_a_huge_one_is_refused_in_time(tmp_path, monkeypatch, ending, module):
    monkeypatch.setattr(decompression, "ALWAYS_BYTES", 1 << 20)
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 100_000)
    path = compressed(tmp_path / f"bomb.csv{ending}", b"1,2\n" * 10_000, 60, module=module)
    assert path.stat().st_size * decompression.MOST_EXPANSION < 60 * 40_000
    with pytest.raises(BadInput, match=r"expands to .* decompress the file first"):
        read_table(path)
    monkeypatch.setattr(decompression, "MOST_EXPANSION", 10**6)
    assert read_table(path).array().shape == (600_000, 2)


@pytest.mark.parametrize("body", [b"0", b"\n", b"\r\n", b"1,", b'"', b"\xef\xbb\xbf"])
def test_a_first_line_without_an_end(tmp_path, monkeypatch, body):
    monkeypatch.setattr(text_dialect, "LONGEST_LINE", 1 << 20)
    for path in (tmp_path / "a.csv", tmp_path / "a.csv.gz"):
        open_ = gzip.open if path.suffix == ".gz" else open
        with open_(path, "wb") as stream:
            stream.write(body * (1 << 21))
        with pytest.raises(BadInput, match="does not end within 1 MB"):
            read_table(path)


def test_the_work_for_a_long_first_line_is_linear(tmp_path, monkeypatch):
    """Every byte is looked at once: reading it in quarters costs the same reads."""
    sizes = []

    class Counting:
        def __init__(self, stream):
            self.stream = stream

        def read(self, size):
            part = self.stream.read(size)
            sizes.append(len(part))
            return part

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.stream.close()

    path = tmp_path / "a.csv"
    path.write_text("x" * 3_000_000 + "\n1\n")
    plain = text_dialect.open_text
    monkeypatch.setattr(text_dialect, "open_text", lambda path: Counting(plain(path)))
    assert len(text_dialect.first_line(path)) == 3_000_000
    assert sum(sizes) <= 3_000_000 + text_dialect.READ_BYTES


def test_a_later_line_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 10_000)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n" + "1," * 100_000)
    with pytest.raises(BadInput, match="a line of more than 10000 bytes"):
        read_table(path)


def test_more_columns_than_text_can_have(tmp_path, monkeypatch):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{j}" for j in range(100_001)) + "\n")
    with pytest.raises(BadInput, match=r"has 100,001 columns; .* Save it as an npy file"):
        read_table(path)
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 10**6)
    path.write_text("a,b\n" + ",".join("1" for _ in range(2)) + "\n")
    assert read_table(path).array().shape == (1, 2)
    path.write_text(",".join(f"c{j}" for j in range(500)) + "\n")
    with pytest.raises(MemoryTooSmall, match="500 columns of text"):
        read_table(path)


@pytest.mark.parametrize("long", ["x", "1", '"'])
def test_cells_longer_than_the_csv_module_reads(tmp_path, long):
    path = tmp_path / "a.csv"
    cell = f'"{long * 600_000}"' if long == '"' else long * 200_000
    path.write_text(f"a,b\n1,{cell}\n2,y\n")
    with pytest.raises(BadInput):
        read_table(path, columns=["a", "b"])
    if long == "x":
        table = read_table(path, label="b")
        assert [len(text) for text in table.labels] == [200_000, 1]
        path.write_text(f"a,b\n1,{cell}\n2,y,z\n")
        with pytest.raises(BadInput, match="cells, but the first line has 2"):
            read_table(path, label="b")
    path.write_text(f"a,{cell}\n1,2\n")
    with pytest.raises(BadInput, match="first line can't be split"):
        read_table(path)


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, content in members.items():
            archive.writestr(f"{key}.npy", content)
    return path


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_a_small_archive_that_declares_a_huge_array_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(decompression, "ALWAYS_BYTES", 1 << 20)
    path = npz(tmp_path / "bomb.npz", X=npy(np.zeros((40_000, 10))))
    with pytest.raises(BadInput, match=r"expands to 3 MB .* np.savez"):
        read_table(path)
    noise = np.random.default_rng(0).normal(size=(40_000, 10))
    np.testing.assert_array_equal(read_table(npz(path, X=npy(noise))).array(), noise)


@pytest.mark.parametrize("dtype", ["<U1", ">U1", "<U3"])
@pytest.mark.parametrize("point", [0x110000, 0x7FFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("key", ["names", "y", "ids"])
def test_text_that_is_not_unicode(tmp_path, key, point, dtype):
    texts = np.array(["a", "é"], dtype=dtype)
    good = npz(tmp_path / "a.npz", X=npy(np.eye(2)), **{key: npy(texts)})
    assert read_table(good).array().shape == (2, 2)
    bad = bytearray(npy(texts))
    at = len(bad) - texts.itemsize
    bad[at : at + 4] = point.to_bytes(4, "big" if dtype[0] == ">" else "little")
    with pytest.raises(BadInput, match=f"{key!r} holds numbers that are no characters"):
        read_table(npz(tmp_path / "a.npz", X=npy(np.eye(2)), **{key: bytes(bad)}))
