"""Fuzzing: attempts that are made from a number alone, and what came of them.

`attempt(target, number)` makes one hostile attempt and says how it ended: "finite" (a result without NaN or infinity),
"named" (one of lowdim's errors), or "raw: …" (anything else, which is a defect). The tests make a few hundred with
fixed numbers; `make fuzz` makes as many as its time allows, in processes whose crashes and hangs it counts.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzzing import commands, files, functions, others, parameters, values
from lowdim.errors import LowdimError

__all__ = ["TARGETS", "attempt"]

TARGETS: dict[str, Callable[[random.Random], tuple[str, Callable[[], Any]]]] = {
    "values": values.make,
    "functions": functions.make,
    "metrics": functions.make_metric,
    "parameters": parameters.make,
    "others": others.make,
    "models": files.make_model,
    "fields": files.make_field,
    "checkpoints": files.make_checkpoint,
    "tables": files.make_table,
    "commands": commands.make,
}


def attempt(target: str, number: int) -> tuple[str, str]:
    """How attempt `number` at a target ended, and what it was."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        story, work = TARGETS[target](random.Random(f"{target} {number}"))
        try:
            return _outcome(work()), story
        except (LowdimError, MemoryError, values.SourceFailed):
            return "named", story
        except Exception as error:
            return f"raw: {type(error).__name__}: {str(error)[:300]}", story


def _outcome(result: Any) -> str:
    for array in result if isinstance(result, tuple) else (result,):
        if isinstance(array, np.ndarray) and array.dtype.kind == "f" and not np.isfinite(array).all():
            return "raw: a result with NaN or infinity"
    return "finite"
