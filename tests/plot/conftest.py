"""Fixtures of the plot tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def clean_matplotlib() -> Iterator[None]:
    """Plots do not change rcParams; figures are closed after each test."""
    import matplotlib
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")
