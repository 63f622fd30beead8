"""Stability of independent components over runs, as Icasso (Himberg, Hyvärinen and Esposito, 2004).

The sources of all runs are clustered by their absolute correlations (average linkage). A compact cluster that is apart
from all others is a component that returns whatever the random start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform

from lowdim.linear.ica.contrast import Unmixing, WhitenedRows
from lowdim.linear.ica.whitening import whiten_again
from lowdim.runtime.display import TextDisplay
from lowdim.runtime.progress import report
from lowdim.runtime.threads import interruptible

__all__ = ["ICAStability", "estimate_stability"]

Array = NDArray[np.float64]

STABLE, DOUBTFUL = 0.9, 0.6  # of the quality index Iq


@dataclass(frozen=True, repr=False)
class ICAStability(TextDisplay):
    """How often each fitted component returned, in the order of `components_`."""

    quality: Array  # (k,) Iq: mean similarity within the component's cluster minus that to all other estimates
    runs_found: NDArray[np.int64]  # (k,) number of runs with an estimate in the component's cluster
    similarity: Array  # (k,) absolute correlation of the component with its best match, averaged over the runs
    cluster_sizes: NDArray[np.int64]  # (k,) estimates in the cluster; more than runs_found if a run gave several
    n_runs: int
    n_converged: int  # runs that converged
    bootstrap: bool

    @property
    def verdicts(self) -> tuple[str, ...]:
        """A word for each component: stable, doubtful or unstable."""
        share = self.runs_found / self.n_runs
        return tuple(
            "stable" if q >= STABLE and s >= STABLE else "doubtful" if q >= DOUBTFUL and s >= DOUBTFUL else "unstable"
            for q, s in zip(self.quality, share, strict=True)
        )

    def __str__(self) -> str:
        how = "random starts and resampled rows" if self.bootstrap else "random starts"
        lines = [f"{self.n_runs} runs from {how}; {self.n_converged} converged.", "component  returned   Iq  verdict"]
        for i, verdict in enumerate(self.verdicts):
            lines.append(
                f"{f'IC{i + 1}':>9}  {self.runs_found[i]:3d} of {self.n_runs:<3d} {self.quality[i]:4.2f}  {verdict}"
            )
        words = self.verdicts
        counts = {word: words.count(word) for word in ("stable", "doubtful", "unstable") if word in words}
        told = ", ".join(f"{count} {word}" for word, count in counts.items())
        return "\n".join([*lines, f"Of {len(words)} components: {told}."])


def estimate_stability(
    rows: WhitenedRows,
    fitted: Array,
    unmix: Callable[[WhitenedRows, int, int], Unmixing],
    n_runs: int,
    bootstrap: bool,
    seed: int,
) -> ICAStability:
    """Run `unmix` n_runs times and compare its sources with the fitted ones, y = fitted z, fitted (k, k)."""
    k = len(fitted)
    runs, converged = np.empty((n_runs, k, k)), 0
    for run in range(n_runs):
        report("stability", run, n_runs)
        found, white = _one_run(rows, unmix, bootstrap, seed, run)
        runs[run] = _unit_rows(found.W @ white)
        converged += found.converged
    report("stability", n_runs, n_runs)
    estimates = runs.reshape(n_runs * k, k)  # rows of unit length, so their products are correlations of sources
    similarity = np.minimum(np.abs(estimates @ estimates.T), 1.0)
    labels = _clusters(similarity, k)
    quality = _quality_index(similarity, labels, k)
    to_fitted = np.abs(_unit_rows(fitted) @ estimates.T)  # (k, runs k)
    member = labels == np.arange(k)[:, None]  # (clusters, runs k)
    mean_similarity = (to_fitted @ member.T) / np.maximum(member.sum(axis=1), 1)
    cluster = linear_sum_assignment(-mean_similarity)[1]  # of each fitted component
    found_in = member[cluster].reshape(k, n_runs, k).any(axis=2)
    return ICAStability(
        quality=quality[cluster],
        runs_found=found_in.sum(axis=1),
        similarity=to_fitted.reshape(k, n_runs, k).max(axis=2).mean(axis=1),
        cluster_sizes=member[cluster].sum(axis=1),
        n_runs=n_runs,
        n_converged=int(converged),
        bootstrap=bool(bootstrap),
    )


def _one_run(
    rows: WhitenedRows, unmix: Callable[[WhitenedRows, int, int], Unmixing], bootstrap: bool, seed: int, run: int
) -> tuple[Unmixing, Array]:
    """The unmixing of one run, and the whitening (k, k) of its rows; stream 0 is that of the fit."""
    stream = run + 1
    if not bootstrap:
        return unmix(rows, seed, stream), np.eye(rows.Z.d)
    n = rows.Z.count
    shares = np.full(n, 1 / n) if rows.weights is None else rows.weights / rows.weights.sum()
    rng = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, stream]))
    weights = rng.multinomial(n, shares).astype(np.float64)
    whitening, Z = whiten_again(rows.Z, weights, rows.threads)
    return unmix(WhitenedRows(Z, weights, rows.threads), seed, stream), whitening.matrix


def _clusters(similarity: Array, k: int) -> NDArray[np.int64]:
    """Labels 0…k-1 of the estimates by average linkage of 1 - |correlation|."""
    if k == 1:
        return np.zeros(len(similarity), dtype=np.int64)
    distances = squareform(1 - similarity, checks=False)
    tree = interruptible(lambda: linkage(distances, "average"))
    return np.asarray(fcluster(tree, k, "maxclust") - 1, dtype=np.int64)


def _quality_index(similarity: Array, labels: NDArray[np.int64], k: int) -> Array:
    """Iq of each cluster: mean similarity of its members to one another, minus that to all other estimates."""
    member = (labels == np.arange(k)[:, None]).astype(np.float64)  # (k, m)
    sizes, m = member.sum(axis=1), member.shape[1]
    sums = member @ similarity  # (k, m) similarity of each estimate to each cluster
    inside = np.einsum("ij,ij->i", sums, member)
    outside = sums.sum(axis=1) - inside
    return inside / np.maximum(sizes**2, 1) - outside / np.maximum(sizes * (m - sizes), 1)


def _unit_rows(A: Array) -> Array:
    return np.asarray(A / np.linalg.norm(A, axis=1)[:, None])
