"""Trustworthiness, continuity, Q_NX, R_NX and its AUC, LCMC, MRRE, stress, triplets, from statistics of rows.

Each is a function of means over rows, so that a bootstrap over rows gives its interval, and that the values of single
points average to that of the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.quality._intervals import Resamples
from lowdim.quality._rank_comparison import RankScale
from lowdim.quality._space_comparison import MapComparison

__all__ = ["Figure", "RnxCurve", "as_figure", "point_figures", "r_nx_curve", "rank_figures"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A value with its interval, None twice if it is exact."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class RnxCurve:
    """R_NX by the number of neighbors: the gain over a random map, from 0 to 1 for the identity."""

    ks: NDArray[np.int64]  # (g,)
    values: Floats  # (g,)
    low: Floats | None  # (g,) 95% interval; None if exact
    high: Floats | None


def worst_excess(n: int, k: int) -> float:
    """The largest Σ (rank - k) over k neighbors: the norm of trustworthiness and continuity (Venna and Kaski 2001)."""
    return k * (2 * n - 3 * k - 1) / 2 if k < n / 2 else (n - k) * (n - k - 1) / 2


def worst_rank_error(n: int, k: int) -> float:
    """The norm of MRRE: Σ |n - 2 K + 1| / K (Lee and Verleysen 2007)."""
    K = np.arange(1, k + 1)
    return float((np.abs(n - 2 * K + 1) / K).sum())


def point_figures(found: MapComparison, scale: RankScale) -> dict[str, Floats]:
    """The values of single rows, (s,) each; they average to the value of the map."""
    n, k = scale.n, scale.k
    excess, missing, shared, weight, false_error, missing_error = found.sums.T
    worst, error = worst_excess(n, k), worst_rank_error(n, k)
    recall = shared / k
    return {
        "trustworthiness": 1 - excess / worst,
        "continuity": 1 - missing / worst,
        "neighbor_recall": recall,
        "r_nx": ((n - 1) * recall - k) / (n - 1 - k),
        "r_nx_auc": (weight - scale.chance) / scale.harmonic,
        "lcmc": recall - k / (n - 1),
        "mrre_false": 1 - false_error / error,
        "mrre_missing": 1 - missing_error / error,
        "stress": stress_of_points(found.squares),
        "triplet_accuracy": found.concordant,
    }


def rank_figures(found: MapComparison, scale: RankScale, resamples: Resamples) -> dict[str, Figure]:
    """The values of the map, with their intervals."""
    points = point_figures(found, scale)
    fit = as_figure(resamples.interval(found.squares, stress))
    table = np.column_stack([values for name, values in points.items() if name != "stress"])
    value, low, high = resamples.interval(table, lambda means: means)
    names = [name for name in points if name != "stress"]
    bounds = (None, None) if low is None else (low, high)
    figures = {
        name: as_figure((value[j], *(None if bound is None else bound[j] for bound in bounds)))
        for j, name in enumerate(names)
    }
    return {name: fit if name == "stress" else figures[name] for name in points}


def stress(squares: Any) -> Any:
    """Kruskal's stress-1 at the scale α = Σ d δ / Σ δ² that minimizes it, of means (…, 3) of d², d δ and δ²."""
    d2, cross, flat2 = np.moveaxis(np.asarray(squares), -1, 0)
    product = d2 * flat2  # 0 where all rows, or all points, are at one place: a scale explains nothing then
    share = np.divide(cross**2, product, out=np.zeros_like(cross), where=product > 0)
    return np.sqrt(np.maximum(1 - share, 0))


def stress_of_points(squares: Floats) -> Floats:
    """Stress per point: the map's stress times the row's share of the squared errors, which average to 1."""
    total = squares.mean(axis=0)
    scale = total[1] / total[2] if total[2] > 0 else 0.0
    errors = np.maximum(squares[:, 0] - 2 * scale * squares[:, 1] + scale**2 * squares[:, 2], 0)
    mean = errors.mean()
    out: Floats = stress(total) * errors / mean if mean > 0 else np.zeros(len(errors))
    return out


def r_nx_curve(found: MapComparison, scale: RankScale, resamples: Resamples) -> RnxCurve:
    """R_NX(K) = ((n - 1) Q_NX(K) - K) / (n - 1 - K) over the scale's K (Lee et al. 2013)."""
    n, K = scale.n, scale.ks

    def curve(counts: Floats) -> Floats:
        return ((n - 1) * counts / K - K) / (n - 1 - K)

    return RnxCurve(K, *resamples.interval(found.counts.astype(np.float64), curve))


def as_figure(parts: tuple[Any, Any, Any]) -> Figure:
    """A value and its interval, as plain numbers."""
    value, low, high = parts
    return Figure(float(value), None if low is None else float(low), None if high is None else float(high))
