"""The curse of dimensionality on one table: concentration, hubness, intrinsic dimension, correlations, and advice.

    print(lowdim.diagnose(X))

Imports `choose`, `knn` and below.
"""

from __future__ import annotations

from lowdim.diagnosis._columns import Columns
from lowdim.diagnosis._concentration import Concentration, Hubness
from lowdim.diagnosis._correlation import Correlations
from lowdim.diagnosis._diagnose import Diagnosis, diagnose
from lowdim.diagnosis._empty_space import EmptySpace
from lowdim.diagnosis._intrinsic_dimension import IntrinsicDimension

__all__ = [
    "Columns",
    "Concentration",
    "Correlations",
    "Diagnosis",
    "EmptySpace",
    "Hubness",
    "IntrinsicDimension",
    "diagnose",
]
