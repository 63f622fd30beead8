"""CA, MCA and FAMD: laws, published numbers, and prince as the oracle."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import prince
import pyarrow as pa
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import CA, FAMD, MCA, PCA
from lowdim.errors import BadInput, BadInputType, BadParameter, NotEnoughData

# Greenacre's table of smoking habits by staff group, with the inertias and coordinates that he publishes.
SMOKE = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(1.0, 4.0, size=(30, 1)) * RNG.gamma(1.0, 2.0, size=(1, 9)) + 0.5)
N = 90


def survey() -> pd.DataFrame:
    """Three related columns of categories."""
    base = RNG.integers(0, 3, N)
    return pd.DataFrame(
        {
            "color": np.array(["red", "green", "blue"])[np.where(RNG.random(N) < 0.7, base, RNG.integers(0, 3, N))],
            "size": np.array(["small", "large"])[(base + RNG.integers(0, 2, N)) % 2],
            "grade": np.where(RNG.random(N) < 0.6, base, RNG.integers(0, 4, N)) + 1,
        }
    )


SURVEY = survey()
NUMBERS = pd.DataFrame(
    {"a": RNG.normal(size=N) * 5 + SURVEY.grade, "b": RNG.normal(size=N) - SURVEY.grade, "c": RNG.normal(size=N)}
)
MIXED = pd.concat([NUMBERS, SURVEY[["color", "size"]]], axis=1)
INDICATORS = pd.get_dummies(SURVEY.astype(str)).to_numpy(float)


def same(A: np.ndarray, B: np.ndarray, atol: float = 1e-9) -> None:
    """Equal up to the signs of the columns."""
    np.testing.assert_allclose(np.abs(A), np.abs(B), atol=atol)


# ---- CA ----


def test_the_published_numbers_of_the_smokers():
    model = CA(None).fit(SMOKE)
    np.testing.assert_allclose(model.eigenvalues_, [0.07476, 0.01002, 0.00041], atol=5e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.878, 0.118, 0.005], atol=5e-4)
    same(model.transform(SMOKE)[:, 0], [0.066, 0.259, 0.381, 0.233, 0.201], 5e-4)
    same(model.column_coordinates_[:, 0], [0.393, 0.099, 0.196, 0.294], 5e-4)
    same(model.column_coordinates_[:, 1], [0.030, 0.141, 0.007, 0.198], 5e-4)
    np.testing.assert_allclose(model.row_contributions(SMOKE)[:, 0], [0.003, 0.084, 0.512, 0.331, 0.070], atol=5e-4)


def test_inertia_is_chi_squared():
    expected = COUNTS.sum(axis=1, keepdims=True) * COUNTS.sum(axis=0) / COUNTS.sum()
    chi2 = ((COUNTS - expected) ** 2 / expected).sum()
    model = CA(None).fit(COUNTS)
    np.testing.assert_allclose(model.total_inertia_, chi2 / COUNTS.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_.sum(), model.total_inertia_, rtol=1e-12)
    assert model.n_samples_ == COUNTS.sum()


def test_transition_formulas():
    model = CA(3).fit(COUNTS)
    F, G, roots = model.transform(COUNTS), model.column_coordinates_, np.sqrt(model.eigenvalues_)
    rows, columns = COUNTS / COUNTS.sum(axis=1, keepdims=True), COUNTS / COUNTS.sum(axis=0)
    np.testing.assert_allclose(F, rows @ G / roots, atol=1e-12)
    np.testing.assert_allclose(G, columns.T @ F / roots, atol=1e-12)
    new = RNG.poisson(3.0, size=(4, 9))  # supplementary rows, by the same formula
    np.testing.assert_allclose(model.transform(new), new / new.sum(axis=1, keepdims=True) @ G / roots, atol=1e-12)


def test_distances_between_rows_are_chi_squared_distances():
    F, masses = CA(None).fit_transform(COUNTS), COUNTS.sum(axis=0) / COUNTS.sum()
    profiles = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    want = ((profiles[0] - profiles[5]) ** 2 / masses).sum()
    np.testing.assert_allclose(((F[0] - F[5]) ** 2).sum(), want, rtol=1e-10)


def test_distributional_equivalence():
    """Rows with the same profile may be merged: nothing else moves."""
    split = np.vstack([COUNTS[:1] * 2, COUNTS, COUNTS[3:4] * 5])
    merged = COUNTS.copy()
    merged[0], merged[3] = 3 * COUNTS[0], 6 * COUNTS[3]
    a, b = CA(4).fit(split), CA(4).fit(merged)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-10)
    same(a.column_coordinates_, b.column_coordinates_)
    weights = np.ones(30)
    weights[0], weights[3] = 3, 6
    same(CA(4).fit(COUNTS, sample_weight=weights).column_coordinates_, b.column_coordinates_)


def test_contributions_and_cosines_add_up():
    model = CA(None).fit(COUNTS)
    for parts in (model.row_contributions(COUNTS), model.column_contributions_):
        np.testing.assert_allclose(parts.sum(axis=0), 1.0)
    for parts in (model.row_cos2(COUNTS), model.column_cos2_):
        np.testing.assert_allclose(parts.sum(axis=1), 1.0)


def test_the_transposed_table_swaps_rows_and_columns():
    a, b = CA(3).fit(COUNTS), CA(3).fit(COUNTS.T)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-10)
    same(a.transform(COUNTS), b.column_coordinates_)


def test_all_axes_give_the_profiles_back():
    model = CA(None).fit(COUNTS)
    profiles = model.inverse_transform(model.transform(COUNTS))
    np.testing.assert_allclose(profiles, COUNTS / COUNTS.sum(axis=1, keepdims=True), atol=1e-12)


def test_streams_sparse_counts_and_frames_agree():
    want = CA(3).fit(COUNTS)
    frame = pd.DataFrame(COUNTS)
    frame.columns = [f"w{j}" for j in range(9)]
    for X in (iter(np.array_split(COUNTS, 4)), sp.csr_array(COUNTS), frame, pl.from_pandas(frame), COUNTS * 0.01):
        model = CA(3).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-10)
        same(model.column_coordinates_, want.column_coordinates_)
        np.testing.assert_allclose(model.column_cos2_, want.column_cos2_, atol=1e-10)
    same(CA(3).fit(sp.csr_array(COUNTS)).transform(sp.csr_array(COUNTS)), want.transform(COUNTS))
    share = CA(0.8).fit(iter(np.array_split(COUNTS, 4)))
    assert share.n_components_ == CA(0.8).fit(COUNTS).n_components_


def test_rows_and_columns_without_counts_have_no_mass():
    padded = np.pad(COUNTS, ((0, 1), (0, 1)))
    want = CA(3).fit(COUNTS)
    for X in (padded, sp.csr_array(padded)):
        model = CA(3).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(model.transform(X)[-1], 0.0, atol=1e-12)
        assert (model.column_coordinates_[-1] == 0).all() and (model.row_cos2(X)[-1] == 0).all()


def test_what_ca_refuses():
    with pytest.raises(BadInput, match=r"row 1, column 2 is -1"):
        CA().fit(np.array([[1, 2, 3], [3, 2, -1], [1, 1, 1]]))
    with pytest.raises(NotEnoughData, match="no counts"):
        CA().fit(np.zeros((3, 3)))
    with pytest.raises(NotEnoughData, match="n_components=5 must be at most 4"):
        CA(5).fit(SMOKE)


def test_the_trivial_axis_has_no_inertia():
    model = CA(4).fit(SMOKE)  # one more than there are
    np.testing.assert_allclose(model.eigenvalues_[3], 0.0, atol=1e-12)
    np.testing.assert_allclose(model.transform(SMOKE)[:, 3], 0.0, atol=1e-12)
    assert CA(None).fit(SMOKE).n_components_ == 3


def test_ca_agrees_with_prince():
    theirs = prince.CA(n_components=3, random_state=0).fit(pd.DataFrame(COUNTS))
    ours = CA(3).fit(COUNTS)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    same(ours.column_coordinates_, theirs.column_coordinates(pd.DataFrame(COUNTS)).to_numpy(), 1e-7)
    same(ours.column_contributions_, theirs.column_contributions_.to_numpy(), 1e-7)
    same(ours.transform(COUNTS), theirs.row_coordinates(pd.DataFrame(COUNTS)).to_numpy(), 1e-7)


# ---- MCA ----


def test_mca_is_ca_of_the_indicators():
    mca, ca = MCA(None).fit(SURVEY), CA(6).fit(INDICATORS)
    np.testing.assert_allclose(mca.eigenvalues_, ca.eigenvalues_, rtol=1e-9)
    same(mca.transform(SURVEY), ca.transform(INDICATORS))
    np.testing.assert_allclose(
        np.sort(np.abs(mca.category_coordinates_), axis=0), np.sort(np.abs(ca.column_coordinates_), axis=0)
    )
    np.testing.assert_allclose(np.sort(mca.category_cos2_, axis=0), np.sort(ca.column_cos2_, axis=0), atol=1e-10)
    np.testing.assert_allclose(mca.total_inertia_, 9 / 3 - 1)
    np.testing.assert_allclose(mca.category_cos2_.sum(axis=1), 1.0)
    np.testing.assert_allclose(mca.row_contributions(SURVEY).sum(axis=0), 1.0)


def test_the_burt_matrix_has_the_squares_of_the_inertias():
    indicator, burt = MCA(4).fit(SURVEY), MCA(4, table="burt").fit(SURVEY)
    ca = CA(4).fit(INDICATORS.T @ INDICATORS)
    np.testing.assert_allclose(burt.eigenvalues_, indicator.eigenvalues_**2, rtol=1e-9)
    np.testing.assert_allclose(burt.eigenvalues_, ca.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(burt.total_inertia_, ca.total_inertia_, rtol=1e-9)
    np.testing.assert_allclose(burt.explained_variance_ratio_, ca.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(
        np.sort(np.abs(burt.category_coordinates_), axis=0), np.sort(np.abs(ca.column_coordinates_), axis=0), atol=1e-9
    )
    np.testing.assert_allclose(burt.row_contributions(SURVEY), indicator.row_contributions(SURVEY), atol=1e-12)


def test_eta_squared_is_the_share_of_variance_between_categories():
    for model, table in ((MCA(3), SURVEY), (FAMD(3), MIXED)):
        Z = model.fit_transform(table)
        for j, name in enumerate(table.columns):
            if table[name].dtype.kind == "f":
                want = [np.corrcoef(table[name], z)[0, 1] ** 2 for z in Z.T]
            else:
                means = pd.DataFrame(Z).groupby(table[name].to_numpy()).transform("mean").to_numpy()
                want = means.var(axis=0) / Z.var(axis=0)
            np.testing.assert_allclose(model.eta_squared_[j], want, atol=1e-10)


def test_corrections_of_the_inertias():
    raw = MCA(None).fit(SURVEY).eigenvalues_
    Q, J = 3, 9
    adjusted = np.where(raw > 1 / Q, (Q / (Q - 1) * (raw - 1 / Q)) ** 2, 0)
    benzecri, greenacre = (MCA(2, correction=name).fit(SURVEY) for name in ("benzecri", "greenacre"))
    np.testing.assert_allclose(benzecri.explained_variance_, adjusted[:2], rtol=1e-9)
    np.testing.assert_allclose(benzecri.explained_variance_ratio_, adjusted[:2] / adjusted.sum(), rtol=1e-9)
    # Greenacre: the average inertia of the tables off the diagonal of the Burt matrix.
    blocks = [
        INDICATORS[:, [c.startswith(name) for c in pd.get_dummies(SURVEY.astype(str)).columns]] for name in SURVEY
    ]
    pairs = [CA(None).fit(a.T @ b).total_inertia_ for a in blocks for b in blocks if a is not b]
    np.testing.assert_allclose(greenacre.explained_variance_ratio_, adjusted[:2] / np.mean(pairs), rtol=1e-8)
    assert (greenacre.explained_variance_ratio_ < benzecri.explained_variance_ratio_).all()
    assert len(greenacre.category_names_) == J
    with pytest.raises(BadInput, match="at least 2 columns"):
        MCA(1, correction="benzecri").fit(SURVEY[["grade"]])


def test_mca_agrees_with_prince():
    table = SURVEY.astype(str)
    theirs = prince.MCA(n_components=3, random_state=0, one_hot=True).fit(table)
    ours = MCA(3).fit(SURVEY)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    same(ours.transform(SURVEY), theirs.row_coordinates(table).to_numpy(), 1e-7)
    corrected = prince.MCA(n_components=3, random_state=0, correction="benzecri").fit(table)
    np.testing.assert_allclose(
        MCA(3, correction="benzecri").fit(SURVEY).explained_variance_, corrected.eigenvalues_, rtol=1e-7, atol=1e-12
    )


# ---- FAMD ----


def test_famd_of_numbers_is_standardized_pca():
    famd, pca = FAMD(None).fit(NUMBERS), PCA(None, standardize=True, ddof=0).fit(NUMBERS)
    np.testing.assert_allclose(famd.eigenvalues_, pca.explained_variance_, rtol=1e-10)
    same(famd.transform(NUMBERS), pca.transform(NUMBERS))
    same(famd.correlation_loadings_, pca.correlation_loadings_)
    np.testing.assert_allclose(famd.inverse_transform(famd.transform(NUMBERS)), NUMBERS, atol=1e-10)


def test_famd_of_categories_is_mca_times_the_number_of_columns():
    table = SURVEY.astype(str)
    famd, mca = FAMD(4).fit(table), MCA(4).fit(table)
    np.testing.assert_allclose(famd.eigenvalues_, 3 * mca.eigenvalues_, rtol=1e-9)
    same(famd.transform(table), np.sqrt(3) * mca.transform(table))
    np.testing.assert_allclose(famd.eta_squared_, mca.eta_squared_, atol=1e-10)
    np.testing.assert_allclose(famd.category_contributions_, mca.category_contributions_, atol=1e-10)


def test_famd_of_mixed_columns():
    model = FAMD(None).fit(MIXED)
    Z = model.transform(MIXED)
    np.testing.assert_allclose(Z.var(axis=0), model.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.total_inertia_, 3 + 5 - 2)
    np.testing.assert_allclose(model.eta_squared_.sum(axis=0), model.eigenvalues_, rtol=1e-10)
    for parts in (model.column_contributions_, model.row_contributions(MIXED)):
        np.testing.assert_allclose(parts.sum(axis=0), 1.0)
    np.testing.assert_allclose(model.row_cos2(MIXED).sum(axis=1), 1.0)
    np.testing.assert_allclose(model.category_cos2_.sum(axis=1), 1.0)
    means = pd.DataFrame(Z).groupby(MIXED.color.to_numpy()).mean()
    at = [list(model.category_names_).index(f"color={name}") for name in means.index]
    np.testing.assert_allclose(model.category_coordinates_[at], means, atol=1e-10)
    back = model.inverse_transform(Z)
    np.testing.assert_allclose(back[:, :3].astype(float), NUMBERS, atol=1e-10)
    assert (back[:, 3:] == MIXED[["color", "size"]].to_numpy()).all()


def test_famd_agrees_with_prince():
    theirs = prince.FAMD(n_components=3, random_state=0).fit(MIXED)
    ours = FAMD(3).fit(MIXED)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.percentage_of_variance_ / 100, rtol=1e-6)


def test_weights_are_multiplicities():
    weights = RNG.integers(0, 4, size=N)
    repeated = MIXED.loc[np.repeat(np.arange(N), weights)].reset_index(drop=True)
    for make, table, whole in ((FAMD, MIXED, repeated), (MCA, SURVEY, SURVEY.loc[np.repeat(np.arange(N), weights)])):
        a, b = make(3).fit(table, sample_weight=weights), make(3).fit(whole)
        np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(a.eta_squared_, b.eta_squared_, atol=1e-9)


# ---- what comes in ----


def test_frames_arrays_and_lists_agree(tmp_path):
    MIXED.to_csv(tmp_path / "mixed.csv", index=False)
    want = FAMD(3).fit(MIXED).transform(MIXED)
    table = lowdim.read_table(tmp_path / "mixed.csv", encode="categories")
    assert list(table.categories) == ["color", "size"] and table.labels is None
    for X in (pl.from_pandas(MIXED), pa.Table.from_pandas(MIXED), MIXED.to_numpy(), MIXED.to_numpy().tolist()):
        same(FAMD(3).fit_transform(X), want)
    same(FAMD(3).fit_transform(table), want, 1e-6)
    same(FAMD(3).fit_transform(str(tmp_path / "mixed.csv")), want, 1e-6)
    same(MCA(2).fit_transform(SURVEY.to_numpy()), MCA(2).fit_transform(SURVEY))
    same(MCA(2).fit_transform(SURVEY.astype("category")), MCA(2).fit_transform(SURVEY.astype(str)))


def test_numbers_that_are_codes():
    table = NUMBERS.assign(grade=SURVEY.grade)
    texts = table.assign(grade=SURVEY.grade.astype(str))
    for categorical in (["grade"], [3]):
        same(FAMD(3, categorical=categorical).fit_transform(table), FAMD(3).fit_transform(texts))
    with pytest.raises(BadInput, match="no column 'grades'"):
        FAMD(categorical=["grades"]).fit(table)
    with pytest.raises(BadInput, match="no column 9"):
        FAMD(categorical=[9]).fit(table)
    with pytest.raises(BadParameter, match="list of column names"):
        FAMD(categorical="grade").fit(table)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("make", [MCA, FAMD])
def test_missing_categories(make, missing):
    table = SURVEY.astype(object)
    table.iloc[[3, 8], 0] = missing
    with pytest.raises(BadInput, match=r"row 3 has no category in column 'color' \(2 are missing\)"):
        make().fit(table)
    filled = table.copy()
    filled.iloc[[3, 8], 0] = "missing"
    model = make(2, handle_missing="category").fit(table)
    same(model.transform(table), make(2).fit_transform(filled))
    assert "color=missing" in model.category_names_


@pytest.mark.parametrize("make", [MCA, FAMD])
def test_unknown_categories(make):
    new = SURVEY.astype(str).head(4).copy()
    model = make(2).fit(SURVEY.astype(str))
    known = model.transform(new)
    new.loc[1, "color"] = "violet"
    with pytest.raises(BadInput, match=r"row 1 has the category 'violet' in column 'color'"):
        model.transform(new)
    placed = model.set_params(handle_unknown="ignore").transform(new)
    np.testing.assert_array_equal(placed[[0, 2, 3]], known[[0, 2, 3]])
    # Such a column adds nothing: the row lies where its other columns put it.
    factor = 3 if make is MCA else 1
    others = model.category_coordinates_[
        [list(model.category_names_).index(f"{c}={new.loc[1, c]}") for c in ("size", "grade")]
    ]
    np.testing.assert_allclose(
        placed[1],
        others.sum(axis=0) / (factor * np.sqrt(model.eigenvalues_) if make is MCA else model.eigenvalues_),
        atol=1e-9,
    )


def test_what_is_refused():
    with pytest.raises(BadInputType, match="sparse"):
        MCA().fit(sp.csr_array(INDICATORS))
    with pytest.raises(BadInput, match=r"NaN: row 2 has no value in column 'b'"):
        FAMD().fit(MIXED.assign(b=[*NUMBERS.b[:2], np.nan, *NUMBERS.b[3:]]))
    with pytest.raises(NotEnoughData, match="n_components=7 must be at most 6"):
        FAMD(7).fit(MIXED)
    with pytest.raises(NotEnoughData, match="do not differ"):
        MCA(1).fit(np.array([["a", "b"]] * 5))
    with pytest.raises(BadInput, match="infinity at row 0"):
        FAMD().fit(MIXED.assign(a=np.inf))
    with pytest.raises(BadInput, match="held numbers in the fit"):
        FAMD().fit(MIXED).transform(MIXED.assign(a="x"))


def test_models_keep_their_maps(tmp_path):
    for model, table in ((CA(2), COUNTS), (MCA(2, correction="greenacre"), SURVEY), (FAMD(2), MIXED)):
        Z = model.fit_transform(table)
        lowdim.save(model, tmp_path / "m.lowdim")
        again = lowdim.load(tmp_path / "m.lowdim")
        np.testing.assert_array_equal(again.transform(table), Z)
        np.testing.assert_array_equal(again.explained_variance_ratio_, model.explained_variance_ratio_)


def test_many_categories_stay_sparse():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 60, size=(400, 3))
    many = MCA(2).fit(codes)
    dense = CA(2).fit(np.hstack([np.eye(60)[c] for c in codes.T]))
    np.testing.assert_allclose(many.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
