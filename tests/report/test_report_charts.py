"""What the charts of the report draw: marks, read through the ticks of their axes, against the library's own values."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim.report import page_figures
from svg_charts import chart_of

SCREE = "Scree plot: eigenvalues, cumulative shares, and the choice of every rule"
CURVES = "R_NX curves of the maps, by number of neighbors"


@pytest.fixture(scope="module")
def html(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def standardized(blobs):
    X = np.asarray(blobs.X)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def is_drawn(lines, xs, ys, tolerance):
    """One of the lines runs through exactly these points."""
    wanted = np.column_stack([xs, ys])
    return any(line.shape == wanted.shape and np.allclose(line, wanted, atol=tolerance) for line in lines)


def test_the_scree_plot_draws_eigenvalues_shares_and_rules(html, result, standardized):
    values = np.linalg.eigvalsh(np.corrcoef(standardized.T))[::-1]
    parallel = lowdim.choose.table(standardized, standardize=False).parallel
    upper, middle, lower = chart_of(html, SCREE)
    lines = [np.column_stack([lower.units(p[:, 0], 0), upper.units(p[:, 1], 1)]) for p in upper.lines()]
    components = np.arange(1, 7)
    for drawn in (values, parallel.mean, parallel.band):
        assert is_drawn(lines, components, drawn, 1e-4)
    bars = middle.bars()
    np.testing.assert_allclose(lower.units((bars[:, 0] + bars[:, 2]) / 2, 0), components, atol=1e-3)
    np.testing.assert_allclose(middle.units(bars[:, 1], 1), np.cumsum(values) / values.sum(), atol=1e-4)
    np.testing.assert_allclose(middle.units(bars[:, 3], 1), 0, atol=1e-4)
    chosen = {verdict.rule: verdict.k for verdict in result.choices.verdicts}
    rules, marks = (sorted(lower.ticks(1)), sorted(lower.marks(), key=lambda mark: mark[1]))  # from above
    numbers = sorted((y, text) for _, y, text in lower.texts())
    assert len(chosen) == len(rules)
    for (_, rule), (x, _), (_, number) in zip(rules, marks, numbers, strict=True):
        assert lower.units(x, 0) == pytest.approx(chosen[rule], abs=1e-3) and number == str(chosen[rule])


def test_the_curves_are_those_of_quality(html, result, standardized):
    (panel,) = chart_of(html, CURVES)
    lines = [
        np.column_stack([np.log10(panel.units(p[:, 0], 0, log=True)), panel.units(p[:, 1], 1)]) for p in panel.lines()
    ]
    for name, Z in result.maps.items():
        curve = lowdim.quality.measure(standardized, Z, k=7).r_nx
        assert is_drawn(lines, np.log10(curve.ks), curve.values, 1e-3), name


def shepard_pairs(Z, D):
    """True distances, and those of the map at the scale that leaves least squares."""
    true, drawn = squareform(D, checks=False), pdist(Z)
    return np.column_stack([true, drawn * (true @ drawn) / (drawn @ drawn)])


def test_shepard_diagrams_show_every_pair_and_nothing_else(html, result, standardized):
    D = squareform(pdist(standardized))
    for name, Z in result.maps.items():
        panel = chart_of(html, f"Shepard diagram of {name}")[0]
        places, ink = panel.raster()
        dark = places[ink > 0.02]
        drawn = np.column_stack([panel.units(dark[:, 0], 0), panel.units(dark[:, 1], 1)])
        pairs = shepard_pairs(Z, D)
        cell = 1.5 * 1.04 * np.ptp(pairs, axis=0) / 160  # one and a half cells of the raster
        assert cKDTree(drawn / cell).query(pairs / cell)[0].max() < 2
        assert cKDTree(pairs / cell).query(drawn / cell)[0].max() < 2
        (line,) = [p for p in panel.lines() if len(p) == 2]
        np.testing.assert_allclose(panel.units(line[:, 0], 0), panel.units(line[:, 1], 1), atol=1e-3)


def test_shepard_diagrams_of_few_rows_have_a_mark_per_pair(result, standardized):
    Z, D = result.maps["mine"][:30], squareform(pdist(standardized[:30]))
    panel = chart_of(page_figures.shepard_chart("few", Z, D), "Shepard diagram of few")[0]
    marks = panel.marks()
    drawn = np.column_stack([panel.units(marks[:, 0], 0), panel.units(marks[:, 1], 1)])
    np.testing.assert_allclose(drawn, shepard_pairs(Z, D), atol=1e-4)


def test_loadings_are_written_in_the_cell_of_their_column_and_axis(html, blobs, standardized):
    components = lowdim.PCA(2).fit(standardized).components_
    panel = chart_of(html, "Loadings of PCA")[0]
    written = sorted((y, x, float(text.replace("−", "-"))) for x, y, text in panel.texts())  # row by row, from above
    np.testing.assert_allclose([number for *_, number in written], components.T.ravel(), atol=5.1e-3)
    assert [text for _, text in panel.ticks(1)][1:] == list(blobs.names[1:])
    values = np.linalg.eigvalsh(np.corrcoef(standardized.T))[::-1]
    shares = [float(re.search(r"\(([\d.]+)%\)", text)[1]) / 100 for _, text in panel.ticks(0)]
    np.testing.assert_allclose(shares, values[:2] / values.sum(), atol=5.1e-4)


def test_sentences_on_overlaps_are_counted_from_the_neighbors(html, result, blobs):
    facts = re.search(r"Classes that overlap</h3>(<dl.*?</dl>)", html, re.DOTALL)[1]
    said = dict(zip(re.findall("<dt>(.*?)</dt>", facts), re.findall("<dd>(.*?)</dd>", facts), strict=True))
    labels = np.asarray(blobs.labels)
    assert list(said) == list(result.maps)
    kinds = set()
    for name, quality in result.table.maps.items():
        sentences = [unescape(one) for one in said[name].split("<br>")]
        wanted = wanted_overlaps(quality, labels)
        if not wanted:
            assert sentences == ["No two classes overlap."]
            continue
        assert len(sentences) == min(len(wanted), 3)
        for sentence in sentences:
            drawn, true = (float(share) / 100 for share in re.findall(r"([\d.]+)% of", sentence))
            (shares,) = [shares for (a, b), shares in wanted.items() if sentence.startswith(f"{a} and {b} overlap ")]
            np.testing.assert_allclose((drawn, true), shares, atol=5.1e-4)
            more, less = shares[0] > 2 * shares[1], shares[1] > 2 * shares[0]
            kinds.add("more in the map" if more else "less in the map" if less else "in the data too")
            assert (
                f"overlap {'more in the map' if more else 'less in the map' if less else 'in the data too'}" in sentence
            )
    assert len(kinds) > 1  # the table has classes that overlap, not only as they do in the data


def wanted_overlaps(quality, labels):
    """Of the neighbors of two classes, the share with the other's label, in the map and in the data, from 2% on."""
    out = {}
    names = np.unique(labels)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            shares = []
            for lists in (quality.map_neighbors, quality.true_neighbors):
                near_a, near_b = labels[lists[labels == a]], labels[lists[labels == b]]
                shares.append(((near_a == b).sum() + (near_b == a).sum()) / (near_a.size + near_b.size))
            if max(shares) >= 0.02:
                out[a, b] = tuple(shares)
    return out


def test_times_versions_and_counts(html, result):
    times = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html[html.index('id="times"') : html.index('id="again"')]))
    for name, seconds in result.seconds.items():
        if seconds < 0.05:
            assert times[name] == "under 0.1 s"
        else:
            assert float(times[name].removesuffix(" s")) == pytest.approx(seconds, abs=0.0501)
    known = lowdim.config()
    assert times["threads"] == str(known["threads"]) and times["lowdim"].startswith(known["lowdim"])
    for name, version in known["dependencies"].items():
        assert not version or f"{name} {version}" in times["with"]
    assert "120 rows, 3 maps: PCA, UMAP, mine. Neighborhoods of 7; all rows were compared with all." in html
    assert "Every pair of 120 rows" in html
    best = result.choices.recommendation
    assert f"<strong>{best.k} components</strong>" in html
