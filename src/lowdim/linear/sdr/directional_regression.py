"""Directional regression."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.linear.sdr.base import MOMENTS_TRAITS
from lowdim.linear.sdr.predictor_tests import covariance_statistics, mean_statistics
from lowdim.linear.sdr.regularized_whitening import RegularizedWhitening
from lowdim.linear.sdr.slice_moments import SliceMoments
from lowdim.linear.sdr.sliced import SecondMomentReduction
from lowdim.linear.sdr.solution import RowSum, Sample, Solution

__all__ = ["DirectionalRegression"]

Floats = NDArray[np.float64]


@estimator(
    title="directions in which differences between slices of the response stand out",
    summary="moments",
    **MOMENTS_TRAITS,
)
class DirectionalRegression(SecondMomentReduction):
    """Directional regression: slice means and slice covariances together (Li and Wang 2007).

        M v = λ S v,   VᵀSV = I,   M = 2 Σ_h p_h (A_h - S) S⁻¹ (A_h - S) + 2 B S⁻¹ B + 2 tr(S⁻¹B) B

    with the second moments A_h = Σ_{i in h} (x - μ)(x - μ)ᵀ / n_h of the rows in slice h about the mean of all rows,
    and SIR's B. It is the expectation of (2I - E[(z - z̃)(z - z̃)ᵀ | y, ỹ])² over pairs of whitened rows, and finds what
    SIR finds and what SAVE finds, with fewer rows than SAVE. `fit` takes what SIR takes, except Moments. The tests
    of the order read n Σ_{j>k} λ_j, which has a weighted χ² law, whatever the columns, and no plain one.

    {parameters}

    Attributes
    ----------
    {directions}
    eigenvalues_ : array (r,)
        All eigenvalues, descending.
    {order tests}
    {slices}

    """

    _has_chi2 = False

    def _kernel(self, sample: Sample, summary: SliceMoments, white: RegularizedWhitening) -> Floats:
        shares, means, E = _parts(summary, white.root)
        B = (means.T * shares) @ means
        return np.asarray(2 * (np.einsum("h,hij,hjk->ik", shares, E, E) + B @ B + np.trace(B) * B))

    def _order_statistics(self, solution: Solution, most: int) -> tuple[Floats, None]:
        return solution.moments.n * np.cumsum(solution.values[::-1])[::-1][:most], None

    def _null_influence(self, sample: Sample, solution: Solution, k: int) -> RowSum:
        """√2 Γ₀ᵀ δK Ψ₀, for M = 2 K Kᵀ with K = [√p_h E_h, B, √(p_h tr B) m_h], and Ψ₀ off the rows of K.

        If k directions suffice, E_h, B and m_h vanish outside of them. With z₁ the scores on them, z₀ all others and
        c_h = [s = h] / √p_h - √p_h for a row of slice s, what is left is (z₀z₀ᵀ - I) c_h between null directions, which
        is symmetric, and z₀ [z₁ᵀ c_h - √p_h m_hᵀ, m_sᵀ, √(tr B) c_h] Ψ₀ across.
        """
        shares, means, E = _parts(solution.summary, solution.vectors)
        roots, kept = np.sqrt(shares), means[:, :k]
        B = (means.T * shares) @ means
        size = np.sqrt(np.trace(B))
        inner = np.column_stack([*(roots[:, None, None] * E[:, :k, :k]), B[:k, :k], size * roots * kept.T])
        off = scipy.linalg.qr(inner.T)[0][:, k:] if k else np.eye(inner.shape[1])
        i, j = np.triu_indices(len(solution.values) - k)
        twice = np.where(i == j, 1.0, np.sqrt(2.0))  # an entry above the diagonal stands for two

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            n, null = len(Z), Z[:, k:]
            c = np.tile(-roots, (n, 1))
            c[np.arange(n), codes] += 1 / roots[codes]
            between = (null[:, i] * null[:, j] - (i == j)) * twice
            moved = c[:, :, None] * Z[:, None, :k] - roots[:, None] * kept  # (n, H, k)
            across = np.column_stack([moved.reshape(n, -1), kept[codes], size * c]) @ off
            parts = (between[:, :, None] * c[:, None, :], null[:, :, None] * across[:, None, :])
            return np.asarray(np.sqrt(2) * np.concatenate([part.reshape(n, -1) for part in parts], axis=1))

        return influence

    def _kernel_influence(self, sample: Sample, solution: Solution, columns: slice) -> RowSum:
        """Influence of a row in slice s with E_h = A_h - I and D = z zᵀ - I, where δB is SIR's.

        ½ δM = E_s² - Σ p_h E_h² + F + Fᵀ - Σ p_h E_h D E_h + δB B + B δB - B D B + (tr δB - tr DB) B + tr(B) δB
        F = (z zᵀ - A_s) E_s - Σ p_h (m_h zᵀ + z m_hᵀ) E_h
        """
        shares, means, E = _parts(solution.summary, solution.vectors)
        B = (means.T * shares) @ means
        trace, squares = float(np.trace(B)), np.einsum("hij,hjk->hik", E, E)
        mixed = np.einsum("h,hij,hj->i", shares, E, means)  # Σ p_h E_h m_h

        def influence(Z: Floats, codes: NDArray[np.intp], cut: slice) -> Floats:
            m, own = means[codes], E[codes]
            # E_s² - A_s E_s - E_s A_s = -E_s² - 2 E_s, since A_s = E_s + I
            half = -squares[codes] - 2 * own
            inner = np.einsum("mij,mj->mi", own, Z) - mixed
            half += Z[:, :, None] * inner[:, None, :] + inner[:, :, None] * Z[:, None, :]
            for share, mean, slice_apart in zip(shares, means, E, strict=True):
                moved = Z @ slice_apart  # E_h z
                outer = mean[None, :, None] * moved[:, None, :]
                half -= share * (outer + outer.transpose(0, 2, 1) + moved[:, :, None] * moved[:, None, :])
            cross = Z[:, :, None] * m[:, None, :]
            dB = cross + cross.transpose(0, 2, 1) - m[:, :, None] * m[:, None, :] - B
            dBB, BZ = dB @ B, Z @ B
            half += dBB + dBB.transpose(0, 2, 1) - BZ[:, :, None] * BZ[:, None, :] + B @ B
            trace_change = np.einsum("mii->m", dB) - np.einsum("mi,mi->m", Z, BZ) + trace
            half += trace_change[:, None, None] * B + trace * dB
            return np.asarray(2 * half[:, :, columns])

        return influence

    def _predictor_statistics(self, sample: Sample, solution: Solution) -> tuple[Floats, Floats]:
        """SIR's statistic plus SAVE's, which are independent for normal columns: M α = 0 only if both vanish."""
        V, n = solution.vectors, solution.moments.n
        shares, means, E = _parts(solution.summary, V)
        by_mean, mean_weights = mean_statistics(V, (means.T * shares) @ means, n, len(shares))
        by_covariance, covariance_weights = covariance_statistics(V, E, shares, n)
        return by_mean + by_covariance, np.concatenate([mean_weights, covariance_weights])


def _parts(summary: SliceMoments, root: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of the slices (H,), their means (H, r) and A_h - S (H, r, r), in the coordinates of the root."""
    moments = summary.moments
    means = (moments.means - moments.mean) @ root
    apart = root.T @ (summary.covariances(ddof=0) - moments.covariance(ddof=0)) @ root
    return moments.counts / moments.n, means, apart + means[:, :, None] * means[:, None, :]
