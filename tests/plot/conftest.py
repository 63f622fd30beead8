"""What the tests of pictures share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """A picture changes nobody's settings, and its figures are closed."""
    import matplotlib
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")
