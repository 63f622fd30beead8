"""All rules in one table."""

from __future__ import annotations

import json
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lowdim import choose
from lowdim.errors import BadInput, MissingExtra

NAMES = [
    "share(0.95)",
    "parallel_analysis",
    "minka",
    "broken_stick",
    "kaiser",
    "gavish_donoho",
    "marchenko_pastur",
    "elbow",
    "elbow(likelihood)",
]


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(10, 3)))[0]
    return 8 * rng.normal(size=(250, 3)) @ axes.T + rng.normal(size=(250, 10))


def test_every_rule_appears_once_with_its_own_result(X):
    choices = choose.table(X, replicates=40, random_state=3)
    assert [v.rule for v in choices.verdicts] == NAMES
    counts = {v.rule: v.k for v in choices.verdicts}
    assert counts["parallel_analysis"] == choices.parallel.k == 3
    assert counts["parallel_analysis"] == choose.parallel_analysis(40, random_state=3)(choices.spectrum)
    for rule in (choose.share(), choose.minka(), choose.kaiser(), choose.elbow("likelihood")):
        assert counts[rule.name] == rule(choices.spectrum) == 3


def test_the_spectrum_is_that_of_the_covariance_or_correlation(X):
    for standardize, C in [(False, np.cov(X.T)), (True, np.corrcoef(X.T))]:
        values = choose.table(X, standardize=standardize, replicates=2).spectrum.values
        np.testing.assert_allclose(values, np.linalg.eigvalsh(C)[::-1], rtol=1e-10)
    values = choose.table(X, ddof=0, replicates=2).spectrum.values
    np.testing.assert_allclose(values, np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1], rtol=1e-10)


def test_dict_is_json_and_complete(X):
    choices = choose.table(X, replicates=5)
    back = json.loads(json.dumps(choices.to_dict(), allow_nan=False))
    assert back["n"] == 250 and back["d"] == 10 and back["standardized"] is False
    np.testing.assert_array_equal(back["eigenvalues"], choices.spectrum.values)
    np.testing.assert_array_equal(back["parallel"]["band"], choices.parallel.band)
    assert [v["rule"] for v in back["verdicts"]] == NAMES
    assert all(v["reason"] for v in back["verdicts"])


def test_pandas_is_tidy(X):
    frame = choose.table(X, replicates=5).to_pandas()
    assert list(frame.columns) == ["rule", "k", "share", "reason"]
    shares = np.cumsum(choose.spectrum(X).shares)
    np.testing.assert_allclose(frame["share"], shares[frame["k"] - 1])


def test_without_pandas_there_is_a_named_error(X, monkeypatch):
    choices = choose.table(X, replicates=2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        choices.to_pandas()


def test_text_is_aligned(X):
    lines = str(choose.table(X, replicates=5)).splitlines()
    assert "250 rows × 10 columns, covariance" in lines[0]
    assert [line.split()[0] for line in lines[2:5]] == ["recommended", "why", "agreement"]
    head, body = lines[6], lines[7:]
    assert len(body) == len(NAMES)
    column = head.index("why")
    assert all(line[column - 1] == " " and line[column] != " " for line in body)
    assert all(line.startswith(name) for line, name in zip(body, NAMES, strict=True))


def test_plot_calls_scree(X, monkeypatch):
    calls = []
    fake = types.ModuleType("lowdim.plot")
    fake.scree = lambda source, ax=None: calls.append((source, ax)) or "drawn"
    monkeypatch.setitem(sys.modules, "lowdim.plot", fake)
    choices = choose.table(X, replicates=2)
    assert choices.plot(ax="here") == "drawn"
    assert calls == [(choices, "here")]


def test_any_kind_of_table(X):
    expected = choose.table(X, replicates=5)
    for source in (pd.DataFrame(X), pl.DataFrame(X), X[:, ::-1][:, ::-1], np.asfortranarray(X), X.tolist()):
        assert [v.k for v in choose.table(source, replicates=5).verdicts] == [v.k for v in expected.verdicts]


def test_nan_is_a_named_error(X):
    with pytest.raises(BadInput, match="row 2, column 1"):
        choose.table(np.where(np.arange(X.size).reshape(X.shape) == 21, np.nan, X))


def test_same_bits_for_any_number_of_threads(X):
    texts = {json.dumps(choose.table(X, replicates=9, n_jobs=jobs).to_dict()) for jobs in (1, 2, 4)}
    assert len(texts) == 1


def test_a_generator_is_a_seed(X):
    first, second = (choose.table(X, replicates=5, random_state=np.random.default_rng(7)) for _ in range(2))
    assert (first.parallel.mean == second.parallel.mean).all()
