"""Tables as they come: text, dates, ids, decimal commas, Latin-1, Excel, AnnData, distances; nothing lost silently."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import PCA, read_table
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.errors import BadInput, BadParameter
from lowdim.workflow.source import read_columns
from lowdim.workflow.summary import summarize_columns


def save(folder, content, name="a.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def frame(n=30):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "name": [f"row {i}" for i in range(n)],
            "kind": np.resize(["x", "y", "z"], n),
            "place": np.resize(["here", "there"], n),
            "when": pd.date_range("2024-01-31", periods=n).astype(str),
            "a": rng.normal(size=n),
            "flag": rng.random(n) > 0.5,
            "b": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx", ".tsv.gz"])
def test_every_column_has_a_place(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    table = frame()
    if ending == ".parquet":
        table.to_parquet(path)
    elif ending == ".xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if "tsv" in ending else ",")
    found = read_table(path)
    assert found.names == ("a", "flag", "b") == found.report.numbers
    assert (found.label_name, found.report.label, found.report.id) == ("kind", "kind", "name")
    assert found.report.annotations == ("place", "when") == tuple(found.annotations)
    assert found.ids[3] == "row 3" and found.annotations["when"][1] == "2024-02-01"
    np.testing.assert_allclose(found.array()[:, 0], table["a"], rtol=1e-15)
    named = read_table(path, label="place", id="when")
    assert (named.report.label, named.report.id) == (None, None) and named.report.annotations == ("name", "kind")
    alone = read_table(path, numeric_only=True)
    assert alone.labels is None and alone.ids is None and not alone.annotations
    assert [name for name, _ in alone.report.left_out] == ["name", "kind", "place", "when"]


@pytest.mark.parametrize(
    ("header", "values", "role"),
    [
        ("rownames", [1, 2, 3], "row numbers"),
        ("Unnamed: 0", [0, 1, 2], "row numbers"),
        ("x", list(range(1, 13)), "row numbers"),  # long enough to be sure
        ("customer_id", [17, 23, 11], "id"),
        ("PassengerId", [10, 20, 30], "id"),
        ("respondent", [1001, 1002, 1003], "id"),
        ("Participant", [4, 2, 9], "id"),
        ("x", [1, 2, 3], "number"),
        ("id", [1.5, 2.5, 3.5], "number"),
        ("paid", [3, 1, 2], "number"),
        ("id", [7, 7, 8], "number"),
    ],
)
def test_row_numbers_and_numeric_ids(tmp_path, header, values, role):
    rows = "\n".join(f"{v},{i * 2.5},{i % 3}" for i, v in enumerate(values))
    table = read_table(save(tmp_path, f"{header},a,b\n{rows}\n"))
    assert (header in table.names) == (role == "number")
    if role == "row numbers":
        assert table.report.left_out[0][0] == header and "row numbers" in table.report.left_out[0][1]
    if role == "id":
        assert table.ids.tolist() == values and table.report.id == header
    assert header in read_table(save(tmp_path, f"{header},a,b\n{rows}\n"), columns=[header, "a"]).names


def test_names_of_rows_come_before_the_row_numbers_that_r_and_pandas_write(tmp_path):
    numbered = read_table(save(tmp_path, ",name,a,b\n1,cat,1,2\n2,dog,2,1\n3,cow,4,7\n"))
    assert numbered.ids.tolist() == ["cat", "dog", "cow"] and numbered.report.id == "name"
    assert numbered.names == ("a", "b")
    named = read_table(save(tmp_path, ",name,a,b\nx,cat,1,2\ny,dog,2,1\nz,cow,4,7\n"))
    assert named.ids.tolist() == ["x", "y", "z"] and named.report.id == ""
    alone = read_table(save(tmp_path, ",a,b\n1,1,2\n2,2,1\n3,4,7\n"))
    assert alone.ids.tolist() == [1, 2, 3] and alone.names == ("a", "b")
    assert alone.row_names is None and named.row_names is not None  # numbers of rows name nothing on a picture


@pytest.mark.parametrize("style", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_are_no_names_of_rows_unless_they_are_named(tmp_path, style):
    days = pd.date_range("2024-01-25 10:30", periods=20).strftime(style)
    path = save(tmp_path, "when,a,b\n" + "".join(f"{day},{i}.5,{i * i}\n" for i, day in enumerate(days)))
    found = read_table(path)
    assert found.ids is None and found.report.annotations == ("when",) and found.names == ("a", "b")
    assert len(read_table(path, id="when").ids) == 20


def test_dates_of_parquet_are_no_names_of_rows(tmp_path):
    table = pd.DataFrame({"when": pd.date_range("2024-01-25", periods=20), "a": np.arange(20) ** 2.0})
    table.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").report.annotations == ("when",)


def test_new_rows_keep_their_names(tmp_path):
    path = save(tmp_path, "day,city,a,b\n2024-01-01,Oslo,1,2\n2024-01-02,Rome,3,5\n")
    selection = ColumnSelection.of(None, None, None, ())
    assert read_columns(str(path), selection, ("b", "a")).ids.tolist() == ["Oslo", "Rome"]
    assert read_columns(str(path), replace(selection, id="day"), ("b", "a")).ids[0] == "2024-01-01"
    assert read_columns(str(path), replace(selection, label="city"), ("b", "a")).ids is None


def test_empty_constant_and_mixed_columns_are_named(tmp_path):
    text = "a,b,c,d\n1,,5,1\n2,,5,x\n3,,5,3\n"
    report = read_table(save(tmp_path, text)).report
    assert report.numbers == ("a", "c") and report.constant == ("c",)
    assert dict(report.left_out) == {"b": "no value", "d": "numbers mixed with text such as 'x'"}


def test_missing_words(tmp_path):
    table = read_table(save(tmp_path, "a,b\n1,?\n2,NA\n.,4\n-,5\n"))
    np.testing.assert_array_equal(table.array(), [[1, np.nan], [2, np.nan], [np.nan, 4], [np.nan, 5]])


def test_decimal_commas_and_latin_1(tmp_path):
    table = read_table(save(tmp_path, "größe;b\n1,5;2\n2,5;-3,25\n".encode("latin-1")))
    assert table.names == ("größe", "b")
    np.testing.assert_array_equal(table.array(), [[1.5, 2], [2.5, -3.25]])
    assert len(table.report.notes) == 2
    label = read_table(save(tmp_path, "a;b\n1,5;2\n2,5;3\n"), label="a")
    np.testing.assert_array_equal(label.labels, [1.5, 2.5])
    assert not read_table(save(tmp_path, "a;b\n1.5;2\n2.5;3\n")).report.notes


def test_distances_are_recognized(tmp_path):
    text = ",A,B,C\nA,0,1,2\nB,1,0,3\nC,2,3,0\n"
    table = read_table(save(tmp_path, text))
    assert table.kind == "distances" and table.ids.tolist() == ["A", "B", "C"]
    assert read_table(save(tmp_path, text.replace("3,0", "2,0"))).kind == "rows"  # not symmetric
    assert read_table(save(tmp_path, text.replace("A,0", "A,1"))).kind == "rows"  # a diagonal
    assert read_table(save(tmp_path, text), columns=["A", "B", "C"]).kind == "rows"


def test_one_hot(tmp_path):
    path = save(tmp_path, "a,k,m\n1,x,u\n2,y,u\n3,NA,v\n4,x,v\n")
    table = read_table(path, encode="one-hot", label="m")
    assert table.names == ("a", "k=x", "k=y") and table.report.encoded == ("k",)
    np.testing.assert_array_equal(table.array()[:, 1:], [[1, 0], [0, 1], [np.nan, np.nan], [1, 0]])
    again = read_table(path, columns=["a", "k=y", "k=unseen"])
    np.testing.assert_array_equal(again.array()[:, 1:], [[0, 0], [1, 0], [np.nan, np.nan], [0, 0]])
    with pytest.raises(BadParameter, match="encode must be one of drop, one-hot, gower"):
        read_table(path, encode="ordinal")


def test_excel_cells_of_every_kind(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["n", "d", "t", "e"],
        [1, datetime.date(2024, 1, 31), "x", "#N/A"],
        [2.5, None, "y", 4],
        [3, None, "", 5],
    ):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    np.testing.assert_array_equal(table.array(), [[1, np.nan], [2.5, 4], [3, 5]])
    assert table.annotations["d"][0].startswith("2024-01-31")
    (tmp_path / "b.xlsx").write_bytes(b"PK no")
    with pytest.raises(BadInput, match="can't be read as"):
        read_table(tmp_path / "b.xlsx")


@pytest.mark.parametrize("name", ["year", "Year", "birth_year", "Jahr", "année", "model year", "yr"])
def test_calendar_years_are_numbers_that_are_told(tmp_path, name):
    content = "a,{},b\n1.5,1900,2\n2.5,,3\n0.5,2100,5\n"
    table = read_table(save(tmp_path, content.format(name)))
    assert table.names == ("a", name, "b") == table.report.numbers and table.report.years == (name,)
    assert ("years", f"{name} (used as a number; leave out by --drop {name})") in summarize_columns(table.report)
    for beyond in ("1899", "2101", "2000.5"):
        assert read_table(save(tmp_path, content.format(name).replace("1900", beyond))).report.years == ()
    assert read_table(save(tmp_path, content.format(name)), columns=["a", name]).report is None  # they were named


def test_years_that_recur_are_kept_beside_the_numbers(tmp_path):
    lines = [f"{i * 1.5},{2007 + i % 3},{i % 4}" for i in range(12)]
    table = read_table(save(tmp_path, "a,year,b\n" + "\n".join(lines) + "\n"))
    assert table.names == ("a", "b") and table.report.annotations == ("year",) and table.report.years == ()
    np.testing.assert_array_equal(table.annotations["year"], 2007 + np.arange(12) % 3)
    alone = read_table(save(tmp_path, "a,year,b\n" + "\n".join(lines) + "\n"), numeric_only=True)
    assert alone.names == ("a", "b") and alone.report.left_out[0][0] == "year"
    birth = read_table(save(tmp_path, "a,birth_year,b\n" + "\n".join(lines) + "\n"))
    assert birth.names == ("a", "birth_year", "b") and birth.report.years == ("birth_year",)


@pytest.mark.parametrize("name", ["yearly", "yearning", "lifetime", "piano", "volcano"])
def test_other_names_are_not_years(tmp_path, name):
    assert read_table(save(tmp_path, f"a,{name}\n1.5,2001\n2.5,2002\n")).report.years == ()


class AnnData:
    """What lowdim knows of anndata's class."""

    def __init__(self, X):
        self.X, self.obs, self.var_names = X, None, pd.Index([f"g{j}" for j in range(X.shape[1])])


def test_annotated_data():
    X = sp.random(20, 5, 0.5, format="csr", random_state=0, dtype=np.float32)
    for matrix in (X, X.toarray()):
        model = PCA(2).fit(AnnData(matrix))
        assert list(model.feature_names_in_) == [f"g{j}" for j in range(5)]
        np.testing.assert_allclose(model.transform(AnnData(matrix)), PCA(2).fit_transform(X.toarray()), atol=1e-5)
    with pytest.raises(BadInput, match="5 features"):
        model.transform(AnnData(X[:, :3]))


def test_the_rows_of_a_table_can_be_selected(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    part = table.select_rows(np.arange(30) % 2 == 0)
    assert part.ids[1] == "row 2" and len(part.annotations["when"]) == 15 and len(part.array()) == 15
    assert isinstance(lowdim.PCA(2).fit(part), PCA)
