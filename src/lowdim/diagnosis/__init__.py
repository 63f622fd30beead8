"""The curse of dimensionality on this table: are distances still telling, and what can be done?

print(lowdim.diagnose(X))
"""

from __future__ import annotations

from lowdim.diagnosis.columns import Columns
from lowdim.diagnosis.crowding import Concentration, Hubness
from lowdim.diagnosis.intrinsic import IntrinsicDimension
from lowdim.diagnosis.relation import Relation
from lowdim.diagnosis.report import Diagnosis, diagnose
from lowdim.diagnosis.space import EmptySpace

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
