"""Shrinkage of a covariance matrix S toward a multiple of the identity: (1 - α) S + α μ I, with μ = tr(S) / d.

The intensity α is given, or estimated by Ledoit and Wolf (2004, J. Multivariate Analysis 88) or by the oracle
approximating shrinkage of Chen, Wiesel, Eldar and Hero (2010, IEEE Trans. Signal Processing 58). On columns divided by
their standard deviations S is the correlation matrix, and correlations are shrunk toward zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.validation import not_finite_error
from lowdim.errors import BadParameter
from lowdim.runtime.param import Choice, Either, Maybe, Real
from lowdim.runtime.threads import scratch

__all__ = ["CovarianceNorms", "fourth_powers", "ledoit_wolf", "oas", "shrinkage_domain", "shrinkage_intensity"]

Array = NDArray[np.float64]

shrinkage_domain = Maybe(Either(Real(0, 1), Choice("ledoit-wolf", "oas")))


@dataclass(frozen=True)
class CovarianceNorms:
    """What the estimates of the intensity read of S = ZᵀZ / n, for centered rows Z (n, d)."""

    n: float  # rows, or the sum of their weights
    d: int
    trace: float  # tr(S)
    squares: float  # tr(S²), the squared Frobenius norm
    fourth: float | None = None  # Σ ‖z‖⁴ over the rows; None where the rows can't be read again


def shrinkage_intensity(shrinkage: float | str | None, norms: CovarianceNorms) -> float:
    """The given intensity, or its estimate by name; 0 for None."""
    if shrinkage == "ledoit-wolf":
        return ledoit_wolf(norms)
    if shrinkage == "oas":
        return oas(norms)
    return 0.0 if shrinkage is None else float(shrinkage)


def ledoit_wolf(norms: CovarianceNorms) -> float:
    """α = min(1, β² / δ²): β² = Σ ‖zzᵀ - S‖² / n² is the error of S, δ² = ‖S - μI‖² its distance from the target."""
    if norms.fourth is None:
        raise BadParameter(
            "shrinkage='ledoit-wolf' reads the rows twice, which a stream, partial_fit and Moments do not allow. Use "
            "shrinkage='oas', which needs the covariance alone, or give a number between 0 and 1."
        )
    error = (norms.fourth / norms.n - norms.squares) / norms.n
    distance = norms.squares - norms.trace**2 / norms.d
    if error <= 0:  # every row has the same outer product
        return 0.0
    return 1.0 if error >= distance else error / distance


def oas(norms: CovarianceNorms) -> float:
    """The limit of the iterated oracle estimate for Gaussian rows."""
    mean_square, square_mean = norms.squares / norms.d**2, (norms.trace / norms.d) ** 2
    above, below = mean_square + square_mean, (norms.n + 1) * (mean_square - square_mean / norms.d)
    return 1.0 if above >= below else above / below


def fourth_powers(rows: Rows, codes: Any, means: Array, factors: Array, weights: Array | None, threads: int) -> float:
    """Σ w ‖z‖⁴ over rows z centered by the means (C, d) of their classes, with columns times factors (d,)."""

    def summarize(chunk: Chunk, block: Block) -> float:
        dense = block.toarray() if sp.issparse(block) else block
        cut = slice(chunk.start, chunk.stop)
        panel = scratch(dense.shape, dense.dtype)
        if not _native.center(dense, means, panel, None if codes is None else codes[cut], factors, None):
            raise not_finite_error(rows, chunk)
        norms = np.einsum("ij,ij->i", panel, panel, dtype=np.float64) ** 2
        return float(norms.sum() if weights is None else weights[cut] @ norms)

    return fold(rows, summarize, lambda a, b: a + b, threads, "shrinkage intensity")
