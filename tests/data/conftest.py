"""A cluster of two worker processes."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="module")
def client():
    """Real processes and a real scheduler; what it sets for them in the environment is taken back."""
    distributed = pytest.importorskip("distributed")
    kept = dict(os.environ)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for name in set(os.environ) - set(kept):
            del os.environ[name]
        os.environ.update(kept)
        yield client
