"""Fixtures of the t-SNE and UMAP tests: labeled digits, a fitted embedding, and measures of embeddings."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from lowdim import UMAP, neighbors


@pytest.fixture(scope="session")
def labels():
    from sklearn.datasets import load_digits

    return load_digits().target


@pytest.fixture(scope="session")
def fitted(digits):
    """UMAP of the first 1,500 digits; the rest are new. Tests that change it take a copy."""
    return UMAP(n_jobs=2).fit(digits[:1500])


@pytest.fixture(scope="session")
def blobs():
    """Well-separated Gaussian blobs, and the blob of each row."""

    def make(rng, centers, each=30, d=5, std=0.1):
        center = 10 * rng.standard_normal((centers, d))
        X = np.vstack([c + std * rng.standard_normal((each, d)) for c in center])
        return X, np.repeat(np.arange(centers), each)

    return make


@pytest.fixture(scope="session")
def accuracy():
    """Accuracy of a 10-nearest-neighbor classifier in an embedding; by default on the embedding itself."""
    from sklearn.neighbors import KNeighborsClassifier

    def score(Z, y, new=None, wanted=None):
        return KNeighborsClassifier(10).fit(Z, y).score(Z if new is None else new, y if wanted is None else wanted)

    return score


@pytest.fixture(scope="session")
def embeds_new_digits_well(digits, labels):
    """Whether new digits are classified by the embedding as well as fitted ones, each left out of its own vote."""
    from sklearn.neighbors import KNeighborsClassifier

    def check(model):
        held_out = np.arange(len(digits)) % 5 == 0
        X, y = digits[~held_out], labels[~held_out]
        before = model.fit(X).embedding_.copy()
        Z = model.transform(digits[held_out])
        classifier = KNeighborsClassifier(10).fit(before, y)
        around = classifier.kneighbors(return_distance=False)
        of_fitted = np.mean([np.bincount(y[row]).argmax() for row in around] == y)
        assert classifier.score(Z, labels[held_out]) >= of_fitted - 0.02
        np.testing.assert_array_equal(model.embedding_, before)
        np.testing.assert_array_equal(model.transform(X), before)
        few = np.flatnonzero(held_out)[[3, 7]]
        np.testing.assert_array_equal(model.transform(digits[few]), Z[[3, 7]])  # independent of the other new rows

    return check


@pytest.fixture(scope="session")
def kept_neighbors():
    """The fraction of the k nearest neighbors that are still among the k nearest in the embedding."""

    def fraction(X, Z, k=10):
        original, embedded = neighbors(X, k).indices, neighbors(Z, k).indices
        return np.mean([len(np.intersect1d(a, b)) for a, b in zip(original, embedded, strict=True)]) / k

    return fraction


KILL = """
import os, signal, sys, lowdim

def kill(step):
    if step.task in ("t-SNE", "UMAP epochs") and step.done >= {at}:
        os.kill(os.getpid(), signal.SIGKILL)

with lowdim.watch(kill):
    exec({code!r})
"""


@pytest.fixture
def resumes_after_kills(tmp_path):
    """Runs code with a checkpoint (its first argument) and a file for the embedding (its second), and kills it twice.

    Each time between two checkpoints. Resumed, it must end with the bits of a run without kills.
    """

    def check(code, kills):
        code = textwrap.dedent(code)
        path, out, plain = (str(tmp_path / name) for name in ("check", "out.npy", "plain.npy"))
        for at in kills:
            killed = subprocess.run([sys.executable, "-c", KILL.format(at=at, code=code), path, out], timeout=240)
            assert killed.returncode == -signal.SIGKILL
        for arguments in ((path, out), ("", plain)):
            subprocess.run([sys.executable, "-c", code, *arguments], check=True, timeout=240)
        np.testing.assert_array_equal(np.load(out), np.load(plain))

    return check
