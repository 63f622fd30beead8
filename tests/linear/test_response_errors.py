"""What is wrong with a response is named, the same way by every method that takes one."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import LDA, LSIR, PHD, SAVE, SIR, DirectionalRegression
from lowdim.errors import BadInput, BadInputType, NotEnoughData

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 3)), rng.normal(size=30)
CLASSES = np.repeat(["a", "b", "c"], 10)
COLLINEAR = np.column_stack([X, X[:, 0] + X[:, 1]])
METHODS = {cls.__name__: cls for cls in (LDA, SIR, SAVE, PHD, DirectionalRegression, LSIR)}
SLICED = ["SIR", "SAVE", "DirectionalRegression", "LSIR"]
FITS = None  # in place of an error: the method can deal with it, and its result is finite

# What is wrong: rows, response, options, and by method the error and its words.
WRONG = {
    "no y": (X, None, {}, dict.fromkeys(METHODS, (BadInput, "requires y to be passed"))),
    "one class": (
        X, ["a"] * 30, {},
        {"LDA": (NotEnoughData, "at least 2 classes"), "PHD": (BadInputType, "For classes use SIR")}
        | dict.fromkeys(SLICED, (BadInput, r"one class \(a\)")),
    ),
    "constant y": (
        X, np.full(30, 2.5), {},
        {"LDA": (BadInput, "y does not hold classes.*continuous.*such as SIR"), "PHD": (BadInput, "y is constant")}
        | dict.fromkeys(SLICED, (BadInput, r"y is constant or has one class \(2.5\)")),
    ),
    "class of one row": (
        X, ["a"] * 15 + ["b"] * 14 + ["c"], {},
        {"LDA": FITS, "SIR": FITS, "LSIR": FITS, "PHD": (BadInputType, "For classes use SIR")}
        | dict.fromkeys(["SAVE", "DirectionalRegression"], (NotEnoughData, r"has 1 row.*at least 2.*fewer slices")),
    ),
    "every row its own class": (
        X, [f"row {i}" for i in range(30)], {},
        {"LDA": (NotEnoughData, "more rows than classes"), "PHD": (BadInputType, "For classes use SIR")}
        | dict.fromkeys(SLICED, (NotEnoughData, "30 slices of 30 rows")),
    ),
    "more slices than rows": (
        X, Y, {"n_slices": 31, "slicing": "quantile"},
        dict.fromkeys(SLICED, (NotEnoughData, "n_slices=31 is more than the 30 rows")),
    ),
    "collinear columns": (COLLINEAR, CLASSES, {}, {"LDA": FITS}),
    "collinear columns, no shrinkage": (
        COLLINEAR, Y, {"shrinkage": None},
        dict.fromkeys([*SLICED, "PHD"], (BadInput, r"collinear.*columns 0, 1, 3")),
    ),
    "NaN in y": (
        X, np.where(np.arange(30) == 4, np.nan, Y), {},
        {"LSIR": FITS}  # a row without a label
        | dict.fromkeys(["LDA", "SIR", "SAVE", "PHD", "DirectionalRegression"], (BadInput, r"y contains NaN.*row 4")),
    ),
    "all of y NaN": (
        X, np.full(30, np.nan), {},
        {"LSIR": (NotEnoughData, "0 of 30 rows have a label")}
        | dict.fromkeys(["LDA", "SIR", "SAVE", "PHD", "DirectionalRegression"], (BadInput, "y contains NaN")),
    ),
    "None among labels": (
        X, [None, *CLASSES[1:]], {},
        {"LSIR": FITS, "PHD": (BadInputType, "For classes use SIR")}
        | dict.fromkeys(["LDA", "SIR", "SAVE", "DirectionalRegression"], (BadInput, "y contains NaN or None in 1 of")),
    ),
    "y too short": (X, Y[:20], {}, dict.fromkeys(METHODS, (BadInput, "30"))),
    "a cube as y": (X, np.zeros((30, 1, 1)), {}, dict.fromkeys(METHODS, (BadInput, "shape|dimension|column"))),
    "every column constant": (
        np.ones((30, 3)), np.arange(30.0) // 10, {},
        {"LDA": (NotEnoughData, "no column varies within the classes")}
        | dict.fromkeys([*SLICED, "PHD"], (BadInput, "every column of X is constant")),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("what", "name"), [(what, name) for what, (*_, outcomes) in WRONG.items() for name in outcomes]
)
def test_a_bad_response_is_named(what, name):
    rows, y, options, outcomes = WRONG[what]
    model = METHODS[name](**options)
    if outcomes[name] is FITS:
        assert np.isfinite(model.fit(rows, y).transform(rows)).all()
        return
    error, words = outcomes[name]
    with pytest.raises(error, match=words):
        model.fit(rows, y)
    assert not [attribute for attribute in vars(model) if attribute.endswith("_")]


def test_every_promised_error_is_tried_with_every_method():
    """Methods without slices can't have too many, and LDA leaves collinear columns out by itself."""
    missing = {what: sorted(set(METHODS) - set(outcomes)) for what, (*_, outcomes) in WRONG.items()}
    assert {what: names for what, names in missing.items() if names} == {
        "more slices than rows": ["LDA", "PHD"],
        "collinear columns": sorted([*SLICED, "PHD"]),
        "collinear columns, no shrinkage": ["LDA"],
    }


def test_lsir_does_not_stream_and_says_so():
    with pytest.raises(BadInputType, match=r"LSIR does not stream.*use SIR"):
        LSIR().fit(iter([(X, Y)]))
    with pytest.raises(BadInputType, match="LSIR does not stream"):
        LSIR().fit(lambda: iter([(X, Y)]))
