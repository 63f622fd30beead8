"""Sliced average variance estimation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.linear.sdr.base import MOMENTS_TRAITS
from lowdim.linear.sdr.delta_method import influence_spectrum
from lowdim.linear.sdr.predictor_tests import covariance_statistics
from lowdim.linear.sdr.regularized_whitening import RegularizedWhitening
from lowdim.linear.sdr.slice_moments import SliceMoments
from lowdim.linear.sdr.sliced import SecondMomentReduction
from lowdim.linear.sdr.solution import RowSum, Sample, Solution

__all__ = ["SAVE"]

Floats = NDArray[np.float64]


@estimator(
    title="directions along which the covariances of slices of the response differ",
    summary="moments",
    **MOMENTS_TRAITS,
)
class SAVE(SecondMomentReduction):
    """Sliced average variance estimation: directions in which slices differ in variance (Cook and Weisberg 1991).

        M v = λ S v,   VᵀSV = I,   M = Σ_h p_h (S - S_h) S⁻¹ (S - S_h)

    with the covariance S_h of the rows in slice h of the response (dividing by n_h - 1), their share p_h, and the
    covariance S of all rows. A slice whose mean moves or whose variance shrinks is seen alike, so SAVE also finds
    dependences that are symmetric about the mean, which SIR misses. It needs more rows per slice than SIR, and
    n_slices=5 is often better than 10. `fit` takes what SIR takes, except Moments, which hold no covariances by slice.
    The tests of the order (Shao, Cook and Weisberg 2007) read ½ n Σ_h p_h |Γᵀ(I - S_h)Γ|² over all other directions Γ.

    {parameters}

    Attributes
    ----------
    {directions}
    eigenvalues_ : array (r,)
        All eigenvalues, descending.
    {order tests}
    {slices}

    """

    def _kernel(self, sample: Sample, summary: SliceMoments, white: RegularizedWhitening) -> Floats:
        apart = white.matrix(summary.moments.covariance(ddof=0) - summary.covariances(ddof=1))  # (H, r, r)
        shares = summary.moments.counts / summary.moments.n
        return np.asarray(np.einsum("h,hij,hjk->ik", shares, apart, apart))

    def _order_statistics(self, solution: Solution, most: int) -> tuple[Floats, Floats]:
        apart, m = _apart(solution), np.arange(most, 0, -1)
        squares = np.einsum("h,hij->ij", solution.shares, apart**2)
        tails = np.array([squares[k:, k:].sum() for k in range(most)])
        return solution.moments.n / 2 * tails, (len(apart) - 1) * m * (m + 1) / 2.0

    def _null_influence(self, sample: Sample, solution: Solution, k: int) -> RowSum:
        """(z zᵀ - I) / √2 of the null scores, once for each slice but one."""
        identity = np.eye(len(solution.values) - k)

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            null = Z[:, k:]
            return np.asarray((null[:, :, None] * null[:, None, :] - identity).reshape(len(Z), -1) / np.sqrt(2))

        return influence

    def _null_weights(self, sample: Sample, solution: Solution, k: int) -> Floats:
        return np.repeat(influence_spectrum(self, sample, solution, k), len(solution.moments.counts) - 1)

    def _kernel_influence(self, sample: Sample, solution: Solution, columns: slice) -> RowSum:
        """Influence of a row in slice s with E_h = I - S_h, w = z - m_s, B = Σ p_h E_h and D = z zᵀ - I.

        δM = E_s² - (w wᵀ - S_s) E_s - E_s (w wᵀ - S_s) + D B + B D - Σ p_h E_h D E_h - M
        """
        E, means, shares = _apart(solution), solution.slice_scores, solution.shares
        B = np.einsum("h,hij->ij", shares, E)
        # What does not depend on the scores: E_s² + S_s E_s + E_s S_s - 2 B + Σ p_h E_h² - M, where S_s = I - E_s.
        constant = (2 * E - np.einsum("hij,hjk->hik", E, E) - 2 * B)[:, :, columns]

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            w, BZ, out = Z - means[codes], Z @ B, constant[codes]
            Ew = np.einsum("mij,mj->mi", E[codes], w)
            out -= w[:, :, None] * Ew[:, None, columns] + Ew[:, :, None] * w[:, None, columns]
            out += Z[:, :, None] * BZ[:, None, columns] + BZ[:, :, None] * Z[:, None, columns]
            for share, own in zip(shares, E, strict=True):
                moved = Z @ own
                out -= share * moved[:, :, None] * moved[:, None, columns]
            return out

        return influence

    def _predictor_statistics(self, sample: Sample, solution: Solution) -> tuple[Floats, Floats]:
        return covariance_statistics(solution.vectors, _apart(solution), solution.shares, solution.moments.n)


def _apart(solution: Solution) -> Floats:
    """I - S_h in the coordinates of the directions, (H, r, r)."""
    V, summary = solution.vectors, solution.summary
    return np.asarray(V.T @ (summary.moments.covariance(ddof=0) - summary.covariances(ddof=1)) @ V)
