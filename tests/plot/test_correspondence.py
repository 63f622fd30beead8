"""Maps of CA, MCA and FAMD: what is drawn is where the model says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lowdim import CA, FAMD, MCA, PCA, plot
from lowdim.errors import BadInput, BadParameter

pytestmark = pytest.mark.usefixtures("clean_matplotlib")

COUNTS = pd.DataFrame(
    [[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]],
    index=["senior managers", "junior managers", "senior employees", "junior employees", "secretaries"],
    columns=["none", "light", "medium", "heavy"],
)
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.choice(list("xyz"), 40), "b": RNG.choice(list("uv"), 40), "c": RNG.normal(size=40)})


def places(ax):
    return [np.asarray(drawn.get_offsets()) for drawn in ax.collections if len(drawn.get_offsets())]


def texts(ax):
    return {text.get_text() for text in ax.texts}


def test_rows_and_columns_of_counts():
    model = CA(3).fit(COUNTS)
    ax = plot.correspondence_biplot(model, COUNTS, axes=(0, 2))
    rows, columns = places(ax)
    np.testing.assert_allclose(rows, model.transform(COUNTS)[:, [0, 2]])
    np.testing.assert_allclose(columns, model.column_coordinates_[:, [0, 2]])
    assert {*COUNTS.index, *COUNTS.columns} <= texts(ax)
    assert ax.get_xlabel() == "CA 1 (87.8% of the inertia)"
    plain = COUNTS.reset_index(drop=True)  # without names of rows
    assert not set(COUNTS.index) & texts(plot.correspondence_biplot(model, plain))


def test_categories_over_rows():
    table = TABLE[["a", "b"]]
    model = MCA(2).fit(table)
    ax = plot.category_map(model, table)
    found = np.vstack(places(ax)[1:])
    np.testing.assert_allclose(found, model.category_coordinates_)
    assert set(model.category_names_) <= texts(ax)
    famd = FAMD(2).fit(TABLE)
    assert set(famd.category_names_) <= texts(plot.category_map(famd, TABLE, TABLE.a))
    with pytest.raises(BadInput, match="numbers alone"):
        plot.category_map(FAMD(1).fit(TABLE[["c"]]))


def test_columns_by_their_squared_correlations():
    model = FAMD(2).fit(TABLE)
    ax = plot.variable_map(model)
    numbers, categories = places(ax)
    np.testing.assert_allclose(numbers, model.eta_squared_[2:])
    np.testing.assert_allclose(categories, model.eta_squared_[:2])
    assert {"a", "b", "c"} <= texts(ax)


def test_what_is_refused():
    with pytest.raises(BadParameter, match="axes must be two numbers from 0 to 1"):
        plot.correspondence_biplot(CA(2).fit(COUNTS), COUNTS, axes=(0, 2))
    with pytest.raises(BadInput, match="at least 2 components"):
        plot.variable_map(FAMD(1).fit(TABLE))
    with pytest.raises(BadInput, match="one name per row"):
        plot.correspondence_biplot(CA(2).fit(COUNTS), COUNTS, row_names=["a"])
    with pytest.raises(BadInput):
        plot.category_map(PCA(2).fit(COUNTS))
