"""How many components: rules that `n_components=` accepts, and all of them in one table.

    PCA(n_components=choose.parallel_analysis()).fit(X)
    print(choose.table(X))

A rule reads the eigenvalues and returns a number of components; 0 means that none stands out.
Imports `linear`, `decomposition` and below.
"""

from __future__ import annotations

from lowdim.choose._minka import minka
from lowdim.choose._parallel_analysis import ParallelAnalysis, parallel_analysis
from lowdim.choose._random_matrix import gavish_donoho, marchenko_pastur
from lowdim.choose._recommendation import RecommendedCount
from lowdim.choose._rules import Verdict, broken_stick, elbow, kaiser, share
from lowdim.choose._table import Choices, spectrum, table

__all__ = [
    "Choices",
    "ParallelAnalysis",
    "RecommendedCount",
    "Verdict",
    "broken_stick",
    "elbow",
    "gavish_donoho",
    "kaiser",
    "marchenko_pastur",
    "minka",
    "parallel_analysis",
    "share",
    "spectrum",
    "table",
]


def __dir__() -> list[str]:
    return sorted(__all__)
