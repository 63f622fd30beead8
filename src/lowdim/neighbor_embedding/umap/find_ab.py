"""Parameters a and b of UMAP's low-dimensional membership curve 1 / (1 + a d^2b), from min_dist and spread."""

from __future__ import annotations

import numpy as np

from lowdim.errors import BadParameter, NotConverged

__all__ = ["find_ab", "membership_curve"]


def membership_curve(a: float | None, b: float | None, min_dist: float, spread: float) -> tuple[float, float]:
    """The given a and b, or those of min_dist and spread."""
    if a is None and b is None:
        return find_ab(min_dist, spread)
    if a is None or b is None:
        raise BadParameter(f"UMAP: give both a and b, or neither; got a={a} and b={b}.")
    return float(a), float(b)


def find_ab(min_dist: float, spread: float) -> tuple[float, float]:
    """Least-squares fit of (a, b) on 300 distances up to 3 spread, by the Levenberg-Marquardt algorithm.

    The target curve is 1 up to min_dist and exp(-(d - min_dist) / spread) beyond. In units of spread the fit is the
    same for every spread: b does not depend on the unit, and a takes its power -2b.
    """
    if min_dist > spread:
        raise BadParameter(f"UMAP: min_dist must be at most spread={spread}; got {min_dist}.")
    a, b = _fit_curve(min_dist / spread)
    return a * spread ** (-2 * b), b


def _fit_curve(min_dist: float) -> tuple[float, float]:
    """The same for a spread of 1. The parameters are log a and log b, which keeps both positive."""
    d = np.linspace(0, 3, 300)[1:]  # every curve is 1 at d = 0
    target = np.where(d < min_dist, 1.0, np.exp(-(d - min_dist)))
    log_d = np.log(d)
    p, damping = np.zeros(2), 1e-3

    def curve(p: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(np.clip(p[0] + 2 * np.exp(p[1]) * log_d, -700, 700)))

    value = curve(p)
    loss = float(((value - target) ** 2).sum())
    for _ in range(500):
        slope = -value * (1 - value)
        jacobian = np.column_stack([slope, slope * 2 * np.exp(p[1]) * log_d])
        normal = jacobian.T @ jacobian
        normal[np.diag_indices(2)] *= 1 + damping
        step = np.linalg.solve(normal + 1e-300 * np.eye(2), jacobian.T @ (target - value))
        tried = curve(p + step)
        better = float(((tried - target) ** 2).sum())
        if better <= loss:
            p, value, damping = p + step, tried, damping / 5
            if loss - better <= 1e-15 * loss and np.abs(step).max() < 1e-9:
                return float(np.exp(p[0])), float(np.exp(p[1]))
            loss = better
        elif np.abs(step).max() < 1e-9:
            return float(np.exp(p[0])), float(np.exp(p[1]))
        else:
            damping *= 10
    raise NotConverged(f"find_ab did not converge for min_dist={min_dist} of the spread; lower min_dist.")
