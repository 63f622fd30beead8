"""Fixtures of the report's tests: one comparison, one page, one browser."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import lowdim
from browser_pages import BROWSER, HOSTILE, run_browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[int]:
    """The port of a headless browser."""
    if BROWSER is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on the path")
    yield from run_browser(tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="session")
def blobs():
    """Three groups in six columns, one of which has a hostile name, as have the labels."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 6)) + 4 * np.eye(3, 6)[labels]
    names = (HOSTILE, "b", "c", "d", "e", "f")
    return lowdim.Table(X, names, np.array([HOSTILE, "one", "two"])[labels], "kind")


@pytest.fixture(scope="session")
def result(blobs):
    methods = {"PCA": "pca", "UMAP": lowdim.UMAP(n_epochs=30), "mine": np.asarray(blobs.X)[:, :2]}
    return lowdim.compare(blobs, methods, k=7)


@pytest.fixture(scope="session")
def page(result, tmp_path_factory):
    return result.save(tmp_path_factory.mktemp("report") / "report.html")
