"""The numbers that R's FactoMineR prints for its own tables: house tasks, food poisoning, decathlon.

The tables of the poisoning and of the decathlon come with prince. FactoMineR's signs of axes are arbitrary, and so are
ours, so one sign per axis is free.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import prince
import pytest

from lowdim import CA, FAMD, MCA, PCA

TASKS = pd.DataFrame(
    [
        [156, 14, 2, 4],
        [124, 20, 5, 4],
        [77, 11, 7, 13],
        [82, 36, 15, 7],
        [53, 11, 1, 57],
        [32, 24, 4, 53],
        [33, 23, 9, 55],
        [12, 46, 23, 15],
        [10, 51, 75, 3],
        [13, 13, 21, 66],
        [8, 1, 53, 77],
        [0, 3, 160, 2],
        [0, 1, 6, 153],
    ],
    columns=["Wife", "Alternating", "Husband", "Jointly"],
)


@pytest.fixture(scope="module")
def poison() -> pd.DataFrame:
    table: pd.DataFrame = prince.datasets.load_poison()
    names = ["Age", "Time", "Sick", "Sex", "Nausea", "Vomiting", "Abdominals", "Fever", "Diarrhae", "Potato", "Fish"]
    names += ["Mayo", "Courgette", "Cheese", "Icecream"]
    assert table.shape == (55, 15)
    table.columns = pd.Index(names)
    return table.reset_index(drop=True)


def agree(ours: np.ndarray, published: object, atol: float = 5e-7) -> None:
    """Equal up to one sign per column."""
    theirs = np.asarray(published, dtype=float)
    signs = np.sign((np.asarray(ours) * theirs).sum(axis=0))
    np.testing.assert_allclose(ours * signs, theirs, atol=atol)


def test_ca_of_house_tasks():
    model = CA(None).fit(TASKS)
    np.testing.assert_allclose(model.eigenvalues_, [0.5428893, 0.4450028, 0.1270484], atol=5e-8)
    np.testing.assert_allclose(100 * model.explained_variance_ratio_, [48.69222, 39.91269, 11.39509], atol=5e-6)
    np.testing.assert_allclose(model.total_inertia_ * TASKS.to_numpy().sum(), 1944.456, atol=5e-4)
    Z = model.transform(TASKS)
    some = [0, 1, 7, 8, 11, 12]  # laundry, main meal, official, driving, repairs, holidays
    coordinates = [
        [-0.9918368, 0.4953220, -0.31672897],
        [-0.8755855, 0.4901092, -0.16406487],
        [0.2266324, 0.2536132, 0.92336416],
        [0.7417696, 0.6534143, 0.54445849],
        [1.5287787, 0.8642647, -0.47208778],
        [0.2524863, -1.4350066, -0.12958665],
    ]
    agree(Z[some], coordinates)
    wife_to_jointly = [
        [-0.83762154, 0.3652207, -0.19991139],
        [-0.06218462, 0.2915938, 0.84858939],
        [1.16091847, 0.6019199, -0.18885924],
        [0.14942609, -1.0265791, -0.04644302],
    ]
    agree(model.column_coordinates_, wife_to_jointly)
    contributions = 100 * model.row_contributions(TASKS)[[0, 11, 12]]
    published = [[18.2867003, 5.5638913, 7.96842443], [40.7300940, 15.8806509, 16.59639139]]
    np.testing.assert_allclose(contributions, [*published, [1.0773030, 42.4539986, 1.21261994]], atol=5e-7)
    np.testing.assert_allclose(model.row_cos2(TASKS)[0], [0.73998741, 0.18455213, 0.075460467], atol=5e-8)
    np.testing.assert_allclose(model.column_cos2_[3], [0.020705858, 0.9772939, 0.002000236], atol=5e-8)


def test_mca_of_the_poisoning(poison):
    model = MCA(None).fit(poison.iloc[:, 4:])
    published = [0.33523140, 0.12913979, 0.10734849, 0.09587950, 0.07883277, 0.07108981]
    published += [0.06016580, 0.05577301, 0.04120578, 0.01304158, 0.01229208]
    np.testing.assert_allclose(model.eigenvalues_, published, atol=5e-9)
    np.testing.assert_allclose(100 * model.explained_variance_ratio_[:3], [33.523140, 12.913979, 10.734849], atol=5e-7)


def test_famd_of_the_poisoning(poison):
    model = FAMD(5).fit(poison)
    published = [5.3791999253, 1.4949604118, 1.4291879703, 1.1150041618, 1.0113326456]
    np.testing.assert_allclose(model.eigenvalues_, published, atol=5e-10)
    shares = [35.8613328352, 9.9664027453, 9.5279198017, 7.4333610787, 6.7422176375]
    np.testing.assert_allclose(100 * model.explained_variance_ratio_, shares, atol=5e-10)
    rows = [
        [-2.0755147182, -0.02730307749, -0.89042559664, 0.55800491231, -1.2053347899],
        [3.4252166305, -0.4165695544, -0.25579281526, -0.33531806406, -0.66631082864],
        [-1.7972741928, -0.6359080102, 0.32165536686, -0.76163063789, -0.81911770776],
        [-1.2117678234, 5.2553520158, 4.0228060668, 2.5923276281, 1.4188388533],
    ]
    agree(model.transform(poison)[[0, 1, 2, 5]], rows, 5e-10)
    at = [list(model.category_names_).index(name) for name in ("Mayo=Mayo_n", "Courgette=Courg_n")]
    categories = [
        [2.9218662786, -0.41996525803, 0.15281893623, 0.44241620393, 0.43764345927],
        [-0.71511300319, -1.9020340841, 1.5308022567, 0.64870718429, 0.9345566064],
    ]
    agree(model.category_coordinates_[at], categories, 5e-10)
    cos2 = [0.79778142327, 0.016481243502, 0.0021823157717, 0.018290488174, 0.017897984647]
    np.testing.assert_allclose(model.category_cos2_[at[0]], cos2, atol=5e-10)
    contributions = [5.3644180053, 1.434843898, 0.20788011623, 2.8625058559, 3.4047885205]
    np.testing.assert_allclose(100 * model.category_contributions_[at[0]], contributions, atol=5e-9)


def test_pca_of_the_decathlon():
    events = prince.datasets.load_decathlon().iloc[:, :10]
    assert events.shape == (41, 10)
    model = PCA(None, standardize=True, ddof=0).fit(events.to_numpy())
    published = [3.2719055, 1.7371310, 1.4049167, 1.0568504, 0.6847735]
    published += [0.5992687, 0.4512353, 0.3968766, 0.2148149, 0.1822275]
    np.testing.assert_allclose(model.explained_variance_, published, atol=5e-8)
    np.testing.assert_allclose(100 * model.explained_variance_ratio_[:2], [32.719055, 17.371310], atol=5e-7)
