"""What is shown at the prompt and in a notebook: tables, summaries, fitted models, results."""

from __future__ import annotations

import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import LDA, MDS, PCA, TSNE, UMAP, Affinities, KernelPCA, Standardized, Table, datasets, select, subspace
from lowdim.runtime.display import align, count, p_value, printable

HOSTILE = "<script>alert('x')</script>&\x1b[2J\n"


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def wine() -> Table:
    return datasets.load("wine")


def test_tables_show_their_size_and_first_rows(wine):
    assert repr(wine).startswith("Table: 178 rows × 13 columns, labels 'cultivar'")
    page = Tags(wine._repr_html_())
    assert page.open == [] and page.seen.count("tr") == 1 + 5 and page.seen.count("th") == 13
    assert "alcohol" in page.text and "14.23" in page.text and "… and 1 more column" in page.text
    assert repr(datasets.load("cities")).startswith("Table: distances between 9 rows, row names")


def test_a_file_is_not_read_again_to_be_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("lowdim.data.io.arrow_source.IN_MEMORY_BYTES", 0)
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}).to_parquet(tmp_path / "t.parquet")
    table = lowdim.read_table(tmp_path / "t.parquet")
    monkeypatch.setattr(type(table.X), "chunks", lambda self: pytest.fail("read"))
    assert "2 rows × 2 columns" in repr(table)
    assert "a, b" in table._repr_html_()


def test_hostile_names_are_only_text(rng):
    X = rng.normal(size=(30, 3))
    table = Table(
        X,
        (HOSTILE, "b", "c"),
        labels=np.array([HOSTILE] * 30),
        label_name=HOSTILE,
        ids=np.array([HOSTILE] * 30),
        source=HOSTILE,
        annotations={HOSTILE: np.array([HOSTILE] * 30)},
    )
    frame = pd.DataFrame(X, columns=[HOSTILE, "b", "c"])
    compared = select.compare(frame, X[:, 0] > 0, cv=2, n_resamples=2)
    clusters = subspace.CLIQUE(xi=2, tau=0.3).fit(frame)
    for shown in (table, lowdim.diagnose(table), compared, clusters.clusters_[0]):
        page = Tags(shown._repr_html_())
        assert set(page.seen) <= {"div", "b", "p", "table", "thead", "tbody", "tr", "th", "td", "pre"}
        assert "\x1b" not in page.text and "\x1b" not in repr(shown)
    assert "\n" not in repr(table) and "alert('x')" in Tags(table._repr_html_()).text


def test_summaries_in_one_line(wine):
    graph = lowdim.neighbors(wine.X, 5)
    assert repr(graph) == "Graph: 178 rows, 5 neighbors per row, metric euclidean, exact"
    assert repr(lowdim.moments(wine.X)) == "Moments: 178 rows × 13 columns, float64"
    assert repr(lowdim.moments(wine.X, wine.labels)).startswith("Moments: 178 rows × 13 columns, 3 classes")
    weighted = lowdim.moments(wine.X, sample_weight=np.full(178, 0.5))
    assert "weights that sum to 89" in repr(weighted)
    assert repr(lowdim.gram(wine.X, lowdim.kernels.rbf(0.5))).startswith(
        "Gram: 178 rows, kernel rbf(gamma=0.5), float64"
    )
    assert repr(Affinities.from_graph(graph, 1.5)).endswith("of neighbors, perplexity 1.5")
    for summary in (graph, lowdim.moments(wine.X)):
        assert Tags(summary._repr_html_()).text == repr(summary).replace(": ", "", 1)


def fitted(wine) -> dict[str, object]:
    X, y = wine.X, wine.labels
    return {
        "178 rows × 13 columns: 2 components, 100.0% of the variance (99.8% + 0.2%)": PCA(2).fit(X),
        "178 rows × 13 columns: 2 components, 55.4% of the variance": PCA(2, standardize=True).fit(X),
        "178 rows × 13 columns: 2 components, 100.0% of the between-class variance": LDA().fit(X, y),
        "178 rows × 13 columns: 2 dimensions, 1 connected component": Standardized(UMAP(n_epochs=5)).fit(X),
        "178 rows × 13 columns: 2 dimensions, KL divergence": TSNE(max_iter=5).fit(X),
        "178 rows × 13 columns: 2 dimensions, 79": KernelPCA(2).fit(X),
        "9 rows × 9 columns: 2 dimensions, stress-1": MDS(metric="precomputed").fit(datasets.load("cities").X),
        "13 columns: 4 columns selected": select.FTest(k=4).fit(X, y),
        "178 rows × 13 columns: ": subspace.CLIQUE(xi=3, tau=0.3).fit(X),
    }


def test_fitted_models_say_what_they_found(wine):
    for told, model in fitted(wine).items():
        shown = repr(model)
        assert shown.startswith(f"{type(model).__name__}(") and f"), fitted to {told}" in shown
        assert shown.endswith(" s")
        assert told in Tags(model._repr_mimebundle_()["text/html"].split("</script></body>")[-1]).text
        assert "fitted to" not in repr(clone(model))


def test_the_time_is_of_this_fit_alone(wine, tmp_path):
    model = PCA(2).fit(wine.X)
    lowdim.save(model, tmp_path / "m.lowdim")
    for copy in (pickle.loads(pickle.dumps(model)), lowdim.load(tmp_path / "m.lowdim")):
        assert repr(copy).endswith("(99.8% + 0.2%)")
    with pytest.raises(lowdim.errors.LowdimError):
        model.fit(wine.X[:1])
    assert repr(model) == "PCA()" == repr(PCA(2))


def test_inside_a_pipeline_only_parameters_are_shown(wine):
    assert repr(make_pipeline(PCA(3)).fit(wine.X)) == "Pipeline(steps=[('pca', PCA(n_components=3))])"


def test_results_are_their_text(wine):
    stable = select.stability(np.eye(3, dtype=bool))
    assert repr(stable) == str(stable) and str(stable) in Tags(stable._repr_html_()).text
    yes = lowdim.kernels.is_psd(np.eye(3))
    assert repr(yes) == str(yes) and repr(yes).startswith("yes")


def test_counts_and_lines():
    assert [count(1, "row"), count(1797, "row"), count(2.5, "row"), count(3, "class", "classes")] == [
        "1 row",
        "1,797 rows",
        "2.5 rows",
        "3 classes",
    ]
    assert align([("a", "1"), ("long", "2")]) == "a     1\nlong  2"
    assert printable("a\n b\x07") == "a b\\x07"
    assert [p_value(0.0), p_value(1e-310, "= "), p_value(0.0421, "= ")] == ["< 1e-300", "< 1e-300", "= 0.0421"]


def test_three_digits_as_people_write_them():
    from lowdim.runtime.display import rounded

    numbers = (0.54567, 19.123, 938.4, 999.7, 2219.0, 53_940.0, 999_400.0, 2_345_678.0, -6190.0)
    assert [rounded(number) for number in numbers] == [
        *("0.546", "19.1", "938", "1,000", "2,220", "53,900", "999,000", "2.35e+06", "-6,190"),
    ]
