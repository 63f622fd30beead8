"""What comes in as a table: the same numbers give the same result in any container, and anything else a named error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import kernels
from lowdim.data.rows import checked_csr, open_rows
from lowdim.data.validation import check_weights, read_matrix
from lowdim.errors import BadInput, BadInputType, LowdimError


def entries(rng, n=30, d=6, count=120):
    """Entries in random order, many of one place more than once, and the matrix that they sum to."""
    row, column, value = rng.integers(0, n, count), rng.integers(0, d, count), rng.standard_normal(count)
    dense = np.zeros((n, d))
    np.add.at(dense, (row, column), value)
    return row, column, value, dense


def unsummed(rng):
    """Compressed sparse rows with unsorted columns and duplicates, and the same matrix dense."""
    row, column, value, dense = entries(rng)
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(31))
    X = sp.csr_array((value[order], column[order], starts), shape=dense.shape)
    assert not X.has_canonical_format
    return X, dense


# Sparse matrices in order


def test_entries_of_one_place_are_summed_and_the_input_stays(rng):
    X, dense = unsummed(rng)
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    found = checked_csr(X)
    assert found.has_canonical_format
    np.testing.assert_allclose(found.toarray(), dense, atol=1e-14)
    for kept, now in zip(before, (X.data, X.indices, X.indptr), strict=True):
        np.testing.assert_array_equal(kept, now)


@pytest.mark.parametrize("solver", ["covariance", "krylov", "gram", "svd"])
def test_every_solver_sums_duplicates(rng, solver):
    X, dense = unsummed(rng)
    found, wanted = (lowdim.PCA(2, solver=solver, tol=1e-12).fit(table) for table in (X, dense))
    np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(found.transform(X), wanted.transform(dense), atol=1e-6)


def test_duplicates_in_one_column_alone():
    X = sp.csr_array((np.arange(1.0, 81), np.tile([1, 1], 40), np.arange(0, 81, 2)), shape=(40, 6))
    assert lowdim.PCA(1, solver="krylov").fit(X).explained_variance_[0] == pytest.approx(2186.6667, rel=1e-6)


def test_duplicates_in_a_stream_and_in_neighbor_searches(rng):
    X, dense = unsummed(rng)
    np.testing.assert_allclose(lowdim.moments(iter([X, X])).within, lowdim.moments(np.vstack([dense, dense])).within)
    found, wanted = lowdim.neighbors(X, 4), lowdim.neighbors(dense, 4)
    np.testing.assert_array_equal(found.indices, wanted.indices)


def test_what_is_in_order_is_not_copied(rng):
    X = sp.random_array((50, 20), density=0.2, format="csr", rng=rng)
    found = checked_csr(X)
    assert np.shares_memory(found.data, X.data) and np.shares_memory(found.indices, X.indices)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert checked_csr(wide).indices.dtype == np.int64


FOREIGN = (">f8", ">f4", np.float16, ">i4")  # which SciPy's kernels do not have, so that it converts none of them


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        *(("csr", dtype) for dtype in FOREIGN),
        *((form, np.float32) for form in ("csc", "coo", "lil", "dok", "bsr", "dia")),
        *((form, dtype) for form in ("csr", "csc", "coo") for dtype in (np.int8, np.uint64, bool, np.longdouble)),
    ],
)
def test_every_format_and_kind_of_number(rng, form, dtype):
    dense = (rng.random((12, 6)) < 0.4) * rng.integers(1, 9, (12, 6))
    X = sp.csr_array(dense.astype(np.float64))
    X.data = X.data.astype(dtype)
    rows = open_rows(X.asformat(form))
    block = rows.whole()
    assert (
        block.dtype == (np.float32 if dtype in (">f4", np.float16, np.float32) else np.float64) and block.dtype.isnative
    )
    np.testing.assert_array_equal(block.toarray(), dense.astype(bool) if dtype is bool else dense)


# Sparse matrices that are damaged


def damaged(how, form="csr"):
    X = sp.random_array((40, 30), density=0.2, format=form, rng=np.random.default_rng(0))
    if form == "coo":
        axis = X.coords[how == "column too large"]
        axis[7] = {"column too large": 30, "row too large": 40, "negative": -1, "far": 2**31 - 1}[how]
        return X
    match how:
        case "column too large":
            X.indices[7] = max(X.shape)
        case "far":
            X.indices[7] = 2**31 - 1
        case "negative":
            X.indices[7] = -1
        case "pointer beyond":
            X.indptr[-1] = X.nnz + 1000
        case "pointer far":
            X.indptr[3] = 2**31 - 1
        case "pointer descends":
            X.indptr[3] = X.indptr[5]
            X.indptr[4] = 0
        case "pointer negative":
            X.indptr[2] = -5
        case "hidden":  # SciPy's own check looks no further where the last pointer is 0
            X.indptr[1:-1] = 10**9
            X.indptr[-1] = 0
        case "too few pointers":
            X.indptr = X.indptr[:-1]
        case "fractional":
            X.indices = X.indices + 0.5
        case "no data":
            X.data = X.data[:3]
    return X


DAMAGES = [
    *((how, form) for form in ("csr", "csc") for how in ("column too large", "far", "negative", "pointer beyond")),
    *(("csr", how)[::-1] for how in ("pointer far", "pointer descends", "pointer negative", "hidden")),
    *(("csr", how)[::-1] for how in ("too few pointers", "fractional", "no data")),
    *((how, "coo") for how in ("column too large", "row too large", "negative", "far")),
]


@pytest.mark.parametrize(("how", "form"), DAMAGES)
def test_indices_beyond_the_matrix_are_refused(how, form):
    with pytest.raises(BadInput, match="sparse X is damaged"):
        open_rows(damaged(how, form))


def test_blocks_beyond_the_matrix_are_refused():
    X = sp.bsr_array(np.kron(np.eye(4), np.ones((2, 3))), blocksize=(2, 3))
    X.indices[1] = 4
    with pytest.raises(BadInput, match="from 0 to 3"):
        open_rows(X)


FITS = {
    "PCA": lambda X: lowdim.PCA(2).fit(X),
    "krylov": lambda X: lowdim.PCA(2, solver="krylov").fit(X),
    "stream": lambda X: lowdim.PCA(2).fit(iter([sp.eye_array(30, format="csr"), X])),
    "partial_fit": lambda X: lowdim.PCA(2).partial_fit(X),
    "moments": lowdim.moments,
    "UMAP": lambda X: lowdim.UMAP(n_neighbors=5).fit(X),
    "TSNE": lambda X: lowdim.TSNE(perplexity=5).fit(X),
    "LLE": lambda X: lowdim.LLE().fit(X),
    "Isomap": lambda X: lowdim.Isomap().fit(X),
    "LaplacianEigenmaps": lambda X: lowdim.LaplacianEigenmaps().fit(X),
    "MDS": lambda X: lowdim.MDS().fit(X),
    "ClassicalMDS": lambda X: lowdim.ClassicalMDS().fit(X),
    "KernelPCA": lambda X: lowdim.KernelPCA(2).fit(X),
    "neighbors": lambda X: lowdim.neighbors(X, 3),
    "diagnose": lowdim.diagnose,
    "Standardized": lambda X: lowdim.Standardized(lowdim.UMAP()).fit(X),
}


@pytest.mark.parametrize("how", ["far", "pointer far", "hidden"])
@pytest.mark.parametrize("name", FITS)
def test_no_method_reads_beyond_a_matrix(name, how):
    with pytest.raises(LowdimError):
        FITS[name](damaged(how))


@pytest.mark.parametrize("how", ["far", "pointer far", "hidden"])
def test_no_graph_is_made_of_a_damaged_matrix(how):
    square = sp.csr_array((40, 40))
    bad = damaged(how)  # its rows in a square matrix
    square.data, square.indices, square.indptr = bad.data, bad.indices, bad.indptr
    for make in (
        lowdim.Graph.from_sparse,
        lowdim.Affinities.from_matrix,
        lambda D: lowdim.Isomap(metric="precomputed").fit(D),
        lambda D: lowdim.UMAP(metric="precomputed").fit(D),
        lambda W: lowdim.LaplacianEigenmaps(affinity="precomputed").fit(W),
    ):
        with pytest.raises(BadInput):
            make(square)


def test_new_rows_and_replaced_fitted_rows_are_looked_at_too():
    X = sp.random_array((60, 30), density=0.3, format="csr", rng=np.random.default_rng(1))
    for model in (lowdim.PCA(2), lowdim.UMAP(n_neighbors=5, n_epochs=5), lowdim.TSNE(perplexity=5, max_iter=20)):
        model.fit(X)
        with pytest.raises(BadInput):
            model.transform(damaged("far"))
        if not hasattr(model, "X_fit_"):
            continue
        with pytest.raises(ValueError, match="read-only"):
            model.X_fit_.indices[0] = 10**6
        broken = X.copy()
        broken.indices[5] = 10**6
        model.X_fit_ = broken
        model.__dict__.pop("_cache", None)
        if isinstance(model, lowdim.UMAP):
            with pytest.raises(BadInput, match="damaged"):
                model.transform(X[:3])


# Dense arrays


def test_masked_values_are_missing_values(rng):
    X = rng.standard_normal((40, 4))
    holes = rng.random((40, 4)) < 0.1
    masked = np.ma.masked_array(np.where(holes, 1e6, X), mask=holes)
    with pytest.raises(BadInput, match="contains NaN"):
        lowdim.PCA(2).fit(masked)
    with pytest.raises(BadInput, match="contains NaN"):
        lowdim.PCA(2).fit(iter([masked]))
    found = lowdim.PCA(2, missing="em").fit(masked)
    wanted = lowdim.PCA(2, missing="em").fit(np.where(holes, np.nan, X))
    np.testing.assert_array_equal(found.components_, wanted.components_)
    np.testing.assert_array_equal(found.transform(masked), wanted.transform(np.where(holes, np.nan, X)))
    assert np.isnan(open_rows(np.ma.masked_array(np.eye(3, dtype=np.int32), mask=np.eye(3))).whole().diagonal()).all()
    assert open_rows(np.ma.masked_array(X.astype(np.float32), mask=holes)).dtype == np.float32
    unmasked = lowdim.PCA(2).fit(np.ma.masked_array(X))
    np.testing.assert_array_equal(unmasked.components_, lowdim.PCA(2).fit(X).components_)


NOT_NUMBERS = {
    "dates": np.array([["2020-01-01", "NaT"]] * 4, dtype="M8[D]"),
    "time spans": np.ones((4, 2), dtype="m8[s]"),
    "complex": np.ones((4, 2)) * 1j,
    "text": np.array([["1", "2"]] * 4),
    "bytes": np.array([[b"1", b"2"]] * 4),
    "records": np.zeros((4, 2), dtype=[("a", float)]),
    "objects": np.array([[1, {}]] * 4, dtype=object),
    "too large": np.array([[1, 10**400]] * 4, dtype=object),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_what_is_not_a_number_is_refused_everywhere(name):
    X = NOT_NUMBERS[name]
    for read in (
        lowdim.PCA(1).fit,
        lowdim.moments,
        lambda X: lowdim.PCA(1).fit(iter([np.eye(2), X])),
        lambda X: lowdim.PCA(1).fit(np.eye(2)).transform(X),
        lambda X: lowdim.PCA(1).fit(np.eye(2)).inverse_transform(X[:, 1:]),
        lambda X: lowdim.neighbors(X, 1),
        lambda X: read_matrix(X, "X"),
        lambda X: check_weights(X[:, 1], 4),
    ):
        with pytest.raises(BadInput):
            read(X)


@pytest.mark.parametrize(
    "weights",
    [
        "abc",
        ["a", "b"],
        [[1], [2, 3]],
        [[1.0, 2.0]],
        sp.eye_array(2),
        [1, 1j],
        object(),
        {1: 2},
        [None, 1],
        [10**400, 1],
    ],
    ids=range(10),
)
def test_weights_that_are_none(weights):
    with pytest.raises(BadInput, match="sample_weight"):
        lowdim.PCA(1).fit(np.eye(2), sample_weight=weights)
    with pytest.raises(BadInput, match="finite"):
        check_weights(np.ma.masked_array([1.0, 2.0], mask=[True, False]), 2)


def test_sparse_matrices_where_dense_ones_are_needed():
    A = sp.eye_array(3, format="csr")
    for call in (
        kernels.is_euclidean,
        lowdim.PCA(1).fit(np.eye(3)).inverse_transform,
    ):
        with pytest.raises(BadInputType, match="sparse"):
            call(A)


# Streams


def test_a_stream_names_the_chunk():
    def broken():
        yield np.eye(3)
        yield np.eye(3)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone") as caught:
        lowdim.moments(broken())
    assert "chunk 2" in caught.value.__notes__[0]
    for chunk, message in (
        (np.ones(3), "chunk 1 of the stream: Expected 2D"),
        (np.ones((2, 2, 2)), "chunk 1 of the stream: Expected 2D"),
        (np.ones((2, 3)) * 1j, "chunk 1 of the stream: X holds complex"),
        ("text", "chunk 1 of the stream"),
        (None, "chunk 1 of the stream"),
        (7, "chunk 1 of the stream"),
        (iter([]), "chunk 1 of the stream: got"),
        (sp.csr_array(np.ones((2, 3)) * 1j), "chunk 1 of the stream: the sparse X holds complex"),
    ):
        with pytest.raises(BadInput, match=message):
            lowdim.moments(iter([np.eye(3), chunk]))


def test_a_generator_is_read_once_and_a_function_again():
    with pytest.raises(BadInput, match="function that returns a new one"):
        lowdim.PCA(1).fit_transform(part for part in [np.eye(3)])
    found = lowdim.PCA(1).fit_transform(lambda: iter([np.eye(3)[:2], np.eye(3)[2:]]))
    np.testing.assert_allclose(np.abs(found), np.abs(lowdim.PCA(1).fit_transform(np.eye(3))), atol=1e-12)
    with pytest.raises(BadInputType, match="iterator"):
        lowdim.PCA(1).fit(lambda: 7)


# Dataframes


def test_frames_with_a_repeated_name():
    with pytest.raises(BadInput, match=r"'a' 2 times\. Rename"):
        lowdim.PCA(1).fit(pd.DataFrame(np.eye(3), columns=["a", "b", "a"]))


def test_frames_with_names_of_several_types():
    with pytest.raises(BadInputType, match="string names"):
        lowdim.PCA(1).fit(pd.DataFrame(np.eye(2), columns=["a", 1]))


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "double[pyarrow]", "Int64", "Float64", "boolean"])
def test_nulls_of_frames_are_missing_values(dtype):
    frame = pd.DataFrame({"a": pd.array([1, None, 0, 1], dtype=dtype), "b": [1.0, 2.0, 3.0, 5.0]})
    np.testing.assert_array_equal(open_rows(frame).whole(), [[1, 1], [np.nan, 2], [0, 3], [1, 5]])


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "pandas of pyarrow"])
def test_integers_of_frames_that_floats_round(kind):
    """Arrow refuses to cast them, and its own error reached the user."""
    large = np.array([2**64 - 100, 2**53 + 1, 7], dtype=np.uint64)
    table = pa.table({"large": large, "flag": [True, None, False], "small": [1, None, 3]})
    frame = pd.DataFrame({"large": large, "flag": [1.0, np.nan, 0.0], "small": [1.0, np.nan, 3.0]})
    given = {"pyarrow": table, "pandas": frame, "pandas of pyarrow": table.to_pandas(types_mapper=pd.ArrowDtype)}[kind]
    np.testing.assert_array_equal(open_rows(given).block(0, 3), frame.to_numpy(dtype=np.float64))


@pytest.mark.parametrize("fill", [0.0, np.nan, 7.0])
def test_sparse_frames(fill):
    dense = np.array([[0.0, 7.0], [0.0, 2.0], [3.0, 0.0], [1.0, 0.0]])
    frame = pd.DataFrame({name: pd.arrays.SparseArray(dense[:, j], fill_value=fill) for j, name in enumerate("ab")})
    model = lowdim.PCA(1).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(model.components_, lowdim.PCA(1).fit(dense).components_, rtol=1e-12)
    assert open_rows(frame).sparse == (fill == 0)
    mixed = frame.assign(c=1.0)
    np.testing.assert_array_equal(open_rows(mixed).whole(), np.c_[dense, np.ones(4)])


def test_annotated_data_without_a_matrix_are_named():
    class AnnData:
        X, obs, var_names = None, None, ["a", "b", "c"]

    with pytest.raises(BadInput, match="has no matrix X"):
        lowdim.PCA(1).fit(AnnData())


# Missing values


def test_rows_without_any_value_are_named(rng):
    X = rng.standard_normal((40, 3))
    X[5, 1] = X[7, 0] = np.nan
    model = lowdim.PCA(1, missing="em").fit(X)
    empty = X.copy()
    empty[[3, 20, 31]] = np.nan
    for read in (lowdim.PCA(1, missing="em").fit, model.transform, model.reconstruction_error, model.score_samples):
        with pytest.raises(BadInput, match=r"NaN alone in 3 of its rows \(3, 20, 31\).* Drop them"):
            read(empty)
    empty[:] = np.nan
    with pytest.raises(BadInput, match=r"in 40 of its rows \(0, 1, 2, 3, 4, …\)"):
        lowdim.PCA(1, missing="em").fit(empty)
    kept = X[~np.isnan(X).all(axis=1)]
    np.testing.assert_array_equal(lowdim.PCA(1, missing="em").fit(kept).components_, model.components_)


def test_swapped_arguments_of_eigenimages(rng):
    X = rng.standard_normal((10, 4))
    model = lowdim.PCA(2).fit(X)
    for wrong in (X, 4, "ab", None, object()):
        with pytest.raises(BadInput, match="image_shape must be"):
            lowdim.plot.eigenimages(model, wrong)


def test_all_columns_without_numbers_are_named_at_once():
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "kind": ["x", "y"], "place": ["here", "there"]})
    with pytest.raises(BadInputType, match=r"columns 'kind', 'place' hold text, not numbers\. Drop them"):
        lowdim.PCA(1).fit(frame)
    frame["day"] = pd.to_datetime(["2024-01-01", "2024-01-02"])
    with pytest.raises(
        BadInputType, match=r"columns 'kind' \(text\), 'place' \(text\), 'day' \(.*\) hold other values"
    ):
        lowdim.PCA(1).fit(frame)
    with pytest.raises(BadInputType, match=r"column 'kind' holds text, not numbers\. Drop it"):
        lowdim.PCA(1).fit(frame[["a", "kind"]])
