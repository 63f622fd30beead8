"""The same methods on shuffled columns: what each would draw if no column had to do with another."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from lowdim import quality
from lowdim.base.standardization import inner_estimator
from lowdim.errors import Cancelled, LowdimError
from lowdim.quality import QualityTable
from lowdim.report.fit_maps import ComparedRows, FittedMaps
from lowdim.runtime.progress import report

__all__ = ["MOST_SHUFFLED", "beside_shuffled"]

MOST_SHUFFLED = 5000  # rows up to which it is done unasked: every method is fitted once more


def beside_shuffled(
    table: QualityTable,
    fitted: FittedMaps,
    rows: ComparedRows,
    labels: Any,
    sample: int | None,
    settings: Mapping[str, Any],
) -> QualityTable:
    """The qualities of maps, each beside its own method on shuffled columns where that can be fitted."""
    if rows.metric in ("precomputed", "gower") or rows.table.kind == "distances":
        return table
    out = dict(table.maps)
    for i, (name, model) in enumerate(fitted.models.items()):
        report("fitting to shuffled columns", i, len(fitted.models))
        estimator = inner_estimator(model)
        method = getattr(type(estimator), "_method", None)
        if method is not None and (method.supervised or method.categories):
            continue
        try:
            options = {"k": out[name].k, "labels": labels, "sample": sample, **settings}
            with warnings.catch_warnings():  # of a fit that nobody looks at
                warnings.simplefilter("ignore")
                found = quality.null(estimator, rows.rows, Z=fitted.maps[name], **options)
        except Cancelled:
            raise
        except LowdimError:  # a method may need the structure that shuffling takes away
            continue
        out[name] = out[name].beside(found)
    report("fitting to shuffled columns", len(fitted.models), len(fitted.models))
    return QualityTable(out)
