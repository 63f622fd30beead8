"""CLIQUE against pyclustering's, its memory on a million rows, and projected clusters against planted ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.case import Case, Contender, installed
from lowdim.subspace import CLIQUE, DOC, PROCLUS, MineClus, PlantedClusters, planted_clusters, scores

XI, TAU, DENSE_ROWS = 3, 0.002, 20


def pyclustering_clique(planted: PlantedClusters) -> Any:
    """Clusters as rows, in the space of all columns: pyclustering searches no other."""
    from pyclustering.cluster.clique import clique

    found = clique(planted.X.tolist(), XI, DENSE_ROWS)
    found.process()
    every = np.arange(planted.X.shape[1])
    return [(rows, every) for rows in found.get_clusters()]


def lowdim_clique(**options: Any) -> Contender:
    """Clusters of all subspaces, as rows and dimensions."""
    return Contender("lowdim", lambda planted: CLIQUE(**options).fit(planted.X).clusters_, role="ours")


def projected(name: str, clusterer: Any) -> Contender:
    return Contender(name, lambda planted: clusterer.fit(planted.X).clusters_, role="ours")


def agreement(planted: PlantedClusters, clusters: Any) -> dict[str, float]:
    """The agreement with the truth by rows and dimensions, and by rows alone."""
    pairs = [(np.asarray(c.rows), c.dimensions) if hasattr(c, "rows") else c for c in clusters]
    found = scores(pairs, planted)
    return {"clusters": len(pairs), "E4SC": found.e4sc, "F1": found.f1}


NOTE = (
    "pyclustering clusters the cells of all columns only, where all planted clusters are; lowdim searches every "
    "subspace, and takes a column out of a cluster where it adds nothing to the others, which lowers E4SC."
)

CASES = [
    Case(
        "subspace-clique",
        "CLIQUE, 10,000 × 10, 3 intervals per column (planted clusters of 10 dimensions)",
        lambda: planted_clusters(10_000, 10, 4, 10, noise=0.1, random_state=0),
        (
            lowdim_clique(xi=XI, tau=TAU),
            *([Contender("pyclustering", pyclustering_clique, "pyclustering")] if installed("pyclustering") else []),
        ),
        agreement, NOTE, bar=20, repeats=3,
    ),
    Case(
        "subspace-clique-million",
        "CLIQUE on MAFIA's grid, 1,000,000 × 20 (5 planted clusters of 5 dimensions); peak memory below 2 GB",
        lambda: planted_clusters(1_000_000, 20, 5, 5, noise=0.2, random_state=0),
        (lowdim_clique(grid="adaptive", alpha=0.8, beta=0.35),),
        lambda planted, clusters: scores(clusters, planted).to_dict(), repeats=1, warm=False,
    ),
    Case(
        "subspace-clique-million-uniform",
        "CLIQUE, 1,000,000 × 20, 10 intervals per column (5 planted clusters of 5 dimensions); peak memory below 2 GB",
        lambda: planted_clusters(1_000_000, 20, 5, 5, noise=0.2, random_state=0),
        (lowdim_clique(xi=10, tau=0.02),),
        lambda planted, clusters: scores(clusters, planted).to_dict(), repeats=1, warm=False,
    ),
    *(
        Case(
            f"subspace-{name.lower()}",
            f"{name}, 2,000 × 30 (5 planted clusters of 6 dimensions, 10% noise)",
            lambda: planted_clusters(2_000, 30, 5, 6, noise=0.1, random_state=0),
            (projected("lowdim", clusterer),),
            lambda planted, clusters: scores(clusters, planted).to_dict(), repeats=3,
        )
        for name, clusterer in (("PROCLUS", PROCLUS(5, 6)), ("DOC", DOC()), ("MineClus", MineClus()))
    ),
]  # fmt: skip
