"""Fixtures of the plot tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser_pages import BROWSER, run_browser


@pytest.fixture
def clean_matplotlib() -> Iterator[None]:
    """Plots do not change rcParams; figures are closed after each test."""
    import matplotlib
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[int]:
    """The port of a headless browser."""
    if BROWSER is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on the path")
    yield from run_browser(tmp_path_factory.mktemp("profile"))
