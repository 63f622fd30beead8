"""Shared data: everything a test reads is made here or ships with scikit-learn."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import settings

# Deadlines are timings, and the suite has none; the examples are the same on every run.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("suite")

# A shell lets what it runs in the background ignore Ctrl-C, which tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return load_digits().data


@pytest.fixture(scope="session")
def eight_points() -> np.ndarray:
    """The worked example of lecture 4."""
    return np.array([(1, 2), (3, 3), (3, 5), (5, 4), (5, 6), (6, 5), (8, 7), (9, 8)], dtype=float)
