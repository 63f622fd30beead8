"""The estimated sum of the positive eigenvalues, against all eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.linalg.spectral_sums import sum_of_positive_eigenvalues
from lowdim.runtime.threads import single_blas


def with_spectrum(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return Q * values @ Q.T


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["semicircle", "decay of both signs", "few negative", "few of both signs"])
def test_indefinite_matrices(kind, seed):
    rng = np.random.default_rng(seed)
    n = 300
    decay = 100 / np.arange(1, n + 1)
    values = {
        "semicircle": np.linalg.eigvalsh((A := rng.standard_normal((n, n))) + A.T),
        "decay of both signs": decay * rng.choice([-1, 1], n),
        "few negative": np.where(np.arange(n) % 200 == 5, -decay, decay),
        "few of both signs": np.r_[9.0, -5.0, 3.0, np.zeros(n - 3)],
    }[kind]
    A = with_spectrum(values, rng)
    with single_blas():
        found = sum_of_positive_eigenvalues(lambda V: A @ V, n, float(np.trace(A)), 1e-10, seed)
    assert found == pytest.approx(values[values > 0].sum(), rel=0.03 if "few" not in kind else 0.01)


def test_a_positive_semidefinite_matrix_has_its_trace(rng):
    A = with_spectrum(np.r_[rng.uniform(0, 1, 50), np.zeros(100)], rng)
    assert sum_of_positive_eigenvalues(lambda V: A @ V, 150, 12.5, 1e-12, 0) == 12.5


@pytest.mark.parametrize("n", [1, 2, 10, 90])
def test_small_matrices_are_exact(n, rng):
    A = rng.standard_normal((n, n))
    A = A + A.T
    values = np.linalg.eigvalsh(A)
    found = sum_of_positive_eigenvalues(lambda V: A @ V, n, float(np.trace(A)), 1e-12, 0)
    assert found == pytest.approx(values[values > 0].sum(), rel=1e-9)
