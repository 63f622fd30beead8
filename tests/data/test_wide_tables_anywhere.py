"""Tables of more columns than rows, and methods that read rows several times: the same bits wherever rows live."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import lowdim
from lowdim.data import partition_panels
from lowdim.data.rows.dask import DaskRows
from lowdim.errors import BadInput, MemoryTooSmall
from lowdim.linalg import column_panels, projected_rows
from lowdim.linear.projection_pursuit import search

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

N, D = 31, 700
LEARNED = (
    "components_",
    "mean_",
    "explained_variance_ratio_",
    "scalings_",
    "eigenvalues_",
    "index_",
    "p_value_",
    "scale_",
)


def table(n=N, d=D, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 3 * random.integers(0, 3, (n, 1)) * random.random(d)
    return np.abs(X + 10).astype(dtype)


def classes(n=N):
    return np.arange(n) % 3


def learned(model):
    found = {name: getattr(model, name, None) for name in LEARNED}
    return {name: np.asarray(value) for name, value in found.items() if value is not None}


def assert_same(found, expected, source=""):
    a, b = learned(found), learned(expected)
    assert a.keys() == b.keys() and b
    for name in b:
        assert np.array_equal(a[name], b[name]), (source, name)


@pytest.fixture
def narrow_panels(monkeypatch):
    """Panels of 40 columns in groups of 3, and passes of two groups: 700 columns make six groups and three passes."""
    monkeypatch.setattr(column_panels, "_width", lambda n: 40)
    monkeypatch.setattr(column_panels, "GROUP_PANELS", 3)
    monkeypatch.setattr(partition_panels, "PASS_BYTES", 2 * 3 * 40 * N * 4)


@pytest.fixture
def nothing_gathered(monkeypatch):
    """An error when rows of a cluster come to this process."""

    def refused(*_):
        raise AssertionError("the rows were gathered")

    for name in ("whole", "chunks", "_computed"):
        monkeypatch.setattr(DaskRows, name, refused)


def sources(X, folder):
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    frame.to_csv(folder / "x.csv", index=False, float_format="%.17g")
    frame.to_parquet(folder / "x.parquet", row_group_size=7)
    np.save(folder / "x.npy", X)
    parts = np.array_split(X, 5)
    return {
        "memory map": np.load(folder / "x.npy", mmap_mode="r"),
        "Parquet": folder / "x.parquet",
        "dataframe": frame,
        "function": lambda: iter(parts),
        "Dask array": da.from_array(X, chunks=((11, 1, X.shape[0] - 12), X.shape[1])),
        "Dask dataframe": dd.from_pandas(frame, npartitions=3),
        "delayed": [dask.delayed(part) for part in parts],
    } | ({"CSV": folder / "x.csv"} if X.dtype == np.float64 else {})


WIDE = {
    "PCA": (lowdim.PCA(2), "gram"),
    "PCA-standardized": (lowdim.PCA(2, standardize=True), "gram"),
    "PCA-share": (lowdim.PCA(0.5), "gram"),
    "PCA-krylov": (lowdim.PCA(2, solver="krylov"), "krylov"),
    "TruncatedSVD": (lowdim.TruncatedSVD(2), "svd"),
    "LDA": (lowdim.LDA(2), "gram"),
    "CA": (lowdim.CA(2), None),
    "ICA": (lowdim.ICA(2, max_iter=5), None),
    "Standardized(PCA)": (lowdim.Standardized(lowdim.PCA(2)), "gram"),
    "Standardized(ICA)": (lowdim.Standardized(lowdim.ICA(2, max_iter=5)), None),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WIDE)
def test_wide_tables_take_the_same_solver_and_have_the_same_bits(name, dtype, narrow_panels, tmp_path):
    model, solver = WIDE[name]
    X, y = table(dtype=dtype), classes() if name == "LDA" else None
    expected = clone(model).fit(X, y)
    assert solver is None or solver == expected.solver_
    for source, rows in sources(X, tmp_path).items():
        assert_same(clone(model).fit(rows, y), expected, source)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, N), max_size=6).map(lambda found: [0, *sorted(found), N]),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_the_gram_matrix_of_any_partitioning_has_the_same_bits(edges, dtype, weighted):
    X, w = table(dtype=dtype), np.random.default_rng(1).random(N) if weighted else None
    parts = [dask.delayed(X[a:b]) for a, b in pairwise(edges)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_panels, "_width", lambda n: 40)
        patch.setattr(column_panels, "GROUP_PANELS", 3)
        patch.setattr(partition_panels, "PASS_BYTES", 1)
        assert_same(lowdim.PCA(3).fit(parts, sample_weight=w), lowdim.PCA(3).fit(X, sample_weight=w))


def test_a_gram_matrix_is_that_of_the_centered_rows(narrow_panels):
    X = table(dtype=np.float64)
    P = X - X.mean(axis=0)
    values = np.linalg.svd(P, compute_uv=False) ** 2 / (N - 1)
    found = lowdim.PCA(5, solver="gram").fit(da.from_array(X, chunks=(9, -1)))
    np.testing.assert_allclose(found.explained_variance_, values[:5], rtol=1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["PCA", "PCA-standardized", "PCA-krylov", "LDA", "Standardized(PCA)"])
def test_workers_make_the_gram_matrix_and_nothing_is_gathered(client, name, narrow_panels, nothing_gathered):
    X, y = table(), classes() if name == "LDA" else None
    assert_same(clone(WIDE[name][0]).fit(da.from_array(X, chunks=(10, -1)), y), clone(WIDE[name][0]).fit(X, y))


@pytest.mark.filterwarnings("ignore")
def test_an_iterator_of_fewer_rows_than_columns_is_held():
    X, y = table(), classes()

    def reused(edges):  # a stream that reuses its memory
        memory = np.empty_like(X)
        for a, b in pairwise(edges):
            memory[: b - a] = X[a:b]
            yield memory[: b - a]

    edges = [0, 3, 4, 20, N]
    for model in (lowdim.PCA(2), lowdim.TruncatedSVD(2), lowdim.PCA(2, n_jobs=2)):
        assert_same(clone(model).fit(reused(edges)), clone(model).fit(X))
    pairs = zip(np.array_split(X, 4), np.array_split(y, 4), strict=True)
    assert_same(lowdim.LDA(2).fit(pairs), lowdim.LDA(2).fit(X, y))
    S = sp.csr_array(np.where(X > 13, X, 0))
    assert_same(lowdim.PCA(2).fit(iter([S[:9], S[9:]])), lowdim.PCA(2).fit(S))
    tall = table(200, 20)
    assert_same(lowdim.PCA(2).fit(iter(np.array_split(tall, 30))), lowdim.PCA(2).fit(tall))  # found out in many chunks


def test_rows_of_a_stream_are_held_only_where_they_fit(monkeypatch):
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 10_000)
    with pytest.raises(MemoryTooSmall, match=r"holding .* rows × 700 columns of a stream"):
        lowdim.PCA(2).fit(iter(np.array_split(table(), 10)))


@pytest.mark.parametrize("solver", ["krylov", "gram", "svd"])
def test_several_passes_need_a_function(solver):
    X = table(60, 20, np.float64)
    model = lowdim.PCA(2, solver=solver)
    assert_same(clone(model).fit(lambda: iter(np.array_split(X, 4))), clone(model).fit(X))
    with pytest.raises(BadInput, match=rf"PCA\(solver='{solver}'\) reads the rows several times.*function"):
        clone(model).fit(iter([X]))


def test_a_function_that_forgets_rows_is_named():
    X, calls = table(), []

    def shorter():
        calls.append(1)
        return iter([X[: N - len(calls)]])

    with pytest.raises(BadInput, match="gave 30 rows in its first pass, and 29 now"):
        lowdim.PCA(2).fit(shorter)


def test_targets_and_weights_beside_a_function():
    X, y, w = table(90, 6, np.float64), classes(90), np.random.default_rng(0).random(90)
    again = partial(iter, np.array_split(X, 4))
    for model in (lowdim.LDA(2), lowdim.SIR(2), lowdim.SAVE(1)):
        assert_same(clone(model).fit(again, y), clone(model).fit(X, y))
    assert_same(lowdim.PCA(2).fit(again, sample_weight=w), lowdim.PCA(2).fit(X, sample_weight=w))
    assert np.array_equal(lowdim.moments(again, y).within, lowdim.moments(X, y).within)
    with pytest.raises(BadInput, match=r"iterator does not have.*function"):
        lowdim.LDA(2).fit(iter([X]), y)


# ---- projection pursuit ----

PURSUITS = {
    "holes": {},
    "legendre": {"index": "legendre"},
    "friedman_tukey": {"index": "friedman_tukey"},
    "structure removal": {"index": "kurtosis"},
    "orthogonal": {"index": "kurtosis", "deflation": "orthogonal"},
    "lda": {"index": "lda"},
    "pda": {"index": "pda"},
    "standardized": {"sphere": False},
    "a function": {"index": lambda Z: float((Z**4).mean()), "n_components": 1, "max_iter": 1},
}


@pytest.fixture
def many_rows(monkeypatch):
    """Restarts see 100 rows, and every pass 64 rows at a time: 400 rows are many."""
    monkeypatch.setattr(search, "MOST_ROWS", 100)
    monkeypatch.setattr("lowdim.linear.projection_pursuit.sphering.MOST_ROWS", 100)
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 64 * 5 * 8)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("name", PURSUITS)
def test_projection_pursuit_has_the_same_bits_in_passes(name, kept, many_rows, monkeypatch, tmp_path):
    X, y = table(400, 5, np.float64), classes(400)
    model = lowdim.ProjectionPursuit(**{"n_null": 2, "n_init": 3, "max_iter": 8, **PURSUITS[name]})
    expected = clone(model).fit(X, y)
    if not kept:
        monkeypatch.setattr(projected_rows, "available_bytes", lambda: 1)
        assert_same(clone(model).fit(X, y), expected)
    places = sources(X, tmp_path)
    for source in ("function", "Parquet", "Dask array"):
        assert_same(clone(model).fit(places[source], y), expected, source)


@pytest.mark.parametrize("name", PURSUITS)
def test_projection_pursuit_in_passes_finds_what_a_matrix_does(name, many_rows, monkeypatch):
    X, y = table(400, 5, np.float64), classes(400)
    model = lowdim.ProjectionPursuit(**{"n_null": 2, "n_init": 3, "max_iter": 8, **PURSUITS[name]})
    passes = clone(model).fit(X, y)
    monkeypatch.setattr("lowdim.linear.projection_pursuit.sphering.MOST_ROWS", 1000)  # a matrix, and the same sample
    matrix = clone(model).fit(X, y)
    np.testing.assert_allclose(passes.index_, matrix.index_, rtol=1e-6)
    np.testing.assert_allclose(passes.null_index_, matrix.null_index_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_projection_pursuit_by_worker_processes(client, monkeypatch, nothing_gathered):
    X = table(6000, 5, np.float32)
    model = lowdim.ProjectionPursuit(1, index="negentropy", n_null=1, n_init=2, max_iter=3)
    expected = clone(model).fit(X)
    monkeypatch.setattr(projected_rows, "available_bytes", lambda: 1)
    assert_same(clone(model).fit(da.from_array(X, chunks=(1700, -1))), expected)


# ---- Standardized ----


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("inner", [lowdim.PCA(2), lowdim.ICA(2, max_iter=5), lowdim.LDA(2)])
def test_z_scores_are_made_where_the_rows_are(inner, nothing_gathered):
    X, y = table(300, 8), classes(300)
    expected = lowdim.Standardized(inner).fit(X, y)
    lazy = da.from_array(X, chunks=(90, -1))
    found = lowdim.Standardized(inner).fit(lazy, y)
    assert_same(found, expected)
    assert np.array_equal(found.transform(lazy).compute(), expected.transform(X))
    again = lowdim.Standardized(inner).fit(lambda: iter(np.array_split(X, 7)), y)
    assert_same(again, expected)
    assert np.array_equal(again.transform(iter(np.array_split(X, 4))), expected.transform(X))
    with pytest.raises(BadInput, match="Standardized reads the rows several times"):
        lowdim.Standardized(inner).fit(iter([X]), y)
