"""Which method and how many dimensions to start from: a recommendation in words, with the evidence behind it.

    print(lowdim.recommend(X))

`_evidence.py` measures, `_rules.py` is the table from evidence to methods, `_settings.py` says how each method is set,
and `_code.py` writes the commands and the Python. Imports `diagnosis`, `choose`, `select` and below.
"""

from __future__ import annotations

from lowdim.advice._evidence import Evidence
from lowdim.advice._recommend import Recommendation, recommend
from lowdim.advice._settings import Suggestion

__all__ = ["Evidence", "Recommendation", "Suggestion", "recommend"]
