"""What the tests of maps share: labelled digits, a fitted map, and judges of maps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from lowdim import UMAP, neighbors


@pytest.fixture(scope="session")
def labels():
    from sklearn.datasets import load_digits

    return load_digits().target


@pytest.fixture(scope="session")
def fitted(digits):
    """UMAP of the first 1,500 digits; the rest are new. Whoever changes it takes a copy."""
    return UMAP(n_jobs=2).fit(digits[:1500])


@pytest.fixture(scope="session")
def blobs():
    """Clouds far apart, and the cloud of each row."""

    def make(rng, centres, each=30, d=5, spread=0.1):
        middle = 10 * rng.standard_normal((centres, d))
        X = np.vstack([c + spread * rng.standard_normal((each, d)) for c in middle])
        return X, np.repeat(np.arange(centres), each)

    return make


@pytest.fixture(scope="session")
def accuracy():
    """The share of places whose ten nearest on a map have the label wanted; by default of the map itself."""
    from sklearn.neighbors import KNeighborsClassifier

    def score(Z, y, new=None, wanted=None):
        return KNeighborsClassifier(10).fit(Z, y).score(Z if new is None else new, y if wanted is None else wanted)

    return score


@pytest.fixture(scope="session")
def lands_among_its_like(digits, labels):
    """Whether new digits get their label from the map as often as fitted ones do, each left out of its own vote."""
    from sklearn.neighbors import KNeighborsClassifier

    def judge(model):
        held = np.arange(len(digits)) % 5 == 0
        X, y = digits[~held], labels[~held]
        before = model.fit(X).embedding_.copy()
        Z = model.transform(digits[held])
        vote = KNeighborsClassifier(10).fit(before, y)
        around = vote.kneighbors(return_distance=False)
        own = np.mean([np.bincount(y[row]).argmax() for row in around] == y)
        assert vote.score(Z, labels[held]) >= own - 0.02
        np.testing.assert_array_equal(model.embedding_, before)
        np.testing.assert_array_equal(model.transform(X), before)
        few = np.flatnonzero(held)[[3, 7]]
        np.testing.assert_array_equal(model.transform(digits[few]), Z[[3, 7]])  # alone as in company

    return judge


@pytest.fixture(scope="session")
def kept_neighbors():
    """The share of the k nearest rows that are still among the k nearest in the map."""

    def share(X, Z, k=10):
        there, here = neighbors(X, k).indices, neighbors(Z, k).indices
        return np.mean([len(np.intersect1d(a, b)) for a, b in zip(there, here, strict=True)]) / k

    return share


@pytest.fixture
def resumes_after_kills(tmp_path):
    """Runs code with a checkpoint (its first argument) and a file for the map (its second), and kills it twice.

    Each time as soon as the checkpoint is written anew. Resumed, it must end where it does without all that.
    """

    def check(code):
        code = textwrap.dedent(code)
        path, out, plain = (str(tmp_path / name) for name in ("check", "out.npy", "plain.npy"))
        ends = []
        for _ in range(2):
            before = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
            process = subprocess.Popen([sys.executable, "-c", code, path, out])
            deadline = time.monotonic() + 120
            while process.poll() is None and time.monotonic() < deadline:
                if os.path.exists(path) and os.stat(path).st_mtime_ns > before:
                    break
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            ends.append(process.wait())
        assert -signal.SIGKILL in ends  # it was on its way, not done
        resumed_and_plain = f"import sys\nfor sys.argv[1:] in {[(path, out), ('', plain)]}:\n    exec({code!r})"
        subprocess.run([sys.executable, "-c", resumed_and_plain], check=True, timeout=240)
        np.testing.assert_array_equal(np.load(out), np.load(plain))

    return check
