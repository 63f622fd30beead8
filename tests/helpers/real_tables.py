"""Real tables, from what scikit-learn, statsmodels and palmerpenguins ship: small samples of them, as frames."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

ROWS = 48  # of each table at most


@dataclass(frozen=True)
class RealTable:
    """A frame, and the columns that supervised methods take: classes, and a response of many values."""

    frame: pd.DataFrame
    classes: str
    response: str


def penguins() -> RealTable:
    """Text, text with gaps, numbers with gaps."""
    from palmerpenguins import load_penguins

    return RealTable(load_penguins().sort_values("year", kind="stable"), "species", "body_mass_g")


def iris() -> RealTable:
    return _sklearn("iris", "target")


def wine() -> RealTable:
    """Columns of very different scales."""
    return _sklearn("wine", "target", "alcohol")


def breast_cancer() -> RealTable:
    """Thirty correlated columns, names with blanks, a numeric id."""
    table = _sklearn("breast_cancer", "target", "mean area")
    frame = table.frame.copy()
    frame.insert(0, "patient id", 842300 + 7 * np.arange(len(frame)))
    return RealTable(frame, table.classes, table.response)


def digits() -> RealTable:
    """Pixels: constant columns, no units."""
    return _sklearn("digits", "target", "pixel_3_3")


def diabetes() -> RealTable:
    """A numeric response, classes of two whole numbers, no text at all."""
    table = _sklearn("diabetes", "sex", "target")
    return RealTable(table.frame.assign(sex=1 + (table.frame["sex"] > 0)), table.classes, table.response)


def linnerud() -> RealTable:
    """Twenty rows."""
    from sklearn.datasets import load_linnerud

    frame = load_linnerud(as_frame=True).frame
    return RealTable(frame.assign(heavy=np.where(frame["Weight"] > 176, "yes", "no")), "heavy", "Pulse")


def states() -> RealTable:
    """Row names, as of USArrests."""
    return _statsmodels("statecrime", lambda f: f.assign(safe=f["murder"] < 4).reset_index(), "safe", "murder")


def stackloss() -> RealTable:
    """Twenty-one rows, four columns."""
    return _statsmodels("stackloss", lambda f: f.assign(high=(f["STACKLOSS"] > 15).astype(int)), "high", "STACKLOSS")


def longley() -> RealTable:
    """Sixteen rows, nearly collinear columns, a year."""
    return _statsmodels("longley", lambda f: f.assign(war=np.where(f["YEAR"] < 1955, "a", "b")), "war", "TOTEMP")


def affairs() -> RealTable:
    """Codes and few values, repeated rows."""
    return _statsmodels("fair", lambda f: f, "religious", "affairs")


def election() -> RealTable:
    """Answers on scales of different lengths, logarithms, counts."""
    return _statsmodels("anes96", lambda f: f, "vote", "age")


def quarters() -> RealTable:
    """A time series: numbers of years and quarters, a date as text."""

    def dated(frame: pd.DataFrame) -> pd.DataFrame:
        year, month = frame["year"].astype(int).astype(str), (3 * frame["quarter"]).astype(int).astype(str).str.zfill(2)
        return frame.assign(date=year + "-" + month + "-01")

    return _statsmodels("macrodata", dated, "quarter", "unemp")


def questionnaire() -> RealTable:
    """Answers from 1 to 5 with gaps, a respondent's number, free text."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(ROWS, 3)) @ np.kron(np.eye(3), np.ones((1, 4)))
    answers = np.clip(np.rint(3 + latent + 0.7 * rng.normal(size=latent.shape)), 1, 5)
    answers[rng.uniform(size=answers.shape) < 0.03] = np.nan
    answers[7] = np.nan  # sent back empty
    frame = pd.DataFrame(answers, columns=[f"q{i + 1}" for i in range(12)])
    frame.insert(0, "respondent", np.arange(1, ROWS + 1))
    frame["group"] = np.where(np.arange(ROWS) % 3 == 0, "control", "treated")
    frame["remark"] = ["", "fine", "too long, and dull", "=1+1"] * (ROWS // 4)
    frame["age"] = 20 + 7 * np.arange(ROWS) % 50
    return RealTable(frame, "group", "age")


def words() -> RealTable:
    """TF-IDF of the paragraphs that describe scikit-learn's data: most cells are zero."""
    from sklearn import datasets
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, titles = [], []
    for name in ("breast_cancer", "diabetes", "wine", "digits"):
        described = getattr(datasets, f"load_{name}")().DESCR
        parts = [part for part in re.split(r"\n\s*\n", described) if len(part.split()) > 8][:15]
        texts += parts
        titles += [name] * len(parts)
    found = TfidfVectorizer(max_features=150, stop_words="english", token_pattern=r"[a-z]{3,}").fit(texts)
    weights = found.transform(texts).toarray()
    frame = pd.DataFrame(weights, columns=found.get_feature_names_out())
    return RealTable(frame.assign(document=titles), "document", str(frame.columns[frame.var().argmax()]))


TABLES: dict[str, Callable[[], RealTable]] = {
    make.__name__: make
    for make in (
        penguins,
        iris,
        wine,
        breast_cancer,
        digits,
        diabetes,
        linnerud,
        states,
        stackloss,
        longley,
        affairs,
        election,
        quarters,
        questionnaire,
        words,
    )
}


def load(name: str) -> RealTable:
    """A real table by name, with rows from its whole length."""
    table = TABLES[name]()
    frame: Any = table.frame.reset_index(drop=True)
    kept = np.linspace(0, len(frame) - 1, min(ROWS, len(frame))).astype(int)
    return RealTable(frame.iloc[kept].reset_index(drop=True), table.classes, table.response)


def _sklearn(name: str, classes: str, response: str | None = None) -> RealTable:
    from sklearn import datasets

    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return RealTable(frame, classes, response or str(frame.columns[0]))


def _statsmodels(name: str, edit: Callable[[pd.DataFrame], pd.DataFrame], classes: str, response: str) -> RealTable:
    from importlib import import_module

    return RealTable(edit(import_module(f"statsmodels.datasets.{name}").load_pandas().data), classes, response)
