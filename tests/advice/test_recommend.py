"""Recommendations on tables whose right answer is known, and their code, which runs."""

from __future__ import annotations

import json
import re
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

import lowdim
from cli_runner import run_here
from lowdim.advice._evidence import Evidence
from lowdim.advice._rules import RULES, first_rule
from lowdim.errors import BadInput, LowdimWarning, NotEnoughData


def texts(n: int = 300, d: int = 400) -> sp.csr_array:
    """Counts of words, most of them zero."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(d, 0.02), size=5)
    return sp.csr_array(np.array([rng.multinomial(12, topics[i % 5]) for i in range(n)], dtype=np.float64))


def questionnaire(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame({f"q{j}": rng.choice(["yes", "no", "perhaps"], size=n) for j in range(6)})


def mixed(n: int = 200, gaps: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.normal(40, 9, n), "height": rng.normal(170, 9, n)})
    frame["town"], frame["job"] = rng.choice(["A", "B", "C"], n), rng.choice(["x", "y"], n)
    if gaps:
        frame.loc[::9, "age"] = np.nan
        frame.loc[::7, "job"] = None
    return frame


def holes(X: np.ndarray) -> np.ndarray:
    X = np.array(X, dtype=float)
    X[np.random.default_rng(6).random(X.shape) < 0.03] = np.nan
    return X


def noise(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(n, d))


def linear(n: int, d: int, k: int) -> np.ndarray:
    rng = np.random.default_rng(8)
    axes = np.linalg.qr(rng.normal(size=(d, k)))[0] * np.sqrt(d)
    return rng.normal(size=(n, k)) @ axes.T + 0.3 * rng.normal(size=(n, d))


def load(name: str, **options) -> lowdim.Table:
    return lowdim.datasets.load(name, **options)


WINE = load("wine")
CASES = {  # the table, what is given with it, the rule, the method, the number of dimensions
    "iris": (load("iris"), {}, "linear", "PCA", 2),
    "wine": (WINE, {}, "linear groups", "PCA", 3),
    "four factors": (linear(300, 12, 4), {}, "linear", "PCA", 4),
    "swissroll": (load("swissroll", n=600), {}, "curved surface", "Isomap", 2),
    "scurve": (load("scurve", n=600), {}, "curved surface", "Isomap", 2),
    "noise": (noise(300, 8), {}, "noise", "PCA", 2),
    "digits": (load("digits"), {}, "groups", "UMAP", 2),
    "texts": (texts(), {}, "counts", "TruncatedSVD", 100),
    "dense texts": (texts().toarray(), {}, "counts", "TruncatedSVD", 100),
    "questionnaire": (questionnaire(), {}, "categories", "MCA", 2),
    "mixed": (mixed(), {}, "mixed", "FAMD", 2),
    "mixed with gaps": (mixed(gaps=True), {}, "mixed with gaps", "UMAP", 2),
    "cities": (load("cities"), {}, "distances", "ClassicalMDS", 2),
    "distances": (squareform(pdist(noise(40, 2))), {}, "distances", "ClassicalMDS", 2),
    "classes": (WINE.X, {"target": WINE.labels}, "classes to explain", "LDA", 2),
    "response": (noise(200, 5), {"target": noise(200, 5)[:, 0] ** 3}, "numbers to explain", "SIR", "auto"),
    "missing": (holes(linear(200, 8, 2)), {}, "linear", "PCA", 2),
    "more columns than rows": (linear(40, 300, 3), {}, "linear", "PCA", 3),
    "three columns": (linear(100, 3, 1), {}, "linear", "PCA", 2),
    "two columns": (load("rings"), {}, "few columns", "PCA", 2),
    "tiny": (noise(6, 4), {}, "few rows", "PCA", 2),
    "100,000 rows": (linear(100_000, 6, 2).astype(np.float32), {}, "linear", "PCA", 2),
}


@pytest.fixture(scope="module")
def advised():
    return {name: lowdim.recommend(X, **given) for name, (X, given, *_) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_right_answer(name, advised):
    *_, rule, method, k = CASES[name]
    found = advised[name]
    assert (found.rule, found.method, found.n_components) == (rule, method, k)
    assert 0 <= len(found.others) <= 3 and method not in [other.method for other in found.others]
    assert all(other.when for other in found.others)


@pytest.mark.parametrize("name", [name for name in CASES if name != "100,000 rows"])
def test_the_python_runs(name, advised):
    X, given, *_ = CASES[name]
    y = given.get("target", getattr(X, "labels", None))
    found = advised[name]
    for choice in (found.first, *found.others):
        if choice.method == "ProjectionPursuit":  # a minute; its arguments are those of every method
            continue
        n = 9 if name == "cities" else X.shape[0] if hasattr(X, "shape") else len(X.X)
        scope = {"X": X.X if getattr(X, "kind", "") == "distances" else X, "y": y}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)  # two rings are two components, which Isomap says
            exec(found.code_of(choice), scope)
        Z = np.asarray(scope["Z"])
        assert Z.shape[0] == n and np.isfinite(Z).all()
        assert choice.n_components in ("auto", Z.shape[1])


def test_noise_is_called_noise(advised):
    assert "no structure beyond noise was found" in advised["noise"].reason
    assert "none beyond noise" in dict(advised["noise"].findings)["correlations"]
    for name in ("iris", "swissroll", "digits"):
        assert "noise was found" not in advised[name].reason


def test_every_sentence_has_its_evidence(advised):
    for name, found in advised.items():
        told = dict(found.findings)
        assert told["table"] and found.reason
        assert all(text and text == text.strip() for text in told.values()), name
    assert advised["digits"].evidence.intrinsic == lowdim.diagnose(load("digits"), standardize=False).intrinsic.typical
    assert advised["wine"].evidence.linear == lowdim.choose.table(WINE, standardize=True).recommended
    assert "2.7% of the numbers; 160 complete rows" in dict(advised["missing"].findings)["missing"]
    assert "more columns than rows" in dict(advised["more columns than rows"].findings)["table"]
    assert "drawn at random" in dict(advised["100,000 rows"].findings)["sample"]


def test_settings_fit_the_table(advised):
    umap = next(other for other in advised["texts"].others if other.method == "UMAP")
    assert umap.parameters["metric"] == "cosine" and umap.standardize is None
    assert advised["digits"].first.components_first == 29
    assert advised["digits"].first.standardize is False and advised["wine"].first.standardize is True
    assert advised["missing"].first.parameters["missing"] == "em"
    assert advised["mixed with gaps"].first.parameters["metric"] == "gower"
    large = next(other for other in advised["100,000 rows"].others if other.method == "UMAP")
    assert large.parameters["n_neighbors"] == 30
    names = {other.method for other in lowdim.recommend(WINE).others}
    assert "LDA" in names  # because there are labels
    few = lowdim.recommend(noise(24, 40), target=np.arange(24) % 2)
    assert few.first.parameters["shrinkage"] == "ledoit-wolf"


def test_large_tables_are_not_given_methods_of_pairs():
    told = Evidence(200_000, 0, kind="distances", distance_dimensions=2, distance_share=0.9)
    assert first_rule(told).first == "UMAP"


def test_rules_are_a_table():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert RULES[-1].holds(Evidence(100, 5))  # something is always said
    known = {method.name for method in lowdim.methods()}
    for rule in RULES:
        assert {rule.first, *rule.others} <= known and rule.first not in rule.others


def test_text_html_and_json(advised):
    found = advised["digits"]
    shown = str(found)
    for part in ("What to start from: 1,797 rows × 64 columns", "start with", "Evidence", "Run", "Or TSNE"):
        assert part in shown
    assert found.commands[-1] in shown and repr(found) == shown
    html = found._repr_html_()
    assert "<table>" in html and "UMAP" in html
    told = json.loads(json.dumps(found.to_dict(), default=str))
    assert told["method"] == "UMAP" and told["alternatives"][0]["method"] == "TSNE"
    assert told["figures"]["groups"] > 1


def test_labels_must_match_the_rows():
    with pytest.raises(BadInput, match="one label per row"):
        lowdim.recommend(noise(20, 3), labels=[1, 2, 3])
    with pytest.raises(BadInput, match=r"one label per row|one number"):
        lowdim.recommend(noise(20, 3), target=[1, 2, 3])


def test_the_commands_run(tmp_path):
    frame = mixed(60, gaps=True)
    frame["class"] = np.where(np.arange(60) % 2, "odd", "even")
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    wide = pd.DataFrame(linear(60, 70, 3) ** 3, columns=[f"v{j}" for j in range(70)])
    wide.assign(price=np.arange(60) * 1.5).to_csv(tmp_path / "wide.csv", index=False)
    mixed(200).assign(price=np.arange(200) * 1.5).to_csv(tmp_path / "prices.csv", index=False)
    asked = [
        "recommend mixed.csv --label class --json",
        "recommend wide.csv --target price --json",
        "recommend iris --json",
        "recommend cities --json",
        "recommend prices.csv --target price --json",
        "recommend iris --target species",
    ]
    done = run_here(tmp_path, asked)
    assert [result.code for result in done.values()] == [0] * len(asked), done
    lines = []
    for result in list(done.values())[:5]:
        told = result.data
        for choice in [told, *told["alternatives"]]:
            lines += [re.sub("^lowdim ", "", command) for command in choice["commands"]]
    assert any("--target price --target-metric numeric" in line for line in lines)
    assert any("--target price" in line for line in lines) and any("--label price" in line for line in lines)
    ran = run_here(tmp_path, [line if " -o " in line else f"{line} -o map.csv" for line in lines])
    assert {line: result.err for line, result in ran.items() if result.code} == {}
    text = done[asked[-1]].out
    assert "start with    LDA, 2 dimensions" in text and "lowdim map iris --method lda" in text


def write_files(folder) -> list[str]:
    """Files of five kinds: words, images, distances, answers, numbers with gaps."""
    rng = np.random.default_rng(9)  # counts of few values look like answers, but no method of answers takes them
    sp.save_npz(folder / "words.npz", sp.csr_array((rng.random((80, 40)) < 0.15) * rng.integers(1, 4, (80, 40))))
    digits = load("digits")
    np.savez(folder / "images.npz", X=np.asarray(digits.X)[:150].astype(np.uint8), y=digits.labels[:150])
    np.save(folder / "distances.npy", squareform(pdist(noise(30, 3))))
    questionnaire(60).to_csv(folder / "answers.csv", index=False)
    pd.DataFrame(holes(linear(60, 8, 2)), columns=list("abcdefgh")).to_csv(folder / "gaps.csv", index=False)
    return ["words.npz", "images.npz", "distances.npy", "answers.csv", "gaps.csv"]


def printed(text: str) -> tuple[list[list[str]], str]:
    """The commands of every suggestion, and the Python of the first."""
    run = text[text.index("Run\n") :]
    blocks = [
        re.findall(r"^  lowdim (.*)$", block, re.MULTILINE) for block in re.split(r"^Or ", run, flags=re.MULTILINE)
    ]
    return blocks, textwrap.dedent(re.search(r"^  from lowdim.*?(?=^\S)", run, re.MULTILINE | re.DOTALL)[0])


def test_what_is_printed_runs_and_its_python_makes_the_same_map(tmp_path):
    files = write_files(tmp_path)
    told = run_here(tmp_path, [f"recommend {file}" for file in files])
    said = {file: printed(result.out) for file, result in zip(files, told.values(), strict=True)}
    lines = {}
    for file, (blocks, _) in said.items():
        for number, (*before, last) in enumerate(blocks):
            lines |= dict.fromkeys([*before, f"{last} -o {file}-{number}.npz --json"])
    done = run_here(tmp_path, lines)
    assert {line: result.err for line, result in done.items() if result.code} == {}
    for file, (_, python) in said.items():
        table = lowdim.read_table(tmp_path / file, encode="categories")
        scope = {"X": table.X if table.kind == "distances" else table, "y": table.labels}
        exec(python, scope)
        drawn = np.load(tmp_path / f"{file}-0.npz")["X"]
        np.testing.assert_allclose(drawn, scope["Z"], atol=1e-3 * np.abs(drawn).max(), err_msg=f"{file}: {python}")


def test_noise_is_rarely_taken_for_structure():
    rng = np.random.default_rng(11)
    rules = [lowdim.recommend(rng.normal(size=(120, 7))).rule for _ in range(20)]
    assert rules.count("noise") >= 18


def test_no_rows_and_no_classes_are_named():
    with pytest.raises(NotEnoughData, match="this function needs a minimum of 1 row"):
        lowdim.recommend(np.empty((0, 2)))
    with pytest.raises(NotEnoughData, match="the target has 0 classes, and a minimum of 2"):
        lowdim.recommend(np.empty((0, 2)), target=np.array([], dtype="U1"))
    with pytest.raises(NotEnoughData, match="the target has 1 class: 'a', and"):
        lowdim.recommend(np.zeros((3, 2)), target=np.array(["a", "a", "a"]))
