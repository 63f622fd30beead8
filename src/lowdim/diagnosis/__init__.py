"""The curse of dimensionality on this table: are distances still telling, and what can be done?

print(lowdim.diagnose(X))
"""

from __future__ import annotations

from lowdim.diagnosis._columns import Columns
from lowdim.diagnosis._concentration import Concentration, Hubness
from lowdim.diagnosis._correlation import Relation
from lowdim.diagnosis._diagnose import Diagnosis, diagnose
from lowdim.diagnosis._empty_space import EmptySpace
from lowdim.diagnosis._intrinsic_dimension import IntrinsicDimension

__all__ = [
    "Columns",
    "Concentration",
    "Diagnosis",
    "EmptySpace",
    "Hubness",
    "IntrinsicDimension",
    "Relation",
    "diagnose",
]
